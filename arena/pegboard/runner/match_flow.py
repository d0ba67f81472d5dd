"""The matches of a session: created as others finish, written down, rated, played again."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence

from pegboard.arena.match_queue import Attempt, MatchQueue
from pegboard.arena.results import EndedMatch
from pegboard.arena.scoreboard import Scoreboard
from pegboard.rules.results import UNRATED
from pegboard.runner.match_runner import MatchRunner
from pegboard.runner.records_file import RecordsFile
from pegboard.v1 import match_pb2
from pegboard.wire.records import read_record

CREATE_BATCH = 500


class MatchFlow:
    """Keeps as many matches under way as allowed, until the scoreboard has all of them.

    A match is written to `records` before its place is given to another. So the runner may be killed at
    any moment, and the next session goes on from the records.
    """

    def __init__(
        self,
        board: Scoreboard,
        records: RecordsFile,
        runner: MatchRunner,
        concurrency: int,
        note: Callable[[str], None],
    ) -> None:
        """Take how many matches may be under way at once."""
        self.done = asyncio.Event()
        self._board = board
        self._records = records
        self._runner = runner
        self._concurrency = concurrency
        self._note = note
        self._queue: MatchQueue
        self._cancelled: set[str] = set()
        self._wake = asyncio.Event()
        self._caught_up = asyncio.Event()

    async def create(self, created: Callable[[Sequence[str]], None]) -> None:
        """Create matches as others finish, until cancelled; `created` is called with their ids.

        The first waits until the server has told all that finished before this session.
        """
        await self._caught_up.wait()
        self._queue = MatchQueue(
            self._board.schedule.pairings,
            self._concurrency,
            self._board.is_done,
            self._board.attempts(),
        )
        while True:
            self._wake.clear()
            attempts = self._queue.take(CREATE_BATCH)
            if not attempts:
                await self._wake.wait()
                continue
            over = await self._runner.create(attempts)
            # A match of an earlier session may be over already; the server does not tell it again.
            self._give_back(name for name in over if self._board.has_seen(name))
            created([attempt.id for attempt in attempts])

    async def watch(self, ended: Callable[[EndedMatch], None]) -> None:
        """Take matches in as they finish, until cancelled; `ended` gets those with a result."""
        async for batch in self._runner.finished():
            for match in self._take(batch.finished):
                if match.result.termination in UNRATED:
                    self._tell(match)
                else:
                    ended(match)
            if self._board.is_complete():
                self.done.set()
            if batch.caught_up:
                self._caught_up.set()

    def _take(self, messages: Iterable[match_pb2.FinishedMatch]) -> list[EndedMatch]:
        """Write down what is new and return it."""
        fresh = []
        for message in messages:
            record = read_record(message.record)
            ended = EndedMatch.of(record)
            if not self._board.has_seen(ended.match) and self._board.add(ended):
                fresh.append((record, ended))
        self._records.append(record for record, _ in fresh)
        matches = [ended for _, ended in fresh]
        self._give_back(match.match for match in matches)
        return matches

    def _give_back(self, names: Iterable[str]) -> None:
        """Let the queue play others in the place of matches that are over."""
        for name in names:
            attempt: Attempt | None = self._runner.running.pop(name, None)
            if attempt is not None:
                fixture = attempt.fixture
                done = self._board.is_done(fixture.pairing.number, fixture.place)
                self._queue.give_back(attempt, again=not done)
                self._wake.set()

    def _tell(self, match: EndedMatch) -> None:
        """Say what becomes of a match without a result, unless the arena has cancelled it itself."""
        if match.match not in self._cancelled:
            found = self._board.schedule.find(match.match)
            final = found is not None and self._board.is_done(found.pairing.number, found.place)
            what = "is left out of the table" if final else "is played again"
            self._note(f"match {match.match} {what}: {match.result.detail}")
        self._cancelled.discard(match.match)

    async def play_again(self, names: Sequence[str]) -> None:
        """Cancel running matches; they are played again."""
        self._cancelled.update(names)
        self._give_back(await self._runner.cancel(names))  # those that the server has lost
