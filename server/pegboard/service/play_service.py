"""`PlayService`: streams of turns for bots, and single calls for those that cannot stream."""

from __future__ import annotations

import asyncio
from importlib.metadata import version
from typing import Any

import grpc
import grpc.aio
import structlog
from google.protobuf.message import DecodeError

from pegboard.matches.host import MatchHost
from pegboard.rules.errors import InvalidRequest, Unavailable
from pegboard.service.errors import refuse, unary
from pegboard.service.messages import match_id, rejected_message
from pegboard.service.session import PlaySession, Traffic, encode_turn, typed_answer
from pegboard.service.settings import Limits
from pegboard.service.tokens import Tokens, bearer_token
from pegboard.v1 import play_pb2

PROTOCOL_VERSION = 1
SERVICE = "pegboard.v1.PlayService"
_PULSES_PER_BEAT = 10

_log = structlog.get_logger("pegboard.play")


class PlayService:
    """Bots dial in here."""

    def __init__(self, host: MatchHost, tokens: Tokens, limits: Limits) -> None:
        self._host = host
        self._tokens = tokens
        self._limits = limits
        self._traffic = Traffic()
        self._sessions: set[PlaySession] = set()
        self._stopping = False
        self._version = version("pegboard")  # it searches folders, which no bot should wait for

    def handlers(self) -> grpc.GenericRpcHandler:
        """Return the handlers to register.

        `Play` is raw bytes both ways: turns are written without building messages, and bytes that
        are no message get an answer that says so.
        """
        return grpc.method_handlers_generic_handler(
            SERVICE,
            {
                "Play": grpc.stream_stream_rpc_method_handler(self.Play),
                "GetTurn": grpc.unary_unary_rpc_method_handler(
                    self.GetTurn,
                    request_deserializer=play_pb2.GetTurnRequest.FromString,
                    response_serializer=play_pb2.GetTurnResponse.SerializeToString,
                ),
                "SubmitMove": grpc.unary_unary_rpc_method_handler(
                    self.SubmitMove,
                    request_deserializer=play_pb2.SubmitMoveRequest.FromString,
                    response_serializer=play_pb2.SubmitMoveResponse.SerializeToString,
                ),
            },
        )

    async def pulse(self) -> None:
        """Look after all streams, for ever."""
        pulse_s = self._limits.heartbeat_s / _PULSES_PER_BEAT
        while True:
            await asyncio.sleep(pulse_s)
            for session in list(self._sessions):
                session.pulse(pulse_s)

    def stop(self) -> None:
        """End all streams after the write in flight, and take no new ones."""
        self._stopping = True
        for session in self._sessions:
            session.end(Unavailable("the server is stopping; connect again"))

    async def Play(self, _requests: Any, context: Any) -> None:
        """Serve one stream."""
        try:
            hello = await self._hello(context)
            await self._serve(hello, context)
        except Exception as error:
            await refuse(context, error, "Play")

    async def _hello(self, context: Any) -> play_pb2.Hello:
        """Read the first message. Raises `InvalidRequest` where it is no `Hello`."""
        if self._stopping:
            raise Unavailable("the server is stopping; connect again")
        try:
            data = await asyncio.wait_for(context.read(), self._limits.hello_s)
        except TimeoutError:
            raise InvalidRequest(
                f"no Hello within {self._limits.hello_s:g} s; send it first"
            ) from None
        if data is grpc.aio.EOF:
            raise InvalidRequest("the stream was closed without a Hello; send it first")
        try:
            request = play_pb2.PlayRequest.FromString(data)
        except DecodeError:
            raise InvalidRequest("the first message is no PlayRequest; use the protos") from None
        if not request.HasField("hello"):
            raise InvalidRequest("the first message has no `hello`; send Hello first")
        if request.hello.protocol_version != PROTOCOL_VERSION:
            raise InvalidRequest(
                f"this server speaks protocol version {PROTOCOL_VERSION}, not"
                f" {request.hello.protocol_version}; set Hello.protocol_version"
            )
        return request.hello

    async def _serve(self, hello: play_pb2.Hello, context: Any) -> None:
        token = hello.token or bearer_token(context.invocation_metadata())
        bot = self._tokens.caller(token).require_bot()
        await context.write(self._welcome(bot).SerializeToString())
        mailbox = self._host.connect(bot, max_open_turns=hello.max_open_turns, events=hello.events)
        session = PlaySession(self._host, mailbox, context, self._limits, self._traffic)
        self._sessions.add(session)
        _log.info("bot_connected", bot=bot, kit=hello.kit, kit_version=hello.kit_version)
        try:
            await session.run()
        finally:
            self._sessions.discard(session)
            mailbox.close()
            _log.info("bot_left", bot=bot, turns=session.turns_sent, messages=session.messages_sent)

    def _welcome(self, bot: str) -> play_pb2.PlayResponse:
        return play_pb2.PlayResponse(
            welcome=play_pb2.Welcome(
                bot=bot,
                server_version=self._version,
                protocol_version=PROTOCOL_VERSION,
                heartbeat_interval_ms=round(self._limits.heartbeat_s * 1000),
            )
        )

    def _bot(self, context: Any) -> str:
        token = bearer_token(context.invocation_metadata())
        return self._tokens.caller(token).require_bot()

    @unary
    async def GetTurn(
        self, request: play_pb2.GetTurnRequest, context: Any
    ) -> play_pb2.GetTurnResponse:
        """Wait for an open turn of the caller."""
        bot = self._bot(context)
        match = match_id(request.match) if request.match else ""
        wait_s = min(request.wait_ms / 1000, self._limits.poll_s)
        turn = await self._host.next_turn(bot, match, wait_s)
        if turn is None:
            return play_pb2.GetTurnResponse()
        time_ms = turn.start(self._host.now_ns())
        return play_pb2.GetTurnResponse(turn=play_pb2.Turn.FromString(encode_turn(turn, time_ms)))

    @unary
    async def SubmitMove(
        self, request: play_pb2.SubmitMoveRequest, context: Any
    ) -> play_pb2.SubmitMoveResponse:
        """Answer a turn; returns once the move is stored."""
        bot = self._bot(context)
        answer = request.answer
        match = match_id(answer.match)
        number = answer.number if answer.HasField("number") else None
        if answer.WhichOneof("choice") == "index":
            rejection = self._host.answer(
                bot, match, answer.seat, answer.turn_id, index=answer.index, number=number
            )
        else:
            rejection = typed_answer(self._host, bot, answer, number)
        await self._host.stored()
        if rejection is None:
            return play_pb2.SubmitMoveResponse()
        return play_pb2.SubmitMoveResponse(
            rejected=rejected_message(match, answer.seat, answer.turn_id, rejection)
        )
