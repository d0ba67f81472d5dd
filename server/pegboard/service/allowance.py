"""What a caller may send beyond what it was asked: a bucket that refills."""

from __future__ import annotations

from pegboard.rules.errors import TooManyRequests


class Allowance:
    """`burst` units at once, `per_s` more each second."""

    __slots__ = ("_burst", "_left", "_per_s", "_since_s")

    def __init__(self, burst: int, per_s: float, now_s: float) -> None:
        self._burst = float(burst)
        self._per_s = per_s
        self._left = float(burst)
        self._since_s = now_s

    def spend(self, units: int, now_s: float) -> None:
        """Take units. Raises `TooManyRequests` where there are not enough."""
        refilled = self._left + (now_s - self._since_s) * self._per_s
        self._since_s = now_s
        self._left = min(self._burst, refilled) - units
        if self._left < 0:
            self._left = 0.0
            raise TooManyRequests(
                f"more than {self._burst:g} messages or answers that nobody asked for; send one"
                " answer to each turn"
            )
