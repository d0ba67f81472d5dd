"""Answers that did not count."""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple

from pegboard.matches.running import OpenTurn


class RejectionReason(IntEnum):
    """Why an answer did not count; numbers as in the contract."""

    ILLEGAL_MOVE = 1
    STALE_TURN = 2
    UNKNOWN_SEAT = 3
    MATCH_OVER = 4
    CLAIM_TOO_HIGH = 5
    MUST_GO_OUT = 6


class Rejection(NamedTuple):
    """An answer that did not count, told to the bot in one sentence.

    `attempts_left`: illegal moves left in this turn before the seat forfeits. `turn`: the turn, if it
    is still open; the bot is to be told of it again.
    """

    reason: RejectionReason
    detail: str
    attempts_left: int = 0
    turn: OpenTurn | None = None
