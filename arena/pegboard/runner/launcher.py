"""Processes that are started so that they can be stopped again, even if the runner is killed.

A `Launcher` starts programs by exec, each as leader of a session and process group of its own; a
`Process` is one of them. Programs write to their log files directly, never through a pipe of the
runner's, so that a runner that is suspended holds none of them up. The reaper knows all groups and
keeps the logs small.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import json
import os
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType

from pegboard.runner import reaper
from pegboard.runner.environment import helper_environment, isolated_python
from pegboard.runner.errors import Exhausted
from pegboard.runner.limits import confine
from pegboard.runner.private_files import cannot_write

LOG_LIMIT_BYTES = 10 * 1024 * 1024
LINE_LIMIT = 400
STOP_S = 5.0
PRIVATE_UMASK = 0o077
_TAIL_BYTES = 4096

_CANNOT_START = {
    errno.ENOEXEC: "it is not a program of this machine; a script's first line must be `#!` and "
    "its interpreter, or name the interpreter first in `command`",
    errno.EACCES: "it may not be executed; `chmod +x` allows it",
}


class LaunchError(OSError):
    """A program that cannot be started; the message is one sentence."""


class Launcher:
    """Starts processes of one run. Use as a context manager: leaving it leaves no process behind."""

    def __init__(self, run_id: str, *, lock: int | None = None) -> None:
        """Take the run's id and the descriptor of a lock that the reaper keeps until its sweep."""
        self.run_id = run_id
        command = [*isolated_python(), reaper.__file__, run_id, str(LOG_LIMIT_BYTES)]
        self._reaper = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            start_new_session=True,
            pass_fds=() if lock is None else (lock,),
            text=True,
            cwd="/",
            env=helper_environment(),
        )

    def __enter__(self) -> Launcher:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        assert self._reaper.stdin is not None
        with contextlib.suppress(OSError):
            self._reaper.stdin.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._reaper.wait(STOP_S)

    def tell(self, command: str, argument: int | str) -> None:
        """Send the reaper a command; if the reaper has been killed, the run goes on without it."""
        assert self._reaper.stdin is not None
        with contextlib.suppress(OSError):
            self._reaper.stdin.write(f"{json.dumps([command, argument])}\n")
            self._reaper.stdin.flush()

    async def start(
        self,
        command: Sequence[str],
        *,
        log: Path,
        env: Mapping[str, str],
        folder: Path,
        limits: Mapping[int, int] | None = None,
        stdin: bool = False,
        stdout: bool = False,
        umask: int = -1,
    ) -> Process:
        """Start a program in `folder`. Raises `LaunchError`, `Exhausted` or `FolderError`.

        What it writes goes to files that it has open itself: its errors to `log`, its output beside
        it (`.out`). With `stdout` the caller reads the output instead; `stdin` gives it a pipe that
        ends with this process. `limits` are by resource, `umask` -1 is the runner's.
        """
        title = " ".join(command).encode("unicode_escape").decode()
        logs = [ProcessLog(log, title)]
        if not stdout:
            logs.append(ProcessLog(log.with_suffix(".out"), title))
        # Pipes of our own: asyncio's would tie the end of the program to the end of its output,
        # and a child that it leaves behind may hold that open.
        their_in, our_in = _pipe() if stdin else (-1, -1)
        our_out, their_out = _pipe() if stdout else (-1, logs[1].file)
        try:
            process = await asyncio.create_subprocess_exec(
                *command,
                stdin=their_in if stdin else subprocess.DEVNULL,
                stdout=their_out,
                stderr=logs[0].file,
                env={**env, reaper.RUN_ID_VARIABLE: self.run_id},
                cwd=folder,
                start_new_session=True,
                umask=umask,
            )
        except (OSError, ValueError) as error:
            _close(our_in, our_out)
            raise _launch_error(command[0], error) from None
        finally:
            _close(their_in, *((their_out,) if stdout else ()), *(log.file for log in logs))
        self.tell("add", process.pid)
        for each in logs:
            self.tell("log", str(each.path.absolute()))
        confine(process.pid, limits or {})
        return Process(self, process, logs, our_in, await _reader(our_out) if stdout else None)


def _pipe() -> tuple[int, int]:
    try:
        return os.pipe()
    except OSError:
        raise exhausted() from None


def _close(*descriptors: int) -> None:
    for descriptor in descriptors:
        if descriptor >= 0:
            os.close(descriptor)


def _launch_error(program: str, error: OSError | ValueError) -> Exception:
    number = error.errno if isinstance(error, OSError) else None
    if number in (errno.EMFILE, errno.ENFILE):
        return exhausted()
    reason = _CANNOT_START.get(number or 0)
    if reason is None:
        reason = (isinstance(error, OSError) and error.strerror) or str(error)
    return LaunchError(f"{program} cannot be started: {reason}")


def exhausted() -> Exhausted:
    """Return the error for a limit of open files that has been hit."""
    return Exhausted(
        "the limit of open files is reached; raise it with `ulimit -n` or play with fewer "
        "processes, and the same command continues the run"
    )


async def _reader(descriptor: int) -> asyncio.StreamReader:
    reader = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(descriptor, "rb", 0)
    )
    return reader


class ProcessLog:
    """A file that one process writes to, after what earlier ones have left there."""

    def __init__(self, path: Path, title: str) -> None:
        """Open the file and write in a line what starts. Raises `Exhausted` or `FolderError`."""
        self.path = path
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC
        try:
            self.file = os.open(path, flags, 0o600)
        except OSError as error:
            if error.errno in (errno.EMFILE, errno.ENFILE):
                raise exhausted() from None
            raise cannot_write(path, error) from None
        stamp = time.strftime("%Y-%m-%d %H:%M:%S")
        with contextlib.suppress(OSError):  # a full disk: the process can run without this line
            os.write(self.file, f"--- {stamp} {title}\n".encode())
        self._start = os.fstat(self.file).st_size

    def last_line(self) -> str:
        """Return the last line that is not blank of what the process has written, or ""."""
        try:
            with self.path.open("rb") as file:
                size = file.seek(0, os.SEEK_END)
                # A file that has shrunk was cut by the reaper, and all of its end is the process's.
                start = self._start if size >= self._start else 0
                file.seek(max(start, size - _TAIL_BYTES))
                end = file.read(_TAIL_BYTES)
        except OSError:
            return ""
        lines = end.decode(errors="replace").split("\n")
        return next((line.strip() for line in reversed(lines) if line.strip()), "")


class Process:
    """A running program. `status` is None while it runs, then its exit status (-9: SIGKILL)."""

    def __init__(
        self,
        launcher: Launcher,
        process: asyncio.subprocess.Process,
        logs: Sequence[ProcessLog],
        stdin: int,
        stdout: asyncio.StreamReader | None,
    ) -> None:
        """Take its logs, errors first: last words are looked for there before its output.

        Both are buffered by the program, so that which of them was written last says nothing.
        """
        self.pid = process.pid
        self._logs = logs
        self._stdin = stdin
        self._stdout = stdout
        self._launcher = launcher
        self._process = process
        self._end = asyncio.create_task(self._finish(), name=f"end of {logs[0].path.name}")

    @property
    def status(self) -> int | None:
        """The exit status, None while it runs."""
        return self._process.returncode

    @property
    def stdout(self) -> asyncio.StreamReader:
        """Its standard output, for a program that was started with `stdout`."""
        assert self._stdout is not None
        return self._stdout

    async def wait(self) -> int:
        """Wait for the end of the program; return the exit status.

        What it started itself is killed with it.
        """
        return await asyncio.shield(self._end)

    async def _finish(self) -> int:
        status = await self._process.wait()
        self._signal(signal.SIGKILL)
        self.close_stdin()
        self._launcher.tell("del", self.pid)
        return status

    async def stop(self, grace_s: float = STOP_S) -> int:
        """Send SIGTERM, and SIGKILL after `grace_s`; return the exit status."""
        if self.status is None:
            self._signal(signal.SIGTERM)
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._process.wait(), grace_s)
        return await self.kill()

    async def kill(self) -> int:
        """Kill the whole group; return the exit status."""
        if self.status is None:
            self._signal(signal.SIGKILL)
        return await self.wait()

    def close_stdin(self) -> None:
        """End its standard input."""
        if self._stdin >= 0:
            os.close(self._stdin)
            self._stdin = -1

    def last_line(self) -> str:
        """Return the last line that it wrote, cut to `LINE_LIMIT` characters."""
        lines = (log.last_line() for log in self._logs)
        return next(filter(None, lines), "")[:LINE_LIMIT]

    def ending(self, *, last_words: bool = True) -> str:
        """Return how it ended in words, e.g. `exited with status 1: KeyError: 'x'`."""
        status = self.status
        assert status is not None
        how = f"exited with status {status}" if status >= 0 else f"was killed by {_name(-status)}"
        last = self.last_line() if last_words else ""
        return f"{how}: {last}" if last else how

    def _signal(self, number: signal.Signals) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, number)


def _name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
