"""What mirrored deals save: the variance of a block's mean, beside that of two matches apart.

A block is two matches with the same seed and nonce, in which two players change seats. Its mean is the
first player's points over both. The ratio is the variance of that mean over the variance that two
independent matches would give it: 1 where mirroring does nothing, and a ratio of 0.5 saves every second
match. It is measured under the rules of each version, for the labels of orders changed with version 2
(X-20, X-21).

The players are simple, different and without luck of their own: one keeps the best hand and plays the
highest card or the heaviest tile, the other also weighs the crib, plays the lowest card, and prefers
tiles that lead on to others of its hand. Seeds are 1, 2, 3 and so on.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from statistics import correlation, variance
from typing import Any

from pegboard.rules import catalog
from pegboard.rules.cards import NO_CARD, RANK, VALUE
from pegboard.rules.cribbage.moves import Discard, Play
from pegboard.rules.cribbage.scoring.pegging import peg_points
from pegboard.rules.cribbage.scoring.show import show_points
from pegboard.rules.dominoes.hands import BIT, FITS
from pegboard.rules.dominoes.moves import Place
from pegboard.rules.game import Game, Seat
from pegboard.rules.shuffle import SeededChance
from pegboard.rules.tiles import HALVES, PIPS
from pegboard.rules.versions import RULES_VERSIONS, edition_of

MATCHES = (("cribbage", 1), ("cribbage", 3), ("cribbage", 7), ("draw", 1), ("draw", 3))
Player = Callable[[Any, Any, Seat], float]
"""How much a player likes a move: by the move, the state and its seat; the first of equals is made."""


def keeper(move: Any, state: Any, seat: Seat) -> float:
    """Keep the best hand, peg what can be pegged, play high, place the heaviest tile."""
    if isinstance(move, Discard):
        return _kept(move, state, seat)
    if isinstance(move, Play):
        return 20 * _pegged(move, state) + VALUE[move.card]
    return 1 + PIPS[move.tile] if isinstance(move, Place) else 0


def weigher(move: Any, state: Any, seat: Seat) -> float:
    """Weigh the crib too, play low, place a heavy tile that leads on to others of the hand."""
    if isinstance(move, Discard):
        sign = 1 if state.table.dealer == seat else -1
        first, second = move.cards
        given = 2 * (VALUE[first] + VALUE[second] == 15) + 2 * (RANK[first] == RANK[second])
        return _kept(move, state, seat) + sign * (given + (RANK[first] == 5) + (RANK[second] == 5))
    if isinstance(move, Play):
        return 20 * _pegged(move, state) - VALUE[move.card]
    if isinstance(move, Place):
        rest = state.hands[seat] & ~BIT[move.tile]
        leads_on = sum((FITS[half] & rest).bit_count() for half in HALVES[move.tile])
        return float(1 + PIPS[move.tile] + 3 * leads_on)
    return 0


def _kept(move: Discard, state: Any, seat: Seat) -> int:
    hand = [card for card in state.table.hands[seat] if card not in move.cards]
    return show_points(hand, NO_CARD, False)


def _pegged(move: Play, state: Any) -> int:
    phase = state.phase
    return peg_points([*phase.cards, move.card], phase.running + VALUE[move.card])


def points_of(game: Game, version: str, number: int, players: Sequence[Player]) -> float:
    """Play the match of this number and return the points of seat 0."""
    chance = SeededChance(number.to_bytes(32, "big"), "mirror")
    state, _ = game.start(2, chance, edition_of(version))
    while asked := state.to_act():
        seat = asked[0]
        moves = state.choices(seat).moves
        player = players[seat]
        state.apply(seat, max(moves, key=lambda move: player(move, state, seat)))
    outcome = state.outcome()
    assert outcome is not None
    return outcome.points[0]


def measure(variant: str, games: int, version: str, blocks: int) -> tuple[float, float]:
    """Return the variance ratio and its standard error."""
    game = catalog.game(variant, {"match_games": str(games)})
    numbers = range(1, blocks + 1)
    first = [points_of(game, version, number, (keeper, weigher)) for number in numbers]
    second = [1 - points_of(game, version, number, (weigher, keeper)) for number in numbers]
    means = [(one + two) / 2 for one, two in zip(first, second, strict=True)]
    apart = (variance(first) + variance(second)) / 4
    error = (1 - correlation(first, second) ** 2) / blocks**0.5
    return variance(means) / apart, error


def main() -> None:
    """Measure every kind of match under every version of the rules."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--blocks", type=int, default=2000)
    arguments = parser.parse_args()
    blocks = 200 if arguments.quick else arguments.blocks
    print(f"variance of a mirrored block's mean, two independent matches 1; {blocks} blocks each")
    for variant, games in MATCHES:
        found = [measure(variant, games, version, blocks) for version in RULES_VERSIONS]
        texts = [
            f"rules version {version}: {ratio:.2f} +- {error:.2f}"
            for version, (ratio, error) in zip(RULES_VERSIONS, found, strict=True)
        ]
        print(f"{variant}, best of {games}: {', '.join(texts)}", flush=True)


if __name__ == "__main__":
    main()
