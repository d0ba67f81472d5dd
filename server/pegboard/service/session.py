"""One `Play` stream: a reader task, a writer loop, and a pulse that ends it if the bot is silent.

The reader hands each answer to the host as it comes. The writer takes whatever has become ready since
its last write, in one message: while a write is in flight, or the bot is busy, the next one fills by
itself; a single turn never waits. The stream ends without an error if the bot half-closes; otherwise
with the error that says why, and the bot's clocks run on until it is back.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterable, Iterator
from typing import Any

import structlog
from google.protobuf.message import DecodeError
from grpc.aio import EOF

from pegboard.errors import InvalidRequest, Replaced, Silent, TooManyRequests
from pegboard.matches.finished import FinishedMatch
from pegboard.matches.host import MatchHost
from pegboard.matches.mailbox import Delivery, Mailbox
from pegboard.matches.rejection import Rejection
from pegboard.matches.running import OpenTurn, RunningMatch, SeatedBot
from pegboard.rpc.allowance import Allowance
from pegboard.rpc.settings import Limits
from pegboard.rules.errors import PegboardError
from pegboard.rules.game import Seat
from pegboard.rules.names import MATCHES
from pegboard.service.answers import bare_id, decode_answer
from pegboard.service.messages import (
    event_messages,
    rejected_message,
    started_message,
)
from pegboard.v1 import play_pb2
from pegboard.wire.codec import CODECS, Codec
from pegboard.wire.records import result_message
from pegboard.wire.turns import seat_bytes, turn_bytes, turns_bytes

_log = structlog.get_logger("pegboard.play")

SETTLE_LOOP_PASSES = 2
"""How many turns of the event loop a message needs from the socket to its reader."""
SETTLE_PASSES_MOST = 16
"""A bound, so that a flood of one bot cannot delay the writers of the others."""

SLICE = 64
"""Answers that are taken in one pass of the event loop: 3 ms; those of other bots come in between."""
SLICE_S = 0.005
"""How long events are put together in one pass of the event loop."""
FAIR_BYTES = 256
"""What an answer may need: a name of 63 characters, a typed move. More is charged for."""


class Traffic:
    """What all streams of a server have received, so that writers can let arrivals go first."""

    __slots__ = ("received",)

    def __init__(self) -> None:
        self.received = 0

    async def settle(self) -> None:
        """Wait for no time, but let messages that have arrived already be read.

        The turns that they open join the write that follows: under load a few large messages take the
        place of many small ones.
        """
        for _ in range(SETTLE_PASSES_MOST):
            before = self.received
            for _ in range(SETTLE_LOOP_PASSES):
                await asyncio.sleep(0)
            if self.received == before:
                return


class PlaySession:
    """The stream of one bot, from its `Welcome` to its end."""

    def __init__(
        self,
        host: MatchHost,
        mailbox: Mailbox,
        context: Any,
        limits: Limits,
        traffic: Traffic,
        allowance: Allowance,
    ) -> None:
        self._host = host
        self._traffic = traffic
        self._mailbox = mailbox
        self._context = context
        self._limits = limits
        self._bot = mailbox.bot
        self._error: PegboardError | None = None
        self._owed = 0
        self._addressed: dict[str, dict[Seat, tuple[bytes, Codec]]] = {}  # what turns begin with
        self.turns_sent = 0
        self.messages_sent = 0
        self._allowance = allowance
        self._unread = 0
        self._writer: asyncio.Task[Any] | None = None
        self._is_writing = False
        self._blocked_pulses = 0
        self._quiet_pulses = 0
        self._beats = 0
        self._beat_due = False
        self._beat_pulses = 0

    async def run(self) -> None:
        """Serve the stream to its end. Raises the `PegboardError` that ended it."""
        reader = asyncio.create_task(self._read())
        try:
            await self._write()
        finally:
            self._mailbox.close()
            reader.cancel()
        if self._mailbox.replaced:
            raise Replaced(f"a newer connection of {self._bot} took over")
        if self._error is not None:
            _log.warning("stream_ended", bot=self._bot, reason=str(self._error))
            raise self._error

    def end(self, error: PegboardError) -> None:
        """End the stream with an error, after the write in flight."""
        if self._error is None:
            self._error = error
        self._mailbox.close()

    # Reading

    async def _read(self) -> None:
        read = self._context.read
        try:
            while True:
                data = await read()
                if data is EOF:
                    break
                long = self._receive(data)
                if long is not None:
                    await self._take_in_slices(long)
        except PegboardError as error:
            self.end(error)
        except Exception as error:
            # The call is over for gRPC: the handler is cancelled in a moment.
            _log.info("stream_lost", bot=self._bot, reason=repr(error))
        finally:
            self._mailbox.close()

    def _receive(self, data: bytes) -> play_pb2.PlayRequest | None:
        """Take one message; return one that is too long for one pass of the loop.

        Raises the `PegboardError` that ends the stream.
        """
        self._quiet_pulses = 0
        self._traffic.received += 1
        self._mailbox.message_came()
        size = len(data)
        if size > self._limits.play_bytes:
            raise TooManyRequests(
                f"{self._bot} sent a message of {size} bytes; at most {self._limits.play_bytes} are"
                " taken"
            )
        try:
            request = play_pb2.PlayRequest.FromString(data)
        except DecodeError:
            self._allowance.spend(size // FAIR_BYTES)
            raise InvalidRequest(
                f"{self._bot} sent bytes that are not a PlayRequest; use the protos"
            ) from None
        if request.HasField("hello"):
            raise InvalidRequest(f"{self._bot} sent a second Hello; only the first message has one")
        answers, resignations = request.answers, request.resignations
        items = len(answers) + len(resignations)
        self._count(items, size)
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

    def _count(self, items: int, size: int) -> None:
        """Charge what was not asked for: more answers than open turns, nothing at all, bytes.

        Raises `TooManyRequests` if the bot has no allowance left for it.
        """
        owed = self._owed - items
        self._owed = max(owed, 0)
        bytes_over = size - FAIR_BYTES * (items + 1)
        if owed >= 0 and items and bytes_over <= 0:
            return
        excess = max(-owed, 0) + (0 if items else 1) + max(bytes_over, 0) // FAIR_BYTES
        self._allowance.spend(excess)

    def _answer(self, messages: Iterable[play_pb2.Answer]) -> None:
        host, bot = self._host, self._bot
        for message in messages:
            answer = decode_answer(host, message)
            rejection = host.answer(bot, answer)
            if rejection is not None:
                self._reject(answer.match_id, answer.seat, answer.turn_id, rejection)

    def _resign(self, resignation: play_pb2.Resignation) -> None:
        match, seat = bare_id(resignation.match), resignation.seat
        rejection = self._host.resign(self._bot, match, seat)
        if rejection is not None:
            self._reject(match, seat, 0, rejection)

    def _reject(self, match: str, seat: Seat, turn_id: int, rejection: Rejection) -> None:
        """Let a rejection join the next message. Raises `TooManyRequests` if too many wait."""
        self._unread += 1
        if self._unread > self._limits.rejections_unread:
            raise TooManyRequests(
                f"{self._bot} left {self._limits.rejections_unread} rejections unread; read what the"
                " server says"
            )
        self._mailbox.reject(match, seat, turn_id, rejection)

    # Writing

    async def _write(self) -> None:
        mailbox = self._mailbox
        limit = self._limits.turns_per_message
        self._writer = asyncio.current_task()
        while not mailbox.closed:
            wrote = False
            for data in self._messages(mailbox.take(limit)):
                self._blocked_pulses = 0
                if not data:
                    await asyncio.sleep(0)
                    continue
                wrote = self._is_writing = True
                await self._context.write(data)
                self._is_writing = False
                self.messages_sent += 1
            if not wrote:
                await mailbox.wait()
            if self._owed:  # a bot that owes nothing gets its turn at once
                await self._traffic.settle()

    def _messages(self, delivery: Delivery) -> Iterator[bytes]:
        """Yield serialised `PlayResponse`s that tell all of a delivery."""
        if delivery.events:
            yield from self._event_messages(delivery)
            delivery = delivery._replace(started=[], events=[])
        started, _, rejected, ended, turns = delivery
        head = b""
        if started or rejected or ended or self._beat_due:
            head = self._head(started, rejected, ended).SerializeToString()
        body = self._turns(turns) if turns else b""
        if head or body:
            yield head + body

    def _head(
        self,
        started: list[RunningMatch],
        rejected: list[tuple[str, Seat, int, Rejection]],
        ended: list[FinishedMatch],
    ) -> play_pb2.PlayResponse:
        self._unread -= len(rejected)
        response = play_pb2.PlayResponse(
            started=[started_message(match, self._bot) for match in started],
            rejected=[rejected_message(*rejection) for rejection in rejected],
        )
        for match in ended:
            response.ended.add(
                match=MATCHES + match.id,
                result=result_message(match.result),
                seats=match.seats_of(self._bot),
            )
            self._addressed.pop(match.id, None)
        if self._beat_due:
            self._beat_due = False
            self._beats += 1
            response.heartbeat = self._beats
        return response

    def _event_messages(self, delivery: Delivery) -> Iterator[bytes]:
        """Starts and events, in messages of a bounded size; b"" if the loop is due a pass.

        After a reconnect they are derived again by playing each match over, which takes its time.
        """
        # Events that come while these are written belong to the next delivery.
        known = [(*each, each[0].event_count) for each in delivery.events]
        response = play_pb2.PlayResponse(
            started=[started_message(match, self._bot) for match in delivery.started]
        )
        size = 0
        limit = self._limits.events_per_message
        pause_s = time.monotonic() + SLICE_S
        for match, seat, after, last in known:
            messages = event_messages(match, match.events(after)[: last - after], seat)
            for start in range(0, len(messages), limit):
                chunk = messages[start : start + limit]
                if size + len(chunk) > limit:
                    yield response.SerializeToString()
                    response, size = play_pb2.PlayResponse(), 0
                response.events.add(match=MATCHES + match.id, seat=seat, events=chunk)
                size += len(chunk)
            if time.monotonic() > pause_s:
                yield b""
                pause_s = time.monotonic() + SLICE_S
        yield response.SerializeToString()

    def _turns(self, turns: list[OpenTurn]) -> bytes:
        now_ns, lag_ns = self._host.now_ns(), self._host.deadlines.lag_ns
        encoded = []
        for turn in turns:
            try:
                encoded.append(self._turn(turn, turn.time_ms(now_ns, lag_ns)))
            except Exception:
                # A view that cannot be told is our bug: it ends that match, never the stream.
                self._host.fault(turn.match)
        self._owed += len(turns)
        self.turns_sent += len(turns)
        return turns_bytes(encoded)

    def _turn(self, turn: OpenTurn, time_ms: tuple[int, int | None]) -> bytes:
        seated = turn.seated
        of_match = self._addressed.get(seated.match.id)
        if of_match is None:
            of_match = self._addressed[seated.match.id] = {}
        addressed = of_match.get(seated.seat)
        if addressed is None:
            addressed = of_match[seated.seat] = _address(seated)
        return _encoded(turn, time_ms, *addressed)

    # Pulse

    def pulse(self, pulse_s: float) -> None:
        """Called every `pulse_s`: send heartbeats, end a stream that is stuck or silent.

        Counts pulses, not time: while this server itself was held up, no bot was silent.
        """
        limits = self._limits
        self._beat_pulses += 1
        if self._beat_pulses * pulse_s >= limits.heartbeat_s:
            self._beat_pulses = 0
            self._beat_due = True
            self._mailbox.wake()
        if self._is_writing:
            self._blocked_pulses += 1
            if self._blocked_pulses * pulse_s >= limits.stall_s and self._writer is not None:
                _log.warning("stream_stalled", bot=self._bot, stall_s=limits.stall_s)
                # Nothing more can be said to a bot that does not read: cut the call.
                self._writer.cancel()
        # A bot that thinks may be too busy to answer heartbeats: there its clock decides.
        self._quiet_pulses = 0 if self._mailbox.thinks else self._quiet_pulses + 1
        if self._quiet_pulses * pulse_s >= limits.heartbeat_s * limits.silence_beats:
            self.end(Silent(f"{self._bot} left {limits.silence_beats} heartbeats unanswered"))


def encode_turn(turn: OpenTurn, time_ms: tuple[int, int | None]) -> bytes:
    """Return the serialised `Turn`."""
    return _encoded(turn, time_ms, *_address(turn.seated))


def _address(seated: SeatedBot) -> tuple[bytes, Codec]:
    """Return what all turns of a seat begin with, and how they go on."""
    match = seated.match
    return seat_bytes(MATCHES + match.id, seated.seat), CODECS[match.game.family]


def _encoded(turn: OpenTurn, time_ms: tuple[int, int | None], head: bytes, codec: Codec) -> bytes:
    view = turn.match.view(turn.seat)
    return turn_bytes(head, turn.turn_id, time_ms, turn.choices, turn.question, view, codec)
