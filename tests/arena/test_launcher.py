"""Processes: started by exec, watched, and never left behind."""

from __future__ import annotations

import asyncio
import os
import secrets
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.patience import PATIENCE_S, wait_until

from pegboard.arena import launcher as module
from pegboard.arena.launcher import Launcher, LaunchError, Process
from pegboard.arena.warden import processes_of

ENV = {"PATH": os.environ["PATH"]}


@contextmanager
def launching() -> Iterator[Launcher]:
    """Give a launcher, and check that it leaves nothing behind."""
    run_id = secrets.token_hex(8)
    with Launcher(run_id) as launcher:
        yield launcher
    assert processes_of(run_id) == []


async def start(launcher: Launcher, tmp_path: Path, code: str, memory_mb: int = 0) -> Process:
    """Start a Python program."""
    return await launcher.start(
        [sys.executable, "-c", code], log=tmp_path / "log", env=ENV, memory_mb=memory_mb
    )


def gone(run_id: str) -> bool:
    """Wait until no process of a run is left; return whether there is none."""
    return wait_until(lambda: not processes_of(run_id))


async def test_the_end_of_a_program_is_told_with_its_last_words(tmp_path: Path) -> None:
    """Exit status and last line, and all of it is in the log."""
    with launching() as launcher:
        process = await start(launcher, tmp_path, "print('hello'); raise KeyError('x')")
        assert await process.wait() == 1
        assert process.ending() == "exited with status 1: KeyError: 'x'"
    log = (tmp_path / "log").read_text()
    assert "hello\n" in log
    assert "Traceback" in log


@pytest.mark.parametrize(
    ("code", "ending"),
    [
        ("", "exited with status 0"),
        ("import os; os.kill(os.getpid(), 9)", "was killed by SIGKILL"),
        ("print('x' * 1000)", f"exited with status 0: {'x' * module.LINE_LIMIT}"),
        ("print('no line end', end='')", "exited with status 0: no line end"),
        (r"import sys; sys.stdout.buffer.write(b'\xff\n')", "exited with status 0: \ufffd"),
    ],
)
async def test_every_ending_has_words(tmp_path: Path, code: str, ending: str) -> None:
    """Killed, silent, without a line end, no text."""
    with launching() as launcher:
        process = await start(launcher, tmp_path, code)
        await process.wait()
        assert process.ending() == ending


async def test_a_log_has_a_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A bot that prints without end fills no disk, is not held up, and its last words are kept."""
    monkeypatch.setattr(module, "LOG_LIMIT_BYTES", 5000)
    with launching() as launcher:
        code = "for i in range(100000): print(i)\nprint('last')"
        process = await start(launcher, tmp_path, code)
        assert await asyncio.wait_for(process.wait(), PATIENCE_S) == 0
        assert process.last_line() == "last"
    assert 5000 < (tmp_path / "log").stat().st_size < 5100


async def test_a_program_that_cannot_be_started_is_named(tmp_path: Path) -> None:
    """One sentence, for a person."""
    with launching() as launcher, pytest.raises(LaunchError, match=r"no-such.* cannot be started"):
        await launcher.start(["./no-such"], log=tmp_path / "log", env=ENV)


async def test_stopping_is_asked_for_before_it_is_done(tmp_path: Path) -> None:
    """SIGTERM first; SIGKILL for who does not listen."""
    ready = "print('ready', flush=True); time.sleep(600)"
    polite = f"import signal,sys,time; signal.signal(15, lambda *a: sys.exit(7)); {ready}"
    deaf = f"import signal,time; signal.signal(15, signal.SIG_IGN); {ready}"
    with launching() as launcher:
        processes = [await start(launcher, tmp_path, code) for code in (polite, deaf)]
        while not all(process.last_line() == "ready" for process in processes):  # noqa: ASYNC110
            await asyncio.sleep(0.02)
        assert await processes[0].stop(PATIENCE_S) == 7
        assert await processes[1].stop(0.2) == -signal.SIGKILL


async def test_what_a_program_started_ends_with_it(tmp_path: Path) -> None:
    """A shell around a bot is common; the bot must not stay when the shell is gone."""
    run_id = secrets.token_hex(8)
    with Launcher(run_id) as launcher:
        code = "import subprocess; subprocess.Popen(['sleep', '600'])"
        process = await start(launcher, tmp_path, code)
        assert await asyncio.wait_for(process.wait(), PATIENCE_S) == 0
        assert gone(run_id)


async def test_even_what_left_its_group_is_swept_up(tmp_path: Path) -> None:
    """A child in a session of its own is found by its environment when the run ends."""
    run_id = secrets.token_hex(8)
    with Launcher(run_id) as launcher:
        code = "import subprocess; subprocess.Popen(['sleep', '600'], start_new_session=True)"
        await (await start(launcher, tmp_path, code)).wait()
        assert len(processes_of(run_id)) == 1
    assert gone(run_id)


async def test_memory_can_be_limited(tmp_path: Path) -> None:
    """A bot that wants more than it may have gets an error of its own."""
    with launching() as launcher:
        code = "import resource as r\nwhile r.getrlimit(r.RLIMIT_AS)[0] < 0: pass\nbytearray(600 << 20)"
        process = await start(launcher, tmp_path, code, memory_mb=300)
        assert await process.wait() == 1
        assert "MemoryError" in process.ending()


def test_a_runner_that_is_killed_leaves_nothing_behind(tmp_path: Path) -> None:
    """With -9, so that nothing of the runner's own can run: processes and folder are gone."""
    run_id = secrets.token_hex(8)
    folder = tmp_path / "spare"
    folder.mkdir()
    code = f"""
import asyncio, os, sys
from pathlib import Path
from pegboard.arena.launcher import Launcher
async def main():
    launcher = Launcher({run_id!r})
    launcher.tell("tmp {folder}")
    for code in ("import time; time.sleep(600)",
                 "import subprocess; subprocess.run(['sleep', '600'], start_new_session=True)"):
        await launcher.start([sys.executable, "-c", code], log=Path({str(tmp_path / "log")!r}),
                             env=dict(os.environ))
    print("started", flush=True)
    await asyncio.sleep(600)
asyncio.run(main())
"""
    runner = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    assert runner.stdout is not None
    assert runner.stdout.readline() == "started\n"
    while len(processes_of(run_id)) < 3:
        time.sleep(0.02)
    runner.kill()
    runner.wait()
    assert gone(run_id)
    assert wait_until(lambda: not folder.exists())
    runner.stdout.close()


def ignored_by(pid: int) -> int:
    """Return the set of signals that a process ignores, as the kernel tells it."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return int(next(line.split()[1] for line in lines if line.startswith("SigIgn:")), 16)


def test_the_warden_does_not_listen_to_the_terminal() -> None:
    """Ctrl-C goes to the runner alone: the warden must be there for the sweep."""
    with Launcher(secrets.token_hex(8)) as launcher:
        warden = launcher._warden
        numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
        ignored = sum(1 << (number - 1) for number in numbers)
        while ignored_by(warden.pid) & ignored != ignored:
            time.sleep(0.02)
        for number in numbers:
            warden.send_signal(number)
        time.sleep(0.1)
        assert warden.poll() is None
    assert warden.poll() == 0
