"""Where the matches are hosted: a server of the run's own, or one that runs elsewhere."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import os
import re
import secrets
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Protocol

from pegboard.arena.config import Config
from pegboard.client.address import SOCKET_PATH_BYTES
from pegboard.rules.errors import PegboardError
from pegboard.runner.environment import helper_environment, isolated_python
from pegboard.runner.launcher import PRIVATE_UMASK, Launcher, LaunchError, Process
from pegboard.runner.run_folder import open_private

START_S = 30.0
RESTARTS = 10
RECENT_S = 3.0
STEADY_S = 60.0
ORGANISER = "arena"
PARTNER = "arena--check"
"""A name without a bot, for the other seats of check matches; two hyphens: no bot can be called so."""

SERVE = (*isolated_python(), "-m", "pegboard.cli.main", "serve")
SHORT = "/tmp"  # noqa: S108 - mkdtemp makes a folder of its own there, for this user alone

_PLAIN_PATH = re.compile(r"[A-Za-z0-9/._+-]+")
"""Paths that mean the same in an address, which is a URI, as in the file system."""


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

    @property
    def partner(self) -> str:
        """A name without a bot, "" if there is none."""
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

    partner = ""

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
        """Start the server, and start it again whenever it ends. Raises `VenueError`.

        A server that gives up on its first start would do so again; one that was killed would not.
        """
        failures = 0
        while True:
            begun = time.monotonic()
            ending = await self._host()
            if self._stopping:
                return
            status = self._process.status if self._process is not None else None
            if not self._started and status is not None and status > 0:
                raise VenueError(f"the server {ending}; its log is {self._log}")
            failures = 1 if time.monotonic() - begun > STEADY_S else failures + 1
            if failures > RESTARTS:
                raise VenueError(
                    f"the server ended {failures} times in a row, the last time it {ending}; "
                    f"its log is {self._log}"
                )
            self._note(f"the server {ending}; it is started again")
            await asyncio.sleep(min(0.1 * 2**failures, 5.0) if failures > 1 else 0)

    async def _host(self) -> str:
        """Start the server and be open for play until it ends; return how it ended."""
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
        # What a server logs before it is killed or stopped does not say why it was.
        return process.ending(last_words=(process.status or 0) > 0)

    async def _start(self) -> Process:
        socket = self.address.removeprefix("unix:")
        command = [*SERVE, "--unix", socket, "--tokens", str(self._folder / "tokens.toml")]
        command += ["--store", str(self._store), "--durability", "batched", "--stop-on-eof"]
        command += ["--log-level", "warning"]
        # What a server that is killed leaves behind goes with the folder, which the warden removes.
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
            raise VenueError(str(error)) from None

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


def socket_folder(note: Callable[[str], None]) -> Path:
    """Make a folder for a Unix socket: the path of one is short and stands in an address.

    Where the folder for temporary files is not fit for that, take `SHORT`. Raises `VenueError`.
    """
    usual = tempfile.gettempdir()
    longest = len(os.fsencode(usual)) + len("/pegboard-12345678/socket")
    fit = longest <= SOCKET_PATH_BYTES and _PLAIN_PATH.fullmatch(usual)
    if not fit:
        note(f"TMPDIR ({usual}) is too long or too odd for a Unix socket; the socket is in {SHORT}")
    try:
        return Path(tempfile.mkdtemp(prefix="pegboard-", dir=usual if fit else SHORT))
    except OSError as error:
        raise VenueError(
            f"no folder for the server's socket can be made: {error}; set TMPDIR to a folder "
            "with a short path where you may write"
        ) from None


async def _drain(process: Process) -> None:
    """Read and drop what it prints, so that it never waits for us."""
    with contextlib.suppress(ValueError):
        while await process.stdout.read(4096):
            pass
