"""The host of all matches: every call that creates, plays, watches or ends one comes through here.

One event loop, no lock, no task a match. This module puts the parts together and supervises their
tasks; each part knows only those before it:

    deadlines, log                   time, moves and events
    running, finished                the two kinds of a match
    turns, mailbox, bots             what each bot has to be told, and which clocks run
    registry, subscriptions, commits   matches by id, watchers, what waits for the store
    publishing                       turns, events and results become visible
    endings, presence, timeouts      how matches end
    answers                          what bots do
    creation, recovery               how matches begin

With durability `strict`, and while the store cannot be written, turns and events are published only
when the moves that they follow from are stored; results are published only when they are stored
themselves. When the store is lost nothing more is published, and the process is to end.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Sequence
from traceback import format_exc

import structlog

from pegboard.errors import StoreError, UnknownSeat
from pegboard.matches.answers import Answer, Answers
from pegboard.matches.bots import Bots
from pegboard.matches.clock import MILLISECOND, SECOND
from pegboard.matches.commits import Committer
from pegboard.matches.creation import CreateRequest, Creation, NewMatches
from pegboard.matches.deadlines import TICK_NS, Deadlines
from pegboard.matches.endings import Endings
from pegboard.matches.finished import FinishedMatch
from pegboard.matches.hosting import Hosting
from pegboard.matches.mailbox import Mailbox
from pegboard.matches.presence import Presence
from pegboard.matches.publishing import Publishing
from pegboard.matches.recovery import recovered
from pegboard.matches.registry import FindGame, Registry
from pegboard.matches.rejection import Rejection
from pegboard.matches.running import AnyMatch, LostMatch, OpenTurn, RunningMatch
from pegboard.matches.settings import HostSettings
from pegboard.matches.store.protocol import Store, StoreState
from pegboard.matches.store.query import EVERY_MATCH, MatchQuery
from pegboard.matches.store.rows import Row
from pegboard.matches.subscriptions import Numbered, Subscriptions
from pegboard.matches.timeouts import Timeouts, TurnDeadline
from pegboard.matches.turns import TurnClocks
from pegboard.rules import catalog
from pegboard.rules.game import Seat
from pegboard.rules.results import Termination

__all__ = ["CreateRequest", "HostSettings", "MatchHost"]

log = structlog.get_logger(__name__)

_DEFAULTS = HostSettings()
_RECOVERIES_AT_ONCE = 32
"""Matches recovered in one pass of the event loop: a thousand at once would delay all other work."""
_OUR_ERROR = "the server made an error while storing; restart it"


class MatchHost:
    """Hosts matches in one store. All methods belong to the thread of the event loop."""

    def __init__(
        self,
        store: Store,
        *,
        find_game: FindGame = catalog.game,
        now_ns: Callable[[], int] = time.monotonic_ns,
        settings: HostSettings = _DEFAULTS,
        ticking: bool = True,
    ) -> None:
        """Take the store, open. `ticking` False: a test calls `deadlines.tick`."""
        self.now_ns = now_ns
        self.settings = settings
        self.deadlines = deadlines = Deadlines()
        self._store = store
        self._ticking = ticking
        self._spare_ns = settings.lag_ms * MILLISECOND
        self._registry = registry = Registry(store, find_game, settings)
        self._running = registry.running
        self._subscriptions = Subscriptions(registry)
        clocks = TurnClocks(
            deadlines, settings.wait_ns, lambda seated: TurnDeadline(seated, self._timeouts)
        )
        self._bots = bots = Bots(clocks, now_ns)
        hosting = Hosting(registry, bots, deadlines, now_ns, settings)
        publishing = Publishing(hosting, self._subscriptions)
        self._commits = Committer(registry, publishing.stored, settings.store_patience_s)
        self._endings = endings = Endings(bots, self._commits)
        self._presence = Presence(hosting, endings)
        self._timeouts = Timeouts(hosting, self._presence, endings)
        self._answers = Answers(hosting, publishing, self._commits, endings)
        self._creation = Creation(registry, settings)
        self._supervisor: asyncio.Task[None] | None = None
        self._tasks = asyncio.TaskGroup()
        self._busy = asyncio.Event()  # a match runs: clocks tick
        self._closing = asyncio.Event()

    # Opening and closing

    async def open(self) -> None:
        """Recover the running matches of the store and begin. Raises `StoreError`."""
        try:
            rows = self._store.running()
        except StoreError:
            self._store.close()
            raise
        supervised = asyncio.get_running_loop().create_future()
        self._supervisor = asyncio.create_task(self._supervise(supervised), name="pegboard-host")
        await supervised
        try:
            await self._recover(rows)
        except BaseException:
            await self.close()
            raise

    async def _recover(self, rows: Sequence[Row]) -> None:
        """Take up the matches that ran, and store the ends of those that cannot go on."""
        lost = 0
        for number, row in enumerate(rows, 1):
            match = recovered(row, self._registry, self._spare_ns)
            if isinstance(match, LostMatch):
                self._commits.lost(match)
                lost += 1
            else:
                self._start(match)
            if number % _RECOVERIES_AT_ONCE == 0:
                await asyncio.sleep(0)
        self._commits.complete = True
        if lost:
            await self.stored()
        if rows:
            log.info("recovered running matches", count=len(rows) - lost, lost=lost)

    async def _supervise(self, supervised: asyncio.Future[None]) -> None:
        """Run the tasks of this host until it closes; an error in one of them is an error of ours.

        Then the store is lost: nothing more is published, callers that wait are told, and the process
        is to end.
        """
        try:
            async with self._tasks as tasks:
                tasks.create_task(self._commits.run(), name="pegboard-store")
                ticks = tasks.create_task(self._tick(), name="pegboard-ticks")
                supervised.set_result(None)
                await self._closing.wait()
                ticks.cancel()
        except Exception:  # a group of those of the tasks
            log.error("hosting failed", traceback=format_exc())
            self._commits.lose(StoreError(_OUR_ERROR))

    async def close(self) -> None:
        """Store everything, close all mailboxes and leave running matches to be recovered."""
        if self._supervisor is None:
            self._store.close()
            return
        self._subscriptions.closed = True
        self._presence.close()
        self._closing.set()
        self._commits.close()
        await self._supervisor
        self._supervisor = None
        for match in self._running.values():
            match.log.wake()
        self._subscriptions.matches_finished()
        self._store.close()

    async def _tick(self) -> None:
        """Tick: the one timer of all matches. It rests while none runs."""
        while self._ticking:
            if not self._running:
                self._busy.clear()
                await self._busy.wait()
                self.deadlines.pause()
            await asyncio.sleep(TICK_NS / SECOND)
            self.deadlines.tick(self.now_ns())

    # Creating and finding

    async def create(self, requests: Sequence[CreateRequest]) -> list[AnyMatch]:
        """Create all of the matches or none, and return them once they are stored and running.

        A request id that was there before gives the match of then. Raises `UnknownVariant`,
        `OptionError`, `SeatsError`, `InvalidRequest`, `AlreadyExists`, `StoreError`.
        """
        batch = await self._creation.prepare(requests)
        if batch.rows:
            # Not in the task of the caller: one that goes away must not leave matches behind that are
            # stored and never start.
            storing = self._store_and_start(batch)
            if self._commits.failure is None:
                await asyncio.wait((self._tasks.create_task(storing),))
            else:
                await storing  # refused at once
        return await batch.result()

    async def _store_and_start(self, batch: NewMatches) -> None:
        """Store and start the matches of a batch; its promises tell callers of an error."""
        try:
            await self._commits.create(batch.rows, batch.begun)
        except Exception as error:
            self._creation.settle(batch, error)
            return
        except asyncio.CancelledError:
            self._creation.settle(batch, StoreError(_OUR_ERROR))
            raise
        for match in batch.matches:
            self._start(match)
        self._creation.settle(batch)

    def _start(self, match: RunningMatch) -> None:
        """Register a match that is dealt, tell its bots, and open its turns."""
        now_ns = self.now_ns()
        match.begin(now_ns, self.deadlines.lag_ns)
        self._running[match.id] = match
        for name in match.bots:
            self._bots.of(name).sit_down(match)
        self._presence.expect(match, now_ns)
        self._timeouts.limit(match)
        self._busy.set()
        try:
            self._answers.begin(match, now_ns)
        except Exception:
            self._endings.fault(match)

    def get(self, match_id: str) -> AnyMatch:
        """Return the match. Raises `UnknownMatch`."""
        return self._registry.get(match_id)

    def running(self) -> list[RunningMatch]:
        """Return the matches that run."""
        return [match for match in self._running.values() if match.ending is None]

    def list(
        self, query: MatchQuery = EVERY_MATCH, *, page_size: int = 50, page_token: str = ""
    ) -> tuple[list[AnyMatch], str]:
        """Return a page of the matches that fit, and the token of the next one, "" on the last.

        Raises `InvalidRequest` for a token that is not ours, or of another query.
        """
        return self._registry.page(query, page_size, page_token)

    def is_sealed(self, match: AnyMatch) -> bool:
        """Return whether only organisers may read the match: its block is not over."""
        return self._registry.is_sealed(match)

    # Ending

    async def cancel(self, match_id: str) -> AnyMatch:
        """End a running match without a result; a finished one stays as it is.

        Returns once that is stored. Raises `UnknownMatch`, `StoreError`.
        """
        match = self.get(match_id)
        if isinstance(match, FinishedMatch):
            return match
        if match.ending is None:
            detail = f"match {match.id} was cancelled"
            self._endings.abandon(match, Termination.CANCELLED, detail)
        await self.stored()
        return self.get(match_id)

    async def forfeit(self, match_id: str, seat: Seat, detail: str) -> AnyMatch:
        """End a running match because the bot at `seat` is gone; a finished one stays as it is.

        Returns once that is stored. Raises `UnknownMatch`, `UnknownSeat`, `StoreError`.
        """
        match = self.get(match_id)
        if not 0 <= seat < len(match.spec.bots):
            raise UnknownSeat(f"match {match_id} has no seat {seat}")
        if isinstance(match, FinishedMatch):
            return match
        if match.ending is None:
            detail = detail or "its process ended"
            self._endings.forfeit(match.seats[seat], Termination.CRASH, detail)
        await self.stored()
        return self.get(match_id)

    def fault(self, match: RunningMatch) -> None:
        """End a match by the server's own error, which is being handled."""
        self._endings.fault(match)

    # The store

    async def stored(self) -> None:
        """Wait until everything that has been applied so far is stored. Raises `StoreError`."""
        await self._commits.stored()

    @property
    def store_state(self) -> StoreState:
        """How the store does. When it is lost nothing more is published: the process is to end."""
        return self._commits.state

    @property
    def store_failure(self) -> StoreError | None:
        """Why the store cannot be written now, None while it can."""
        return self._commits.failure

    async def store_left(self, state: StoreState) -> StoreState:
        """Wait until the store is in another state, and return that."""
        return await self._commits.left(state)

    # Bots

    def connect(self, bot: str, *, max_open_turns: int = 0, events: bool = False) -> Mailbox:
        """Return a new mailbox for the bot, replacing an older one; its open turns come (again)."""
        return self._presence.connect(bot, max_open_turns, events)

    def running_of(self, bot: str) -> int:
        """Return in how many running matches the bot sits."""
        known = self._bots.known.get(bot)
        return 0 if known is None else len(known.matches)

    def is_asked(self, match_id: str, seat: Seat, turn_id: int) -> bool:
        """Return whether this turn is open."""
        match = self._running.get(match_id)
        if match is None or not 0 <= seat < len(match.seats):
            return False
        turn = match.seats[seat].turn
        return turn is not None and turn.turn_id == turn_id

    async def next_turn(self, bot: str, match_id: str, wait_s: float) -> OpenTurn | None:
        """Return an open turn of the bot (in this match, or "" for any), waiting for one.

        One that has not been taken yet comes first; one that was taken comes again until it is
        answered. Raises `UnknownMatch`, `UnknownSeat`, `MatchOver` if the match is over or ends
        meanwhile, `TooManyRequests`.
        """
        match = self.get(match_id) if match_id else None
        if match is not None and not match.seats_of(bot):
            raise UnknownSeat(f"{bot} does not sit in match {match_id!r}")
        return await self._presence.next_turn(bot, match, wait_s)

    def called(self, bot: str) -> None:
        """Note that a bot has called without a stream: it is there."""
        self._presence.called(bot)

    def answer(self, bot: str, answer: Answer) -> Rejection | None:
        """Answer a turn. None: the answer counts, or the seat has given the same answer before."""
        return self._answers.answer(bot, answer)

    def handed_again(self, rejection: Rejection) -> OpenTurn | None:
        """Return the turn that a rejection leaves open, handed to a call; None if there is none."""
        return self._answers.handed_again(rejection)

    def resign(self, bot: str, match_id: str, seat: Seat) -> Rejection | None:
        """Give a match up. None: it is over by that."""
        return self._answers.resign(bot, match_id, seat)

    # Watching

    def watch(self, match_id: str, after: int) -> AsyncIterator[Numbered]:
        """Yield the events after sequence number `after` as they come; end after the last one.

        Raises `UnknownMatch`.
        """
        return self._subscriptions.events(self.get(match_id), after)

    def finished(
        self, label: str = "", include_earlier: bool = False
    ) -> AsyncIterator[Sequence[FinishedMatch]]:
        """Yield matches as they finish, in that order, until the host closes.

        An empty list comes once, when all earlier ones have been yielded.
        """
        return self._subscriptions.finished(label, include_earlier)
