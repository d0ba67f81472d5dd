"""The family of a game picks its conversions; whoever calls knows no game by name."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from pegboard.rules.errors import NotationError
from pegboard.rules.game import Choices
from pegboard.v1 import match_pb2
from pegboard.wire import cribbage, dominoes
from pegboard.wire.fields import Kinds
from pegboard.wire.ranges import read_number


class Codec(NamedTuple):
    """The conversions of one family.

    `move_bytes` and `view_bytes` give serialised `GameMove` and `GameView` messages, `listed_bytes` the
    elements of `Turn.legal_moves`.
    """

    family: str
    move_bytes: Callable[[Any], bytes]
    listed_bytes: Callable[[Choices, Choices], list[bytes]]
    view_bytes: Callable[[Any], bytes]
    read_move: Callable[[Any], Any]
    read_listed_move: Callable[[Any, bool], Any]
    read_view: Callable[[Any], Any]
    events: Kinds


CODECS: dict[str, Codec] = {
    module.FAMILY: Codec(
        module.FAMILY,
        module.move_bytes,
        module.listed_bytes,
        module.view_bytes,
        module.read_move,
        module.read_listed_move,
        module.read_view,
        module.EVENTS,
    )
    for module in (cribbage, dominoes)
}
"""By family; a new game is one more module here."""


def move_message(family: str, move: Any) -> match_pb2.GameMove:
    """Return a move as a message."""
    return match_pb2.GameMove.FromString(CODECS[family].move_bytes(move))


def read_move(family: str, message: match_pb2.GameMove) -> Any:
    """Return the complete move of an answer. Raises `NotationError` for another family's or none."""
    if message.WhichOneof("kind") != family:
        raise NotationError(
            f"the move is not one of {family}; set the field `{family}` of GameMove"
        )
    return CODECS[family].read_move(getattr(message, family))


def read_choices(messages: Sequence[match_pb2.GameMove]) -> Choices:
    """Return `Turn.legal_moves`, in order, with the bounds of the numbers that they take."""
    if not messages:
        return Choices(())
    family = messages[0].WhichOneof("kind")
    if family is None:
        raise NotationError("the moves are of a game that this version does not know")
    read = CODECS[family].read_listed_move
    moves = [
        read(getattr(message, family), message.HasField("number_range")) for message in messages
    ]
    return Choices(tuple(moves), read_number(messages))


def view_message(family: str, view: Any) -> match_pb2.GameView:
    """Return a view as a message."""
    return match_pb2.GameView.FromString(CODECS[family].view_bytes(view))


def read_view(message: match_pb2.GameView) -> Any:
    """Return the view of a turn."""
    family = message.WhichOneof("kind")
    if family is None:
        raise NotationError("the view is empty, or of a game that this version does not know")
    return CODECS[family].read_view(getattr(message, family))


def event_message(family: str, sequence: int, event: Any) -> match_pb2.MatchEvent:
    """Return an event of a game as a message."""
    body: dict[str, Any] = {family: CODECS[family].events.write(event)}
    return match_pb2.MatchEvent(sequence=sequence, **body)


def read_event(message: match_pb2.MatchEvent) -> Any | None:
    """Return the event of a game; None for the end of the match or a kind not known here."""
    family = message.WhichOneof("kind")
    if family not in CODECS:
        return None
    return CODECS[family].events.read(getattr(message, family))
