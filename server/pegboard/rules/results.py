"""Points of a match: places turned into numbers between 0 and 1 (docs/results.md).

Both games rank sides, and so does a forfeit; the arithmetic is here, once. Among n sides, first place
is worth 1.0 and last 0.0, (n - place) / (n - 1) in between; sides that tie share the mean of their
places. A seat has its side's points.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, TypeVar

from pegboard.rules.game import Game, Outcome, Seat

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
