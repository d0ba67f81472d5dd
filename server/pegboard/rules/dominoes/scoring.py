"""What a round is worth and when a game is won (R-D19 to R-D29)."""

from __future__ import annotations

from collections.abc import Sequence

from pegboard.rules.game import Seat

TARGET_OF_TWO = 100
TARGET_OF_MORE = 61


def target_for(seats: int) -> int:
    """Return the score that wins a game (R-D27)."""
    return TARGET_OF_TWO if seats == 2 else TARGET_OF_MORE


def hand_size(seats: int) -> int:
    """Return how many tiles each seat is dealt (R-D4)."""
    return 7 if seats < 4 else 6


def out_points(pips: Sequence[int], winner: Seat) -> int:
    """Return what `winner` scores by going out: the pips of all rivals (R-D22)."""
    return sum(pips) - pips[winner]


def block_winner(pips: Sequence[int]) -> Seat | None:
    """Return the seat with the one lowest hand, None if several share it (R-D23)."""
    lowest = min(pips)
    return pips.index(lowest) if pips.count(lowest) == 1 else None


def block_points(pips: Sequence[int], winner: Seat) -> int:
    """Return what the lowest hand scores in a block: the rivals' pips less its own, once (R-D23)."""
    return sum(pips) - 2 * pips[winner]


def leaders(scores: Sequence[int], target: int) -> tuple[Seat, ...]:
    """Return the winners by these scores: none below the target, several in a tie (R-D28)."""
    highest = max(scores)
    if highest < target:
        return ()
    return tuple(seat for seat, score in enumerate(scores) if score == highest)
