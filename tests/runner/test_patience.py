"""A server that is away is reported, waited for, and given up; matches that do not end are found."""

from __future__ import annotations

import asyncio
import os
import resource
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from pegboard.arena.ages import Ages
from pegboard.arena.config import BotEntry, Config, Contest
from pegboard.errors import Unavailable, UnknownMatch
from pegboard.rules import catalog
from pegboard.runner import limits, patience, start_check
from pegboard.runner.bot_process import BotProcess
from pegboard.runner.environment import bot_environment, helper_environment, isolated_python
from pegboard.runner.errors import NoServer
from pegboard.runner.patience import Patience
from pegboard.runner.start_check import StartCheck, opening
from pegboard.v1 import match_pb2


class Somewhere:
    """A server at which matches can always be created."""

    address = organiser_token = partner = ""
    tokens: Mapping[str, str] = {}

    async def run(self) -> None:
        """Wait for ever."""
        await asyncio.Event().wait()

    async def ready(self) -> None:
        """Return at once."""

    def in_outage(self) -> bool:
        """Return False."""
        return False

    async def stop(self) -> None:
        """Do nothing."""


@pytest.fixture
def notes(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return where notes go; time passes a hundred times as fast."""
    for name in ("RETRY_S", "TICK_S", "SILENCE_S", "NOTE_S"):
        monkeypatch.setattr(patience, name, getattr(patience, name) / 100)
    return []


async def test_patience_ends_with_a_sentence(notes: list[str]) -> None:
    """A word soon, then now and then, then the end."""

    async def call() -> None:
        raise Unavailable("refused")

    waiting = Patience(Somewhere(), "host:1", 0.2, notes.append)
    asking = asyncio.create_task(waiting.insist(call))
    with pytest.raises(NoServer, match=r"no server at host:1 for 0\.2 s \(refused\); start it"):
        await waiting.run()
    asking.cancel()
    assert len(notes) >= 2
    assert waiting.is_tried()


async def test_an_answer_ends_the_wait(notes: list[str]) -> None:
    """Errors other than that nothing answers are answers too."""
    errors: list[Exception] = [UnknownMatch("none")]

    async def call() -> str:
        if not notes:
            raise Unavailable("refused")
        if errors:
            raise errors.pop()
        return "here"

    waiting = Patience(Somewhere(), "host:1", 60, notes.append)
    counting = asyncio.create_task(waiting.run())
    with pytest.raises(UnknownMatch):
        await waiting.insist(call)
    assert "is back after" in notes[-1]
    assert await waiting.insist(call) == "here"
    counting.cancel()


async def test_nothing_counts_while_nothing_is_asked(notes: list[str]) -> None:
    """Nor at a server of the run's own, which its handle keeps alive."""
    never = asyncio.get_running_loop().create_future()
    own = Patience(Somewhere(), "host:1", 0, notes.append)
    idle = Patience(Somewhere(), "host:1", 0.05, notes.append)
    tasks = [asyncio.create_task(task) for task in (own.run(), own.insist(lambda: never))]
    tasks.append(asyncio.create_task(idle.run()))
    await asyncio.sleep(0.3)
    assert not notes
    assert not any(task.done() for task in tasks)
    for task in tasks:
        task.cancel()


def test_matches_that_do_not_end_are_overdue_again_and_again() -> None:
    """Their age counts from when they were first seen; what has ended is forgotten."""
    ages = Ages(10)
    assert ages.step(["a", "b"], 6) == []
    assert ages.step(["a", "c"], 6) == ["a"]
    assert ages.step(["a", "c"], 5) == ["c"]
    assert ages.step(["a"], 6) == ["a"]


@pytest.mark.parametrize("variant", catalog.CATALOG)
def test_every_variant_has_a_check_match(variant: str) -> None:
    """Seat 0 is asked first in it, for any number of seats."""
    for seats in catalog.game(variant).seats:
        seed, events = opening(Contest(variant=variant, seats=seats))
        assert len(seed) == 32
        assert events >= 0


def test_environments_are_allow_lists(monkeypatch: pytest.MonkeyPatch) -> None:
    """What `env` and the arena say is above what is inherited."""
    for name in ("SECRET", "PYTHONPATH", "PEGBOARD_TOKEN", "CARGO_HOME", "LC_TIME"):
        monkeypatch.setenv(name, "mine")
    bot = BotEntry(
        "b", env={"CARGO_HOME": "/c", "PEGBOARD_BOT": "x"}, inherit=("PYTHONPATH", "NONE")
    )
    env = bot_environment(bot, name="b--2", address="here", token="t")
    assert (env["CARGO_HOME"], env["LC_TIME"], env["PYTHONPATH"]) == ("/c", "mine", "mine")
    assert (env["PEGBOARD_BOT"], env["PEGBOARD_PROCESS"], env["PEGBOARD_TOKEN"]) == ("b", "2", "t")
    assert not {"SECRET", "NONE"} & set(env)
    assert not {"SECRET", "PYTHONPATH", "PEGBOARD_TOKEN", "CARGO_HOME"} & set(helper_environment())


def test_helpers_find_the_program_and_not_the_folder(tmp_path: Path) -> None:
    """With the interpreter's own module path, whatever lies in the working folder."""
    (tmp_path / "random.py").write_text("raise SystemExit(3)\n")
    code = "import random, pegboard.cli.main, sys; assert '' not in sys.path"
    env = {"PYTHONPATH": str(tmp_path)}
    command = [*isolated_python(), "-c", code]
    assert subprocess.run(command, cwd=tmp_path, env=env, check=False).returncode == 0


def test_very_large_runs_are_warned_of() -> None:
    """By the processes, with what is going to be played."""
    assert limits.many_processes(2, 10) == ""
    warning = limits.many_processes(100_000, 89_700)
    assert "100,000 processes at once" in warning
    assert "89,700 matches" in warning


def test_too_few_open_files_are_told_before_the_start(monkeypatch: pytest.MonkeyPatch) -> None:
    """The limit is raised as far as it may be; then a sentence says what to do."""
    held = [(200, 400)]
    monkeypatch.setattr(resource, "getrlimit", lambda _: held[-1])
    monkeypatch.setattr(resource, "setrlimit", lambda _, both: held.append(both))
    assert limits.raise_open_files(100) == ""
    assert held[-1] == (400, 400)
    assert "the limit of open files is 400 here and 1,000 processes need" in (
        limits.raise_open_files(1000)
    )


BUSY = """
import sys
from pegboard.cli.interrupts import Interrupts
with Interrupts(lambda: print("first", flush=True)):
    print("listening", flush=True)
    while True:
        pass
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_second_signal_ends_a_process_that_computes(number: signal.Signals) -> None:
    """No event loop runs, and the main thread never waits."""
    process = subprocess.Popen([sys.executable, "-c", BUSY], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        for line in ("listening\n", "first\n"):
            assert process.stdout.readline() == line
            os.kill(process.pid, number)
        assert process.wait(30) == 130
    finally:
        process.kill()
        process.communicate()


class Checks:
    """An organiser whose server cancels the first check match; the bot comes at the fifth look."""

    def __init__(self) -> None:
        self.matches: list[match_pb2.Match] = []
        self.looks = 0

    async def create(
        self, requests: Sequence[match_pb2.CreateMatchRequest]
    ) -> list[match_pb2.Match]:
        """Create running matches, the first one cancelled."""
        for request in requests:
            match = match_pb2.Match(name=f"matches/{request.match_id}", spec=request.spec)
            match.state = match_pb2.MATCH_STATE_RUNNING
            if not self.matches:
                match.state = match_pb2.MATCH_STATE_FINISHED
                match.result.termination = match_pb2.TERMINATION_CANCELLED
            self.matches.insert(0, match)
        return self.matches

    async def list_matches(self, _label: str) -> AsyncIterator[match_pb2.Match]:
        """Yield all of them, newest first."""
        self.looks += 1
        if self.looks == 5:
            self.matches[0].event_count = 1000
        for match in self.matches:
            yield match

    async def cancel(self, _name: str) -> None:
        """Do nothing."""


async def test_a_check_match_without_a_result_is_made_again_once(
    notes: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """However often it is looked at until its bot comes."""
    monkeypatch.setattr(start_check, "POLL_S", 0.001)
    bot = BotEntry(name="a", command=("a",))
    config = Config(name="c", bots=(bot,), events=(Contest(variant="cribbage", seats=2),))
    organiser: Any = Checks()
    waiting = Patience(Somewhere(), "", 0, notes.append)
    check = StartCheck(config, "run", organiser, waiting, notes.append, partner="b")
    assert await check.call([BotProcess(bot, "a", 0)]) == {}
    assert len(organiser.matches) == 2
