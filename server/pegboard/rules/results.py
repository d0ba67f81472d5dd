"""How a match ended, and its points: places turned into numbers from 0 to 1 (docs/results.md).

`Result` is the one shape of a result: records, the store, the wire and the arena use it.

Both games rank sides, and so does a forfeit; the arithmetic is here, once. Among n sides, first place
is worth 1.0 and last 0.0, (n - place) / (n - 1) in between; sides that tie share the mean of their
places. A seat has its side's points.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import NamedTuple, Protocol, TypeVar

from pegboard.rules.game import Game, Outcome, Seat


class Termination(StrEnum):
    """Why a match ended. Records and the contract write the name after `TERMINATION_`."""

    NORMAL = "NORMAL"
    ILLEGAL_MOVE = "ILLEGAL_MOVE"
    TIMEOUT = "TIMEOUT"
    DISCONNECT = "DISCONNECT"
    CRASH = "CRASH"
    RESIGN = "RESIGN"
    CANCELLED = "CANCELLED"
    SERVER_FAULT = "SERVER_FAULT"
    VOID = "VOID"


FORFEITS = frozenset(
    {
        Termination.ILLEGAL_MOVE,
        Termination.TIMEOUT,
        Termination.DISCONNECT,
        Termination.CRASH,
        Termination.RESIGN,
    }
)
"""Terminations by a fault of one seat."""

UNRATED = frozenset({Termination.CANCELLED, Termination.SERVER_FAULT, Termination.VOID})
"""Terminations without points: the match does not count, and its block waits for another one."""


class Result(NamedTuple):
    """How a match ended. `points`, `scores` and `games_won` are by seat (`rules.game.Outcome`).

    `seat_at_fault` is set for FORFEITS and for no other termination; `points` is () for UNRATED.
    """

    termination: Termination
    seat_at_fault: int | None
    points: tuple[float, ...]
    scores: tuple[int, ...]
    games_won: tuple[int, ...]
    detail: str = ""


_Contra = TypeVar("_Contra", contravariant=True)


class _Ordered(Protocol[_Contra]):
    """Something that `<` can rank: a number, or a tuple of them."""

    def __lt__(self, other: _Contra, /) -> bool: ...


Key = TypeVar("Key", bound="_Ordered")  # type: ignore[type-arg]


def place_points(standing: Sequence[Key], sides: Sequence[int]) -> tuple[float, ...]:
    """Return the points of each seat.

    `standing` has a key for each side, the higher the better and equal for a tie (an int, or a
    tuple such as games won, then score); `sides` the side of each seat, as `Game.sides` gives it.
    A side that is alone in the match has 1.0.
    """
    by_side = [_share(standing, key) for key in standing]
    return tuple(by_side[side] for side in sides)


def _share(standing: Sequence[Key], key: Key) -> float:
    """Mean of the places that sides with this key take, as points."""
    if len(standing) == 1:
        return 1.0
    below = sum(other < key for other in standing)
    level = sum(other == key for other in standing)
    return (2 * below + level - 1) / (2 * (len(standing) - 1))


def forfeit_points(game: Game, seats: int, standing: Outcome, seat: Seat) -> tuple[float, ...]:
    """Return the points of each seat when `seat` ends the match by a fault of its own.

    Its side is last; the other sides keep the order of `standing` (`State.standing()`: the scores
    as they were), ties sharing. A side that was alone has 0.0.
    """
    sides = game.sides(seats)
    at_fault = sides[seat]
    count = max(sides) + 1
    if count == 1:
        return (0.0,) * seats
    points_of = dict(zip(sides, standing.points, strict=True))
    ranked = [(side != at_fault, points_of[side]) for side in range(count)]
    return place_points(ranked, sides)
