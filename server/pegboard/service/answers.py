"""Decodes the answers of bots: a message becomes an `Answer` of the host, once for both services."""

from __future__ import annotations

from typing import Any

from pegboard.errors import UnknownMatch
from pegboard.matches.answers import Answer
from pegboard.matches.host import MatchHost
from pegboard.rpc.names import read_id
from pegboard.rules.errors import NotationError
from pegboard.rules.names import MATCHES
from pegboard.v1 import play_pb2
from pegboard.wire.codec import read_move

_new_tuple = tuple.__new__

MOVE_BYTES = 128
"""More than any typed move has."""


class Unreadable:
    """A move that could not be read: equal to no move, legal nowhere."""

    is_open = False

    def __init__(self, detail: str) -> None:
        self.detail = detail

    def text(self) -> str:
        """Return why it cannot be read."""
        return self.detail


def decode_answer(host: MatchHost, message: play_pb2.Answer) -> Answer:
    """Return the answer of a message; a move that cannot be read becomes an illegal move.

    Raises `InvalidRequest` if the name of the match is not one.
    """
    match_id = read_id(MATCHES, message.match)
    number = message.number if message.HasField("number") else None
    if message.HasField("index"):
        # 160 ns less than the constructor of a NamedTuple, which is a Python function.
        fields = (match_id, message.seat, message.turn_id, message.index, None, number)
        return _new_tuple(Answer, fields)
    move = _typed_move(host, match_id, message)
    return Answer(match_id, message.seat, message.turn_id, None, move, number)


def _typed_move(host: MatchHost, match_id: str, message: play_pb2.Answer) -> Any:
    """Return the move of an answer; None if the match is unknown, which the host rejects."""
    size = message.move.ByteSize()
    try:
        if size > MOVE_BYTES:
            raise NotationError(f"a move has at most {MOVE_BYTES} bytes, not {size}")
        return read_move(host.get(match_id).game.family, message.move)
    except UnknownMatch:
        return None
    except NotationError as error:
        return Unreadable(str(error))
