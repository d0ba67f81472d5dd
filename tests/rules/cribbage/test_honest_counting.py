"""Who claims all that it may, and never calls, ends where the table would have counted (R-C8)."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from pegboard.rules import catalog
from pegboard.rules.errors import ClaimTooHigh
from pegboard.rules.game import State
from pegboard.rules.shuffle import SeededChance

CLAIM_MOST = 99


def claim_all(state: State, seat: int, move: Any) -> list[Any]:
    """Make the move with the highest claim that is not refused."""
    for number in range(CLAIM_MOST, -1, -1):
        try:
            return state.apply(seat, move.with_number(number))
        except ClaimTooHigh:
            continue
    raise AssertionError("not even a claim of 0 is accepted")


def settle(state: State) -> None:
    """Pass all open calls and claim what is due, up to the next free choice."""
    while state.to_act():
        seat = state.to_act()[0]
        firsts = {other: state.choices(other).moves[0] for other in state.to_act()}
        passing = [other for other, move in firsts.items() if move.text() == "PASS"]
        if passing:
            state.apply(passing[0], firsts[passing[0]])
        elif firsts[seat].text() == "CLAIM":
            claim_all(state, seat, firsts[seat])
        else:
            return


@pytest.mark.parametrize(
    ("options", "seats"),
    [
        ({}, 3),
        ({"form": "partners"}, 4),
        ({"zero_penalty": "on", "back_up_10": "on"}, 4),
        ({"jokers": "zero"}, 3),
        ({"jokers": "wild", "three_runs": "on"}, 2),
        ({"form": "five-card"}, 2),
        ({"form": "ten-card"}, 2),
        ({"form": "five-crib"}, 5),
    ],
)
def test_honest_claims_add_up_to_the_count(options: dict[str, str], seats: int) -> None:
    """The same deals and plays: the same winner, and the same scores to the point."""
    options = {**options, "target": "61"}
    chance = SeededChance(bytes(32), "honest")
    counted, _ = catalog.game("cribbage-muggins", {**options, "muggins": "off"}).start(
        seats, chance
    )
    claimed, _ = catalog.game("cribbage-muggins", options).start(seats, chance)
    rng = Random(1)
    while counted.to_act():
        settle(claimed)
        seat = counted.to_act()[0]
        move = rng.choice(counted.choices(seat).moves)
        counted.apply(seat, move)
        if move.text().startswith("PLAY"):
            claim_all(claimed, seat, move)
        else:
            claimed.apply(seat, move)
    settle(claimed)
    assert claimed.outcome() == counted.outcome() is not None
