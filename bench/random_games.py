"""Random two-player cribbage games a second, beside `pyspiel` cribbage driven from Python.

Both choose uniformly among the legal moves and both play to the end of a game, on one core. pyspiel
is the C++ engine of OpenSpiel (dependency group `oracle`). Our rules come as Python and, where
`make compiled` has been run, as extension modules.
"""

from __future__ import annotations

import argparse
import random
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

from pegboard.rules import catalog
from pegboard.rules.shuffle import SeededChance

COMPILED = Path(__file__).resolve().parents[1] / ".venv-compiled" / "bin" / "python"
WARM_UP = 2000
Play = Callable[[int, random.Random], int]
Speed = tuple[float, float]


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


def games_per_second(play: Play, games: int, first: int = 0) -> Speed:
    """Return games and moves a second of processor time, which other processes do not disturb."""
    rng = random.Random(1)
    start = time.process_time()
    moves = sum(play(number, rng) for number in range(first, first + games))
    took = time.process_time() - start
    return games / took, moves / took


def compiled_games_per_second(games: int) -> Speed:
    """Return the same of our rules in the environment with the extension modules."""
    command = [str(COMPILED), __file__, "--ours", str(games)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    first, second = map(float, done.stdout.split())
    return first, second


def ours_warm(games: int) -> Speed:
    """Return the speed of our rules once other games have filled their tables, as in a server."""
    games_per_second(play_ours, WARM_UP, first=games)
    return games_per_second(play_ours, games)


def measure(games: int, rounds: int) -> dict[str, Speed]:
    """Return the best speed of each contestant; they take turns, so that all meet the same machine."""
    contestants: dict[str, Callable[[int], Speed]] = {
        "python": ours_warm,
        **({"compiled": compiled_games_per_second} if COMPILED.exists() else {}),
        "pyspiel": lambda games: games_per_second(play_theirs, games),
    }
    found = [(name, speed(games)) for _ in range(rounds) for name, speed in contestants.items()]
    return {name: max(speed for other, speed in found if other == name) for name in contestants}


def main() -> None:
    """Measure all in turns and print the ratios."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--ours", type=int, help="only play so many games with these rules")
    arguments = parser.parse_args()
    if arguments.ours:
        print(*ours_warm(arguments.ours))
        return
    games, rounds = (200, 2) if arguments.quick else (1500, 3)
    speeds = measure(games, rounds)
    reference = speeds["pyspiel"][0]
    for name, (played, moves) in speeds.items():
        print(
            f"random cribbage games, {name:9}{played:6,.0f}/s ({moves:9,.0f} moves/s)"
            f"  {played / reference:.2f}x pyspiel"
        )
    if "compiled" not in speeds:
        print("for the compiled rules run `make compiled` first")


if __name__ == "__main__":
    main()
