"""Cases of the show and of single counts of the play."""

from __future__ import annotations

from collections.abc import Sequence

from pegboard.rules.cards import NO_CARD, VALUE, Card, cards_text
from pegboard.rules.cribbage.scoring.items import Item, ItemKind
from pegboard.rules.cribbage.scoring.pegging import peg_items, peg_points
from pegboard.rules.cribbage.scoring.show import ShowRules, best_identities, show_items, show_points
from pegboard.rules.errors import NotationError
from pegboard.rules.vectors.case import (
    Case,
    card_of,
    cards_of,
    expect,
    field,
    numbers,
    played_card,
    texts,
)

PARTS = {
    "fifteens": ItemKind.FIFTEEN,
    "pairs": ItemKind.PAIR,
    "runs": ItemKind.RUN,
    "flush": ItemKind.FLUSH,
    "nobs": ItemKind.NOBS,
}


def run_show(case: Case) -> None:
    """Score a hand or crib, by parts: kinds show, show5, show9card, jokers_zero, jokers_bound."""
    cards = cards_of(texts(case, "hand"))
    check_score(
        cards, card_of(case, "starter"), _is_crib(case), _rules(case), field(case, "expect")
    )


def run_crib_without_starter(case: Case) -> None:
    """Score a crib of five cards: kind crib5_no_starter (R-C5.5P2)."""
    cards = cards_of(texts(case, "cards"))
    check_score(cards, NO_CARD, True, _rules(case), field(case, "expect"))


def run_jokers_wild(case: Case) -> None:
    """Find the best identities of unbound jokers: kind jokers_wild_unbound (R-C9.3)."""
    cards, starter = cards_of(texts(case, "hand")), card_of(case, "starter")
    crib, rules = _is_crib(case), _rules(case)
    expect("best", show_points(cards, starter, crib, rules), field(case, "best"))
    assignment = field(case, "assignment")
    words = [assignment] if isinstance(assignment, str) else assignment
    chosen = best_identities(cards, starter, crib, rules)
    expect("assignment", cards_text(chosen), cards_text(cards_of(words)))
    if "breakdown" in case:
        check_score(cards, starter, crib, rules, case["breakdown"])


def check_score(
    cards: Sequence[Card], starter: Card, crib: bool, rules: ShowRules, wanted: Case
) -> None:
    """Compare points and items with {"fifteens":..,"total":..}; parts left out are not compared."""
    items = show_items(cards, starter, crib, rules)
    for part, kind in PARTS.items():
        if part in wanted:
            expect(part, _points(items, kind), wanted[part])
    expect("total", sum(item.points for item in items), field(wanted, "total"))
    expect("fast total", show_points(cards, starter, crib, rules), wanted["total"])


def run_count(case: Case) -> None:
    """Play one count card by card: kind peg_run."""
    cards = [played_card(word) for word in texts(case, "cards")]
    counts, points, rules = numbers(case, "counts"), numbers(case, "points"), _rules(case)
    if not len(cards) == len(counts) == len(points):
        raise NotationError("'cards', 'counts' and 'points' have to be equally long")
    count = 0
    for place, card in enumerate(cards):
        count += VALUE[card]
        played = cards[: place + 1]
        items = peg_items(played, count, rules)
        expect(f"count at card {place + 1}", count, counts[place])
        expect(f"points at card {place + 1}", peg_points(played, count, rules), points[place])
        expect(f"items at card {place + 1}", sum(item.points for item in items), points[place])


def _points(items: Sequence[Item], kind: ItemKind) -> int:
    return sum(item.points for item in items if item.kind == kind)


def _is_crib(case: Case) -> bool:
    return bool(case.get("crib", False))


def _rules(case: Case) -> ShowRules:
    """Return what is counted; the kind names the jokers unless the field does."""
    by_kind = {"jokers_zero": "zero", "jokers_wild_unbound": "wild"}
    jokers = case.get("jokers", by_kind.get(str(case["kind"]), "none"))
    if jokers not in ("none", "wild", "zero"):
        raise NotationError(f"no jokers {jokers!r}; write none, wild or zero")
    return ShowRules(bool(case.get("three_runs", False)), jokers)
