"""A server process of the run's own, kept alive."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import os
import re
import secrets
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from pegboard.client.address import SOCKET_PATH_BYTES
from pegboard.runner.environment import helper_environment, isolated_python
from pegboard.runner.errors import NoServer
from pegboard.runner.launcher import PRIVATE_UMASK, Launcher, LaunchError, Process
from pegboard.runner.private_files import open_private

START_S = 30.0
RESTARTS = 10
PAUSE_S = 0.1
PAUSE_LIMIT_S = 5.0
RECENT_S = 3.0
STEADY_S = 60.0
LEAST_FREE_BYTES = 1 << 20
"""A disk with less room than this is called full."""
ORGANISER = "arena"
PARTNER = "arena--check"
"""A name without a bot, for the other seats of check matches; a bot's name has no two hyphens."""

SERVE = (*isolated_python(), "-m", "pegboard.cli.main", "serve")
SHORT = "/tmp"  # noqa: S108 - mkdtemp makes a folder of its own there, for this user alone

_PLAIN_PATH = re.compile(r"[A-Za-z0-9/._+-]+")
"""Paths that mean the same in an address, which is a URI, as in the file system."""


class LocalServer:
    """A server process on a Unix socket, started again on the same store if it ends."""

    partner = PARTNER

    def __init__(
        self,
        launcher: Launcher,
        names: Sequence[str],
        *,
        store: Path,
        log: Path,
        note: Callable[[str], None],
    ) -> None:
        """Take the seat names that need a token."""
        self._folder = socket_folder(note)
        launcher.tell("tmp", str(self._folder))
        self.address = f"unix:{self._folder / 'socket'}"
        self.organiser_token = secrets.token_urlsafe(24)
        self.tokens = {name: secrets.token_urlsafe(24) for name in (*names, PARTNER)}
        self._launcher = launcher
        self._store = store.absolute()
        self._log = log
        self._note = note
        self._process: Process | None = None
        self._up = asyncio.Event()
        self._back_at = float("-inf")
        self._started = False
        self._stopping = False
        with open_private(self._folder / "tokens.toml", "xb") as tokens:
            tokens.write(self._token_file().encode())

    def _token_file(self) -> str:
        def entry(name: str, token: str) -> str:
            return f'"{name}" = "sha256:{hashlib.sha256(token.encode()).hexdigest()}"\n'

        bots = "".join(entry(name, token) for name, token in self.tokens.items())
        return f"[organisers]\n{entry(ORGANISER, self.organiser_token)}\n[bots]\n{bots}"

    async def run(self) -> None:
        """Start the server, and start it again whenever it ends. Raises `NoServer`.

        A server that exits with an error at its first start is not started again: it would exit again.
        """
        failures = 0
        while True:
            begun = time.monotonic()
            ending = await self._host()
            if self._stopping:
                return
            status = self._process.status if self._process is not None else None
            if not self._started and status is not None and status > 0:
                raise NoServer(f"the server {ending}; {self._advice()}")
            failures = 1 if time.monotonic() - begun > STEADY_S else failures + 1
            if failures > RESTARTS:
                raise NoServer(
                    f"the server ended {failures} times in a row, the last time it {ending}; "
                    f"{self._advice()}"
                )
            self._note(f"the server {ending}; it is started again")
            await asyncio.sleep(min(PAUSE_S * 2**failures, PAUSE_LIMIT_S) if failures > 1 else 0)

    def _advice(self) -> str:
        """Return what to do about a server that does not run."""
        folder = self._store.parent
        if free_bytes(folder) < LEAST_FREE_BYTES:
            return (
                f"the disk of {folder} is full: make room, and the same command continues the run"
            )
        return f"its log is {self._log}"

    async def _host(self) -> str:
        """Start the server and wait until it ends; return how it ended."""
        process = self._process = await self._start()
        try:
            line = await asyncio.wait_for(process.stdout.readline(), START_S)
        except TimeoutError:
            await process.kill()
            return f"was not ready within {START_S:g} s"
        if line.startswith(b"listening"):
            if process.status is None:
                self._back_at = time.monotonic() if self._started else float("-inf")
                self._started = True
                self._up.set()
            await _drain(process)
        else:
            await process.kill()
        await process.wait()
        self._up.clear()
        # The last line of a server that was killed or stopped does not say why it ended.
        return process.ending(last_words=(process.status or 0) > 0)

    async def _start(self) -> Process:
        socket = self.address.removeprefix("unix:")
        command = [*SERVE, "--unix", socket, "--tokens", str(self._folder / "tokens.toml")]
        command += ["--store", str(self._store), "--durability", "batched", "--stop-on-eof"]
        command += ["--log-level", "warning"]
        # The reaper removes this folder, and with it what a killed server leaves behind.
        env = {**helper_environment(), "TMPDIR": str(self._folder)}
        try:
            return await self._launcher.start(
                command,
                log=self._log,
                env=env,
                folder=Path("/"),
                stdin=True,
                stdout=True,
                umask=PRIVATE_UMASK,
            )
        except LaunchError as error:
            raise NoServer(str(error)) from None

    async def ready(self) -> None:
        """Wait until the server listens."""
        await self._up.wait()

    def in_outage(self) -> bool:
        """Say whether it is down or came back within the last seconds."""
        return not self._up.is_set() or time.monotonic() - self._back_at < RECENT_S

    async def stop(self) -> None:
        """Ask the server to stop; it stores the matches under way first."""
        self._stopping = True
        if self._process is not None:
            self._process.close_stdin()
            await self._process.stop()


def free_bytes(folder: Path) -> int:
    """Return how much room the disk of a folder has for this user."""
    disk = os.statvfs(folder)
    return disk.f_bavail * disk.f_frsize


def socket_folder(note: Callable[[str], None]) -> Path:
    """Make a folder for a Unix socket: the path of one is short and stands in an address.

    The folder is in `SHORT` if that for temporary files is not fit. Raises `NoServer`.
    """
    usual = tempfile.gettempdir()
    longest = len(os.fsencode(usual)) + len("/pegboard-12345678/socket")
    fit = longest <= SOCKET_PATH_BYTES and _PLAIN_PATH.fullmatch(usual)
    if not fit:
        note(f"TMPDIR ({usual}) is too long or too odd for a Unix socket; the socket is in {SHORT}")
    try:
        return Path(tempfile.mkdtemp(prefix="pegboard-", dir=usual if fit else SHORT))
    except OSError as error:
        raise NoServer(
            f"no folder for the server's socket can be made: {error}; set TMPDIR to a folder "
            "with a short path where you may write"
        ) from None


async def _drain(process: Process) -> None:
    """Read and drop what the server prints, so that no write of it ever blocks."""
    with contextlib.suppress(ValueError):
        while await process.stdout.read(4096):
            pass
