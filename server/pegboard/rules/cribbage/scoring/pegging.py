"""The play: what the last card of a count scores (R-C3.8 to R-C3.13), in every variant.

`cards` are the effective cards of the running count, the last one just played: a wild joker is there
as the card that it was declared to be, a joker of the zero variant as JOKER (rank 0, value 0). Suits do
not matter. The point for a go or the last card is not counted here.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from pegboard.rules.cards import RANK, Card
from pegboard.rules.cribbage.scoring.items import Item, ItemKind
from pegboard.rules.cribbage.scoring.show import PLAIN, ZERO, ShowRules

_LONGEST_RUN: Final = 8
"""0 A 2 3 4 5 6 7 make 28; no run of nine stays within 31 (X-11)."""


def peg_points(cards: Sequence[Card], count: int, rules: ShowRules = PLAIN) -> int:
    """Return what the last of `cards` scores at `count`: fifteen, pairs, run and thirty-one.

    With zero jokers 31 scores nothing yet: it is settled when the count ends (R-C9.4).
    """
    points = 2 if count == 15 or (count == 31 and rules.jokers != ZERO) else 0
    size = len(cards)
    if size > 1:
        last, before = RANK[cards[-1]], RANK[cards[-2]]
        if last == before:
            equal = pair_size(cards)
            return points + equal * (equal - 1)
        # Most counts hold no run; two ranks further apart than any run reaches tell so at once.
        if size > 2 and -_LONGEST_RUN < last - before < _LONGEST_RUN:
            third = RANK[cards[-3]]
            if -_LONGEST_RUN < last - third < _LONGEST_RUN and third != last:
                return points + run_size(cards, rules.three_runs)
    return points


def peg_items(cards: Sequence[Card], count: int, rules: ShowRules = PLAIN) -> tuple[Item, ...]:
    """Return the combinations that make the points: fifteen, pairs (one item), run, thirty-one.

    Each names its cards in the order of play; fifteen and thirty-one name all cards of the count.
    """
    items = []
    if count == 15:
        items.append(Item(ItemKind.FIFTEEN, 2, tuple(cards)))
    equal = pair_size(cards)
    if equal > 1:
        items.append(Item(ItemKind.PAIR, equal * (equal - 1), tuple(cards[-equal:])))
    run = run_size(cards, rules.three_runs)
    if run:
        items.append(Item(ItemKind.RUN, run, tuple(cards[-run:])))
    if count == 31 and rules.jokers != ZERO:
        items.append(Item(ItemKind.THIRTY_ONE, 2, tuple(cards)))
    return tuple(items)


def pair_size(cards: Sequence[Card]) -> int:
    """Return how many cards of one rank end the count, 1 for no pair (R-C3.9).

    Up to six with wild jokers (R-C9.2); two jokers of the zero variant are no pair (R-C9.5).
    """
    last = RANK[cards[-1]]
    if not last:
        return 1
    equal = 1
    for card in reversed(cards[:-1]):
        if RANK[card] != last:
            break
        equal += 1
    return equal


def run_size(cards: Sequence[Card], three_runs: bool = False) -> int:
    """Return the length of the longest run that ends the count, 0 for none (R-C3.10).

    With three-runs only the last three cards are looked at (R-C9.8).
    """
    longest = seen = 0
    low = high = RANK[cards[-1]]
    for size, card in enumerate(reversed(cards), 1):
        rank = RANK[card]
        bit = 1 << rank
        if seen & bit:
            break
        seen |= bit
        if rank < low:
            low = rank
        elif rank > high:
            high = rank
        spread = high - low
        if spread >= _LONGEST_RUN or (three_runs and size > 3):
            break
        if spread == size - 1 and size > 2:
            longest = size
    return longest
