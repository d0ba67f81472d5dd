"""Starting processes so that they can be stopped again, whatever happens.

A `Launcher` starts programs by exec, each as leader of a session and process group of its own; a
`Process` is one of them, with its output in a log file of bounded size. The warden knows all groups.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import resource
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import IO

from pegboard.arena import warden

LOG_LIMIT_BYTES = 10 * 1024 * 1024
LINE_LIMIT = 400
STOP_S = 5.0
_CHUNK_BYTES = 64 * 1024
_TAIL_BYTES = 4096


class LaunchError(OSError):
    """A program that cannot be started at all; the message is one sentence."""


class Launcher:
    """Starts processes of one run. Use as a context manager: leaving it leaves no process behind."""

    def __init__(self, run_id: str, *, lock: int | None = None) -> None:
        """Take the run's id and the descriptor of a lock that the warden keeps until its sweep."""
        self.run_id = run_id
        command = [sys.executable, "-I", warden.__file__, run_id]
        self._warden = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            start_new_session=True,
            pass_fds=() if lock is None else (lock,),
            text=True,
            cwd="/",
        )

    def __enter__(self) -> Launcher:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        assert self._warden.stdin is not None
        with contextlib.suppress(OSError):
            self._warden.stdin.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._warden.wait(STOP_S)

    def tell(self, line: str) -> None:
        """Tell the warden; should somebody have killed it, the run goes on without."""
        assert self._warden.stdin is not None
        with contextlib.suppress(OSError):
            self._warden.stdin.write(f"{line}\n")
            self._warden.stdin.flush()

    async def start(
        self,
        command: Sequence[str],
        *,
        log: Path,
        env: Mapping[str, str],
        folder: Path | None = None,
        memory_mb: int = 0,
        stdin: bool = False,
        stdout: bool = False,
    ) -> Process:
        """Start a program. Its output goes to `log`, but for `stdout` where the caller reads it.

        `stdin` gives it a pipe that ends with this process. Raises `LaunchError`.
        """
        # Pipes of our own: asyncio's would tie the end of the program to the end of its output,
        # and a child that it leaves behind may hold that open for ever.
        (their_in, our_in), (our_out, their_out), (our_err, their_err) = (
            os.pipe(),
            os.pipe(),
            os.pipe(),
        )
        try:
            process = await asyncio.create_subprocess_exec(
                *command,
                stdin=their_in if stdin else subprocess.DEVNULL,
                stdout=their_out,
                stderr=their_err,
                env={**env, warden.RUN_ID_VARIABLE: self.run_id},
                cwd=folder,
                start_new_session=True,
            )
        except OSError as error:
            for descriptor in (our_in, our_out, our_err):
                os.close(descriptor)
            reason = error.strerror or str(error)
            raise LaunchError(f"{command[0]} cannot be started: {reason}") from None
        finally:
            for descriptor in (their_in, their_out, their_err):
                os.close(descriptor)
        self.tell(f"add {process.pid}")
        if memory_mb:
            _limit_memory(process.pid, memory_mb)
        out, err = await _reader(our_out), await _reader(our_err)
        streams = (err,) if stdout else (err, out)
        return Process(self, process, log, " ".join(command), our_in, out, streams)


async def _reader(descriptor: int) -> asyncio.StreamReader:
    reader = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(descriptor, "rb", 0)
    )
    return reader


def _limit_memory(pid: int, memory_mb: int) -> None:
    """Bound the address space (Linux); a process that has ended by now needs no bound."""
    size = memory_mb * 1024 * 1024
    with contextlib.suppress(OSError, AttributeError):
        resource.prlimit(pid, resource.RLIMIT_AS, (size, size))


class Process:
    """A running program. `status` is None while it runs, then its exit status (-9: SIGKILL)."""

    def __init__(
        self,
        launcher: Launcher,
        process: asyncio.subprocess.Process,
        log: Path,
        title: str,
        stdin: int,
        stdout: asyncio.StreamReader,
        logged: Sequence[asyncio.StreamReader],
    ) -> None:
        self.pid = process.pid
        self.log = log
        self.stdout = stdout
        self._stdin = stdin
        self._launcher = launcher
        self._process = process
        log.parent.mkdir(parents=True, exist_ok=True)
        self._log = log.open("ab")
        _write(self._log, f"--- {title} (process {self.pid})\n".encode())
        # Last words are looked for among the errors first: both streams are buffered, so which of
        # them comes last says nothing.
        self._tails = [_Tail() for _ in logged]
        self._pumps = [
            asyncio.create_task(self._copy(stream, tail), name=f"output to {log.name}")
            for stream, tail in zip(logged, self._tails, strict=True)
        ]
        self._end = asyncio.create_task(self._finish(), name=f"end of {log.name}")

    @property
    def status(self) -> int | None:
        """The exit status, None while it runs."""
        return self._process.returncode

    async def wait(self) -> int:
        """Wait for the end of the program and of its output; return the exit status.

        What it started itself is killed with it.
        """
        return await asyncio.shield(self._end)

    async def _finish(self) -> int:
        status = await self._process.wait()
        self._signal(signal.SIGKILL)
        # A grandchild outside the group could hold the pipe open for ever.
        _, stuck = await asyncio.wait(self._pumps, timeout=1.0)
        for pump in stuck:
            pump.cancel()
        self._log.close()
        self.close_stdin()
        self._launcher.tell(f"del {self.pid}")
        return status

    async def stop(self, grace_s: float = STOP_S) -> int:
        """Ask it to end, insist after `grace_s`; return the exit status."""
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
        lines = (tail.last_line() for tail in self._tails)
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

    async def _copy(self, stream: asyncio.StreamReader, tail: _Tail) -> None:
        while chunk := await stream.read(_CHUNK_BYTES):
            _write(self._log, chunk)
            tail.add(chunk)


class _Tail:
    """The end of an output stream."""

    def __init__(self) -> None:
        self._end = b""

    def add(self, chunk: bytes) -> None:
        """Keep the end of what there is now."""
        self._end = (self._end + chunk)[-_TAIL_BYTES:]

    def last_line(self) -> str:
        """Return the last line that is not blank."""
        lines = self._end.decode(errors="replace").split("\n")
        return next((line.strip() for line in reversed(lines) if line.strip()), "")


def _write(file: IO[bytes], data: bytes) -> None:
    """Append, up to the limit; from there on output is read and dropped. A full disk drops it too."""
    room = LOG_LIMIT_BYTES - file.tell()
    if room <= 0:
        return
    cut = data if len(data) <= room else data[:room] + b"\n--- log is full, the rest is dropped\n"
    with contextlib.suppress(OSError):
        file.write(cut)
        file.flush()


def _name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
