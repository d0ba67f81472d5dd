"""A watch on matches that do not end, so that a tournament does not wait for one for ever."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

from pegboard.arena.ages import Ages
from pegboard.arena.scoreboard import Scoreboard
from pegboard.runner.match_flow import MatchFlow
from pegboard.runner.match_runner import MatchRunner

AGE_STEP_S = 5.0
STILL_S = 300.0
OVERDUE_SLACK_S = 60.0
"""What a match may take beyond `match_ms` before the arena cancels it."""


class Watchdog:
    """Cancels matches that the server should have ended; says so if none has ended for `STILL_S`."""

    def __init__(
        self,
        match_ms: int,
        board: Scoreboard,
        runner: MatchRunner,
        flow: MatchFlow,
        note: Callable[[str], None],
    ) -> None:
        """Take the limit of a match, 0 for none."""
        self._ages = Ages(match_ms / 1000 + OVERDUE_SLACK_S if match_ms else float("inf"))
        self._board = board
        self._runner = runner
        self._flow = flow
        self._note = note

    async def watch(self) -> None:
        """Look every `AGE_STEP_S`, for ever."""
        before = time.monotonic()
        finished, still_s = 0, 0.0
        while True:
            await asyncio.sleep(AGE_STEP_S)
            now = time.monotonic()
            # A runner that was suspended has not been waiting for the server.
            step_s = min(now - before, 2 * AGE_STEP_S)
            before = now
            still_s = still_s + step_s if self._board.finished == finished else 0.0
            finished = self._board.finished
            if still_s >= STILL_S:
                still_s = 0.0
                self._note(
                    f"no match has ended for {STILL_S / 60:g} minutes; "
                    f"{len(self._runner.running)} are under way"
                )
            await self._cancel_overdue(step_s)

    async def _cancel_overdue(self, step_s: float) -> None:
        overdue = self._ages.step(self._runner.running, step_s)
        if overdue:
            self._note(
                f"the server has not ended {len(overdue)} matches within `match_ms`, e.g. "
                f"{overdue[0]}; they are cancelled and played again"
            )
            await self._flow.play_again(overdue)
