"""Where the matches are hosted: a server of the run's own, or one that somebody else runs."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import os
import secrets
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Protocol

from pegboard.arena.config import Config
from pegboard.arena.launcher import Launcher, LaunchError, Process
from pegboard.rules.errors import PegboardError

START_S = 30.0
RESTARTS = 10
RECENT_S = 3.0
STEADY_S = 60.0
ORGANISER = "arena"
SERVE = (sys.executable, "-m", "pegboard.cli.main", "serve")


class VenueError(PegboardError):
    """No server to play at; the sentence says why."""


class Venue(Protocol):
    """An address and the tokens to use there."""

    @property
    def address(self) -> str:
        """What bots and organisers dial."""
        ...

    @property
    def organiser_token(self) -> str:
        """The token that may create matches."""
        ...

    @property
    def tokens(self) -> Mapping[str, str]:
        """The token of each seat name."""
        ...

    async def run(self) -> None:
        """Keep it going. Raises `VenueError` when that is hopeless."""
        ...

    async def ready(self) -> None:
        """Wait until matches can be created (again)."""
        ...

    def in_outage(self) -> bool:
        """Say whether the server is away, or was a moment ago: bots are not to blame then."""
        ...

    async def stop(self) -> None:
        """Let go of it."""
        ...


class RemoteVenue:
    """A server that runs anyway."""

    def __init__(self, config: Config) -> None:
        """Read the tokens from the environment. Raises `VenueError` for one that is not there."""
        self.address = config.server.address
        self.organiser_token = _from_environment(config.server.organiser_token_env)
        self.tokens = {bot.name: _from_environment(bot.token_env) for bot in config.bots}

    async def run(self) -> None:
        """Wait for ever: it is not ours to keep."""
        await asyncio.Event().wait()

    async def ready(self) -> None:
        """Return at once; the client waits for the connection."""

    def in_outage(self) -> bool:
        """Return False: a server that is away shows in the calls that fail."""
        return False

    async def stop(self) -> None:
        """Do nothing."""


def _from_environment(variable: str) -> str:
    token = os.environ.get(variable, "")
    if not token:
        raise VenueError(f"the variable {variable} is not set; put the token there")
    return token


class LocalVenue:
    """A server process on a Unix socket, started again on the same store should it die."""

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
        # Socket paths are short (107 bytes), results' folders need not be.
        self._folder = Path(tempfile.mkdtemp(prefix="pegboard-"))
        launcher.tell(f"tmp {self._folder}")
        self.address = f"unix:{self._folder / 'socket'}"
        self.organiser_token = secrets.token_urlsafe(24)
        self.tokens = {name: secrets.token_urlsafe(24) for name in names}
        self._launcher = launcher
        self._store = store
        self._log = log
        self._note = note
        self._process: Process | None = None
        self._up = asyncio.Event()
        self._back_at = float("-inf")
        self._started = False
        self._stopping = False
        tokens = self._folder / "tokens.toml"
        tokens.touch(0o600)  # a server refuses a file that others can read
        tokens.write_text(self._token_file(), encoding="utf-8")

    def _token_file(self) -> str:
        def entry(name: str, token: str) -> str:
            return f'"{name}" = "sha256:{hashlib.sha256(token.encode()).hexdigest()}"\n'

        bots = "".join(entry(name, token) for name, token in self.tokens.items())
        return f"[organisers]\n{entry(ORGANISER, self.organiser_token)}\n[bots]\n{bots}"

    async def run(self) -> None:
        """Start the server, and start it again whenever it ends. Raises `VenueError`."""
        await self._start()
        failures = 0
        while True:
            begun = time.monotonic()
            ending = await self._host()
            if self._stopping:
                return
            failures = 1 if time.monotonic() - begun > STEADY_S else failures + 1
            if failures > RESTARTS:
                raise VenueError(
                    f"the server ended {failures} times in a row, the last time it {ending}; "
                    f"its log is {self._log}"
                )
            self._note(f"the server {ending}; it is started again")
            await asyncio.sleep(min(0.1 * 2**failures, 5.0) if failures > 1 else 0)
            try:
                await self._start()
            except VenueError as error:
                self._note(str(error))

    async def _host(self) -> str:
        """Be open for play until the server ends; return how it ended."""
        process = self._process
        assert process is not None
        if process.status is None:
            self._back_at = time.monotonic() if self._started else float("-inf")
            self._started = True
            self._up.set()
        await _drain(process)
        await process.wait()
        self._up.clear()
        # What a server logs before it is killed or stopped does not say why it was.
        return process.ending(last_words=(process.status or 0) > 0)

    async def _start(self) -> None:
        socket = self.address.removeprefix("unix:")
        command = [*SERVE, "--unix", socket, "--tokens", str(self._folder / "tokens.toml")]
        command += ["--store", str(self._store), "--durability", "batched", "--stop-on-eof"]
        command += ["--log-level", "warning"]
        try:
            process = await self._launcher.start(
                command, log=self._log, env=dict(os.environ), stdin=True, stdout=True
            )
        except LaunchError as error:
            raise VenueError(str(error)) from None
        self._process = process
        try:
            line = await asyncio.wait_for(process.stdout.readline(), START_S)
        except TimeoutError:
            await process.kill()
            raise VenueError(
                f"the server was not ready within {START_S:g} s; its log is {self._log}"
            ) from None
        if not line.startswith(b"listening"):
            await process.kill()
            raise VenueError(f"the server {process.ending()}; its log is {self._log}")

    async def ready(self) -> None:
        """Wait until the server listens."""
        await self._up.wait()

    def in_outage(self) -> bool:
        """Say whether it is down or came back within the last seconds."""
        return not self._up.is_set() or time.monotonic() - self._back_at < RECENT_S

    async def stop(self) -> None:
        """Ask it to stop: it writes down what is under way."""
        self._stopping = True
        if self._process is not None:
            self._process.close_stdin()
            await self._process.stop()


async def _drain(process: Process) -> None:
    """Read and drop what it prints, so that it never waits for us."""
    with contextlib.suppress(ValueError):
        while await process.stdout.read(4096):
            pass
