"""The bots of a session: what their results and the ends of their processes mean for their matches."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable, Mapping, Sequence

from pegboard.arena.results import EndedMatch
from pegboard.rules.results import Termination
from pegboard.runner.bot_process import BotProcess
from pegboard.runner.match_flow import MatchFlow
from pegboard.runner.match_runner import MatchRunner
from pegboard.runner.patience import Patience
from pegboard.runner.server_handle import ServerHandle

CRASH_PAUSE_S = 0.3
HANGS = 16
"""The least number of matches in a row that a process loses by silence before it seems to hang."""

SILENCE = frozenset({Termination.DISCONNECT, Termination.TIMEOUT})


class BotSupervisor:
    """Restarts processes that hang, and forfeits the matches of those that ended or are out.

    `rated`: the check before the run is over. Until then no match is forfeited, and the check says
    which bots did not come.
    """

    def __init__(
        self,
        processes: Mapping[str, BotProcess],
        held: int,
        flow: MatchFlow,
        runner: MatchRunner,
        server: ServerHandle,
        patience: Patience,
        note: Callable[[str], None],
        tasks: asyncio.TaskGroup,
    ) -> None:
        """Take the processes by seat name, and how many matches a bot may hold at once."""
        self.rated = False
        self._processes = processes
        self._held = held
        self._flow = flow
        self._runner = runner
        self._server = server
        self._patience = patience
        self._note = note
        self._tasks = tasks

    def match_ended(self, match: EndedMatch) -> None:
        """Note who has played, and restart a process that seems to hang."""
        result = match.result
        if result.seat_at_fault is None:
            for name in match.bots:
                self._processes[name].heard()
            return
        process = self._processes[match.bots[result.seat_at_fault]]
        limit = hang_limit(self._held, process.bot.processes)
        if result.termination in SILENCE and process.silent(limit):
            self._tasks.create_task(process.restart())

    def matches_created(self, names: Sequence[str]) -> None:
        """Forfeit new matches of processes that are out."""
        for process in self._processes.values():
            if process.gone:
                detail = f"{process.name} {process.gone}"
                self._tasks.create_task(self._runner.forfeit(process.name, detail, among=names))

    async def process_out(self, process: BotProcess) -> None:
        """Forfeit what a process was playing that will not be started again."""
        if self.rated:
            self._note(
                f"{process.name} {process.gone}; it is out, the rest of its matches is forfeited"
            )
            await self._runner.forfeit(process.name, f"{process.name} {process.gone}")

    async def process_ended(self, process: BotProcess, ending: str) -> bool:
        """Forfeit what a process was playing that has ended; return whether the bot is to blame.

        A process that was killed since it seemed to hang has lost matches already: what else it was
        playing is played again.
        """
        if process.hung:
            running = self._runner.matches_of(process.name)
            self._note(
                f"{process.name} seems to hang; its process is started again, and the "
                f"{len(running)} matches that it was playing are played again"
            )
            await self._flow.play_again(running)
            return True
        # If the server ends, its bots end too, and the end of a bot may be noticed first.
        await asyncio.sleep(CRASH_PAUSE_S)
        if self._server.in_outage() or self._patience.is_tried():
            return False
        if not process.gone:
            self._note(f"{process.name} {ending}")
            await self._runner.forfeit(process.name, f"{process.name} {ending}")
        return True


def hang_limit(held: int, processes: int) -> int:
    """Return how many matches in a row a process loses by silence before it seems to hang.

    That is its part of the matches that its bot may hold at once (`held`): they end together, and with
    a higher limit the matches that take their places would be lost too. It is at least `HANGS`, so
    that a few slow moves are not called a hang.
    """
    return max(HANGS, math.ceil(held / processes))
