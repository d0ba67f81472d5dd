"""Reads one `Play` stream: every answer goes to the host as it comes."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import Any

from google.protobuf.message import DecodeError
from grpc.aio import EOF

from pegboard.errors import InvalidRequest, TooManyRequests
from pegboard.matches.host import MatchHost
from pegboard.matches.mailbox import Mailbox
from pegboard.matches.rejection import Rejection, RejectionReason
from pegboard.rpc.names import ID_MOST, read_id
from pegboard.rules.game import Seat
from pegboard.rules.names import MATCHES
from pegboard.service.account import StreamAccount
from pegboard.service.answers import decode_answer
from pegboard.service.heartbeat import Heartbeat
from pegboard.service.traffic import Traffic
from pegboard.v1 import play_pb2

SLICE = 64
"""Answers that are taken in one pass of the event loop: 3 ms; those of other bots come in between."""


class Reader:
    """Takes the messages of one bot."""

    def __init__(
        self,
        host: MatchHost,
        mailbox: Mailbox,
        account: StreamAccount,
        heartbeat: Heartbeat,
        traffic: Traffic,
        bytes_most: int,
    ) -> None:
        """Take what the messages act on; none has more than `bytes_most`."""
        self._host = host
        self._mailbox = mailbox
        self._bot = mailbox.bot
        self._account = account
        self._heartbeat = heartbeat
        self._traffic = traffic
        self._bytes_most = bytes_most

    async def run(self, context: Any) -> None:
        """Read until the bot half-closes. Raises the `PegboardError` that ends the stream."""
        read = context.read
        while True:
            data = await read()
            if data is EOF:
                return
            long = self._receive(data)
            if long is not None:
                await self._take_in_slices(long)

    def _receive(self, data: bytes) -> play_pb2.PlayRequest | None:
        """Take one message; return one that is too long for one pass of the loop.

        Raises the `PegboardError` that ends the stream.
        """
        self._heartbeat.heard()
        self._traffic.received += 1
        self._mailbox.message_came()
        size = len(data)
        if size > self._bytes_most:
            raise TooManyRequests(
                f"{self._bot} sent a message of {size} bytes; at most {self._bytes_most} are taken"
            )
        try:
            request = play_pb2.PlayRequest.FromString(data)
        except DecodeError:
            self._account.charge_unreadable(size)
            raise InvalidRequest(
                f"{self._bot} sent bytes that are not a PlayRequest; use the protos"
            ) from None
        if request.HasField("hello"):
            raise InvalidRequest(f"{self._bot} sent a second Hello; only the first message has one")
        answers, resignations = request.answers, request.resignations
        items = len(answers) + len(resignations)
        self._account.charge(items, size)
        if items > SLICE:
            return request
        self._answer(answers)
        for resignation in resignations:
            self._resign(resignation)
        return None

    async def _take_in_slices(self, request: play_pb2.PlayRequest) -> None:
        """Take a long message; other bots have their turns in between."""
        for start in range(0, len(request.answers), SLICE):
            self._answer(request.answers[start : start + SLICE])
            await asyncio.sleep(0)
        for start in range(0, len(request.resignations), SLICE):
            for resignation in request.resignations[start : start + SLICE]:
                self._resign(resignation)
            await asyncio.sleep(0)

    def _answer(self, messages: Iterable[play_pb2.Answer]) -> None:
        host, bot = self._host, self._bot
        for message in messages:
            try:
                answer = decode_answer(host, message)
            except InvalidRequest as error:
                self._reject_name(message.match, message.seat, message.turn_id, error)
                continue
            rejection = host.answer(bot, answer)
            if rejection is not None:
                self._reject(answer.match_id, answer.seat, answer.turn_id, rejection)

    def _resign(self, resignation: play_pb2.Resignation) -> None:
        seat = resignation.seat
        try:
            match_id = read_id(MATCHES, resignation.match)
        except InvalidRequest as error:
            self._reject_name(resignation.match, seat, 0, error)
            return
        rejection = self._host.resign(self._bot, match_id, seat)
        if rejection is not None:
            self._reject(match_id, seat, 0, rejection)

    def _reject_name(self, name: str, seat: Seat, turn_id: int, error: InvalidRequest) -> None:
        rejection = Rejection(RejectionReason.UNKNOWN_SEAT, str(error))
        self._reject(name[:ID_MOST], seat, turn_id, rejection)

    def _reject(self, match_id: str, seat: Seat, turn_id: int, rejection: Rejection) -> None:
        """Let a rejection join the next message. Raises `TooManyRequests` if too many wait."""
        self._account.rejected()
        self._mailbox.reject(match_id, seat, turn_id, rejection)
