"""Group commit: what happens while a transaction is being written goes into the next one.

One task a host. Creations, endings and callers that wait (`stored`) start a commit at once. Moves
alone wait for more moves, but leave time for the write, so that a store is 20 ms behind at most, or
twice what a slow disk takes for a write. What is stored is handed to `publish`
(`publishing.Publishing.stored`).

While the store cannot be written, creations and waiters are refused, and everything else is kept and
tried again each second; turns and events are held back. After `patience_s` the store is lost: nothing
more is published, since a result that bots and organisers are told must be stored, and the process ends
(`service.app`). The next process takes the matches up as they were stored.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import structlog

from pegboard.errors import StoreError
from pegboard.matches.finished import FinishedMatch
from pegboard.matches.log import lines_of
from pegboard.matches.registry import Registry
from pegboard.matches.running import LostMatch, OpenTurn, RunningMatch, SeatedBot
from pegboard.matches.store.batch import Batch, BlockChange
from pegboard.matches.store.protocol import Durability, StoreState
from pegboard.matches.store.rows import Row, journal_line, result_text
from pegboard.rules.game import Seat
from pegboard.rules.results import UNRATED

BEHIND_S = 0.02
"""How far a store may be behind its matches: the write in progress, a wait for more, the next write."""
WAIT_LEAST_S = 0.005
RETRY_S = 1.0
SLOW_S = 0.25
"""A commit that takes longer holds turns back, so that a slow store does not fall further behind."""

SNAPSHOT_BYTES = 16 * 1024 * 1024
"""A journal of so many characters, and of four times the last snapshot, is replaced by a snapshot."""

log = structlog.get_logger(__name__)


class Commit:
    """One group: what is to be published once it is stored."""

    __slots__ = ("batch", "ended", "finished", "shown", "snapshot", "turns", "waiters")

    def __init__(self) -> None:
        self.batch = Batch()
        self.shown: list[tuple[RunningMatch, int]] = []
        self.ended: list[RunningMatch | LostMatch] = []
        self.finished: list[FinishedMatch] = []
        self.turns: list[OpenTurn] = []
        self.waiters: list[asyncio.Future[None]] = []
        self.snapshot = False

    @property
    def tells(self) -> bool:
        """Whether callers wait for it to be stored; bots alone are told before that."""
        return bool(self.batch.created or self.ended or self.waiters)


class Committer:
    """Collects and commits. `holding`: turns and events wait for the store.

    `failure` is why the store cannot be written now, None while it can.
    """

    def __init__(
        self, registry: Registry, publish: Callable[[Commit], None], patience_s: float
    ) -> None:
        self.store = store = registry.store
        self.failure: StoreError | None = None
        self.state = StoreState.WRITABLE
        self.strict = store.durability is Durability.STRICT
        self.journaled = store.durability is not Durability.MEMORY
        self.holding = self.strict
        self.complete = (
            False  # whether `running` has all that runs in the store: a snapshot needs that
        )
        self._running = registry.running
        self._finish = registry.last_finish
        self._game_of = registry.game
        self._publish = publish
        self._state_waiters: set[asyncio.Future[None]] = set()
        self._patience_s = patience_s
        self._current = Commit()
        self._next = Commit()
        self._moves: list[tuple[int, Seat, Any, int]] = []  # (key, seat, move, bank_ms)
        self._unseen: dict[RunningMatch, None] = {}
        self._event = asyncio.Event()
        self._timer: asyncio.TimerHandle | None = None
        self._busy = False
        self._wait_s = BEHIND_S / 2
        self._closing = asyncio.Event()
        self._snapshot_bytes = 0
        self._journal_bytes = (
            SNAPSHOT_BYTES  # so the first commit replaces what an earlier process has left
        )

    # What has happened

    def moved(self, seated: SeatedBot, move: Any) -> None:
        """Note a move; while things are held, its events are published once it is stored."""
        match = seated.match
        self._moves.append((match.key, seated.seat, move, seated.clock.journal_bank_ms))
        if self.holding:
            self._unseen[match] = None
        if self.strict:
            self._event.set()
        elif self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(self._wait_s, self._event.set)

    def hold(self, turn: OpenTurn) -> None:
        """Publish the turn with the next commit."""
        turn.held = True
        self._next.turns.append(turn)
        self._event.set()

    def ended(self, match: RunningMatch) -> None:
        """Note that a match is over; its result is published once it is stored."""
        self._unseen.pop(match, None)
        self._next.ended.append(match)
        self._event.set()

    def lost(self, match: LostMatch) -> None:
        """Note that a match of the store cannot go on."""
        self._next.ended.append(match)
        self._event.set()

    async def create(self, rows: list[Row], begun: list[BlockChange]) -> None:
        """Store new matches, and what they change in their blocks.

        Raises `StoreError`, and then they are not stored.
        """
        if self.failure is not None:
            raise StoreError(str(self.failure))
        self._next.batch.created += rows
        self._next.batch.begun += begun
        await self._wait()

    async def stored(self) -> None:
        """Wait until everything that has happened so far is stored. Raises `StoreError`."""
        if self.failure is not None:
            raise StoreError(str(self.failure))
        pending = self._moves or self._next.ended or self._next.batch.created
        if self._busy or self.store.unsynced or pending:
            await self._wait()

    async def _wait(self) -> None:
        waiter = asyncio.get_running_loop().create_future()
        self._next.waiters.append(waiter)
        self._event.set()
        await waiter

    def close(self) -> None:
        """Let `run` commit what is left and end."""
        self._closing.set()
        self._event.set()

    # Committing

    def lose(self, error: StoreError) -> None:
        """Give the store up: callers that wait are refused, and nothing is published from now on."""
        self.failure, self.holding = error, True
        for commit in (self._current, self._next):
            self._refuse(commit, error)
        self._change(StoreState.LOST)

    def _change(self, state: StoreState) -> None:
        if state is not self.state:
            self.state = state
            waiters, self._state_waiters = self._state_waiters, set()
            for waiter in waiters:
                if not waiter.done():
                    waiter.set_result(None)

    async def left(self, state: StoreState) -> StoreState:
        """Wait until the store is in another state, and return that."""
        while self.state is state:
            waiter = asyncio.get_running_loop().create_future()
            self._state_waiters.add(waiter)
            try:
                await waiter
            finally:
                self._state_waiters.discard(waiter)
        return self.state

    async def run(self) -> None:
        """Commit until closed, or until the store is lost."""
        try:
            await self._run()
        finally:
            if self.failure is None:
                self.failure = StoreError("the store is closed; start the server again")

    async def _run(self) -> None:
        while not (self._closing.is_set() and self._idle()):
            if self._idle():
                await self._event.wait()
            self._event.clear()
            if self._timer is not None:
                self._timer.cancel()
                self._timer = None
            self._current = self._collect()
            if not await self._commit(self._current):
                return

    def _idle(self) -> bool:
        more = self._next
        waits = more.batch.created or more.ended or more.turns or more.waiters
        return not (waits or (self._moves and (self._event.is_set() or self._closing.is_set())))

    def _collect(self) -> Commit:
        commit, self._next = self._next, Commit()
        unseen, self._unseen = self._unseen, {}
        moves, self._moves = self._moves, []
        commit.shown = [(match, match.log.count) for match in unseen]
        due = self._journal_bytes >= max(SNAPSHOT_BYTES, 4 * self._snapshot_bytes)
        commit.snapshot = self.journaled and self.complete and due
        if commit.snapshot:
            journal = [
                line
                for match in self._running.values()
                if match.ending is None
                for line in _snapshot(match)
            ]
        else:
            journal = [
                journal_line(key, seat, move.text(), bank_ms) for key, seat, move, bank_ms in moves
            ]
        batch = commit.batch
        batch.journal = journal
        for match in commit.ended:
            self._finish += 1
            commit.finished.append(match.finish(self._finish, self._game_of))
        batch.finished = [_finished_row(match) for match in commit.finished]
        batch.ended = [_block_change(match) for match in commit.finished if match.spec.block]
        size = sum(map(len, journal)) + len(journal)
        self._journal_bytes = size if commit.snapshot else self._journal_bytes + size
        if commit.snapshot:
            self._snapshot_bytes = size
        return commit

    async def _commit(self, commit: Commit) -> bool:
        """Write a commit, again if that fails; return whether it is written."""
        loop = asyncio.get_running_loop()
        self._busy = True
        give_up = loop.time() + self._patience_s
        while (error := await self._write(commit)) is not None:
            if self.failure is None:
                log.error("store cannot be written", error=str(error))
            self.failure, self.holding = error, True
            self._change(StoreState.FAILING)
            self._refuse(commit, error)
            self._refuse(self._next, error)
            if self._closing.is_set() or loop.time() >= give_up:
                self.lose(error)
                return False
            await self._pause()
        if self.failure is not None:
            log.info("store can be written again")
        self.failure, self.holding, self._busy = None, self.strict, False
        self._change(StoreState.WRITABLE)
        self._publish(commit)
        for waiter in commit.waiters:
            if not waiter.done():
                waiter.set_result(None)
        return True

    async def _write(self, commit: Commit) -> StoreError | None:
        loop = asyncio.get_running_loop()
        slow = loop.call_later(SLOW_S, self._hold_back)
        began = loop.time()
        try:
            sync = self.strict or commit.tells
            await self.store.write(commit.batch, snapshot=commit.snapshot, sync=sync)
            self._wait_s = max(WAIT_LEAST_S, BEHIND_S - 2 * (loop.time() - began))
        except StoreError as error:
            return error
        finally:
            slow.cancel()
        return None

    async def _pause(self) -> None:
        """Wait before another attempt, but not when this host closes."""
        with suppress(TimeoutError):
            await asyncio.wait_for(self._closing.wait(), RETRY_S)

    def _hold_back(self) -> None:
        self.holding = True

    def _refuse(self, commit: Commit, error: StoreError) -> None:
        """Refuse creations and waiters; keep the rest for the next attempt."""
        if commit.batch.created:
            commit.batch.created, commit.batch.begun = [], []
        waiters, commit.waiters = commit.waiters, []
        for waiter in waiters:
            if not waiter.done():
                waiter.set_exception(error)


def _finished_row(match: FinishedMatch) -> Row:
    """Return the columns that a match gets when it is over; the others are in the store."""
    return Row(
        match.key,
        match.id,
        request_id="",
        label="",
        block="",
        spec="",
        seed=b"",
        rules_version="",
        create_time=0.0,
        finish=match.finish,
        end_time=match.end_time,
        result=result_text(match.result),
        moves=match.archive.moves,
        event_count=match.archive.event_count,
        events_digest=match.archive.events_digest,
    )


def _block_change(match: FinishedMatch) -> BlockChange:
    rated = int(match.result.termination not in UNRATED)
    return BlockChange(match.spec.block, match.spec.block_matches, rated, -1)


def _snapshot(match: RunningMatch) -> list[str]:
    """Return the lines of all moves of a running match and of its banks."""
    lines = [f"{match.key} {line}" for line in lines_of(match.log.moves())]
    for seated in match.seats:
        bank_ms = seated.clock.journal_bank_ms
        if bank_ms >= 0:
            lines.append(journal_line(match.key, seated.seat, "", bank_ms))
    return lines
