"""`PlayService`: streams of turns for bots, and single calls for those that cannot stream."""

from __future__ import annotations

import asyncio
from importlib.metadata import version
from typing import Any

import grpc
import grpc.aio
import structlog
from google.protobuf.message import DecodeError

from pegboard.errors import InvalidRequest, TooManyRequests, Unavailable
from pegboard.matches.host import MatchHost
from pegboard.matches.running import OpenTurn
from pegboard.rpc.calls import service_handler
from pegboard.rpc.errors import refuse
from pegboard.rpc.gate import STOPPING, Access, Call, Gate
from pegboard.rpc.limits import Limits
from pegboard.rpc.names import read_id
from pegboard.rpc.tokens import bearer_token
from pegboard.rules.names import BOTS, MATCHES
from pegboard.rules.plain import plain
from pegboard.service.answers import decode_answer
from pegboard.service.heartbeat import pulse_interval_s
from pegboard.service.messages import rejected_message
from pegboard.service.session import PlaySession
from pegboard.service.traffic import Traffic
from pegboard.service.turns import encode_turn
from pegboard.v1 import play_pb2

PROTOCOL_VERSION = 1
SERVICE = play_pb2.DESCRIPTOR.services_by_name["PlayService"]
CALLS = {"GetTurn": Call(Access.BOT), "SubmitMove": Call(Access.BOT)}
_MATCHES_PER_UNIT = 10
"""Running matches whose turns are sent again for one unit more of a Hello (`Limits.hello_units`)."""
_HELLO_SHARE = 4
"""What the turns sent again cost at most: the burst of an allowance, divided by this."""

_log = structlog.get_logger("pegboard.play")


def hello_cost(limits: Limits, running: int) -> int:
    """Return the units of a `Hello` of a bot that sits in so many running matches.

    At most a part of the burst, since a bot has to be able to come back to any number of matches.
    """
    again = running // _MATCHES_PER_UNIT
    return limits.hello_units + min(again, limits.excess_burst // _HELLO_SHARE)


class PlayService:
    """Bots dial in here."""

    def __init__(self, host: MatchHost, gate: Gate) -> None:
        self._host = host
        self._gate = gate
        self._limits = gate.limits
        self._traffic = Traffic()
        self._sessions: set[PlaySession] = set()
        self._greeting: dict[asyncio.Task[Any], None] = {}
        self._stopping = False
        self._version = version("pegboard")  # it searches folders, which no bot should wait for

    def handler(self) -> grpc.GenericRpcHandler:
        """Return what to register.

        `Play` is raw bytes both ways: turns are written without building messages.
        """
        play: Any = grpc.stream_stream_rpc_method_handler(self.Play)
        return service_handler(SERVICE, self, CALLS, self._gate, Play=play)

    async def pulse(self) -> None:
        """Give all streams their pulse (`heartbeat`), for ever."""
        interval_s = pulse_interval_s(self._limits)
        while True:
            await asyncio.sleep(interval_s)
            for session in list(self._sessions):
                session.pulse()

    def stop(self) -> None:
        """End all streams after the write in flight, and take no new ones."""
        self._stopping = True
        for session in self._sessions:
            session.end(Unavailable(STOPPING))

    async def Play(self, _requests: Any, context: Any) -> None:
        """Serve one stream."""
        try:
            hello = await self._hello(context)
            await self._serve(hello, context)
        except Exception as error:
            refuse(context, error, "Play")

    async def _hello(self, context: Any) -> play_pb2.Hello:
        """Read the first message. Raises `InvalidRequest` if it is not a `Hello`."""
        if self._stopping:
            raise Unavailable(STOPPING)
        data = await self._first_message(context)
        if data is grpc.aio.EOF:
            raise InvalidRequest("the stream was closed without a Hello; send it first")
        if len(data) > self._limits.request_bytes:
            raise InvalidRequest(
                f"the first message has {len(data)} bytes; it holds `hello` alone and has at most"
                f" {self._limits.request_bytes}"
            )
        try:
            request = play_pb2.PlayRequest.FromString(data)
        except DecodeError:
            raise InvalidRequest("the first message is not a PlayRequest; use the protos") from None
        if not request.HasField("hello"):
            raise InvalidRequest("the first message has no `hello`; send Hello first")
        if request.hello.protocol_version != PROTOCOL_VERSION:
            raise InvalidRequest(
                f"this server speaks protocol version {PROTOCOL_VERSION}, not"
                f" {request.hello.protocol_version}; set Hello.protocol_version"
            )
        return request.hello

    async def _first_message(self, context: Any) -> Any:
        """Return the first message of a stream, or EOF. Raises `InvalidRequest`, `TooManyRequests`.

        Streams that say nothing cost memory, and callers without a token cannot be told apart; so each
        new one above the limit ends the one that has said nothing for longest.
        """
        limits = self._limits
        greeting = asyncio.ensure_future(context.read())
        self._greeting[greeting] = None
        if len(self._greeting) > limits.greeting_streams:
            next(iter(self._greeting)).cancel()
        try:
            await asyncio.wait((greeting,), timeout=limits.hello_s)
            if not greeting.done():
                raise InvalidRequest(f"no Hello within {limits.hello_s:g} s; send it first")
            if greeting.cancelled():
                raise TooManyRequests(
                    f"more than {limits.greeting_streams} streams without a Hello; send it first"
                )
            return greeting.result()
        finally:
            del self._greeting[greeting]
            greeting.cancel()

    async def _serve(self, hello: play_pb2.Hello, context: Any) -> None:
        token = hello.token or bearer_token(context.invocation_metadata())
        bot = self._gate.tokens.caller(token).require_bot()
        allowance = self._gate.allowance(bot)
        allowance.spend(hello_cost(self._limits, self._host.running_of(bot)))
        await context.write(self._welcome(bot).SerializeToString())
        mailbox = self._host.connect(bot, max_open_turns=hello.max_open_turns, events=hello.events)
        session = PlaySession(self._host, mailbox, self._limits, self._traffic, allowance)
        self._sessions.add(session)
        kit, kit_version = plain(hello.kit), plain(hello.kit_version)
        _log.info("bot_connected", bot=bot, kit=kit, kit_version=kit_version)
        try:
            await session.run(context)
        finally:
            self._sessions.discard(session)
            mailbox.close()
            turns, messages = session.account.turns_sent, session.writer.messages_sent
            _log.info("bot_left", bot=bot, turns=turns, messages=messages)

    def _welcome(self, bot: str) -> play_pb2.PlayResponse:
        return play_pb2.PlayResponse(
            welcome=play_pb2.Welcome(
                bot=BOTS + bot,
                server_version=self._version,
                protocol_version=PROTOCOL_VERSION,
                heartbeat_interval_ms=round(self._limits.heartbeat_s * 1000),
            )
        )

    def _bot(self, context: Any) -> str:
        return self._gate.caller(context).require_bot()

    async def GetTurn(
        self, request: play_pb2.GetTurnRequest, context: Any
    ) -> play_pb2.GetTurnResponse:
        """Wait for an open turn of the caller."""
        bot = self._bot(context)
        match = read_id(MATCHES, request.match) if request.match else ""
        wait_s = min(request.wait_ms / 1000, self._limits.poll_s)
        turn = await self._host.next_turn(bot, match, wait_s)
        if turn is None:
            return play_pb2.GetTurnResponse()
        return play_pb2.GetTurnResponse(turn=self._turn_message(turn))

    def _turn_message(self, turn: OpenTurn) -> play_pb2.Turn:
        try:
            encoded = encode_turn(
                turn, turn.time_ms(self._host.now_ns(), self._host.deadlines.lag_ns)
            )
        except Exception:
            # A view that cannot be told is our bug: the clock must not cost the bot the match.
            self._host.fault(turn.match)
            raise
        return play_pb2.Turn.FromString(encoded)

    async def SubmitMove(
        self, request: play_pb2.SubmitMoveRequest, context: Any
    ) -> play_pb2.SubmitMoveResponse:
        """Answer a turn; returns once the move is stored."""
        bot = self._bot(context)
        answer = decode_answer(self._host, request.answer)
        asked = self._host.is_asked(answer.match_id, answer.seat, answer.turn_id)
        rejection = self._host.answer(bot, answer)
        self._host.called(bot)
        await self._host.stored()
        if rejection is None:
            if asked:  # then so was the call that brought the turn
                calls = CALLS["GetTurn"].cost + CALLS["SubmitMove"].cost
                self._gate.allowance(bot).give_back(calls)
            return play_pb2.SubmitMoveResponse()
        turn = self._host.handed_again(rejection)
        return play_pb2.SubmitMoveResponse(
            rejected=rejected_message(answer.match_id, answer.seat, answer.turn_id, rejection),
            turn=None if turn is None else self._turn_message(turn),
        )
