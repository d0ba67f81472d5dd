"""What a bot has to be told, as cursors on its matches: nothing is copied, nothing piles up.

A turn waits in `Bot.ready` until somebody takes it, a stream (`Mailbox`) or a long poll; an event is a
sequence number up to which the bot has been told. Whatever has become ready by the time a delivery is
taken travels in it, so deliveries coalesce by themselves.
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

    `left_ns` is when it was last there, -1 for never; `polls` counts its long polls; `unary` says that
    it was last there by a poll. `out` counts turns that it has and has not answered; `limited` says
    that its stream takes only so many at once.
    """

    __slots__ = (
        "armed_ns",
        "doorkeeper",
        "left_lag_ns",
        "left_ns",
        "limited",
        "mailbox",
        "matches",
        "name",
        "out",
        "pollers",
        "polls",
        "ready",
        "unary",
    )

    def __init__(self, name: str, doorkeeper: Doorkeeper) -> None:
        self.name = name
        self.doorkeeper = doorkeeper
        self.mailbox: Mailbox | None = None
        self.matches: dict[Match, None] = {}
        self.ready: dict[OpenTurn, None] = {}
        self.out = 0
        self.limited = False
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
        """Tell whoever waits that there is something."""
        if self.mailbox is not None:
            self.mailbox.wake()
        if self.pollers:
            pollers, self.pollers = self.pollers, []
            for poller in pollers:
                if not poller.done():
                    poller.set_result(None)

    def open_turn(self, match_id: str) -> OpenTurn | None:
        """Return a turn that nobody has taken, else one that is not answered yet ("": any match)."""
        for turn in self.ready:
            if not match_id or turn.match.id == match_id:
                return turn
        for match in self.matches:
            if not match_id or match.id == match_id:
                for player in match.players:
                    if player.bot is self and player.turn is not None and not player.turn.held:
                        return player.turn
        return None

    def thinks(self) -> bool:
        """Whether the clock of a turn runs for the bot."""
        return any(
            player.bot is self and player.clock.started_ns
            for match in self.matches
            for player in match.players
        )

    def hand_out(self, turn: OpenTurn) -> None:
        """Mark a turn as taken."""
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
        """Whether nobody waits for the bot to come back (see `clock.Deadline`)."""
        return not self.armed_ns


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

    def close(self) -> None:
        """The stream is gone: clocks of turns it has taken run on, the time to come back runs."""
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
