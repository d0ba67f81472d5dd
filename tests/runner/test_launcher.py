"""Processes: started by exec, watched, and never left behind."""

from __future__ import annotations

import asyncio
import os
import resource
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

from pegboard.runner import launcher as module
from pegboard.runner.errors import Exhausted
from pegboard.runner.launcher import Launcher, LaunchError, Process
from pegboard.runner.limits import BOT_FILE_BYTES, BOT_OPEN_FILES, bot_limits, memory_limit
from pegboard.runner.reaper import CUT, processes_of, trim

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
        [sys.executable, "-c", code],
        log=tmp_path / "log",
        env=ENV,
        folder=tmp_path,
        limits=memory_limit(memory_mb),
    )


def gone(run_id: str) -> bool:
    """Wait until no process of a run is left; return whether there is none."""
    return wait_until(lambda: not processes_of(run_id))


async def test_the_end_of_a_program_is_told_with_its_last_words(tmp_path: Path) -> None:
    """Exit status and last line; errors are in the log and output is beside it."""
    with launching() as launcher:
        process = await start(launcher, tmp_path, "print('hello'); raise KeyError('x')")
        assert await process.wait() == 1
        assert process.ending() == "exited with status 1: KeyError: 'x'"
    assert "Traceback" in (tmp_path / "log").read_text()
    assert "hello\n" in (tmp_path / "log.out").read_text()
    assert (tmp_path / "log").stat().st_mode & 0o777 == 0o600


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
    monkeypatch.setattr(module, "LOG_LIMIT_BYTES", 50_000)
    with launching() as launcher:
        code = "print('first')\nfor i in range(1000000): print(i)\nprint('last')"
        process = await start(launcher, tmp_path, code)
        assert await asyncio.wait_for(process.wait(), PATIENCE_S) == 0
        assert process.last_line() == "last"
    text = (tmp_path / "log.out").read_text()
    assert 25_000 < len(text) <= 50_000
    assert text.splitlines()[1] == "first"
    assert CUT.decode() in text
    assert text.endswith("last\n")


def test_a_log_is_cut_while_its_program_writes(tmp_path: Path) -> None:
    """The writer, which appends, goes on behind what was kept."""
    path = tmp_path / "log"
    with path.open("ab", buffering=0) as log:
        log.write(b"a" * 500 + b"b" * 5000 + b"the end\n")
        trim(str(path), 1000)
        assert path.read_bytes() == b"a" * 500 + CUT + (b"b" * 242 + b"the end\n")
        log.write(b"more\n")
    assert path.read_bytes().endswith(b"the end\nmore\n")
    trim(str(tmp_path / "not there"), 1000)


async def test_a_burst_between_two_cuts_is_bounded_too(tmp_path: Path) -> None:
    """What the reaper is too slow to cut is stopped by the limit of a file's size."""
    with launching() as launcher:
        launcher._reaper.send_signal(signal.SIGSTOP)
        code = (
            "import resource, sys\n"
            "while resource.getrlimit(resource.RLIMIT_FSIZE)[0] != 1 << 20: pass\n"
            "while True: sys.stdout.write('x' * 65536)"
        )
        process = await launcher.start(
            [sys.executable, "-c", code],
            log=tmp_path / "log",
            env=ENV,
            folder=tmp_path,
            limits={resource.RLIMIT_FSIZE: 1 << 20},
        )
        assert await asyncio.wait_for(process.wait(), PATIENCE_S) != 0
        assert (tmp_path / "log.out").stat().st_size <= 1 << 20
        launcher._reaper.send_signal(signal.SIGCONT)


CHATTY = """
import time
from pathlib import Path
while not Path("go").exists():
    time.sleep(0.01)
for _ in range(100):
    print("x" * 100_000, flush=True)
Path("done").touch()
time.sleep(600)
"""
SUSPENDED = """
import asyncio, os, sys
from pathlib import Path
from pegboard.runner import launcher
launcher.LOG_LIMIT_BYTES = 100_000
async def main(run_id, code):
    with launcher.Launcher(run_id) as starter:
        command = [sys.executable, "-c", code]
        await starter.start(command, log=Path("log"), env=dict(os.environ), folder=Path.cwd())
        print("started", flush=True)
        await asyncio.sleep(600)
asyncio.run(main(*sys.argv[1:]))
"""


def test_a_runner_that_is_suspended_holds_no_program_up(tmp_path: Path) -> None:
    """A chatty program goes on, and its log stays small: neither needs the runner."""
    run_id = secrets.token_hex(8)
    command = [sys.executable, "-c", SUSPENDED, run_id, CHATTY]
    runner = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=tmp_path)
    assert runner.stdout is not None
    try:
        assert runner.stdout.readline() == "started\n"
        runner.send_signal(signal.SIGSTOP)
        (tmp_path / "go").touch()
        done, log = tmp_path / "done", tmp_path / "log.out"
        cut = wait_until(lambda: done.exists() and log.stat().st_size <= 100_000)
        assert cut, "it was held up, or its log was not cut"
    finally:
        runner.kill()
        runner.communicate()
    assert gone(run_id)


async def test_a_bot_has_limits(tmp_path: Path) -> None:
    """No core files, few open files, files of bounded size; memory only if `memory_mb` says so."""
    limits = bot_limits(3)
    with launching() as launcher:
        process = await launcher.start(
            [sys.executable, "-c", "import time; time.sleep(60)"],
            log=tmp_path / "log",
            env=ENV,
            folder=tmp_path,
            limits=limits,
        )
        for number, value in limits.items():
            hard = resource.getrlimit(number)[1]
            bound = value if hard == resource.RLIM_INFINITY else min(value, hard)
            assert resource.prlimit(process.pid, number) == (bound, bound)
        await process.kill()
    assert limits[resource.RLIMIT_CORE] == 0
    assert limits[resource.RLIMIT_NOFILE] == BOT_OPEN_FILES
    assert limits[resource.RLIMIT_FSIZE] == BOT_FILE_BYTES
    assert limits[resource.RLIMIT_NPROC] > 4096
    assert resource.RLIMIT_AS not in limits


async def test_a_program_that_cannot_be_started_is_named(tmp_path: Path) -> None:
    """One sentence, for a person."""
    with launching() as launcher, pytest.raises(LaunchError, match=r"no-such.* cannot be started"):
        await launcher.start(["./no-such"], log=tmp_path / "log", env=ENV, folder=tmp_path)


async def test_what_is_not_a_program_is_explained(tmp_path: Path) -> None:
    """A text without an interpreter, and a file that may not be executed: say what to do."""
    script = tmp_path / "bot"
    script.write_text("print('hello')\n")
    with launching() as launcher:
        for mode, words in ((0o644, "chmod \\+x"), (0o755, "first line must be `#!`")):
            script.chmod(mode)
            with pytest.raises(LaunchError, match=words):
                await launcher.start([str(script)], log=tmp_path / "log", env=ENV, folder=tmp_path)


async def test_too_many_open_files_are_one_sentence(tmp_path: Path) -> None:
    """The run ends with what to do."""
    with launching() as launcher:
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (3, hard))
        try:
            with pytest.raises(Exhausted, match="limit of open files is reached; raise it"):
                await start(launcher, tmp_path, "pass")
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


async def test_stopping_is_asked_for_before_it_is_done(tmp_path: Path) -> None:
    """SIGTERM first; SIGKILL for a program that ignores it."""
    ready = "print('ready', flush=True); time.sleep(600)"
    polite = f"import signal,sys,time; signal.signal(15, lambda *a: sys.exit(7)); {ready}"
    deaf = f"import signal,time; signal.signal(15, signal.SIG_IGN); {ready}"
    with launching() as launcher:
        folders = tmp_path / "polite", tmp_path / "deaf"
        for folder in folders:
            folder.mkdir()
        codes = zip(folders, (polite, deaf), strict=True)
        processes = [await start(launcher, folder, code) for folder, code in codes]
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
    """With SIGKILL, which no code of the runner can handle: processes and folder are gone."""
    run_id = secrets.token_hex(8)
    folder = tmp_path / "spare"
    folder.mkdir()
    code = f"""
import asyncio, os, sys
from pathlib import Path
from pegboard.runner.launcher import Launcher
async def main():
    launcher = Launcher({run_id!r})
    launcher.tell("tmp", {str(folder)!r})
    for code in ("import time; time.sleep(600)",
                 "import subprocess; subprocess.run(['sleep', '600'], start_new_session=True)"):
        await launcher.start([sys.executable, "-c", code], log=Path({str(tmp_path / "log")!r}),
                             env=dict(os.environ), folder=Path('/'))
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


def test_the_reaper_does_not_listen_to_the_terminal() -> None:
    """Ctrl-C goes to the runner alone: the reaper must be there for the sweep."""
    with Launcher(secrets.token_hex(8)) as launcher:
        reaper = launcher._reaper
        numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
        ignored = sum(1 << (number - 1) for number in numbers)
        while ignored_by(reaper.pid) & ignored != ignored:
            time.sleep(0.02)
        for number in numbers:
            reaper.send_signal(number)
        time.sleep(0.1)
        assert reaper.poll() is None
    assert reaper.poll() == 0
