"""A process of a bot: started, started again when it ends, killed when it hangs, and given up.

A `BotProcess` is one process of a bot, with a seat name and a token of its own. It is `gone` when its
bot will not play again in this run: then its matches are forfeited as soon as they are created.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path

from pegboard.arena.config import BotEntry
from pegboard.arena.results import PROCESS_MARK
from pegboard.runner.launcher import Launcher, LaunchError, Process
from pegboard.runner.limits import memory_limit

BACKOFF_S = 0.25
BACKOFF_LIMIT_S = 10.0
RESTARTS_UNPROVEN = 2
"""Restarts of a bot that has not played one match to its end: it most likely cannot start here."""

OnEnd = Callable[["BotProcess", str], Awaitable[bool]]
"""Called with the bot process and how its program ended; returns whether the bot is to blame."""


def process_names(bot: BotEntry) -> tuple[str, ...]:
    """Return the seat names of a bot's processes."""
    if bot.processes == 1:
        return (bot.name,)
    return tuple(f"{bot.name}{PROCESS_MARK}{i}" for i in range(1, bot.processes + 1))


class BotProcess:
    """One process of a bot, looked after by `run`.

    `proven`: it has played a match to its end. `hung`: the process that has just ended was killed by
    `restart`, since it seemed to hang. `endings` counts what the bot is to blame for: processes that
    ended, and hung ones that were killed.
    """

    def __init__(self, bot: BotEntry, name: str, restarts: int) -> None:
        self.bot = bot
        self.name = name
        self.gone = ""
        self.proven = False
        self.hung = False
        self.endings = 0
        self._restarts = restarts
        self._silences = 0
        self._process: Process | None = None
        self._left = asyncio.Event()

    async def run(
        self,
        launcher: Launcher,
        env: Mapping[str, str],
        folder: Path,
        log: Path,
        limits: Mapping[int, int],
        ended: OnEnd,
    ) -> None:
        """Keep the program running until the bot is gone, or this is cancelled.

        A bot without a command is run by its author: then this waits until the bot is out.
        """
        if not self.bot.command:
            await self._left.wait()
        while not self.gone:
            started = time.monotonic()
            try:
                self._process = await launcher.start(
                    self.bot.command,
                    log=log,
                    env=env,
                    folder=folder,
                    limits={**limits, **memory_limit(self.bot.memory_mb)},
                )
            except LaunchError as error:
                ending = str(error)
            else:
                await self._process.wait()
                ending = self._process.ending()
            if await ended(self, ending):
                await self._count_ending(ending)
            self.hung = False
            self._silences = 0
            lasted = time.monotonic() - started
            if not self.gone:
                await asyncio.sleep(0 if lasted > BACKOFF_LIMIT_S else self._backoff())

    async def _count_ending(self, ending: str) -> None:
        self.endings += 1
        allowed = self._restarts if self.proven else min(self._restarts, RESTARTS_UNPROVEN)
        if self.endings > allowed and not self.gone:
            times = "once" if self.endings == 1 else f"{self.endings} times"
            await self.leave(f"ended {times}, the last time it {ending}")

    def _backoff(self) -> float:
        return min(BACKOFF_S * 2.0 ** min(self.endings, 10), BACKOFF_LIMIT_S)

    def heard(self) -> None:
        """Note that the bot has played: a match came to a normal end."""
        self.proven = True
        self._silences = 0

    def silent(self, limit: int) -> bool:
        """Note that the bot lost a match by silence; return whether these are `limit` in a row."""
        self._silences += 1
        return self._silences == limit

    async def restart(self) -> None:
        """Kill a process that hangs; `run` starts it again. If its author runs it, count an ending."""
        self._silences = 0
        if not self.bot.command:
            await self._count_ending("did not answer")
        elif self._process is not None and self._process.status is None:
            self.hung = True
            await self._process.kill()

    async def leave(self, reason: str) -> None:
        """Give the bot up for the rest of the run."""
        self.gone = self.gone or reason
        self._left.set()
        if self._process is not None:
            await self._process.kill()

    async def stop(self, grace_s: float) -> None:
        """End the process at the end of the run."""
        if self._process is not None:
            await self._process.stop(grace_s)

    def last_words(self) -> str:
        """Return the last line that its process wrote, or ""."""
        return self._process.last_line() if self._process is not None else ""
