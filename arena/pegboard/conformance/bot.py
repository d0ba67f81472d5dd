"""The program under test: started by the launcher of the arena, so that it leaves nothing behind."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from pegboard.conformance.findings import Failed
from pegboard.runner import reaper
from pegboard.runner.launcher import Launcher, LaunchError, Process
from pegboard.runner.limits import bot_limits, memory_limit

PARTING_S = 1.0
"""How long a program whose stream has broken off has to end, for its ending to explain that."""


class BotProgram:
    """A command that is started again whenever a case needs a new process."""

    def __init__(
        self,
        launcher: Launcher,
        command: Sequence[str],
        env: Mapping[str, str],
        log: Path,
        folder: Path,
        memory_mb: int,
    ) -> None:
        self._launcher = launcher
        self._command = command
        self._env = env
        self._log = log
        self._folder = folder
        self._limits = {**bot_limits(1), **memory_limit(memory_mb)}
        self.process: Process | None = None

    @property
    def runs(self) -> bool:
        """Whether there is a process that has not ended."""
        return self.process is not None and self.process.status is None

    async def start(self) -> None:
        """Start a process. Raises `Failed` if the command cannot be started."""
        try:
            self.process = await self._launcher.start(
                self._command,
                log=self._log,
                env=self._env,
                folder=self._folder,
                limits=self._limits,
            )
        except LaunchError as error:
            raise Failed(str(error), "give a command that starts the bot") from None

    async def ending(self, within_s: float = PARTING_S) -> str:
        """Return how the process ended, "" if it has not within that time."""
        if self.process is None:
            return ""
        with suppress(TimeoutError):
            async with asyncio.timeout(within_s):
                await self.process.wait()
        return "" if self.process.status is None else self.process.ending()

    async def kill(self) -> None:
        """End the process at once."""
        if self.process is not None:
            await self.process.kill()
            self.process = None

    def left_behind(self) -> list[int]:
        """Return the processes of the bot that are still there: started by it, in other groups."""
        own = self.process.pid if self.process is not None and self.runs else 0
        return [pid for pid in reaper.processes_of(self._launcher.run_id) if pid != own]

    def peak_memory_mb(self) -> int:
        """Return the most memory that the process has had, 0 if the system does not tell."""
        if self.process is None:
            return 0
        with suppress(OSError, ValueError):
            status = Path(f"/proc/{self.process.pid}/status").read_text("ascii", "replace")
            for line in status.splitlines():
                if line.startswith("VmHWM:"):
                    return int(line.split()[1]) // 1024
        return 0
