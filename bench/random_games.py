"""Random two-player cribbage games a second, beside `pyspiel` cribbage driven from Python.

Both choose uniformly among the legal moves and both play to the end of a game, on one core. pyspiel
is the C++ engine of OpenSpiel (dependency group `oracle`).
"""

from __future__ import annotations

import argparse
import random
import time
from collections.abc import Callable

from pegboard.rules import catalog
from pegboard.rules.shuffle import SeededChance


def play_ours(number: int, rng: random.Random) -> int:
    """Play one game; return its decisions."""
    game = catalog.game("cribbage")
    state, _ = game.start(2, SeededChance(number.to_bytes(32, "big"), "bench"))
    decisions = 0
    choose = rng.random
    while seats := state.to_act():
        for seat in seats:
            moves = state.choices(seat).moves
            state.apply(seat, moves[int(choose() * len(moves))])
            decisions += 1
    return decisions


def play_theirs(number: int, rng: random.Random) -> int:
    """Play one game of pyspiel cribbage; return its actions, chance included."""
    import pyspiel

    state = pyspiel.load_game("cribbage(players=2)").new_initial_state()
    actions = 0
    choose = rng.random
    while not state.is_terminal():
        legal = state.legal_actions()
        state.apply_action(legal[int(choose() * len(legal))])
        actions += 1
    return actions


def games_per_second(play: Callable[[int, random.Random], int], games: int) -> tuple[float, float]:
    """Return games and moves a second of processor time, which other processes do not disturb."""
    rng = random.Random(1)
    start = time.process_time()
    moves = sum(play(number, rng) for number in range(games))
    took = time.process_time() - start
    return games / took, moves / took


def main() -> None:
    """Measure both in turns and print the ratio."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    games, rounds = (200, 1) if parser.parse_args().quick else (1500, 3)
    pairs = [
        (games_per_second(play_ours, games), games_per_second(play_theirs, games))
        for _ in range(rounds)
    ]
    ours, theirs = (max(side) for side in zip(*pairs, strict=True))
    print(f"random cribbage games: {ours[0]:,.0f}/s ({ours[1]:,.0f} decisions/s)")
    print(f"pyspiel cribbage:      {theirs[0]:,.0f}/s ({theirs[1]:,.0f} actions/s)")
    print(f"ratio:                 {ours[0] / theirs[0]:.2f}x")


if __name__ == "__main__":
    main()
