"""The server that hosts the matches: what a run needs of it, and one that runs elsewhere.

`local_server.LocalServer` is a server process of the run's own.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping
from typing import Protocol

from pegboard.arena.config import Config
from pegboard.runner.errors import NoServer


class ServerHandle(Protocol):
    """An address, the tokens to use there, and the care for a server behind it."""

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
        """Keep the server running, until cancelled. Raises `NoServer` if it cannot be kept."""
        ...

    async def ready(self) -> None:
        """Wait until matches can be created (again)."""
        ...

    def in_outage(self) -> bool:
        """Say whether the server is away, or was a moment ago: a bot that ends then is not blamed."""
        ...

    async def stop(self) -> None:
        """Stop the server if it belongs to the run."""
        ...


class RemoteServer:
    """A server that runs elsewhere."""

    partner = ""

    def __init__(self, config: Config) -> None:
        """Read the tokens from the environment. Raises `NoServer` if a variable is not set."""
        self.address = config.server.address
        self.organiser_token = _from_environment(config.server.organiser_token_env)
        self.tokens = {bot.name: _from_environment(bot.token_env) for bot in config.bots}

    async def run(self) -> None:
        """Wait until cancelled: this server is kept by its operator."""
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
        raise NoServer(f"the variable {variable} is not set; put the token there")
    return token
