"""The events of a match as they come, and matches as they finish.

Async generators, which mypyc cannot compile, so they stand apart from `host`.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from typing import Any

from pegboard.matches.finished import FinishedMatch
from pegboard.matches.registry import Registry
from pegboard.matches.running import AnyMatch, RunningMatch

Numbered = list[tuple[int, Any]]
"""(sequence, event), ascending."""

_FINISHED_AT_ONCE = 128


class Subscriptions:
    """The watchers of all matches. `closed`: the host closes, and no event will come any more."""

    def __init__(self, registry: Registry) -> None:
        self.closed = False
        self._registry = registry
        self._waiters: set[asyncio.Future[None]] = set()

    async def events(self, match: AnyMatch, after: int) -> AsyncIterator[Numbered]:
        """Yield the events after sequence number `after` as they come; end after the last one."""
        while True:
            finished = match.finished
            events = (match if finished is None else finished).events(after)
            if events:
                after = events[-1][0]
                yield events
            elif self.closed or not isinstance(match, RunningMatch) or finished is not None:
                return
            else:
                waiter = asyncio.get_running_loop().create_future()
                waiters = match.log.waiters
                waiters.add(waiter)
                try:
                    await waiter
                finally:  # also if the watcher goes away
                    match.log.waiters.discard(waiter)

    async def finished(
        self, label: str, include_earlier: bool
    ) -> AsyncIterator[Sequence[FinishedMatch]]:
        """Yield matches as they finish, in that order.

        An empty list comes once, when all earlier ones have been yielded.
        """
        after = 0 if include_earlier else self._registry.last_finish
        caught_up = False
        while not self.closed:
            matches = self._registry.finished_after(label, after, _FINISHED_AT_ONCE)
            if matches:
                after = matches[-1].finish
                yield matches
            elif not caught_up:
                caught_up = True
                yield []
            else:
                waiter = asyncio.get_running_loop().create_future()
                self._waiters.add(waiter)
                try:
                    await waiter
                finally:
                    self._waiters.discard(waiter)

    def matches_finished(self) -> None:
        """End the waits: matches have finished, or no more will."""
        waiters, self._waiters = self._waiters, set()
        for waiter in waiters:
            if not waiter.done():
                waiter.set_result(None)
