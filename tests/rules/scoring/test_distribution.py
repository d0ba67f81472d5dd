"""Exhaustive: how many hands and cribs score what, over every deal there is."""

from __future__ import annotations

import csv
from collections import Counter
from itertools import combinations
from math import comb
from pathlib import Path

import pytest

from pegboard.rules.cards import NO_CARD, PACK
from pegboard.rules.cribbage.scoring.show import PLAIN, ShowRules, show_points, show_points_many

TABLES = Path(__file__).parents[2] / "vectors" / "distributions"


def published(column: str) -> Counter[int]:
    """Return the counts of all hands or cribs by score."""
    with (TABLES / "hand_distribution.csv").open(encoding="utf-8") as file:
        return Counter({int(row["score"]): int(row[column]) for row in csv.DictReader(file)})


def of_variant(name: str) -> Counter[int]:
    """Return the counts of a variant's space by score."""
    with (TABLES / "variant_distributions.csv").open(encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if row["variant"].startswith(name)]
    return Counter({int(row["score"]): int(row["count"]) for row in rows})


def distribution(size: int, crib: bool, rules: ShowRules) -> Counter[int]:
    """Count the scores of all hands of `size` cards with all starters."""
    counts: Counter[int] = Counter()
    for hand in combinations(PACK, size):
        starters = [card for card in PACK if card not in hand]
        counts.update(show_points_many(hand, starters, crib, rules))
    return counts


@pytest.mark.long
@pytest.mark.parametrize(("column", "crib"), [("hand_count", False), ("crib_count", True)])
def test_all_hands_and_all_cribs(column: str, crib: bool) -> None:
    """12,994,800 of each (R-C4)."""
    counts = distribution(4, crib, PLAIN)
    assert counts.total() == 12_994_800
    assert counts == published(column)


@pytest.mark.long
def test_all_hands_with_three_runs() -> None:
    """12,994,800, and 19 is possible (R-C9.8)."""
    counts = distribution(4, crib=False, rules=ShowRules(three_runs=True))
    assert counts.total() == 12_994_800
    assert counts == of_variant("three_runs_hand")


@pytest.mark.long
def test_all_hands_of_three() -> None:
    """1,082,900 of the five-card game (R-C6.4)."""
    counts = distribution(3, crib=False, rules=PLAIN)
    assert counts.total() == 1_082_900
    assert counts == of_variant("five_card_hand")


@pytest.mark.long
def test_all_cribs_of_five_without_starter() -> None:
    """2,598,960 (R-C5.5P2)."""
    counts = Counter(show_points(crib, NO_CARD, crib=True) for crib in combinations(PACK, 5))
    assert counts.total() == comb(len(PACK), 5)
    assert counts == of_variant("five_players_no2_crib")
