"""Time: what a turn may take, what the server's own lateness is worth, and one heap of deadlines.

All times are monotonic nanoseconds. A turn's clock starts when the turn could go to a bot that is
there: when it opens, or when the bot comes or has room for it (`mailbox.Bot`). Until then the turn
waits, and the time that a seat has waited in a match has a limit of its own. A clock that has started
runs on while the bot is away or does not read.

What the event loop was late is measured at every tick and credited to all running turns. A turn is over
only when it was found overdue, and since then the ticks were punctual, the server has read calls of its
own twice (`Probe`) and nothing more has come from the bot: whatever had arrived in time was then read
and processed. So no bot loses on time by the server's slowness; an answer to a turn that is still open
always counts. A bot that sends for ever puts its end off a limited number of times.

There is one timer for all matches, the tick. The heap holds at most one live entry a seat: a new turn
re-arms only where it ends earlier than the entry that is there, and an entry that comes up too early is
put back where it belongs. So a move costs no heap operation.
"""

from __future__ import annotations

from heapq import heapify, heappop, heappush
from typing import Protocol

from pegboard.matches.spec import TimeControl

MILLISECOND = 1_000_000
SECOND = 1_000_000_000
TICK_NS = 10 * MILLISECOND
PUNCTUAL_NS = 3 * MILLISECOND
"""A tick later than that shows a busy loop; timers themselves are good to a millisecond or two."""

SPENT_LEAST = 64
"""So few spent entries are not worth a look at the whole heap."""

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
        """Whether it would do nothing any more."""
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
            again_ns = deadline.due(when_ns, now_ns)
            if again_ns:
                assert again_ns > now_ns
                self.push(again_ns, deadline)


class SeatClock:
    """The time of one seat in one match.

    `bank_ns` is what the bank holds, the increment of the coming turn included. `spare_ns` is the lag
    allowance: what a turn may overrun, deducted when used and refilled a little with every answer.
    An open turn has `started_ns` or `waiting_ns`, the other is 0. `thought_ns` and `waited_ns` add up
    over the turns of the match that were answered, or started.
    """

    __slots__ = (
        "armed_ns",
        "bank_ns",
        "cap_ns",
        "increment_ns",
        "lag_mark_ns",
        "limit_ns",
        "spare_ns",
        "started_ns",
        "thought_ns",
        "waited_ns",
        "waiting_ns",
    )

    def __init__(self, control: TimeControl, spare_ns: int) -> None:
        """Take a time control whose `move_ms` is set."""
        self.cap_ns = control.move_ms * MILLISECOND
        self.increment_ns = control.increment_ms * MILLISECOND
        self.bank_ns = (control.bank_ms + control.increment_ms) * MILLISECOND
        if not self.bank_ns:
            self.bank_ns = -1  # no bank: -1, since an empty one is a lost match
        self.spare_ns = spare_ns
        self.started_ns = 0
        self.waiting_ns = 0
        self.limit_ns = 0
        self.lag_mark_ns = 0
        self.armed_ns = 0
        self.thought_ns = 0
        self.waited_ns = 0

    @property
    def bank_ms(self) -> int:
        """What the bank holds; 0 where there is none."""
        return max(self.bank_ns, 0) // MILLISECOND

    @property
    def journal_bank_ms(self) -> int:
        """What the bank holds, for the journal: -1 where there is none."""
        return self.bank_ns // MILLISECOND

    def wait(self, now_ns: int, lag_ns: int) -> None:
        """A turn is open that cannot go to the bot yet."""
        self.waiting_ns = now_ns
        self.lag_mark_ns = lag_ns

    def wait_ends_ns(self, wait_ns: int, lag_ns: int) -> int:
        """Return when the seat has waited for `wait_ns` in this match, by the lag known now."""
        return self.waiting_ns + wait_ns - self.waited_ns + (lag_ns - self.lag_mark_ns)

    def start(self, now_ns: int, lag_ns: int) -> None:
        """Begin a turn."""
        if self.waiting_ns:
            self.waited_ns += max(0, now_ns - self.waiting_ns - (lag_ns - self.lag_mark_ns))
            self.waiting_ns = 0
        self.started_ns = now_ns
        self.lag_mark_ns = lag_ns
        bank_ns = self.bank_ns
        self.limit_ns = self.cap_ns if bank_ns < 0 or bank_ns > self.cap_ns else bank_ns

    def left_ms(self, now_ns: int, lag_ns: int) -> int:
        """Return what is left of the running turn."""
        used_ns = now_ns - self.started_ns - (lag_ns - self.lag_mark_ns)
        left_ns = self.limit_ns - used_ns if used_ns > 0 else self.limit_ns
        return left_ns // MILLISECOND if left_ns > 0 else 0

    def spent_ns(self, now_ns: int, lag_ns: int) -> int:
        """Return what the seat has used in this match: thought, waited, and the turn that is open."""
        since_ns = self.started_ns or self.waiting_ns
        open_ns = max(0, now_ns - since_ns - (lag_ns - self.lag_mark_ns)) if since_ns else 0
        return self.thought_ns + self.waited_ns + open_ns

    def ends_ns(self, lag_ns: int) -> int:
        """Return when the running turn is over, by the lag known now."""
        return self.started_ns + self.limit_ns + self.spare_ns + (lag_ns - self.lag_mark_ns)

    def stop(self, now_ns: int, lag_ns: int, refill_ns: int, spare_max_ns: int) -> None:
        """End a turn by an answer and charge for it."""
        used_ns = now_ns - self.started_ns - (lag_ns - self.lag_mark_ns)
        self.started_ns = 0
        over_ns = used_ns - self.limit_ns
        if over_ns > 0:
            self.spare_ns = max(0, self.spare_ns - over_ns)
            used_ns = self.limit_ns
        elif used_ns < 0:
            used_ns = 0
        self.thought_ns += used_ns
        if self.spare_ns < spare_max_ns:
            self.spare_ns = min(spare_max_ns, self.spare_ns + refill_ns)
        if self.bank_ns >= 0:
            self.bank_ns += self.increment_ns - used_ns

    def withdraw(self) -> None:
        """End a turn that is no longer asked; its time is given back."""
        self.started_ns = 0
        self.waiting_ns = 0
