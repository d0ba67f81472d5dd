"""One `Play` stream of the bot under test, from the server's side."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Any

import grpc.aio
from google.protobuf.message import DecodeError
from grpc_status import rpc_status

from pegboard.conformance.findings import Failed
from pegboard.rules.errors import PegboardError
from pegboard.v1 import play_pb2
from pegboard.wire.errors import status_of

MESSAGE_BYTES = 256 * 1024
HELLO_BYTES = 16 * 1024
UNASKED_MOST = 1000
"""Messages that the bot may send beyond what it was asked for; a server has an allowance as large."""
UNREAD_MOST = 2000


class BotStream:
    """What the bot says on one stream, checked for what is wrong at any time.

    `half_closed`: the bot has ended its side. `lost`: it has broken the stream off. `problem`: what
    was wrong in it; whatever waits for the bot raises it. `beats` are the heartbeats answered.
    """

    def __init__(self, context: Any) -> None:
        self.half_closed = False
        self.lost = False
        self.problem: Failed | None = None
        self.beats: set[int] = set()
        self.over = asyncio.Event()
        self.ended = asyncio.Event()
        self.metadata = dict(context.invocation_metadata() or ())
        self._context = context
        self._error: PegboardError | None = None
        self._requests: asyncio.Queue[play_pb2.PlayRequest | None] = asyncio.Queue()
        self._writing = asyncio.Lock()
        self._interval_s = 0.0
        self._sent = 0
        self._beat = 0
        self._unasked = 0

    # --- the server's side ---------------------------------------------------------------------

    async def serve(self) -> None:
        """Serve the call until the bot or `finish` ends it."""
        tasks = [asyncio.create_task(self._read()), asyncio.create_task(self._pulse())]
        try:
            await self.over.wait()
        except asyncio.CancelledError:
            self.lost = True
            raise
        finally:
            for task in tasks:
                task.cancel()
            self.ended.set()
            self._requests.put_nowait(None)
        if self._error is not None:
            status = rpc_status.to_status(status_of(self._error))
            self._context.set_code(status.code)
            self._context.set_details(status.details)
            self._context.set_trailing_metadata(status.trailing_metadata)

    async def _read(self) -> None:
        """Read until the end. What the bot sends is parsed at once, so that a flood is noticed."""
        try:
            while (data := await self._context.read()) is not grpc.aio.EOF:
                self._take(data)
                if self.problem is not None:
                    break
            else:
                self.half_closed = True
        except (grpc.aio.BaseError, asyncio.InvalidStateError):
            self.lost = True
        self._requests.put_nowait(None)
        self.over.set()

    def _take(self, data: bytes) -> None:
        if len(data) > MESSAGE_BYTES:
            self.problem = Failed(
                f"sent a message of {len(data):,} bytes",
                f"a server takes at most {MESSAGE_BYTES:,} bytes; send fewer answers in a message",
            )
            return
        try:
            request = play_pb2.PlayRequest.FromString(data)
        except DecodeError:
            self.problem = Failed(
                f"sent {len(data)} bytes that are not a PlayRequest",
                "send nothing but serialised PlayRequest messages of protos/pegboard/v1/play.proto",
            )
            return
        if request.heartbeat:
            self._answered_beat(request.heartbeat)
        asked = request.answers or request.resignations or request.HasField("hello")
        self._unasked += not asked and not request.heartbeat
        if asked:
            self._requests.put_nowait(request)
        waiting = self._requests.qsize()
        if self._unasked > UNASKED_MOST or waiting > UNREAD_MOST:
            self.problem = Failed(
                f"flooded the server with more than {max(self._unasked, waiting):,} messages that "
                "it was not asked for",
                "send an answer for each turn and one for each heartbeat, nothing else",
            )

    def _answered_beat(self, number: int) -> None:
        if number > self._beat:
            self.problem = Failed(
                f"answered heartbeat {number}, which was never sent",
                "send `heartbeat` with the number that the server sent, once",
            )
        self._unasked += number in self.beats
        self.beats.add(number)

    async def _pulse(self) -> None:
        """Send heartbeats while there is an interval."""
        while True:
            await asyncio.sleep(self._interval_s / 2 or 0.05)
            if self._interval_s:
                await self.beat()

    # --- for the cases -------------------------------------------------------------------------

    def pulse_every(self, interval_s: float) -> None:
        """Send heartbeats from here on; 0: be silent."""
        self._interval_s = interval_s

    async def beat(self) -> int:
        """Send a heartbeat; return its number."""
        self._beat += 1
        number = self._beat
        await self.send(play_pb2.PlayResponse(heartbeat=number))
        return number

    async def send(self, response: play_pb2.PlayResponse) -> None:
        """Send a message; one that the bot is not there for is dropped."""
        async with self._writing:
            with suppress(grpc.aio.BaseError, asyncio.InvalidStateError):
                await self._context.write(response.SerializeToString())

    async def next(self, within_s: float) -> play_pb2.PlayRequest | None:
        """Return the next message with a Hello, answers or resignations; None: the stream is over.

        Raises `Failed` for what is wrong with the stream, and `TimeoutError`.
        """
        async with asyncio.timeout(within_s):
            request = await self._requests.get()
        if self.problem is not None:
            raise self.problem
        return request

    def finish(self, error: PegboardError | None = None) -> None:
        """End the call, with the status of an error."""
        self._error = error
        self.over.set()
