"""Writes one `Play` stream: whatever has become ready since the last write goes in one message.

While a write is in flight, or the bot is busy, the next message fills by itself; a single turn never
waits.
"""

from __future__ import annotations

import asyncio
from typing import Any

from pegboard.matches.mailbox import Mailbox
from pegboard.service.account import StreamAccount
from pegboard.service.heartbeat import Heartbeat
from pegboard.service.responses import Responses
from pegboard.service.traffic import Traffic


class Writer:
    """Writes what the mailbox of one bot has, until the mailbox closes."""

    def __init__(
        self,
        mailbox: Mailbox,
        responses: Responses,
        account: StreamAccount,
        heartbeat: Heartbeat,
        traffic: Traffic,
        turns_most: int,
    ) -> None:
        """Take the mailbox and what makes its messages; one has `turns_most` turns at most."""
        self._mailbox = mailbox
        self._responses = responses
        self._account = account
        self._heartbeat = heartbeat
        self._traffic = traffic
        self._turns_most = turns_most
        self._task: asyncio.Task[Any] | None = None
        self.messages_sent = 0

    async def run(self, context: Any) -> None:
        """Write until the mailbox closes."""
        self._task = asyncio.current_task()
        mailbox, heartbeat = self._mailbox, self._heartbeat
        while not mailbox.closed:
            wrote = False
            for data in self._responses.of(mailbox.take(self._turns_most)):
                heartbeat.blocked_pulses = 0
                if not data:
                    await asyncio.sleep(0)
                    continue
                wrote = heartbeat.writing = True
                await context.write(data)
                heartbeat.writing = False
                self.messages_sent += 1
            if not wrote:
                await mailbox.wait()
            if self._account.owed:  # a bot that owes nothing gets its turn at once
                await self._traffic.settle()

    def cut(self) -> None:
        """Cut the call: nothing more can be said to a bot that does not read."""
        if self._task is not None:
            self._task.cancel()
