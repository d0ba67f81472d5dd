"""The cribbage board as text: both pegs of each side, streets of thirty holes, positional holes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pegboard.rules.cribbage.events import GameEnded, GameStarted, Scored

STREET = 30
GROUP = 5
POSITIONAL = frozenset((18, 44, 70, 96, 121))
"""The holes that a player wants to reach by the end of a deal (positional holes)."""

HOLE, POSITIONAL_HOLE, REAR, FRONT = ".", "+", "o", "@"
LEGEND = (
    f"{FRONT} front peg  {REAR} rear peg  {HOLE} hole  {POSITIONAL_HOLE} positional hole; "
    "the last hole wins"
)


class Pegs:
    """Both pegs of each side and its games, moved by the events of a match (R-C2.5, R-C2.6)."""

    __slots__ = ("fronts", "games_won", "rears", "targets")

    def __init__(self, targets: Sequence[int]) -> None:
        self.targets = tuple(targets)
        self.fronts = [0] * len(self.targets)
        self.rears = [0] * len(self.targets)
        self.games_won = [0] * len(self.targets)

    def note(self, event: Any) -> None:
        """Move the pegs as the event says; most events move none."""
        if isinstance(event, GameStarted):
            self.fronts = list(event.scores)
            self.rears = [0] * len(self.targets)
        elif isinstance(event, Scored) and event.points:
            self.rears[event.side] = self.fronts[event.side]
            self.fronts[event.side] = event.score
        elif isinstance(event, GameEnded):
            for side in event.winners:
                self.games_won[side] += 1

    def text(self, names: Sequence[str] = ()) -> str:
        """Return the board as it stands."""
        return board_text(self.fronts, self.rears, self.targets, names, self.games_won)


def board_text(
    scores: Sequence[int],
    rear_pegs: Sequence[int],
    targets: Sequence[int],
    names: Sequence[str] = (),
    games_won: Sequence[int] = (),
) -> str:
    """Return the board, sides one below the other in every street.

    All are by side; a target of 0 is a side without holes (R-C7). `names` empty: `side 0` and so on.
    `games_won` empty: no game is marked.
    """
    labels = list(names) or [f"side {side}" for side in range(len(scores))]
    width = max(map(len, labels))
    lines = []
    streets = max((target - 1 + STREET - 1) // STREET for target in targets)
    for street in range(streets):
        number = str(street * STREET + 1)
        for side, label in enumerate(labels):
            holes = _street(street, scores[side], rear_pegs[side], targets[side])
            if holes:
                lines.append(f"{number:>3} {label:<{width}} {holes}")
                number = ""
    for side, label in enumerate(labels):
        line = f"    {label:<{width}} {scores[side]}"
        if targets[side]:
            line += f" of {targets[side]}, rear peg {rear_pegs[side]}"
        if any(games_won):
            line += f", games won {games_won[side]}"
        lines.append(line)
    return "\n".join([*lines, LEGEND] if streets else lines)


def _street(street: int, front: int, rear: int, target: int) -> str:
    """Return thirty holes in groups of five; the game hole stands behind the last street."""
    first = street * STREET + 1
    last = min(first + STREET - 1, target - 1)
    groups = [
        "".join(_hole(hole, front, rear) for hole in range(start, min(start + GROUP, last + 1)))
        for start in range(first, last + 1, GROUP)
    ]
    if first <= target - 1 <= last or (first == 1 and target == 1):
        groups.append(f"[{_hole(target, front, rear)}]")
    return " ".join(groups)


def _hole(hole: int, front: int, rear: int) -> str:
    if hole == front:
        return FRONT
    if hole == rear:
        return REAR
    return POSITIONAL_HOLE if hole in POSITIONAL else HOLE
