"""The queue of matches to play: the schedule without what is done, bots at their limits left out. Pure.

Every pairing is a lane with its own place. The next fixture comes from the lane that is least
advanced, unless one of its bots is at its limit of matches at once: a bot that hangs holds its own
lanes up, and the others go on.
"""

from __future__ import annotations

import heapq
import math
from collections import Counter, deque
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from pegboard.arena.schedule import Fixture, Pairing

SLACK = 1.25
"""The factor by which a bot may exceed its fair share of the matches at once."""


class Attempt(NamedTuple):
    """A fixture to be played, for the `number`th time (0 is the first)."""

    fixture: Fixture
    number: int

    @property
    def id(self) -> str:
        """The id under which it is played."""
        return self.fixture.pairing.match_id(self.fixture.place, self.number)


class MatchQueue:
    """Hands out fixtures with `take`; `give_back` tells it that they are over."""

    def __init__(
        self,
        pairings: Sequence[Pairing],
        concurrency: int,
        is_done: Callable[[int, int], bool],
        again: Iterable[tuple[int, int, int]] = (),
    ) -> None:
        """Take `is_done(pairing number, index)` and what to play again: pairing, index, attempt."""
        self.concurrency = concurrency
        self.running: Counter[str] = Counter()
        self.out = 0
        self._pairings = pairings
        self._is_done = is_done
        self._place = [0] * len(pairings)
        self._again: deque[tuple[int, int, int]] = deque(again)
        self._attempts = {(pairing, index) for pairing, index, _ in self._again}
        self._limit = bot_limit(pairings, concurrency)
        self._lanes = [(0.0, pairing.number) for pairing in pairings if pairing.total]

    def take(self, count: int) -> list[Attempt]:
        """Return up to `count` fixtures to be played now, never more at once than allowed."""
        attempts: list[Attempt] = []
        count = min(count, self.concurrency - self.out)
        while len(attempts) < count and self._again:
            number, index, times = self._again.popleft()
            attempts.append(self._out(self._pairings[number].fixture(index), times))
        blocked: list[tuple[float, int]] = []
        while len(attempts) < count and self._lanes:
            lane = heapq.heappop(self._lanes)
            pairing = self._pairings[lane[1]]
            index = self._skip_done(pairing)
            if index == pairing.total:
                continue
            fixture = pairing.fixture(index)
            if any(self.running[bot] >= self._limit for bot in set(fixture.bots)):
                blocked.append(lane)
                continue
            attempts.append(self._out(fixture, 0))
            self._place[pairing.number] = index + 1
            heapq.heappush(self._lanes, ((index + 1) / pairing.total, pairing.number))
        for lane in blocked:
            heapq.heappush(self._lanes, lane)
        return attempts

    def give_back(self, attempt: Attempt, *, again: bool = False) -> None:
        """Note that a fixture is over; with `again` it is handed out once more."""
        self.out -= 1
        for bot in set(attempt.fixture.bots):
            self.running[bot] -= 1
        if again:
            fixture = attempt.fixture
            self._again.append((fixture.pairing.number, fixture.place, attempt.number + 1))

    def _out(self, fixture: Fixture, number: int) -> Attempt:
        self.out += 1
        for bot in set(fixture.bots):
            self.running[bot] += 1
        return Attempt(fixture, number)

    def _skip_done(self, pairing: Pairing) -> int:
        index = self._place[pairing.number]
        while index < pairing.total and (
            self._is_done(pairing.number, index) or (pairing.number, index) in self._attempts
        ):
            index += 1
        self._place[pairing.number] = index
        return index


def bot_limit(pairings: Sequence[Pairing], concurrency: int) -> int:
    """Return how many matches at once a bot may hold, so that one that hangs leaves room."""
    bots = {bot for pairing in pairings for bot in pairing.bots}
    held = max((pairing.together for pairing in pairings), default=1)
    fair = concurrency * held / max(len(bots), 1)
    return max(1, min(concurrency, math.ceil(fair * SLACK)))
