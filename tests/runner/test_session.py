"""A session without processes: a server that is handed in, a full disk, the end from outside."""

from __future__ import annotations

import asyncio
import errno
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from tests.runner.test_run_folder import record

from pegboard.arena.config import BotEntry, Config
from pegboard.arena.config_reader import config_of
from pegboard.arena.match_queue import bot_limit
from pegboard.arena.results import Results
from pegboard.arena.schedule import Schedule
from pegboard.runner import local_server, private_files
from pegboard.runner.bot_supervisor import hang_limit
from pegboard.runner.errors import FolderError, NoServer
from pegboard.runner.launcher import Launcher
from pegboard.runner.local_server import LocalServer
from pegboard.runner.progress import Plan, Snapshot
from pegboard.runner.records_file import RecordsFile
from pegboard.runner.run_folder import RunFolder, read_results
from pegboard.runner.task_groups import task_group
from pegboard.runner.tournament import SessionEnding, Tournament

RAW = {
    "name": "cup",
    "bots": [{"name": "a", "command": ["a"]}, {"name": "b", "command": ["b"]}],
    "events": [{"variant": "cribbage"}],
}


class Notebook:
    """A reporter that keeps what it is told."""

    def __init__(self) -> None:
        self.told: list[str] = []

    def started(self, plan: Plan) -> None:
        """Keep the name."""
        self.told.append(f"started {plan.name}")

    def progress(self, snapshot: Snapshot) -> None:
        """Drop it."""

    def note(self, sentence: str) -> None:
        """Keep it."""
        self.told.append(sentence)

    def stopped(self) -> None:
        """Keep that."""
        self.told.append("stopped")

    def finished(self, results: Results) -> None:
        """Keep that."""
        self.told.append("finished")

    def interrupted(self, results: Results, folder: Path) -> None:
        """Keep how far it came."""
        self.told.append(f"interrupted at {results.finished}")


class Nowhere:
    """A server that is never ready; with `fault` it gives up at once."""

    address = organiser_token = partner = ""
    tokens: Mapping[str, str] = {}

    def __init__(self, fault: str = "") -> None:
        self.fault = fault
        self.asked = asyncio.Event()
        self.stops = 0

    async def run(self) -> None:
        """Wait for ever, or give up."""
        if self.fault:
            raise NoServer(self.fault)
        await asyncio.Event().wait()

    async def ready(self) -> None:
        """Wait for ever."""
        self.asked.set()
        await asyncio.Event().wait()

    def in_outage(self) -> bool:
        """Return False."""
        return False

    async def stop(self) -> None:
        """Count."""
        self.stops += 1


async def test_a_tournament_is_driven_without_terminal_or_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Configuration from a dictionary, server and reporter handed in, stopped from outside."""
    server, reporter = Nowhere(), Notebook()
    with RunFolder(tmp_path, RAW) as folder:
        cup = Tournament(config_of(RAW), folder, reporter, home=tmp_path, server=server)
        playing = asyncio.create_task(cup.play())
        await server.asked.wait()
        cup.stop()
        assert await playing is SessionEnding.STOPPED
    assert reporter.told == ["started cup", "stopped", "interrupted at 0"]
    assert server.stops > 0
    assert not read_results(tmp_path).complete
    assert not (tmp_path / "tournament.toml").exists()
    printed = capsys.readouterr()
    assert (printed.out, printed.err) == ("", "")


async def test_a_session_that_is_stopped_before_it_begins_ends_at_once(tmp_path: Path) -> None:
    """Ctrl-C may come while the folder is still being locked."""
    reporter = Notebook()
    with RunFolder(tmp_path, RAW) as folder:
        cup = Tournament(config_of(RAW), folder, reporter, home=tmp_path, server=Nowhere())
        cup.stop()
        assert await cup.play() is SessionEnding.STOPPED


async def test_a_server_that_gives_up_ends_the_session_with_its_sentence(tmp_path: Path) -> None:
    """As itself, not within an `ExceptionGroup`, which no caller expects."""
    server, reporter = Nowhere("the server has no disk"), Notebook()
    with RunFolder(tmp_path, RAW) as folder:
        cup = Tournament(config_of(RAW), folder, reporter, home=tmp_path, server=server)
        with pytest.raises(NoServer, match="the server has no disk"):
            await cup.play()
    assert reporter.told[-1] == "stopped"
    assert server.stops > 0


async def fail_when_cancelled() -> None:
    """Raise another error while the group is being ended."""
    try:
        await asyncio.Event().wait()
    finally:
        raise KeyError


async def fail_in_a_group(over: asyncio.Event | None) -> None:
    """Let one task fail first, and another one when it is cancelled."""

    async def fail() -> None:
        raise NoServer("first")

    async with task_group(over) as group:
        group.create_task(fail_when_cancelled())
        await asyncio.sleep(0)
        group.create_task(fail())
        await asyncio.Event().wait()


async def test_the_first_error_of_a_group_is_raised_as_itself() -> None:
    """What its tasks raise while they are cancelled is dropped."""
    for over in (None, asyncio.Event()):
        with pytest.raises(NoServer, match="first"):
            await fail_in_a_group(over)


async def test_an_event_ends_a_group_without_an_error() -> None:
    """Errors of tasks that are cancelled then are dropped too."""
    over = asyncio.Event()
    async with task_group(over) as group:
        group.create_task(fail_when_cancelled())
        await asyncio.sleep(0)
        over.set()
        await asyncio.Event().wait()


class Dying:
    """A server process that is ready, and ends with status 2 since it cannot write its store."""

    status = 2

    def __init__(self) -> None:
        self.stdout = asyncio.StreamReader()
        self.stdout.feed_data(b"listening\n")
        self.stdout.feed_eof()

    async def wait(self) -> int:
        """Return the status."""
        return self.status

    async def kill(self) -> int:
        """Return the status."""
        return self.status

    def ending(self, *, last_words: bool = True) -> str:
        """Return how it ended."""
        return "exited with status 2" + ": the store is lost" * last_words


@pytest.mark.parametrize("full", [False, True])
async def test_a_server_that_ends_for_ever_ends_the_run_with_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, full: bool
) -> None:
    """After the last restart; if the disk is full that is what to mend, not the log to read."""
    notes: list[str] = []
    launcher: Any = Launcher("a-server-that-ends")
    with launcher:
        server = LocalServer(
            launcher, ["a"], store=tmp_path / "db", log=tmp_path / "log", note=notes.append
        )

        async def start(*_: object, **__: object) -> Dying:
            return Dying()

        monkeypatch.setattr(launcher, "start", start)
        monkeypatch.setattr(local_server, "free_bytes", lambda _: 0 if full else 1 << 40)
        monkeypatch.setattr(local_server, "PAUSE_S", 0)
        server._started = True  # one that ends so at its first start is not started again
        with pytest.raises(NoServer) as caught:
            await server.run()
    advice = (
        f"the disk of {tmp_path} is full: make room, and the same command continues the run"
        if full
        else f"its log is {tmp_path / 'log'}"
    )
    times = local_server.RESTARTS + 1
    assert str(caught.value) == (
        f"the server ended {times} times in a row, the last time it exited with status 2: "
        f"the store is lost; {advice}"
    )
    assert notes == ["the server exited with status 2: the store is lost; it is started again"] * (
        times - 1
    )


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a device of Linux")
def test_records_on_a_full_disk_end_the_run_with_one_sentence() -> None:
    """The file, the reason, what to do."""
    records = RecordsFile(Path("/dev/full"))
    with pytest.raises(FolderError) as caught:
        records.append([record("m1")])
    assert str(caught.value) == (
        "/dev/full cannot be written: No space left on device; mend that (a full disk needs room), "
        "and the same command continues the run"
    )


def test_a_file_that_cannot_be_replaced_keeps_its_content(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The disk is found full when the new content is brought to it."""
    path = tmp_path / "results.json"
    private_files.write_atomically(path, b"old")

    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(FolderError, match=r"results\.json cannot be written: No space left"):
        private_files.write_atomically(path, b"new")
    assert path.read_bytes() == b"old"


@pytest.mark.parametrize(
    ("bots", "processes", "concurrency", "limit"),
    [(2, 1, 64, 64), (3, 1, 64, 54), (4, 1, 64, 40), (3, 2, 64, 27), (3, 1, 12, 16)],
)
def test_a_process_hangs_when_all_it_may_hold_is_lost(
    bots: int, processes: int, concurrency: int, limit: int
) -> None:
    """Then a second wave of matches is not lost before the process is killed."""
    entries = tuple(map(BotEntry, "abcd"[:bots]))
    config = Config(name="cup", bots=entries, events=config_of(RAW).events)
    held = bot_limit(Schedule(config, bytes(32)).pairings, concurrency)
    assert hang_limit(held, processes) == limit
