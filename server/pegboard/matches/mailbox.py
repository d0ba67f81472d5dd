"""What a bot has to be told, as cursors on its matches: nothing is copied, nothing piles up.

A turn is in `Bot.waiting`, its clock stopped, while the bot is not there or has as many turns as it
takes. It is in `Bot.ready`, its clock running, until it is taken, by a stream (`Mailbox`) or a long
poll. An event is a sequence number up to which the bot has been told. Whatever has become ready by the
time a delivery is taken travels in it, so deliveries coalesce by themselves.
"""

from __future__ import annotations

from asyncio import Future, get_running_loop
from itertools import islice
from typing import NamedTuple, Protocol, TypeVar

from pegboard.matches.match import Match, OpenTurn
from pegboard.matches.rejection import Rejection
from pegboard.rules.game import Seat

_T = TypeVar("_T")


class Doorkeeper(Protocol):
    """Who is told that a bot has gone (`attendance`)."""

    def now(self) -> int:
        """Return the time, in monotonic nanoseconds."""
        ...

    def left(self, bot: Bot) -> None:
        """The bot's stream or poll has ended."""
        ...

    def away(self, bot: Bot, now_ns: int) -> int:
        """Decide on a bot that is away. Return when to ask again, or 0."""
        ...

    def forget(self, bot: Bot) -> None:
        """Drop a bot of which nothing is known but its name."""
        ...


class Bot:
    """What the host knows of a bot: where it is connected, its running matches, its ready turns.

    It is there while a stream or a long poll of it is open. `left_ns` is when it was last there, -1 for
    never; `polls` counts its long polls; `unary` says that it was last there by a call, not a stream.
    `out` counts turns that it has and has not answered, `running` its clocks that run; no more than
    `most` are started at once (0: any number). `heard` counts the messages that have come from it.
    """

    __slots__ = (
        "armed_ns",
        "doorkeeper",
        "heard",
        "left_lag_ns",
        "left_ns",
        "mailbox",
        "matches",
        "most",
        "name",
        "out",
        "pollers",
        "polls",
        "ready",
        "running",
        "unary",
        "waiting",
    )

    def __init__(self, name: str, doorkeeper: Doorkeeper) -> None:
        self.name = name
        self.doorkeeper = doorkeeper
        self.mailbox: Mailbox | None = None
        self.matches: dict[Match, None] = {}
        self.ready: dict[OpenTurn, None] = {}
        self.waiting: dict[OpenTurn, None] = {}
        self.out = 0
        self.running = 0
        self.most = 0
        self.heard = 0
        self.polls = 0
        self.pollers: list[Future[None]] = []
        self.unary = False
        self.left_ns = -1
        self.left_lag_ns = 0
        self.armed_ns = 0

    @property
    def present(self) -> bool:
        """Whether a stream or a poll of the bot is open."""
        return self.mailbox is not None or self.polls > 0

    def wake(self) -> None:
        """End the waits of the stream and of polls: there is something to take."""
        if self.mailbox is not None:
            self.mailbox.wake()
        if self.pollers:
            pollers, self.pollers = self.pollers, []
            for poller in pollers:
                if not poller.done():
                    poller.set_result(None)

    @property
    def thinks(self) -> bool:
        """Whether the bot has taken a turn by a call and not answered it yet."""
        return self.unary and self.out > 0

    def came_to(self, match: Match) -> bool:
        """Whether the bot has been there since the match began."""
        return self.present or self.left_ns >= match.created_ns

    # Which clocks run

    def opened(self, turn: OpenTurn, now_ns: int) -> None:
        """A turn has been opened, or released by the store: its clock starts where there is room."""
        most = self.most
        if (self.mailbox is not None or self.polls) and (not most or self.running < most):
            turn.start(now_ns)
            self.ready[turn] = None
            self.wake()
        else:
            turn.wait(now_ns)
            self.waiting[turn] = None
            if self.pollers:  # several polls take several turns
                self.wake()

    def make_room(self) -> None:
        """A bot that is there may have room for turns that wait."""
        if self.waiting and self.present:
            self.start_clocks()
        if self.ready:
            self.wake()

    def start_clocks(self) -> None:
        """Start the clocks for which there is room, the turns that have waited longest first."""
        waiting, most = self.waiting, self.most
        now_ns = self.doorkeeper.now()
        while waiting and (not most or self.running < most):
            turn = next(iter(waiting))
            del waiting[turn]
            turn.start(now_ns)
            self.ready[turn] = None

    def let_go(self, turn: OpenTurn, now_ns: int) -> None:
        """Start a clock that has waited for too long; the turn goes to the bot when it takes one."""
        del self.waiting[turn]
        turn.start(now_ns)
        self.ready[turn] = None
        self.wake()

    def ask_again(self) -> None:
        """A stream is new: all open turns go to it (again), those first whose clocks run."""
        self.ready.clear()
        self.waiting.clear()
        self.out = 0
        waiting = []
        for match in self.matches:
            for turn in match.open_turns(self):
                turn.sent = False
                if turn.player.clock.started_ns:
                    self.ready[turn] = None
                else:
                    waiting.append(turn)
        waiting.sort(key=_since)
        self.waiting.update(dict.fromkeys(waiting))
        self.make_room()

    # What polls take

    def open_turn(self, match: Match | None) -> OpenTurn | None:
        """Return a turn that is not taken, else one that is not answered yet (None: any match)."""
        if match is None:
            for turns in (self.ready, self.waiting):
                for turn in turns:
                    return turn
        for each in self.matches if match is None else (match,):
            found = each.open_turns(self)
            if found:
                return min(found, key=_taken)
        return None

    def hand_out(self, turn: OpenTurn) -> None:
        """A poll takes a turn, also beyond what may run at once: a bot that polls has time for it."""
        if turn in self.waiting:
            del self.waiting[turn]
            turn.start(self.doorkeeper.now())
        self.ready.pop(turn, None)
        if not turn.sent:
            turn.sent = True
            self.out += 1

    def due(self, when_ns: int, now_ns: int) -> int:
        """The bot may be away for too long (see `clock.Deadline`)."""
        if when_ns != self.armed_ns:
            return 0
        self.armed_ns = 0 if self.present else self.doorkeeper.away(self, now_ns)
        if not self.armed_ns:
            self.doorkeeper.forget(self)
        return self.armed_ns

    def is_spent(self) -> bool:
        """Whether no match waits for the bot to come back (see `clock.Deadline`)."""
        return not self.armed_ns


def _since(turn: OpenTurn) -> int:
    return turn.player.clock.waiting_ns


def _taken(turn: OpenTurn) -> bool:
    return turn.sent


class Delivery(NamedTuple):
    """What a bot has to be told, in this order.

    `events` are (match, seat, after): what `match.events(after)` returns, redacted for the seat.
    """

    started: list[Match]
    events: list[tuple[Match, Seat, int]]
    rejected: list[tuple[str, Seat, int, Rejection]]
    ended: list[Match]
    turns: list[OpenTurn]

    def __bool__(self) -> bool:
        return any(self)


class Mailbox:
    """The stream of one connected bot. One reader: whoever writes to the stream."""

    __slots__ = (
        "_bot",
        "_ended",
        "_fresh",
        "_rejected",
        "_seen",
        "_started",
        "_waiter",
        "closed",
        "max_open_turns",
        "replaced",
        "with_events",
    )

    def __init__(self, bot: Bot, max_open_turns: int, with_events: bool) -> None:
        self._bot = bot
        self.max_open_turns = max_open_turns
        self.with_events = with_events
        self.replaced = False
        self.closed = False
        self._started: dict[Match, None] = dict(bot.matches)
        self._fresh: dict[Match, None] = dict(bot.matches) if with_events else {}
        self._seen: dict[Match, int] = {}
        self._rejected: list[tuple[str, Seat, int, Rejection]] = []
        self._ended: dict[Match, None] = {}
        self._waiter: Future[None] | None = None

    @property
    def bot(self) -> str:
        """The bot's name."""
        return self._bot.name

    @property
    def thinks(self) -> bool:
        """Whether the bot has taken a turn and not answered it yet."""
        return self._bot.out > 0

    # For the stream

    def _something(self) -> bool:
        if self._started or self._rejected or self._ended or self._fresh:
            return True
        return bool(self._bot.ready) and self._room(1) > 0

    def _room(self, limit: int) -> int:
        most = self.max_open_turns
        return limit if not most else min(limit, most - self._bot.out)

    async def wait(self) -> None:
        """Wait until there is something to take, or the mailbox is replaced or closed."""
        if self._something() or self.replaced or self.closed:
            return
        self._waiter = get_running_loop().create_future()
        try:
            await self._waiter
        finally:
            self._waiter = None

    def take(self, limit: int = 256) -> Delivery:
        """Return what there is, at most `limit` of each kind, and never more turns out than allowed.

        Nothing about a match comes before its start. Empty when replaced or closed.
        """
        if self.replaced or self.closed:
            return Delivery([], [], [], [], [])
        started = _take(self._started, limit)
        rejected, self._rejected = self._rejected[:limit], self._rejected[limit:]
        if self._started:
            return Delivery(started, [], rejected, [], [])
        events = self._take_events(limit) if self._fresh else []
        ended = [] if self._fresh else _take(self._ended, limit)
        for match in ended:
            self._seen.pop(match, None)
        return Delivery(started, events, rejected, ended, self._take_turns(limit))

    def _take_events(self, limit: int) -> list[tuple[Match, Seat, int]]:
        events = []
        for match in _take(self._fresh, limit):
            after = self._seen.get(match, 0)
            self._seen[match] = match.event_count
            events += [(match, seat, after) for seat in match.seats_of(self.bot)]
        return events

    def _take_turns(self, limit: int) -> list[OpenTurn]:
        bot = self._bot
        ready = bot.ready
        room = self._room(limit)
        if not ready or room <= 0:
            return []
        if len(ready) <= room:
            turns = list(ready)
            ready.clear()
        else:
            turns = _take(ready, room)
        for turn in turns:
            turn.sent = True
        bot.out += len(turns)
        return turns

    def reject(self, match_id: str, seat: Seat, turn_id: int, rejection: Rejection) -> None:
        """Let a rejection join the next delivery."""
        self._rejected.append((match_id, seat, turn_id, rejection))
        self.wake()

    def heard(self) -> None:
        """A message has come."""
        self._bot.heard += 1

    def close(self) -> None:
        """The stream is gone: clocks that have started run on, the time to come back runs."""
        if self.closed:
            return
        self.closed = True
        self.wake()
        if self._bot.mailbox is self:
            self._bot.mailbox = None
            self._bot.doorkeeper.left(self._bot)

    # For the host

    def wake(self) -> None:
        """End `wait`."""
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    def match_started(self, match: Match) -> None:
        """A match of the bot begins."""
        self._started[match] = None
        self.events_grew(match)
        self.wake()

    def match_ended(self, match: Match) -> None:
        """A match of the bot is over."""
        self._ended[match] = None
        self.events_grew(match)
        self.wake()

    def events_grew(self, match: Match) -> None:
        """A match of the bot has new events."""
        if self.with_events:
            self._fresh[match] = None
            self.wake()

    def replace(self) -> None:
        """A newer connection takes over."""
        self.replaced = True
        self.closed = True
        self.wake()


def _take(things: dict[_T, None], limit: int) -> list[_T]:
    """Remove and return the first of them, at most `limit`."""
    if len(things) <= limit:
        taken = list(things)
        things.clear()
        return taken
    taken = list(islice(things, limit))
    for thing in taken:
        del things[thing]
    return taken
