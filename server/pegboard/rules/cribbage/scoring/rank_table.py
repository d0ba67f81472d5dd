"""What depends on ranks only - fifteens, pairs and runs - looked up by the multiset of ranks.

A card has the prime of its rank, so the product over some cards names their multiset of ranks, in any
order (unique factorisation), and stays below 2^30 for five cards. The five-card table has 6,175
multisets (13 more with a copied fifth); entries are worked out when first met, so that importing costs
nothing and hands of three or six cards need no table of their own. A joker of the zero variant has
rank 0, below the ace, and the prime left over (R-C9.4).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import combinations, groupby
from math import prod
from operator import itemgetter
from typing import Any, Final

from pegboard.rules.cards import RANK, VALUE, Card, by_card
from pegboard.rules.cribbage.scoring.items import ItemKind

_PRIMES = (43, 2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41)
PRIME: Final[tuple[int, ...]] = by_card(lambda card: _PRIMES[RANK[card]])
"""The prime of the card's rank, by card."""

Pattern = tuple[ItemKind, int, Callable[[Any], tuple[Card, ...]]]
"""Kind and points of a combination, and what picks its cards out of the ascending cards."""


def product_of_primes(cards: Iterable[Card]) -> int:
    """Return the key of these cards in a table."""
    return prod(map(PRIME.__getitem__, cards))


class RankTable:
    """Points and combinations by product of primes, for one meaning of runs.

    `points` may be read directly; if a key is missing, `fill` works it out.
    """

    __slots__ = ("_patterns", "points", "three_runs")

    def __init__(self, three_runs: bool) -> None:
        self.three_runs = three_runs
        self.points: dict[int, int] = {}
        self._patterns: dict[int, tuple[Pattern, ...]] = {}

    def fill(self, cards: Sequence[Card]) -> int:
        """Work out, keep and return the points of these cards, the starter included."""
        points = fifteen_points(cards) + pair_points(cards) + run_points(cards, self.three_runs)
        self.points[product_of_primes(cards)] = points
        return points

    def patterns(self, ascending: Sequence[Card]) -> tuple[Pattern, ...]:
        """Return the combinations within these ascending cards: fifteens, pairs, runs.

        Each kind comes by number of cards, then in the order of `itertools.combinations`.
        """
        key = product_of_primes(ascending)
        patterns = self._patterns.get(key)
        if patterns is None:
            patterns = self._patterns[key] = tuple(_patterns(ascending, self.three_runs))
        return patterns


TABLE: Final = RankTable(three_runs=False)
THREE_RUNS_TABLE: Final = RankTable(three_runs=True)


def fifteen_points(cards: Sequence[Card]) -> int:
    """Return 2 for each subset that sums to 15 (R-C4.1); zero jokers double them (R-C9.4)."""
    ways = [1] + [0] * 15
    for card in cards:
        value = VALUE[card]
        for total in range(15, value - 1, -1):
            ways[total] += ways[total - value]
    return 2 * ways[15]


def pair_points(cards: Sequence[Card]) -> int:
    """Return n(n-1) for n cards of a rank (R-C4.2, R-C9.2); jokers are no pair (R-C9.5)."""
    return sum(size * (size - 1) for rank, size in _rank_sizes(cards) if rank)


def run_points(cards: Sequence[Card], three_runs: bool) -> int:
    """Return the points of all runs (R-C4.3), or of all runs of exactly three (R-C9.8)."""
    total = 0
    for stretch in _stretches(cards):
        if three_runs:
            total += sum(3 * prod(stretch[i : i + 3]) for i in range(len(stretch) - 2))
        elif len(stretch) >= 3:
            total += len(stretch) * prod(stretch)
    return total


def _rank_sizes(cards: Sequence[Card]) -> list[tuple[int, int]]:
    """Return (rank, number of cards), ascending."""
    ranks = sorted(RANK[card] for card in cards)
    return [(rank, len(list(same))) for rank, same in groupby(ranks)]


def _stretches(cards: Sequence[Card]) -> list[list[int]]:
    """Return the numbers of cards of each rank, by maximal stretch of consecutive ranks."""
    stretches: list[list[int]] = []
    previous = -2
    for rank, size in _rank_sizes(cards):
        if rank == previous + 1:
            stretches[-1].append(size)
        else:
            stretches.append([size])
        previous = rank
    return stretches


def _patterns(ascending: Sequence[Card], three_runs: bool) -> list[Pattern]:
    """Return all combinations by trying each subset: slow, plain, and unlike the sums above."""
    places = range(len(ascending))
    subsets = [some for size in range(2, len(places) + 1) for some in combinations(places, size)]
    ranks = [RANK[card] for card in ascending]
    fifteens, pairs, runs = list[Pattern](), list[Pattern](), list[Pattern]()
    for some in subsets:
        chosen = [ranks[place] for place in some]
        pick = itemgetter(*some)
        if sum(VALUE[ascending[place]] for place in some) == 15:
            fifteens.append((ItemKind.FIFTEEN, 2, pick))
        if len(some) == 2 and chosen[0] == chosen[1] > 0:
            pairs.append((ItemKind.PAIR, 2, pick))
        # A run inside a longer run does not count (R-C4.3), but does with three-runs (R-C9.8).
        size = 3 if three_runs else max(3, _longest_run(ranks, chosen[0]))
        if len(some) == size and _is_run(chosen):
            runs.append((ItemKind.RUN, size, pick))
    return fifteens + pairs + runs


def _is_run(ranks: Sequence[int]) -> bool:
    return len(set(ranks)) == len(ranks) and max(ranks) - min(ranks) == len(ranks) - 1


def _longest_run(ranks: Sequence[int], rank: int) -> int:
    """Return the length of the maximal run that holds `rank`."""
    low = high = rank
    while low - 1 in ranks:
        low -= 1
    while high + 1 in ranks:
        high += 1
    return high - low + 1
