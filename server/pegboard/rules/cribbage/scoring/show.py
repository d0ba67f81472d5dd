"""The show: what a hand or a crib is worth (R-C4), in every variant.

A hand is 3, 4 or 6 cards, a crib 4, 5 or 6; the starter comes apart, NO_CARD if it is not counted
(R-C5.5P2). A played wild joker arrives as the card that it was declared to be, so a card may be there
twice; an unbound one arrives as JOKER and takes the best identity (R-C9.3).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import product
from typing import Final, NamedTuple

from pegboard.rules.cards import JOKER, NO_CARD, PACK, RANK, SUIT, Card, by_card
from pegboard.rules.cribbage.scoring.items import Item, ItemKind
from pegboard.rules.cribbage.scoring.rank_table import (
    PRIME,
    TABLE,
    THREE_RUNS_TABLE,
    product_of_primes,
)

NO_JOKERS: Final = "none"
WILD: Final = "wild"
ZERO: Final = "zero"


class ShowRules(NamedTuple):
    """What a variant counts. `jokers`: none, wild (R-C9.2) or zero (R-C9.4)."""

    three_runs: bool = False
    jokers: str = NO_JOKERS


PLAIN: Final = ShowRules()
"""The ordinary rules; passing this very object is the fastest."""

_POINTS: Final = TABLE.points
_JACK: Final[tuple[Card, ...]] = by_card(
    lambda card: NO_CARD if card == JOKER else Card(110 + SUIT[card]), NO_CARD
)
"""The Jack that is worth a nob, by starter; none for a joker (R-C9.4)."""

_CLUBS: Final = PACK[::4]
"""A card of each rank, ascending."""
_ACES: Final = PACK[:4]
"""A card of each suit."""

_LEAST_FLUSH: Final = 3
"""Smaller flushes arise with zero jokers only, and do not count (R-C9.5, X-16)."""


def show_points(cards: Sequence[Card], starter: Card, crib: bool, rules: ShowRules = PLAIN) -> int:
    """Return the points of a hand or crib."""
    if (rules is not PLAIN and rules != PLAIN) or len(cards) != 4 or starter < 0:
        return _any_points(cards, starter, crib, rules)
    a, b, c, d = cards
    try:
        points = _POINTS[PRIME[a] * PRIME[b] * PRIME[c] * PRIME[d] * PRIME[starter]]
    except KeyError:
        points = TABLE.fill((a, b, c, d, starter))
    if SUIT[a] == SUIT[b] == SUIT[c] == SUIT[d]:
        if SUIT[starter] == SUIT[a]:
            points += 5
        elif not crib:
            points += 4
    if _JACK[starter] in cards:
        points += 1
    return points


def show_points_many(
    cards: Sequence[Card], starters: Iterable[Card], crib: bool, rules: ShowRules = PLAIN
) -> list[int]:
    """Return the points of one hand or crib with each of the starters, in their order.

    Several times faster than asking one by one; for bots that weigh a discard.
    """
    starters = tuple(starters)
    if rules.jokers != NO_JOKERS or min(starters, default=0) < 0:
        return [show_points(cards, starter, crib, rules) for starter in starters]
    table = THREE_RUNS_TABLE if rules.three_runs else TABLE
    points, key = table.points, product_of_primes(cards)
    try:
        by_rank = [points[key * PRIME[club]] for club in _CLUBS]
    except KeyError:
        by_rank = [table.fill((*cards, club)) for club in _CLUBS]
    by_suit = [_suit_points(cards, ace, crib) for ace in _ACES]
    return [by_rank[RANK[starter] - 1] + by_suit[SUIT[starter] - 1] for starter in starters]


def show_items(
    cards: Sequence[Card], starter: Card, crib: bool, rules: ShowRules = PLAIN
) -> tuple[Item, ...]:
    """Return the combinations that make the points: fifteens, pairs, runs, flush, nobs.

    Over the ascending cards, the starter among them, each kind comes by number of cards, then in the
    order of `itertools.combinations`; a flush names the hand cards, then the starter; the nob names the
    Jack. A wild joker is named by the card that it stands for.
    """
    if rules.jokers == WILD:
        cards, starter = _bound(cards, starter, crib, rules)
    ascending = sorted(cards if starter < 0 else (*cards, starter))
    table = THREE_RUNS_TABLE if rules.three_runs else TABLE
    items = [
        Item(kind, points, pick(ascending)) for kind, points, pick in table.patterns(ascending)
    ]
    flush = _flush(cards, starter, crib)
    if flush:
        items.append(Item(ItemKind.FLUSH, len(flush), flush))
    if starter >= 0 and _JACK[starter] in cards:
        items.append(Item(ItemKind.NOBS, 1, (_JACK[starter],)))
    return tuple(items)


def best_identities(
    cards: Sequence[Card], starter: Card, crib: bool, rules: ShowRules
) -> tuple[Card, ...]:
    """Return the cards that unbound wild jokers stand for: those among `cards`, then the starter.

    They make the highest total over all identities, duplicates allowed; of equal ones, the lowest rank,
    then C, D, H, S, for the first joker first (R-C9.3).
    """
    if rules.jokers != WILD or (starter != JOKER and JOKER not in cards):
        return ()
    others = tuple(sorted(card for card in cards if card != JOKER))
    return _best_identities(others, len(cards) - len(others), starter, crib, rules.three_runs)


@lru_cache(maxsize=1 << 12)
def _best_identities(
    others: tuple[Card, ...], jokers: int, starter: Card, crib: bool, three_runs: bool
) -> tuple[Card, ...]:
    """Try all ranks, the promising first, then suits if flush and nobs could still decide."""
    rules = ShowRules(three_runs)
    places = jokers + (starter == JOKER)
    # Nobs, and a flush if the cards beside the jokers leave one open.
    suits_most = 1 + (len(others) + jokers + 1) * (len({SUIT[card] for card in others}) < 2)
    trials = []
    for clubs in product(_CLUBS, repeat=places):
        cards, turned = _with(others, clubs, jokers, starter)
        trials.append((_rank_points((*cards, turned) if turned >= 0 else cards, three_runs), clubs))
    trials.sort(reverse=True)
    best: tuple[Card, ...] = ()
    best_points = trials[0][0]
    for least, clubs in trials:
        if least + suits_most < best_points:
            break
        for suits in product(range(4), repeat=places):
            chosen = tuple(Card(club + suit) for club, suit in zip(clubs, suits, strict=True))
            points = _any_points(*_with(others, chosen, jokers, starter), crib, rules)
            if points > best_points or (points == best_points and (not best or chosen < best)):
                best, best_points = chosen, points
    return best


def _with(
    others: tuple[Card, ...], chosen: tuple[Card, ...], jokers: int, starter: Card
) -> tuple[tuple[Card, ...], Card]:
    """Return hand and starter with identities put in for the jokers."""
    return (*others, *chosen[:jokers]), chosen[-1] if starter == JOKER else starter


def _bound(
    cards: Sequence[Card], starter: Card, crib: bool, rules: ShowRules
) -> tuple[Sequence[Card], Card]:
    """Return hand and starter, unbound wild jokers replaced by their best identities."""
    chosen = best_identities(cards, starter, crib, rules)
    if not chosen:
        return cards, starter
    others = tuple(card for card in cards if card != JOKER)
    return _with(others, chosen, len(cards) - len(others), starter)


def _any_points(cards: Sequence[Card], starter: Card, crib: bool, rules: ShowRules) -> int:
    if rules.jokers == WILD:
        cards, starter = _bound(cards, starter, crib, rules)
    counted = cards if starter < 0 else (*cards, starter)
    return _rank_points(counted, rules.three_runs) + _suit_points(cards, starter, crib)


def _rank_points(counted: Sequence[Card], three_runs: bool) -> int:
    table = THREE_RUNS_TABLE if three_runs else TABLE
    points = table.points.get(product_of_primes(counted))
    return table.fill(counted) if points is None else points


def _suit_points(cards: Sequence[Card], starter: Card, crib: bool) -> int:
    """Return flush and nobs; nobs is 1 even with two such Jacks (X-06)."""
    nobs = starter >= 0 and _JACK[starter] in cards
    return len(_flush(cards, starter, crib)) + nobs


def _flush(cards: Sequence[Card], starter: Card, crib: bool) -> tuple[Card, ...]:
    """Return the cards of the flush, () for none (R-C4.4, R-C4.5, R-C5.9, R-C5.5P2, R-C6.4).

    All cards of a hand, and the starter if it fits; of a crib the starter must fit. Zero jokers have no
    suit and are left out (R-C9.5, X-16); they are the only jokers that come here.
    """
    suited = cards if JOKER not in cards else [card for card in cards if card != JOKER]
    suit = SUIT[suited[0]] if suited else 0
    for card in suited:
        if SUIT[card] != suit:
            return ()
    if starter not in (NO_CARD, JOKER):
        if SUIT[starter] == suit:
            suited = (*suited, starter)
        elif crib:
            return ()
    return tuple(suited) if len(suited) >= _LEAST_FLUSH else ()
