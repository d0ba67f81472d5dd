"""The time of one seat in one match, in monotonic nanoseconds.

A turn's clock starts when the turn can go to a bot that is there: when the turn opens, or when the bot
comes or has room for it (`turns.TurnQueue`). Until then the turn waits, and the time that a seat has
waited in a match has a limit of its own. A clock that has started runs on while the bot is away or does
not read. What the event loop was late (`Deadlines.lag_ns`) is credited to all running turns.
"""

from __future__ import annotations

from pegboard.matches.spec import TimeControl

MILLISECOND = 1_000_000
SECOND = 1_000_000_000


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
    def bank_ms(self) -> int | None:
        """What the bank holds; None if there is none."""
        return None if self.bank_ns < 0 else self.bank_ns // MILLISECOND

    @property
    def journal_bank_ms(self) -> int:
        """What the bank holds, for the journal: -1 for no bank."""
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
