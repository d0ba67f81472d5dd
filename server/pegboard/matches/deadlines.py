"""One heap of deadlines for all matches, one timer, and the proof that nothing lies unread.

The event loop's lateness is measured at every tick and credited to all running turns. A turn is over
only if it was found overdue, and since then the ticks were punctual, the server has read calls of its
own twice (`Probe`) and nothing more has come from the bot: whatever had arrived in time was then read
and processed. So no bot loses on time by the server's slowness; an answer to a turn that is still open
always counts. A bot that sends without end delays the end of its turn a limited number of times.

The heap holds at most one live entry a seat: a new turn arms another one only if it ends earlier than
the entry that is there, and an entry that comes up too early is put back to where it belongs. So a move
costs no heap operation.
"""

from __future__ import annotations

from heapq import heapify, heappop, heappush
from traceback import format_exc
from typing import Protocol

import structlog

from pegboard.matches.clock import MILLISECOND

log = structlog.get_logger(__name__)

TICK_NS = 10 * MILLISECOND
PUNCTUAL_NS = 3 * MILLISECOND
"""A later tick shows a busy loop; timers themselves are good to a millisecond or two."""

SPENT_LEAST = 64
"""Fewer spent entries are not worth a look at the whole heap."""

CONFIRM_NS = 2 * TICK_NS
"""Between finding a turn overdue and ending it."""


class Deadline(Protocol):
    """Something that is due at some time; see `Deadlines`."""

    def due(self, when_ns: int, now_ns: int) -> int:
        """Act if it is time. Return when to ask again, later than `now_ns`, or 0 for never.

        `when_ns` is the time for which it was pushed.
        """
        ...

    def is_spent(self) -> bool:
        """Return whether it would do nothing any more."""
        ...

    def failed(self) -> None:
        """End what it decides on by a server fault: `due` has raised the exception being handled."""
        ...


class Probe(Protocol):
    """Proves that what had arrived was read: the server calls itself (`rpc.probe`)."""

    def ask(self) -> int:
        """Ask for a proof and return its number."""
        ...

    def passed(self, number: int) -> bool:
        """Whether all that had arrived when that proof was asked for was read."""
        ...


class NoProbe:
    """For a host without a network, as in tests."""

    def ask(self) -> int:
        """Need no proof."""
        return 0

    def passed(self, number: int) -> bool:
        """All was read."""
        return True


class Deadlines:
    """The heap, how late the loop has been so far (`lag_ns`, ever growing), and the probe."""

    __slots__ = ("_count", "_heap", "_spent", "_ticked_ns", "lag_ns", "probe")

    def __init__(self) -> None:
        self.lag_ns = 0
        self.probe: Probe = NoProbe()
        self._heap: list[tuple[int, int, Deadline]] = []
        self._count = 0
        self._spent = 0
        self._ticked_ns = 0

    def __len__(self) -> int:
        return len(self._heap)

    def push(self, when_ns: int, deadline: Deadline) -> None:
        """Ask `deadline` at `when_ns`."""
        self._count += 1
        heappush(self._heap, (when_ns, self._count, deadline))

    def spend(self, count: int) -> None:
        """At most so many more entries would do nothing: drop them once they are half of all.

        Until its time an entry keeps a match in memory, and that may be a day.
        """
        self._spent += count
        if self._spent > max(SPENT_LEAST, len(self._heap) // 2):
            self._spent = 0
            self._heap[:] = [entry for entry in self._heap if not entry[2].is_spent()]
            heapify(self._heap)

    def pause(self) -> None:
        """Take the time until the next tick for idleness, not for lag."""
        self._ticked_ns = 0

    def _failed(self, deadline: Deadline) -> None:
        try:
            deadline.failed()
        except Exception:
            log.error("a match with a failing deadline cannot be ended", traceback=format_exc())

    def tick(self, now_ns: int) -> None:
        """Credit the lag since the last tick, then ask everything that is due."""
        if self._ticked_ns:
            late_ns = now_ns - self._ticked_ns - TICK_NS
            if late_ns > PUNCTUAL_NS:
                self.lag_ns += late_ns
        self._ticked_ns = now_ns
        heap = self._heap
        while heap and heap[0][0] <= now_ns:
            when_ns, _, deadline = heappop(heap)
            try:
                again_ns = deadline.due(when_ns, now_ns)
                assert not again_ns or again_ns > now_ns, "a deadline asks for a time that is over"
            except Exception:
                # Dropped without a word, the deadline would leave its match without an end.
                self._failed(deadline)
                continue
            if again_ns:
                self.push(again_ns, deadline)
