"""The scores beside PyPI `cribbage-scorer`, an independent implementation with no known fault."""

from __future__ import annotations

import random

import cribbage_scorer.cribbage_scorer as oracle
import pytest

from pegboard.rules.cards import PACK, RANK, SUIT, SUITS, VALUE, Card, cards_text
from pegboard.rules.cribbage.scoring.pegging import peg_points
from pegboard.rules.cribbage.scoring.show import show_items, show_points

pytestmark = pytest.mark.oracle

CASES = 100_000


def theirs(card: Card) -> tuple[int, str]:
    """Return a card as the oracle has it: rank from 1, suit letter."""
    return RANK[card], SUITS[SUIT[card] - 1]


def narrow_packs() -> list[list[Card]]:
    """Return a whole pack, and packs where runs, pairs and flushes are common."""
    pack = list(PACK)
    return [pack, pack[12:40], [card for card in pack if SUIT[card] == 1 or RANK[card] in (5, 11)]]


def test_shows_agree() -> None:
    """100,000 hands and cribs: points, and the sum of the items."""
    rng = random.Random(20261130)
    packs = narrow_packs()
    for number in range(CASES):
        *hand, starter = rng.sample(packs[number % 3], 5)
        crib = number % 2 == 1
        points = show_points(hand, starter, crib)
        expected = oracle.show_calc_score(theirs(starter), list(map(theirs, hand)), crib)[0]
        assert points == expected, f"{cards_text(hand)} {cards_text([starter])} crib {crib}"
        if number % 10 == 0:
            assert sum(item.points for item in show_items(hand, starter, crib)) == expected


def test_counts_agree() -> None:
    """Each card of random counts, at least 100,000 cards in all."""
    rng = random.Random(1130)
    packs = narrow_packs()
    compared = number = 0
    while compared < CASES:
        number += 1
        played: list[Card] = []
        count = 0
        for card in rng.sample(packs[number % 2], 12):
            count += VALUE[card]
            if count > 31:
                break
            played.append(card)
            their_count, expected, _ = oracle.play_score_ongoing(list(map(theirs, played)))
            assert (count, peg_points(played, count)) == (their_count, expected)
            compared += 1
