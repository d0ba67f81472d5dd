"""The open turns of one bot: which clocks run, which turns wait, which turns the bot has.

A turn is in `waiting`, its clock stopped, while the bot is not there or has as many turns as it takes.
It is in `ready`, its clock running, until it is taken, by a stream (`mailbox.Mailbox`) or a long poll.
Then it is out until it is answered or withdrawn.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import islice

from pegboard.matches.clock import SECOND
from pegboard.matches.deadlines import Deadline, Deadlines
from pegboard.matches.running import OpenTurn, SeatedBot

WAIT_LOOK_NS = 10 * SECOND
"""How often, at least, a turn that waits is looked at."""


class TurnClocks:
    """Starts the clocks of turns, and arms the deadline of a seat for the end of its turn.

    `wait_ns` is how long the turns of a seat may wait in one match, in all.
    """

    __slots__ = ("_deadline_of", "deadlines", "wait_ns")

    def __init__(
        self, deadlines: Deadlines, wait_ns: int, deadline_of: Callable[[SeatedBot], Deadline]
    ) -> None:
        self.deadlines = deadlines
        self.wait_ns = wait_ns
        self._deadline_of = deadline_of

    def start(self, turn: OpenTurn, now_ns: int) -> None:
        """Start the clock: the turn can go to the bot now."""
        seated = turn.seated
        clock = seated.clock
        assert seated.turn is turn
        assert not clock.started_ns
        deadlines = self.deadlines
        clock.start(now_ns, deadlines.lag_ns)
        ends_ns = now_ns + clock.limit_ns + clock.spare_ns
        if not clock.armed_ns or ends_ns < clock.armed_ns:
            clock.armed_ns = ends_ns
            deadlines.push(ends_ns, self._deadline_of(seated))

    def wait(self, turn: OpenTurn, now_ns: int) -> None:
        """Let the clock stand still, as long as it may: the turn cannot go to the bot yet."""
        seated = turn.seated
        clock = seated.clock
        deadlines = self.deadlines
        clock.wait(now_ns, deadlines.lag_ns)
        if not clock.armed_ns:
            ends_ns = clock.wait_ends_ns(self.wait_ns, deadlines.lag_ns)
            clock.armed_ns = max(now_ns, min(ends_ns, now_ns + WAIT_LOOK_NS))
            deadlines.push(clock.armed_ns, self._deadline_of(seated))


class TurnQueue:
    """The open turns of one bot, oldest first.

    `out` counts the turns that the bot has and has not answered, `running` the clocks that run; at most
    `most` are started at once (0: any number).
    """

    __slots__ = ("_clocks", "most", "out", "ready", "running", "waiting")

    def __init__(self, clocks: TurnClocks) -> None:
        self.ready: dict[OpenTurn, None] = {}
        self.waiting: dict[OpenTurn, None] = {}
        self.out = 0
        self.running = 0
        self.most = 0
        self._clocks = clocks

    def has_room(self) -> bool:
        """Return whether one more clock may start."""
        return not self.most or self.running < self.most

    def room(self, limit: int) -> int:
        """Return how many turns may be taken, `limit` at most."""
        return limit if not self.most else min(limit, self.most - self.out)

    def start(self, turn: OpenTurn, now_ns: int) -> None:
        """Make a turn ready: its clock starts."""
        self._clocks.start(turn, now_ns)
        self.running += 1
        self.ready[turn] = None

    def wait(self, turn: OpenTurn, now_ns: int) -> None:
        """Let a turn wait: its clock stands still."""
        self._clocks.wait(turn, now_ns)
        self.waiting[turn] = None

    def start_waiting(self, now_ns: int) -> None:
        """Start the clocks for which there is room, the turns that have waited longest first."""
        waiting = self.waiting
        while waiting and self.has_room():
            self.let_go(next(iter(waiting)), now_ns)

    def let_go(self, turn: OpenTurn, now_ns: int) -> None:
        """Start the clock of a turn that waits, whether or not there is room."""
        del self.waiting[turn]
        self.start(turn, now_ns)

    def close(self, turn: OpenTurn) -> None:
        """Drop a turn that has been answered or withdrawn; its clock is stopped after this."""
        if turn.sent:
            self.out -= 1
        else:
            self.ready.pop(turn, None)
        if turn.seated.clock.started_ns:
            self.running -= 1
        if self.waiting:
            self.waiting.pop(turn, None)

    def tell_again(self, turn: OpenTurn) -> None:
        """Make a turn ready again whose answer was rejected: its clock runs on."""
        if turn.sent and turn.seated.turn is turn:
            turn.sent = False
            self.out -= 1
            self.ready[turn] = None

    def ask_again(self, turns: Iterable[OpenTurn]) -> None:
        """Take all open turns for untaken: those first whose clocks run."""
        self.ready.clear()
        self.waiting.clear()
        self.out = 0
        waiting = []
        for turn in turns:
            turn.sent = False
            if turn.seated.clock.started_ns:
                self.ready[turn] = None
            else:
                waiting.append(turn)
        waiting.sort(key=_since)
        self.waiting.update(dict.fromkeys(waiting))

    def take(self, limit: int) -> list[OpenTurn]:
        """Return the turns that a stream takes: ready ones, as many as the bot has room for."""
        ready = self.ready
        room = self.room(limit)
        if not ready or room <= 0:
            return []
        if len(ready) <= room:
            turns = list(ready)
            ready.clear()
        else:
            turns = list(islice(ready, room))
            for turn in turns:
                del ready[turn]
        for turn in turns:
            turn.sent = True
        self.out += len(turns)
        return turns

    def untaken(self) -> OpenTurn | None:
        """Return the turn that a poll takes first: a ready one, else one that waits."""
        for turns in (self.ready, self.waiting):
            for turn in turns:
                return turn
        return None

    def hand_out(self, turn: OpenTurn, now_ns: int) -> None:
        """Give a turn to a poll, also beyond `most`: a bot that polls has time for the turn."""
        if turn in self.waiting:
            self.let_go(turn, now_ns)
        self.ready.pop(turn, None)
        if not turn.sent:
            turn.sent = True
            self.out += 1


def _since(turn: OpenTurn) -> int:
    return turn.seated.clock.waiting_ns
