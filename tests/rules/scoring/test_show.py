"""The show: fast points, named combinations, best identities of jokers."""

from __future__ import annotations

import random
from itertools import combinations_with_replacement, product

import pytest

from pegboard.rules.cards import (
    JOKER,
    NO_CARD,
    PACK,
    PACK_WITH_JOKERS,
    RANK,
    Card,
    cards_text,
    parse_card,
)
from pegboard.rules.cribbage.scoring.items import Item, ItemKind
from pegboard.rules.cribbage.scoring.rank_table import product_of_primes
from pegboard.rules.cribbage.scoring.show import (
    PLAIN,
    ShowRules,
    best_identities,
    show_items,
    show_points,
    show_points_many,
)

WILD = ShowRules(jokers="wild")
ZERO = ShowRules(jokers="zero")
ALL_RULES = [ShowRules(runs, jokers) for runs in (False, True) for jokers in ("none", "zero")]


def cards(text: str) -> tuple[Card, ...]:
    """Read cards separated by blanks."""
    return tuple(map(parse_card, text.split()))


def items_text(items: tuple[Item, ...]) -> list[str]:
    """Return the canonical text of each item."""
    return [item.text() for item in items]


def test_items_are_named_in_the_documented_order() -> None:
    """Fifteens by size, pairs, runs over the ascending cards; then flush and nobs."""
    items = show_items(cards("JS 5S 4S 6S"), cards("5C")[0], False, PLAIN)
    assert items_text(items) == [
        "fifteen 2 (5C JS)",
        "fifteen 2 (5S JS)",
        "fifteen 2 (4S 5C 6S)",
        "fifteen 2 (4S 5S 6S)",
        "pair 2 (5C 5S)",
        "run 3 (4S 5C 6S)",
        "run 3 (4S 5S 6S)",
        "flush 4 (JS 5S 4S 6S)",
    ]


def test_flush_names_the_starter_and_nobs_the_jack() -> None:
    """A fifth card of the suit joins the flush (R-C4.4); nobs is the Jack alone (R-C4.6)."""
    items = show_items(cards("2H 4H 9H JH"), cards("7H")[0], False, PLAIN)
    assert items_text(items)[-2:] == ["flush 5 (2H 4H 9H JH 7H)", "nobs 1 (JH)"]


@pytest.mark.parametrize(
    ("hand", "starter", "crib", "points"),
    [
        ("2C 4C 6C 8C", "TC", False, 5),
        ("2C 4C 6C 8C", "TD", False, 4),
        ("2C 4C 6C 8D", "TC", False, 0),
        ("2C 4C 6C 8C", "TD", True, 0),
        ("2C 4C 6C 8C", "TC", True, 5),
        ("2C 4C 6C", "TD", False, 3),
        ("2C 4C 6C", "TC", False, 4),
        ("2C 4C 6D", "TC", False, 0),
        ("AC 2C 4C 6C 8C TC", "QD", False, 6),
        ("AC 2C 4C 6C 8C TC", "QC", False, 7),
        ("AC 2C 4C 6C 8C TC", "QD", True, 0),
        ("AC 2C 4C 6C 8C TC", "QC", True, 7),
        ("2C 4C 6C 8C TC", "--", True, 5),
        ("2C 4C 6C 8C TD", "--", True, 0),
    ],
)
def test_flush_sizes(hand: str, starter: str, crib: bool, points: int) -> None:
    """By size of the hand: R-C4.4, R-C4.5, R-C5.9, R-C5.5P2, R-C6.4."""
    turned = NO_CARD if starter == "--" else parse_card(starter)
    items = show_items(cards(hand), turned, crib, PLAIN)
    assert sum(item.points for item in items if item.kind == ItemKind.FLUSH) == points


@pytest.mark.parametrize(
    ("hand", "starter", "crib", "points"),
    [
        ("2H 4H 9H JK", "KS", False, 3),
        ("2H 4H 9H JK", "KH", False, 4),
        ("2H 4H JK JK", "KH", False, 3),
        ("2H 4H JK JK", "KS", False, 0),
        ("2H 4H 9H KH", "JK", False, 4),
        ("2H 4H 9H KH", "JK", True, 4),
        ("2H 4H 9H JK", "KS", True, 0),
        ("2H 4H 9H JK", "KH", True, 4),
        ("2H 4H 9H JK", "JK", True, 3),
        ("2H 4H JK JK", "KH", True, 3),
        ("2H 4H JK JK", "KD", True, 0),
        ("2H JK JK", "KH", False, 0),
    ],
)
def test_zero_joker_flushes(hand: str, starter: str, crib: bool, points: int) -> None:
    """Jokers are left out; fewer than three cards do not count (R-C9.5, X-16)."""
    items = show_items(cards(hand), parse_card(starter), crib, ZERO)
    assert sum(item.points for item in items if item.kind == ItemKind.FLUSH) == points


def test_each_zero_joker_makes_its_own_run() -> None:
    """Joker, ace and two run, once for each joker; two jokers are no pair (R-C9.4, R-C9.5)."""
    items = show_items(cards("JK JK AC 2D"), parse_card("KS"), False, ZERO)
    assert items_text(items) == ["run 3 (AC 2D JK)", "run 3 (AC 2D JK)"]


def test_a_joker_starter_gives_no_nobs_to_zero_jokers() -> None:
    """A joker has no suit to match (R-C9.4)."""
    assert show_points(cards("JC JD 2H 8S"), JOKER, False, ZERO) == 2


def test_nobs_is_one_even_with_two_such_jacks() -> None:
    """A joker declared as the Jack that is there already adds no second nob (X-06)."""
    items = show_items(cards("JC JC 2H 8S"), parse_card("6C"), False, WILD)
    assert [item.points for item in items if item.kind == ItemKind.NOBS] == [1]


def test_a_joker_declared_as_the_starter_jack_earns_nobs() -> None:
    """The Jack is in the hand, by declaration (R-C9.3)."""
    items = show_items(cards("JC 2D 8H 4S"), parse_card("JC"), False, WILD)
    assert "nobs 1 (JC)" in items_text(items)


def brute_best(
    hand: tuple[Card, ...], starter: Card, crib: bool, three_runs: bool = False
) -> tuple[Card, ...]:
    """Try all 52 identities of each joker, in the order of the tie-break (R-C9.3)."""
    others = [card for card in hand if card != JOKER]
    jokers = len(hand) - len(others)
    places = jokers + (starter == JOKER)

    def points(chosen: tuple[Card, ...]) -> int:
        turned = chosen[-1] if starter == JOKER else starter
        return show_points((*others, *chosen[:jokers]), turned, crib, ShowRules(three_runs))

    return max(product(PACK, repeat=places), key=points)


@pytest.mark.parametrize("three_runs", [False, True])
@pytest.mark.parametrize("crib", [False, True])
@pytest.mark.parametrize("jokers", ["hand", "starter", "hand and starter", "two in hand"])
def test_best_identities_are_those_of_trying_all(jokers: str, crib: bool, three_runs: bool) -> None:
    """The pruned search finds the same cards as 52 (52 x 52) trials, ties included."""
    rng = random.Random(f"{jokers} {crib}")
    rules = ShowRules(three_runs, "wild")
    # Suited hands too: that is where flush and nobs decide.
    packs = [PACK, PACK[::4], [*PACK[1::4], parse_card("JD")]]
    for number in range(2 if "and" in jokers or "two" in jokers else 30):
        drawn = rng.sample(packs[number % 3], 5)
        if jokers.startswith("hand"):
            drawn[0] = JOKER
        if jokers.endswith("starter"):
            drawn[4] = JOKER
        if jokers == "two in hand":
            drawn[:2] = [JOKER, JOKER]
        hand, starter = tuple(drawn[:4]), drawn[4]
        best = best_identities(hand, starter, crib, rules)
        assert best == brute_best(hand, starter, crib, three_runs), cards_text(drawn)


def test_six_of_a_kind_scores_thirty() -> None:
    """Both jokers declared as a King beside the four of them (R-C9.2)."""
    items = show_items(cards("KC KD KH KS KC KD"), parse_card("QD"), False, WILD)
    assert sum(item.points for item in items if item.kind == ItemKind.PAIR) == 30


def test_bound_jokers_need_no_identity() -> None:
    """Nothing is looked for where no joker is unbound, or jokers are not wild."""
    assert best_identities(cards("5C 5C 5D 5H"), parse_card("JS"), False, WILD) == ()
    assert best_identities(cards("JK 5C 5D 5H"), parse_card("JS"), False, ZERO) == ()


@pytest.mark.parametrize("rules", ALL_RULES)
@pytest.mark.parametrize("size", [3, 4, 5, 6])
def test_items_add_up_to_the_points(rules: ShowRules, size: int) -> None:
    """Sums over ranks and enumeration of subsets are two programs; they agree on random hands."""
    rng = random.Random(f"{rules} {size}")
    pack = PACK_WITH_JOKERS if rules.jokers == "zero" else PACK
    for number in range(400):
        # Few ranks, so that pairs and double runs are common.
        narrow = pack if number % 2 else [card for card in pack if RANK[card] < 8]
        *hand, starter = rng.sample(narrow, size + 1)
        crib = bool(number & 2)
        turned = NO_CARD if size == 5 and crib else starter
        items = show_items(tuple(hand), turned, crib, rules)
        points = show_points(tuple(hand), turned, crib, rules)
        assert points == sum(item.points for item in items), cards_text((*hand, turned))


@pytest.mark.parametrize("rules", [*ALL_RULES, WILD])
def test_many_starters_are_one_by_one(rules: ShowRules) -> None:
    """The bulk function is the single one, faster."""
    rng = random.Random(5)
    for crib in (False, True):
        hand = tuple(rng.sample(PACK, 4))
        starters = [card for card in (*PACK, JOKER) if card not in hand]
        if rules.jokers == "none":
            starters.remove(JOKER)
        expected = [show_points(hand, starter, crib, rules) for starter in starters]
        assert show_points_many(hand, starters, crib, rules) == expected


def test_products_of_primes_tell_all_rank_multisets_apart() -> None:
    """A pack has 6,175 multisets of five ranks; all lie below 2^30, where integers are fastest."""
    keys = [
        product_of_primes(clubs)
        for clubs in combinations_with_replacement(PACK[::4], 5)
        if max(map(clubs.count, clubs)) <= 4
    ]
    assert len(keys) == len(set(keys)) == 6175
    assert max(keys) < 1 << 30
