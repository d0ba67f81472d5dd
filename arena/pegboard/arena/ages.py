"""How long matches have been under way, by the arena's own watch. Pure."""

from __future__ import annotations

from collections.abc import Iterable


class Ages:
    """The ages of running matches, told at every step.

    The server ends matches by its own clocks. A server that does not would otherwise keep a tournament
    waiting for one match for ever.
    """

    def __init__(self, limit_s: float) -> None:
        """Take the age from which a match is overdue."""
        self._limit_s = limit_s
        self._ages: dict[str, float] = {}

    def step(self, running: Iterable[str], seconds: float) -> list[str]:
        """Add to every age and return the matches that are overdue, whose ages start from 0 again."""
        self._ages = {name: self._ages.get(name, 0.0) + seconds for name in running}
        overdue = [name for name, age in self._ages.items() if age > self._limit_s]
        for name in overdue:
            self._ages[name] = 0.0
        return overdue
