"""Matches created, taken in and played again, without a server: a fake runner finishes them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from tests.runner.test_run_folder import record

from pegboard.arena.config_reader import config_of
from pegboard.arena.match_queue import Attempt
from pegboard.arena.results import EndedMatch
from pegboard.arena.schedule import Schedule
from pegboard.arena.scoreboard import Scoreboard
from pegboard.rules.results import Result, Termination
from pegboard.runner import match_flow, watchdog
from pegboard.runner.match_flow import MatchFlow
from pegboard.runner.records_file import RecordsFile, read_records
from pegboard.runner.task_groups import task_group
from pegboard.runner.watchdog import Watchdog

CONFIG = config_of(
    {
        "name": "cup",
        "bots": [{"name": "a", "command": ["a"]}, {"name": "b", "command": ["b"]}],
        "events": [{"variant": "cribbage", "blocks": 2}],
    }
)
CANCELLED = Result(Termination.CANCELLED, None, (), (), (), "the server was stopped")


class Finisher:
    """Finishes every match that is created: the first one without a result, others normally."""

    def __init__(self) -> None:
        self.running: dict[str, Attempt] = {}
        self.most = 0
        self._ended: asyncio.Queue[Any] = asyncio.Queue()
        self._ended.put_nowait(SimpleNamespace(finished=[], caught_up=True))
        self._faults = 1

    async def create(self, attempts: Sequence[Attempt]) -> list[str]:
        """Create matches and finish them all."""
        self.running.update((attempt.id, attempt) for attempt in attempts)
        self.most = max(self.most, len(self.running))
        for attempt in attempts:
            ended = replace(record(attempt.id), bots=attempt.fixture.bots)
            if self._faults:
                self._faults = 0
                ended = replace(ended, result=CANCELLED)
            self._ended.put_nowait(
                SimpleNamespace(finished=[SimpleNamespace(record=ended)], caught_up=False)
            )
        return []

    async def finished(self) -> AsyncIterator[Any]:
        """Yield batches of finished matches."""
        while True:
            yield await self._ended.get()

    async def cancel(self, names: Iterable[str]) -> list[str]:
        """Know none of them."""
        return list(names)


async def test_matches_flow_until_every_fixture_has_a_result(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One without a result is reported and played again; no more are under way than allowed."""
    monkeypatch.setattr(match_flow, "read_record", lambda message: message)
    board = Scoreboard(Schedule(CONFIG, bytes(32)))
    records = RecordsFile(tmp_path / "records.jsonl")
    runner: Any = Finisher()
    notes: list[str] = []
    created: list[str] = []
    ended: list[EndedMatch] = []
    flow = MatchFlow(board, records, runner, 3, notes.append)
    async with task_group(flow.done) as tasks:
        tasks.create_task(flow.create(created.extend))
        tasks.create_task(flow.watch(ended.append))
    records.close()
    assert board.is_complete()
    assert runner.most == 3
    assert len(created) == len(set(created)) == board.schedule.total() + 1
    assert len(ended) == board.schedule.total()
    assert [match.match for match in read_records(records.path)] == created
    assert notes == [f"match {created[0]} is played again: the server was stopped"]


class Waiting:
    """Matches that are under way for ever, and what is played again of them."""

    def __init__(self) -> None:
        self.running = dict.fromkeys(("m1", "m2"))
        self.finished = 0
        self.again: list[str] = []

    async def play_again(self, names: Sequence[str]) -> None:
        """Keep their names."""
        self.again += names
        self.running.clear()


async def test_matches_that_the_server_does_not_end_are_cancelled(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """With a note; another one says that no match has ended for long."""
    for name, value in (("AGE_STEP_S", 0.001), ("STILL_S", 0.02), ("OVERDUE_SLACK_S", 0.003)):
        monkeypatch.setattr(watchdog, name, value)
    matches: Any = Waiting()
    notes: list[str] = []
    over = asyncio.Event()

    def note(sentence: str) -> None:
        notes.append(sentence)
        if len(notes) == 2:
            over.set()

    async with task_group(over) as tasks:
        tasks.create_task(Watchdog(1, matches, matches, matches, note).watch())
    assert matches.again == ["m1", "m2"]
    assert notes[0] == (
        "the server has not ended 2 matches within `match_ms`, e.g. m1; they are cancelled and "
        "played again"
    )
    assert notes[1].startswith("no match has ended for ")
    assert notes[1].endswith("; 0 are under way")
