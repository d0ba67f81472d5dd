"""Lets the messages that have arrived be read before the writers of streams write."""

from __future__ import annotations

import asyncio

SETTLE_LOOP_PASSES = 2
"""How many passes of the event loop a message needs from the socket to its reader."""
SETTLE_PASSES_MOST = 16
"""A bound, so that a flood of one bot cannot delay the writers of the others."""


class Traffic:
    """How many messages all streams of a server have received."""

    __slots__ = ("received",)

    def __init__(self) -> None:
        self.received = 0

    async def settle(self) -> None:
        """Let messages that have arrived be read, without waiting for more.

        The turns that they open join the write that follows: under load a few large messages take the
        place of many small ones.
        """
        for _ in range(SETTLE_PASSES_MOST):
            before = self.received
            for _ in range(SETTLE_LOOP_PASSES):
                await asyncio.sleep(0)
            if self.received == before:
                return
