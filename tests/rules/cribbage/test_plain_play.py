"""The plain play does what the general one does: the same matches, played by both."""

from __future__ import annotations

from itertools import combinations
from random import Random
from typing import Any

import pytest

from pegboard.rules import catalog
from pegboard.rules.cards import PACK
from pegboard.rules.cribbage.game import Cribbage
from pegboard.rules.cribbage.moves import GO, PLAYS, Play, discard
from pegboard.rules.cribbage.phases.discard import pairs_of_six
from pegboard.rules.cribbage.phases.plain_play import PlainPlaying
from pegboard.rules.cribbage.setup import setup_of
from pegboard.rules.cribbage.state import CribbageState
from pegboard.rules.errors import PegboardError
from pegboard.rules.shuffle import SeededChance

GAMES = 3
MOVES = 250
"""More than most games have; random bids can make an auction endless."""
PLAIN = [
    (variant.id, seats)
    for variant in catalog.CATALOG.values()
    if isinstance(variant.game, Cribbage)
    and variant.game.jokers == "none"
    and not variant.game.muggins
    and variant.game.form not in ("solitaire", "squares")
    for seats in variant.game.seats
]


def both(variant: str, seats: int, options: dict[str, str], seed: int) -> tuple[Any, Any]:
    """Return the same match twice: by the plain play and by the general one."""
    game = catalog.game(variant, options)
    assert isinstance(game, Cribbage)
    setup = setup_of(game, seats)
    fast, general = (
        CribbageState.start(setup, SeededChance(seed.to_bytes(32, "big"), "plain"), fast=fast)
        for fast in (True, False)
    )
    assert fast[1] == general[1]
    return fast[0], general[0]


def same(fast: CribbageState, general: CribbageState, seats: int) -> None:
    """Compare all that anyone can see, who may do what, and how it stands."""
    assert fast.to_act() == general.to_act()
    assert fast.standing() == general.standing()
    assert fast.outcome() == general.outcome()
    for seat in (None, *range(seats)):
        assert fast.view(seat) == general.view(seat)
    for seat in range(seats):
        assert fast.choices(seat) == general.choices(seat)


def done(state: CribbageState, seat: int, move: Any) -> Any:
    """Return the events of a move, or the error that refuses it."""
    try:
        return state.apply(seat, move)
    except PegboardError as error:
        return type(error), str(error)


@pytest.mark.parametrize("auto_go", ["on", "off"])
@pytest.mark.parametrize(("variant", "seats"), PLAIN)
def test_both_play_the_same_match(variant: str, seats: int, auto_go: str) -> None:
    for seed in range(GAMES):
        fast, general = both(variant, seats, {"auto_go": auto_go}, seed)
        rng = Random(seed)
        plays = 0
        for _ in range(MOVES):
            if not fast.to_act():
                break
            same(fast, general, seats)
            if rng.random() < 0.2:
                # Moves that are mostly not legal: refused alike, with nothing changed.
                seat = rng.randrange(seats)
                odd = rng.choice((PLAYS[rng.choice(PACK)], GO, Play(rng.choice(PACK), claim=0)))
            else:
                seat = rng.choice(fast.to_act())
                odd = rng.choice(fast.choices(seat).expand())
            plays += isinstance(fast.phase, PlainPlaying)
            assert done(fast, seat, odd) == done(general, seat, odd)
            if rng.random() < 0.05:
                fast, general = fast.copy(), general.copy()
        same(fast, general, seats)
        assert plays > 8


def test_pairs_of_six_are_the_combinations_in_order() -> None:
    rng = Random(6)
    for _ in range(200):
        hand = sorted(rng.sample(PACK, 6))
        assert pairs_of_six(hand) == tuple(map(discard, combinations(hand, 2)))
