"""What a connected bot has to be told, as cursors on its matches: nothing is copied, nothing piles up.

Turns come from the bot's queue (`turns.TurnQueue`). An event is a sequence number up to which the bot
has been told. Whatever has become ready by the time a delivery is taken travels in it, so deliveries
coalesce by themselves.
"""

from __future__ import annotations

from asyncio import Future, get_running_loop
from collections.abc import Callable, Iterable
from itertools import islice
from typing import NamedTuple, TypeVar

from pegboard.matches.finished import FinishedMatch
from pegboard.matches.rejection import Rejection
from pegboard.matches.running import AnyMatch, OpenTurn, RunningMatch
from pegboard.matches.turns import TurnQueue
from pegboard.rules.game import Seat

_T = TypeVar("_T")


class Delivery(NamedTuple):
    """What a bot has to be told, in this order.

    `events` are (match, seat, after): what `match.events(after)` returns, redacted for the seat.
    """

    started: list[RunningMatch]
    events: list[tuple[AnyMatch, Seat, int]]
    rejected: list[tuple[str, Seat, int, Rejection]]
    ended: list[FinishedMatch]
    turns: list[OpenTurn]

    def __bool__(self) -> bool:
        return any(self)


class Mailbox:
    """The stream of one connected bot. One reader: the task that writes to the stream.

    `heard` counts the messages that have come on the stream. `_started`, `_fresh` and `_ended` are
    matches by id: those that begin, have new events, and are over.
    """

    __slots__ = (
        "_ended",
        "_fresh",
        "_on_close",
        "_rejected",
        "_seen",
        "_started",
        "_turns",
        "_waiter",
        "bot",
        "closed",
        "heard",
        "replaced",
        "with_events",
    )

    def __init__(
        self,
        bot: str,
        turns: TurnQueue,
        matches: Iterable[RunningMatch],
        with_events: bool,
        on_close: Callable[[Mailbox], None],
    ) -> None:
        self.bot = bot
        self.with_events = with_events
        self.replaced = False
        self.closed = False
        self.heard = 0
        self._turns = turns
        self._on_close = on_close
        self._started = {match.id: match for match in matches}
        self._fresh: dict[str, AnyMatch] = dict(self._started) if with_events else {}
        self._seen: dict[str, int] = {}
        self._rejected: list[tuple[str, Seat, int, Rejection]] = []
        self._ended: dict[str, FinishedMatch] = {}
        self._waiter: Future[None] | None = None

    @property
    def thinks(self) -> bool:
        """Whether the bot has taken a turn and not answered it yet."""
        return self._turns.out > 0

    # For the stream

    def _something(self) -> bool:
        if self._started or self._rejected or self._ended or self._fresh:
            return True
        turns = self._turns
        return bool(turns.ready) and turns.room(1) > 0

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
        """Return what there is, at most `limit` of each kind, and never more turns than the bot takes.

        Nothing about a match comes before its start, and no turn before the rejection that brings it up
        again. Empty when replaced or closed.
        """
        if self.replaced or self.closed:
            return Delivery([], [], [], [], [])
        started = _take(self._started, limit)
        rejected, self._rejected = self._rejected[:limit], self._rejected[limit:]
        if self._started or self._rejected:
            return Delivery(started, [], rejected, [], [])
        events = self._take_events(limit) if self._fresh else []
        ended = [] if self._fresh else _take(self._ended, limit)
        for match in ended:
            self._seen.pop(match.id, None)
        return Delivery(started, events, rejected, ended, self._turns.take(limit))

    def _take_events(self, limit: int) -> list[tuple[AnyMatch, Seat, int]]:
        events = []
        for match in _take(self._fresh, limit):
            after = self._seen.get(match.id, 0)
            self._seen[match.id] = match.event_count
            events += [(match, seat, after) for seat in match.seats_of(self.bot)]
        return events

    def reject(self, match_id: str, seat: Seat, turn_id: int, rejection: Rejection) -> None:
        """Let a rejection join the next delivery, and the turn with it, if that is still open."""
        self._rejected.append((match_id, seat, turn_id, rejection))
        if rejection.turn is not None and not self.closed:
            self._turns.tell_again(rejection.turn)
        self.wake()

    def message_came(self) -> None:
        """Count a message of the bot."""
        self.heard += 1

    def close(self) -> None:
        """End the stream: clocks that have started run on, the time to come back runs."""
        if self.closed:
            return
        self.closed = True
        self.wake()
        self._on_close(self)

    # For the host

    def wake(self) -> None:
        """End `wait`."""
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    def match_started(self, match: RunningMatch) -> None:
        """Tell that a match of the bot begins."""
        self._started[match.id] = match
        self.events_grew(match)
        self.wake()

    def match_ended(self, match: FinishedMatch) -> None:
        """Tell that a match of the bot is over."""
        self._ended[match.id] = match
        self.events_grew(match)
        self.wake()

    def events_grew(self, match: AnyMatch) -> None:
        """Tell that a match of the bot has new events."""
        if self.with_events:
            self._fresh[match.id] = match
            self.wake()

    def shut(self) -> None:
        """End the stream because the host closes."""
        self.closed = True
        self.wake()

    def replace(self) -> None:
        """End the stream because a newer one takes over."""
        self.replaced = True
        self.shut()


def _take(things: dict[str, _T], limit: int) -> list[_T]:
    """Remove and return the first of them, at most `limit`."""
    if len(things) <= limit:
        taken = list(things.values())
        things.clear()
        return taken
    taken = list(islice(things.values(), limit))
    for key in list(islice(things, limit)):
        del things[key]
    return taken
