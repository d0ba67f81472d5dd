"""What hands, cribs and counts are worth, for bots and people: cards or their text.

    >>> show_points("5C 5D 5H JS", "5S")
    29
    >>> peg_points("7C 8D")
    2

Cards may be a text like `5C 5D` or a sequence of `Card`. The functions of `scoring`, which the rules
themselves call, take cards only and are faster by the reading of the arguments.
"""

from __future__ import annotations

from collections.abc import Sequence

from pegboard.rules.cards import NO_CARD, VALUE, Card, parse_card, parse_cards
from pegboard.rules.cribbage.scoring import pegging, show
from pegboard.rules.cribbage.scoring.items import Item
from pegboard.rules.cribbage.scoring.show import PLAIN, ShowRules

Cards = str | Sequence[Card]


def show_points(
    hand: Cards,
    starter: str | Card | None = None,
    crib: bool = False,
    rules: ShowRules = PLAIN,
) -> int:
    """Return the points of a hand, or of a crib, with the starter (None: without one).

    Raises `NotationError` for a text that is not cards.
    """
    return show.show_points(_cards(hand), _starter(starter), crib, rules)


def show_items(
    hand: Cards,
    starter: str | Card | None = None,
    crib: bool = False,
    rules: ShowRules = PLAIN,
) -> tuple[Item, ...]:
    """Return the combinations that make the points: fifteens, pairs, runs, flush, nobs.

    Raises `NotationError` for a text that is not cards.
    """
    return show.show_items(_cards(hand), _starter(starter), crib, rules)


def peg_points(count: Cards, rules: ShowRules = PLAIN) -> int:
    """Return what the last card of a running count scores, without the point for a go or the last card.

    Raises `NotationError` for a text that is not cards.
    """
    cards = _cards(count)
    return pegging.peg_points(cards, sum(VALUE[card] for card in cards), rules)


def peg_items(count: Cards, rules: ShowRules = PLAIN) -> tuple[Item, ...]:
    """Return the combinations that make those points: fifteen, pairs, run, thirty-one.

    Raises `NotationError` for a text that is not cards.
    """
    cards = _cards(count)
    return pegging.peg_items(cards, sum(VALUE[card] for card in cards), rules)


def _cards(cards: Cards) -> Sequence[Card]:
    return parse_cards(cards) if isinstance(cards, str) else cards


def _starter(starter: str | Card | None) -> Card:
    if starter is None:
        return NO_CARD
    return parse_card(starter) if isinstance(starter, str) else starter
