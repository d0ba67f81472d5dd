"""One `Play` stream, from its `Welcome` to its end: a reader task, a writer loop and a heartbeat.

The stream ends without an error if the bot half-closes; otherwise with the error that says why, and the
bot's clocks run on until it is back.
"""

from __future__ import annotations

import asyncio
from typing import Any

import structlog

from pegboard.errors import Replaced, Silent
from pegboard.matches.host import MatchHost
from pegboard.matches.mailbox import Mailbox
from pegboard.rpc.allowance import Allowance
from pegboard.rpc.limits import Limits
from pegboard.rules.errors import PegboardError
from pegboard.service.account import StreamAccount
from pegboard.service.heartbeat import Heartbeat
from pegboard.service.reader import Reader
from pegboard.service.responses import Responses
from pegboard.service.traffic import Traffic
from pegboard.service.writer import Writer

_log = structlog.get_logger("pegboard.play")


class PlaySession:
    """The stream of one bot."""

    def __init__(
        self,
        host: MatchHost,
        mailbox: Mailbox,
        limits: Limits,
        traffic: Traffic,
        allowance: Allowance,
    ) -> None:
        bot = mailbox.bot
        self.account = account = StreamAccount(bot, allowance, limits.rejections_unread)
        self.heartbeat = heartbeat = Heartbeat(limits)
        self._bot = bot
        self._mailbox = mailbox
        self._limits = limits
        self._error: PegboardError | None = None
        self._reader = Reader(host, mailbox, account, heartbeat, traffic, limits.play_bytes)
        responses = Responses(host, bot, account, heartbeat, limits.events_per_message)
        self.writer = Writer(
            mailbox, responses, account, heartbeat, traffic, limits.turns_per_message
        )

    async def run(self, context: Any) -> None:
        """Serve the stream of a call to its end. Raises the `PegboardError` that ended it."""
        reader = asyncio.create_task(self._read(context))
        try:
            await self.writer.run(context)
        finally:
            self._mailbox.close()
            reader.cancel()
        if self._mailbox.replaced:
            raise Replaced(f"a newer connection of {self._bot} took over")
        if self._error is not None:
            _log.warning("stream_ended", bot=self._bot, reason=str(self._error))
            raise self._error

    async def _read(self, context: Any) -> None:
        try:
            await self._reader.run(context)
        except PegboardError as error:
            self.end(error)
        except Exception as error:
            # The call is over for gRPC: the handler is cancelled in a moment.
            _log.info("stream_lost", bot=self._bot, reason=repr(error))
        finally:
            self._mailbox.close()

    def end(self, error: PegboardError) -> None:
        """End the stream with an error, after the write in flight."""
        if self._error is None:
            self._error = error
        self._mailbox.close()

    def pulse(self) -> None:
        """Count a pulse (`heartbeat`): send a heartbeat, end a stream that is stuck or silent."""
        heartbeat, limits = self.heartbeat, self._limits
        heartbeat.pulse(self._mailbox.thinks)
        if heartbeat.due:
            self._mailbox.wake()
        if heartbeat.is_stalled:
            _log.warning("stream_stalled", bot=self._bot, stall_s=limits.stall_s)
            self.writer.cut()
        if heartbeat.is_silent:
            self.end(Silent(f"{self._bot} left {limits.silence_beats} heartbeats unanswered"))
