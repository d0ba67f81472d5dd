"""Calls to a server that may be away: repeated, reported, and given up after a limit."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import TypeVar

from pegboard.errors import StoreError, Unavailable
from pegboard.rules.errors import PegboardError
from pegboard.runner.errors import NoServer
from pegboard.runner.server_handle import ServerHandle

RETRY_S = 0.1
TICK_S = 0.25
SILENCE_S = 2.0
"""A note is printed when calls have been retried for longer than this."""

NOTE_S = 5.0
RECENT_S = 3.0

T = TypeVar("T")


class Patience:
    """Makes the calls to the server, and repeats them while the server is away.

    Time counts while a call waits for its answer and none has come, in small steps, so that it does
    not count while this process is suspended.
    """

    def __init__(
        self, server: ServerHandle, address: str, limit_s: float, note: Callable[[str], None]
    ) -> None:
        """Take how long a server may be away: 0 for one of the run's own, which its handle keeps."""
        self._server = server
        self._address = address
        self._limit_s = limit_s
        self._note = note
        self._waiting = 0
        self._away_s = 0.0
        self._told_s = 0.0
        self._back_at = float("-inf")
        self._error = ""

    async def insist(self, call: Callable[[], Awaitable[T]]) -> T:
        """Repeat a call while the server is away or cannot store; raise any other error."""
        self._waiting += 1
        try:
            while True:
                try:
                    answer = await call()
                except (Unavailable, StoreError) as error:
                    await self.pause(error)
                except PegboardError:
                    self.answered()
                    raise
                else:
                    self.answered()
                    return answer
        finally:
            self._waiting -= 1

    async def pause(self, error: PegboardError) -> None:
        """Wait a little before the next try."""
        self._error = str(error)
        await asyncio.sleep(RETRY_S)
        await self._server.ready()

    def asks(self) -> None:
        """Note that a stream is being opened; time counts until it brings something."""
        self._waiting += 1

    def asks_no_more(self) -> None:
        """Note that the stream has brought something, or is not wanted any more."""
        self._waiting -= 1

    def answered(self) -> None:
        """Note that the server has answered."""
        if self._told_s:
            self._note(f"the server at {self._address} is back after {self._away_s:.0f} s")
        if self._away_s > SILENCE_S:
            self._back_at = time.monotonic()
        self._away_s = self._told_s = 0.0
        self._error = ""

    def is_tried(self) -> bool:
        """Say whether the server is away, or was a moment ago."""
        return self._away_s > SILENCE_S or time.monotonic() - self._back_at < RECENT_S

    async def run(self) -> None:
        """Count the time, until cancelled. Raises `NoServer` when it reaches the limit."""
        before = time.monotonic()
        while True:
            await asyncio.sleep(TICK_S)
            now = time.monotonic()
            step = min(now - before, 2 * TICK_S)
            before = now
            if self._waiting and self._limit_s:
                self._away_s += step
                self._tell()
            else:
                self._away_s = 0.0

    def _tell(self) -> None:
        why = f" ({self._error})" if self._error else ""
        if self._away_s >= self._limit_s:
            raise NoServer(
                f"no server at {self._address} for {self._limit_s:g} s{why}; start it, or check "
                "[server] address, and the same command goes on; `patience_s` sets the limit"
            )
        if self._away_s >= (self._told_s + NOTE_S if self._told_s else SILENCE_S):
            self._told_s = self._away_s
            left = self._limit_s - self._away_s
            self._note(
                f"no server at {self._address} for {self._away_s:.0f} s{why}; "
                f"trying for {left:.0f} s more"
            )
