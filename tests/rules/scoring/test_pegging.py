"""The play: what the last card of a count scores."""

from __future__ import annotations

import random

import pytest

from pegboard.rules.cards import JOKER, PACK, RANK, VALUE, Card, parse_card
from pegboard.rules.cribbage.scoring.pegging import peg_items, peg_points
from pegboard.rules.cribbage.scoring.show import PLAIN, ShowRules

ZERO = ShowRules(jokers="zero")
WILD = ShowRules(jokers="wild")
THREE_RUNS = ShowRules(three_runs=True)


def played(text: str) -> list[Card]:
    """Read ranks, or cards, or JK."""
    return [parse_card(f"{word}C" if len(word) == 1 else word) for word in text.split()]


def points(text: str, rules: ShowRules = PLAIN) -> list[int]:
    """Return what each card of a count scores."""
    cards = played(text)
    counts = [sum(VALUE[card] for card in cards[: size + 1]) for size in range(len(cards))]
    return [peg_points(cards[: size + 1], count, rules) for size, count in enumerate(counts)]


@pytest.mark.parametrize(
    ("cards", "rules", "expected"),
    [
        # R-C9.4: 15 scores again for each joker played on it; two jokers are no pair (R-C9.5).
        ("8 7 JK JK", ZERO, [0, 2, 2, 2]),
        # R-C9.4: rank 0 lies below the ace, in any order.
        ("2 JK A", ZERO, [0, 0, 3]),
        # R-C9.5: a joker breaks a pair and a run like any other card.
        ("4 JK 4", ZERO, [0, 0, 0]),
        ("4 5 JK 6", ZERO, [0, 0, 0, 2]),
        # a run of eight.
        ("7 5 3 A JK 2 4 6", ZERO, [0, 0, 2, 0, 0, 4, 6, 8]),
        # R-C9.4: 31 is settled when the count ends.
        ("T T A T", ZERO, [0, 2, 0, 0]),
        ("T T A T", PLAIN, [0, 2, 0, 2]),
        # R-C9.2: five and six of a kind.
        ("5 5 5 5 5 5", WILD, [0, 2, 8, 12, 20, 30]),
        # R-C9.8: only the last three cards.
        ("2 3 4 5 6", THREE_RUNS, [0, 0, 3, 3, 3]),
        ("2 4 5 3", THREE_RUNS, [0, 0, 0, 3]),
        ("5 2 4 3", THREE_RUNS, [0, 0, 0, 3]),
        ("5 2 3 4", PLAIN, [0, 0, 0, 4]),
        # R-C1.1: no wrap.
        ("Q K A", PLAIN, [0, 0, 0]),
        # R-C3.10: a run may stand behind cards that do not belong to it.
        ("9 A 3 2", PLAIN, [0, 0, 0, 5]),
        ("4 4 2 3", PLAIN, [0, 2, 0, 3]),
    ],
)
def test_scores_of_the_variants(cards: str, rules: ShowRules, expected: list[int]) -> None:
    """Each row names its rule."""
    assert points(cards, rules) == expected


def test_items_name_their_cards_in_the_order_of_play() -> None:
    """Fifteen, pairs, run, thirty-one; the sums name all cards of the count."""
    cards = played("9D AC 3H 2S")
    assert [item.text() for item in peg_items(cards, 15)] == [
        "fifteen 2 (9D AC 3H 2S)",
        "run 3 (AC 3H 2S)",
    ]
    cards = played("TD 7C 7H 7S")
    assert [item.text() for item in peg_items(cards, 31)] == [
        "pair 6 (7C 7H 7S)",
        "thirty_one 2 (TD 7C 7H 7S)",
    ]


def slow_points(cards: list[Card], count: int, rules: ShowRules) -> int:
    """Score by the letter of R-C3.8 to R-C3.10: look at every tail of the count."""
    ranks = [RANK[card] for card in cards]
    total = 2 * (count == 15) + 2 * (count == 31 and rules.jokers != "zero")
    tails = [ranks[-size:] for size in range(2, len(ranks) + 1)]
    total += max(
        (len(tail) * (len(tail) - 1) for tail in tails if len(set(tail)) == 1 and tail[0] > 0),
        default=0,
    )
    runs = [
        len(tail)
        for tail in tails
        if len(tail) >= 3 and sorted(tail) == list(range(min(tail), min(tail) + len(tail)))
    ]
    if rules.three_runs:
        runs = [size for size in runs if size == 3]
    return total + max(runs, default=0)


@pytest.mark.parametrize(
    "rules", [PLAIN, THREE_RUNS, ZERO, WILD, ShowRules(three_runs=True, jokers="zero")]
)
def test_points_and_items_agree_with_the_letter_of_the_rules(rules: ShowRules) -> None:
    """Random counts of every length, duplicates of a card included."""
    rng = random.Random(f"{rules}")
    compared = 0
    for _ in range(700):
        spread = rng.choice([2, 4, 13])
        cards: list[Card] = []
        count = 0
        while True:
            joker = rules.jokers == "zero" and rng.random() < 0.2
            card = JOKER if joker else PACK[rng.randrange(4 * spread)]
            count += VALUE[card]
            if count > 31 or len(cards) > 12:
                break
            cards.append(card)
            expected = slow_points(cards, count, rules)
            assert peg_points(cards, count, rules) == expected
            assert sum(item.points for item in peg_items(cards, count, rules)) == expected
            compared += 1
    assert compared > 1500
