"""Matches at the server: created, watched, cancelled, forfeited; calls wait while it is away."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import suppress

from pegboard.arena.config import Config
from pegboard.arena.match_queue import Attempt
from pegboard.arena.results import match_id
from pegboard.client import FinishedMatches, Organiser, new_match
from pegboard.errors import AlreadyExists, StoreError, Unavailable, UnknownMatch
from pegboard.rules.errors import PegboardError
from pegboard.runner.bot_process import process_names
from pegboard.runner.errors import NoServer
from pegboard.runner.patience import Patience
from pegboard.runner.task_groups import task_group
from pegboard.v1 import match_pb2

CALLS_AT_ONCE = 32


class MatchRunner:
    """Runs matches at the server. `running` are those under way, by id."""

    def __init__(
        self, config: Config, label: str, patience: Patience, organiser: Organiser
    ) -> None:
        self.running: dict[str, Attempt] = {}
        self._label = label
        self._patience = patience
        self._organiser = organiser
        self._processes = {bot.name: process_names(bot) for bot in config.bots}
        self._time_control = match_pb2.TimeControl(
            bank_ms=config.time.bank_ms,
            increment_ms=config.time.increment_ms,
            move_ms=config.time.move_ms,
            startup_ms=config.time.startup_ms,
            match_ms=config.time.match_ms,
        )

    async def create(self, attempts: Sequence[Attempt]) -> list[str]:
        """Create matches, or find them created; return the ids of those that are over already.

        Raises `NoServer` if the server has played another run with the same secret.
        """
        requests = [self._request(attempt) for attempt in attempts]
        self.running.update(
            (request.match_id, attempt) for request, attempt in zip(requests, attempts, strict=True)
        )
        try:
            matches = await self._patience.insist(lambda: self._organiser.create(requests))
        except AlreadyExists as error:
            raise NoServer(
                f"{error}; the server has played another run of this `name` and `seed`: leave "
                "`seed` out, or change one of them"
            ) from None
        return [
            match_id(match.name)
            for match in matches
            if match.state == match_pb2.MATCH_STATE_FINISHED
        ]

    def _request(self, attempt: Attempt) -> match_pb2.CreateMatchRequest:
        fixture = attempt.fixture
        contest = fixture.pairing.contest
        name = attempt.id
        return new_match(
            contest.variant,
            self._seated(attempt),
            options=contest.options,
            time_control=self._time_control,
            label=self._label,
            nonce=fixture.nonce,
            seed=fixture.seed,
            # The other seat orders of the block have the same deals: the server seals it until all of
            # them have a result, and then everyone may check the deals.
            block=fixture.nonce,
            block_matches=fixture.block_matches,
            match_id=name,
            request_id=f"{self._label}-{name}",
        )

    def _seated(self, attempt: Attempt) -> list[str]:
        """Return the process that plays, by seat: each seat order of a block goes to the next process.

        With as many processes as seat orders, no process sees the deals of a block twice.
        """
        fixture = attempt.fixture
        turn = fixture.block + fixture.order
        processes = (self._processes[bot] for bot in fixture.bots)
        return [names[turn % len(names)] for names in processes]

    async def forfeit(self, process: str, detail: str, among: Iterable[str] | None = None) -> None:
        """Forfeit the running matches (`among` those only) in which a bot's process sits."""
        limit = asyncio.Semaphore(CALLS_AT_ONCE)

        async def forfeit_one(name: str, seat: int) -> None:
            async with limit:
                # The server refuses if the match is not created yet or is over: nothing to forfeit.
                with suppress(PegboardError):
                    await self._patience.insist(
                        lambda: self._organiser.forfeit(f"matches/{name}", seat, detail)
                    )

        names = [
            name for name in (self.running if among is None else among) if name in self.running
        ]
        seated = ((name, self._seated(self.running[name])) for name in names)
        async with task_group() as calls:
            for name, bots in seated:
                if process in bots:
                    calls.create_task(forfeit_one(name, bots.index(process)))

    def matches_of(self, process: str) -> list[str]:
        """Return the ids of the running matches in which a bot's process sits."""
        return [name for name, attempt in self.running.items() if process in self._seated(attempt)]

    async def cancel(self, names: Iterable[str]) -> list[str]:
        """End running matches without a result; return the ids that the server does not know."""
        limit = asyncio.Semaphore(CALLS_AT_ONCE)
        unknown = []

        async def cancel_one(name: str) -> None:
            async with limit:
                try:
                    await self._patience.insist(lambda: self._organiser.cancel(f"matches/{name}"))
                except UnknownMatch:
                    unknown.append(name)

        async with task_group() as calls:
            for name in names:
                calls.create_task(cancel_one(name))
        return unknown

    async def finished(self) -> AsyncIterator[FinishedMatches]:
        """Yield matches as they finish; after each time the server was away, all of them again."""
        asking = False
        try:
            while True:
                if not asking:
                    self._patience.asks()
                    asking = True
                try:
                    async for batch in self._organiser.watch_finished(
                        self._label, include_earlier=True
                    ):
                        if asking:
                            self._patience.asks_no_more()
                            asking = False
                        self._patience.answered()
                        yield batch
                except (Unavailable, StoreError) as error:
                    if not asking:
                        self._patience.asks()
                        asking = True
                    await self._patience.pause(error)
        finally:
            if asking:
                self._patience.asks_no_more()
