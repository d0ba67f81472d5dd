"""What a bot is asked: a thin, lazy wrapper around the `Turn` message."""

from __future__ import annotations

from collections.abc import Mapping
from random import Random
from typing import NamedTuple, TypeAlias

from pegboard.errors import PegboardError
from pegboard.rules.catalog import Move, View
from pegboard.rules.game import Choices, Seat
from pegboard.v1 import play_pb2
from pegboard.wire.codec import read_choices, read_view
from pegboard.wire.ranges import read_number


class Resign:
    """Returned by a bot that gives the match up; use `RESIGN`."""

    def __repr__(self) -> str:
        return "RESIGN"


RESIGN = Resign()

Choice: TypeAlias = int | tuple[int, int | None] | Move | Resign
"""What a bot returns: the index of a listed move, (index, number) if the turn has a number, a move of
`pegboard.rules`, or `RESIGN`."""

CLAIM_TOO_HIGH: int = play_pb2.REJECTION_REASON_CLAIM_TOO_HIGH
MEAN_NUMBER = 4.0
MUST_GO_OUT: int = play_pb2.REJECTION_REASON_MUST_GO_OUT


class Refused(NamedTuple):
    """An answer to the turn that did not count: `reason` is a number of `RejectionReason`."""

    reason: int
    detail: str
    attempts_left: int


class MatchInfo(NamedTuple):
    """What stays the same throughout a match. `seats` are the bot's own; times in milliseconds."""

    match: str
    variant: str
    seats: tuple[Seat, ...]
    seat_count: int
    options: Mapping[str, str]
    bank_ms: int
    increment_ms: int
    move_ms: int


UNKNOWN_MATCH = MatchInfo("", "", (), 0, {}, 0, 0, 0)


class Turn:
    """A question to one seat. Self-contained: a bot need remember nothing.

    `match` is `matches/{id}`; `refused` is the last answer to this same turn that did not count; a
    claim that was refused has narrowed `number`.
    Nothing is decoded until it is asked for: a bot that answers by index costs next to nothing.
    """

    __slots__ = (
        "_choices",
        "_view",
        "info",
        "match",
        "message",
        "refused",
        "seat",
        "turn_id",
    )

    def __init__(self, message: play_pb2.Turn, info: MatchInfo = UNKNOWN_MATCH) -> None:
        self.message = message
        self.match = message.match
        self.seat = message.seat
        self.turn_id = message.turn_id
        self.info = info
        self.refused: Refused | None = None
        self._choices: Choices | None = None
        self._view: View | None = None

    def __str__(self) -> str:
        return "\n".join([self.title, *self._lines()])

    def __repr__(self) -> str:
        return f"<Turn: {'; '.join([self.title, *self._lines()])}>"

    def _lines(self) -> list[str]:
        """Return the lines of the view and one of the legal moves, by index; none if unreadable."""
        try:
            lines = self.view.text().splitlines()
            moves = [
                f"{index} {move}{self._range_text(index)}" for index, move in enumerate(self.moves)
            ]
        except PegboardError:
            return []
        return [*lines, f"legal moves: {', '.join(moves)}"]

    def _range_text(self, index: int) -> str:
        bounds = self.number_of(index)
        return "" if bounds is None else f" ({bounds[0]} to {bounds[1]})"

    @property
    def title(self) -> str:
        """What names the turn: its number, its seat, its match."""
        return f"turn {self.turn_id} of seat {self.seat} in {self.match}"

    @property
    def move_count(self) -> int:
        """How many moves are listed."""
        return len(self.message.legal_moves)

    @property
    def number(self) -> tuple[int, int] | None:
        """The bounds, both allowed, of the number that open moves need; None if no move needs one.

        If a call of muggins is listed beside plays: the bounds of the plays (see `number_of`).
        """
        return read_number(self.message.legal_moves)

    def number_of(self, index: int) -> tuple[int, int] | None:
        """Return the bounds of the number that a listed move needs; None if it needs none."""
        move = self.message.legal_moves[index]
        if not move.HasField("number_range"):
            return None
        return move.number_range.min, move.number_range.max

    @property
    def moves(self) -> tuple[Move, ...]:
        """The legal moves as moves of `pegboard.rules`, in the documented order."""
        if self._choices is None:
            self._choices = read_choices(self.message.legal_moves)
        return self._choices.moves

    @property
    def view(self) -> View:
        """All that the seat can see, of `pegboard.rules`: a `CribbageView`, a `DominoesView`."""
        if self._view is None:
            self._view = read_view(self.message.view)
        return self._view

    @property
    def family(self) -> str:
        """The family of the game: `cribbage`, `dominoes`."""
        return self.message.view.WhichOneof("kind") or ""

    @property
    def turn_ms(self) -> int:
        """Milliseconds for this turn, from when the server sent it."""
        return self.message.clock.turn_ms

    @property
    def bank_ms(self) -> int | None:
        """Milliseconds in the bank; None if the match has none."""
        clock = self.message.clock
        return clock.bank_ms if clock.HasField("bank_ms") else None

    def random(self, rng: Random) -> tuple[int, int | None]:
        """Return a random legal choice, in every variant.

        Numbers are mostly small: bids spread evenly over their range would cost a player more than
        cribbage can earn, for ever. A call names at least 1 (X-04).
        """
        count = len(self.message.legal_moves)
        index = rng.randrange(count) if count > 1 else 0
        bounds = self.number_of(index)
        if bounds is None:
            return index, None
        low, high = bounds
        return index, min(high, low + int(rng.expovariate(1 / MEAN_NUMBER)))
