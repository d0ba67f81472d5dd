"""What a caller may send beyond what it was asked: a bucket that refills, one for each caller.

A bot has one bucket for all its streams and calls, so that to connect again does not refill it.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from pegboard.errors import TooManyRequests

ACCOUNTS_KEPT = 1024
"""From so many on, those that are full again are dropped: they say nothing."""


class Allowance:
    """`burst` units at once, `per_s` more each second. `open_calls`: calls that wait for something."""

    __slots__ = ("_burst", "_left", "_now_s", "_per_s", "_since_s", "open_calls")

    def __init__(
        self, burst: int, per_s: float, now_s: Callable[[], float] = time.monotonic
    ) -> None:
        self._burst = float(burst)
        self._per_s = per_s
        self._left = float(burst)
        self._now_s = now_s
        self._since_s = now_s()
        self.open_calls = 0

    def spend(self, units: int) -> None:
        """Take units. Raises `TooManyRequests` if there are not enough.

        What was refused is owed all the same, up to the burst: a flood waits the longer for the next
        unit, the larger it was.
        """
        self._refill()
        self._left = max(self._left - units, -self._burst)
        if self._left < 0:
            raise TooManyRequests(
                f"more than {self._burst:g} messages, answers or calls that nobody asked for; send"
                f" one answer to each turn, and wait {-self._left / self._per_s:.1f} s"
            )

    def give_back(self, units: int) -> None:
        """Return units that turned out to be asked for."""
        self._left = min(self._burst, self._left + units)

    @property
    def is_idle(self) -> bool:
        """Whether it is full and no call is open."""
        self._refill()
        return self._left == self._burst and not self.open_calls

    def _refill(self) -> None:
        now_s = self._now_s()
        self._left = min(self._burst, self._left + (now_s - self._since_s) * self._per_s)
        self._since_s = now_s


class Allowances:
    """The allowance of every caller that is known now, by a key of the caller."""

    def __init__(self, burst: int, per_s: float) -> None:
        self._burst = burst
        self._per_s = per_s
        self._kept: dict[str, Allowance] = {}
        self._look_at = ACCOUNTS_KEPT

    def __len__(self) -> int:
        return len(self._kept)

    def of(self, key: str) -> Allowance:
        """Return the allowance of a caller."""
        found = self._kept.get(key)
        if found is None:
            if len(self._kept) >= self._look_at:
                self._kept = {key: each for key, each in self._kept.items() if not each.is_idle}
                # Twice what is in use, so that looking through costs little for each new caller.
                self._look_at = max(ACCOUNTS_KEPT, 2 * len(self._kept))
            found = self._kept[key] = Allowance(self._burst, self._per_s)
        return found
