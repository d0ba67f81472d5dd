"""The start check: every process has to make a move in a match of its own before anything is rated.

In a check match a process sits at seat 0, which is asked first; the other seats belong to a name
without a bot (at a server elsewhere, which has no such name, to the bot itself). One move, or a
fault other than staying away, shows that the bot has come. Then the match is cancelled. Check matches
have a label of their own and are in no table.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from itertools import count

from pegboard.arena.config import Config, Contest
from pegboard.client import Organiser, new_match
from pegboard.rules import catalog
from pegboard.rules.errors import PegboardError
from pegboard.rules.names import BOTS
from pegboard.rules.shuffle import SEED_BYTES, SeededChance
from pegboard.runner.bot_process import BotProcess
from pegboard.runner.patience import Patience
from pegboard.runner.task_groups import task_group
from pegboard.v1 import match_pb2

POLL_S = 0.1
NOTE_S = 10.0
NAMED = 5
NONCE = "check"
SEEDS = 1000
CALLS_AT_ONCE = 32

_STAYED_AWAY = {match_pb2.TERMINATION_DISCONNECT, match_pb2.TERMINATION_VOID}
_SILENT = _STAYED_AWAY | {match_pb2.TERMINATION_TIMEOUT}
_NO_RESULT = {match_pb2.TERMINATION_CANCELLED, match_pb2.TERMINATION_SERVER_FAULT}


class StartCheck:
    """Checks all processes of a run."""

    def __init__(
        self,
        config: Config,
        label: str,
        organiser: Organiser,
        patience: Patience,
        note: Callable[[str], None],
        *,
        partner: str,
    ) -> None:
        """Take the run's label and the name without a bot, "" if there is none."""
        self._contest = config.events[0]
        self._startup_ms = config.time.startup_ms
        self._time_control = match_pb2.TimeControl(
            move_ms=config.time.move_ms, startup_ms=config.time.startup_ms
        )
        self._session = secrets.token_hex(6)
        self._label = f"{label}-check-{self._session}"
        self._organiser = organiser
        self._patience = patience
        self._note = note
        self._partner = partner
        self._seed, self._events = opening(self._contest)
        self._made = count(1)
        self._void: set[str] = set()  # matches without a finding, which were made again
        self._endings: dict[str, int] = {}  # of each process, when its match was made

    async def call(self, processes: Iterable[BotProcess]) -> dict[str, str]:
        """Wait until every process has come or is gone; return by name why a process did not come."""
        waiting = {process.name: process for process in processes}
        absent: dict[str, str] = {}
        await self._create(waiting.values())
        waited_s = 0.0
        while waiting:
            for match in await self._patience.insist(self._matches):
                await self._judge(match, waiting, absent)
            for name, process in list(waiting.items()):
                if process.gone:
                    absent[name] = process.gone
                    del waiting[name]
            await asyncio.sleep(POLL_S)
            waited_s += POLL_S
            if waiting and waited_s >= NOTE_S:
                waited_s = 0.0
                self._note(f"waiting for {_some(waiting)} to come")
        await self._cancel()
        return absent

    async def _create(self, processes: Iterable[BotProcess]) -> None:
        endings = {process.name: process.endings for process in processes}
        self._endings.update(endings)
        requests = [
            new_match(
                self._contest.variant,
                [name, *[self._partner or name] * (self._contest.seats - 1)],
                options=self._contest.options,
                time_control=self._time_control,
                label=self._label,
                nonce=NONCE,
                seed=self._seed,
                match_id=f"check-{self._session}-{number}",
                request_id=f"{self._label}-{number}",
            )
            for name, number in zip(endings, self._made, strict=False)
        ]
        if requests:
            await self._patience.insist(lambda: self._organiser.create(requests))

    async def _matches(self) -> list[match_pb2.Match]:
        return [match async for match in self._organiser.list_matches(self._label)]

    async def _judge(
        self, match: match_pb2.Match, waiting: dict[str, BotProcess], absent: dict[str, str]
    ) -> None:
        name = match.spec.bots[0].removeprefix(BOTS)
        if name not in waiting or match.name in self._void:
            return
        process = waiting[name]
        over = match.state == match_pb2.MATCH_STATE_FINISHED
        moved = match.event_count > self._events + over
        result = match.result
        # A process that ended may come at its next start; `gone` says when there are no more.
        died = process.endings > self._endings[name] and result.termination in _SILENT
        if over and not moved and (died or result.termination in _NO_RESULT):
            self._void.add(match.name)
            await self._create([process])
        elif over and not moved and result.termination in _STAYED_AWAY and not result.seat_at_fault:
            del waiting[name]
            words = process.last_words()
            limit = f" within {self._startup_ms / 1000:g} s" if self._startup_ms else ""
            absent[name] = f"did not connect{limit}" + (f"; its last words: {words}" * bool(words))
        elif over or moved:
            del waiting[name]

    async def _cancel(self) -> None:
        limit = asyncio.Semaphore(CALLS_AT_ONCE)

        async def cancel(name: str) -> None:
            async with limit:
                with suppress(PegboardError):
                    await self._organiser.cancel(name)

        running = [
            match.name
            for match in await self._patience.insist(self._matches)
            if match.state == match_pb2.MATCH_STATE_RUNNING
        ]
        async with task_group() as calls:
            for name in running:
                calls.create_task(cancel(name))


def opening(contest: Contest) -> tuple[bytes, int]:
    """Return a seed with which seat 0 is asked first, and the number of events before its move."""
    game = catalog.game(contest.variant, contest.options)
    for number in range(SEEDS):
        seed = number.to_bytes(SEED_BYTES, "big")
        state, events = game.start(contest.seats, SeededChance(seed, NONCE))
        if 0 in state.to_act():
            return seed, len(events)
    raise AssertionError(f"seat 0 never begins in {contest.variant}")


def _some(names: Mapping[str, object]) -> str:
    shown = ", ".join(list(names)[:NAMED])
    return f"{shown} and {len(names) - NAMED} more" if len(names) > NAMED else shown
