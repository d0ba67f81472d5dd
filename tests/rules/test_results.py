"""Points by place and for forfeits, as docs/results.md has them."""

from __future__ import annotations

import pytest

from pegboard.rules import catalog
from pegboard.rules.game import Outcome
from pegboard.rules.results import forfeit_points, place_points


@pytest.mark.parametrize(
    ("standing", "points"),
    [
        ((121, 98), (1.0, 0.0)),
        ((98, 121), (0.0, 1.0)),
        ((6, 6), (0.5, 0.5)),
        ((3, 2, 1), (1.0, 0.5, 0.0)),
        ((3, 3, 1), (0.75, 0.75, 0.0)),
        ((3, 1, 1), (1.0, 0.25, 0.25)),
        ((1, 4, 2, 3), (0.0, 1.0, 1 / 3, 2 / 3)),
        ((5, 5, 5), (0.5, 0.5, 0.5)),
        ((7,), (1.0,)),
    ],
)
def test_points_by_place(standing: tuple[int, ...], points: tuple[float, ...]) -> None:
    """(n - place) / (n - 1), ties sharing the mean of their places."""
    assert place_points(standing, range(len(standing))) == pytest.approx(points)


def test_seats_have_their_sides_points() -> None:
    """Partners sit opposite (R-C5.4T); keys may be tuples."""
    assert place_points([(1, 98), (1, 121)], (0, 1, 0, 1)) == (0.0, 1.0, 0.0, 1.0)


def standing(*scores: int) -> Outcome:
    """Return the outcome of seats at these scores, each for itself."""
    return Outcome(place_points(scores, range(len(scores))), scores, (0,) * len(scores))


@pytest.mark.parametrize(
    ("seat", "points"), [(0, (0.0, 1.0, 0.5)), (1, (1.0, 0.0, 0.5)), (2, (0.5, 1.0, 0.0))]
)
def test_the_seat_at_fault_is_last(seat: int, points: tuple[float, ...]) -> None:
    """The others by the scores as they stood: 30, 80 and 10."""
    game = catalog.game("draw")
    assert forfeit_points(game, 3, standing(30, 80, 10), seat) == points


def test_others_that_tie_share() -> None:
    """Four at 0: first to third place shared by three, and the fault is last."""
    points = forfeit_points(catalog.game("draw"), 4, standing(0, 0, 0, 0), 1)
    assert points == pytest.approx((2 / 3, 0.0, 2 / 3, 2 / 3))


@pytest.mark.parametrize("seat", [0, 2])
def test_partners_fall_together(seat: int) -> None:
    """Seats 0 and 2 against 1 and 3, also where the side at fault led."""
    ahead = Outcome((1.0, 0.0, 1.0, 0.0), (100, 5, 100, 5), (0, 0, 0, 0))
    game = catalog.game("cribbage-partners")
    assert forfeit_points(game, 4, ahead, seat) == (0.0, 1.0, 0.0, 1.0)


def test_alone_a_fault_gives_nothing() -> None:
    """Solitaire has one side: 0, not 1."""
    game = catalog.game("cribbage-solitaire")
    assert forfeit_points(game, 1, Outcome((1.0,), (40,), (0,)), 0) == (0.0,)
