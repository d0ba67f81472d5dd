"""The bot's side of a `Play` stream: read turns, ask the bot, write answers, come back when lost."""

from __future__ import annotations

import asyncio
import os
import random
from collections.abc import Callable, Sequence
from contextlib import suppress
from importlib.metadata import version
from time import perf_counter
from typing import Any

import grpc
import grpc.aio

from pegboard.client.address import DEFAULT_ADDRESS
from pegboard.client.bot import PATIENCE_S, Bot, encode_choice
from pegboard.client.channel import bearer, error_from, open_channel
from pegboard.client.report import print_error, say
from pegboard.client.turn import (
    RESIGN,
    UNKNOWN_MATCH,
    Choice,
    MatchInfo,
    Refused,
    Resign,
    Turn,
)
from pegboard.errors import InvalidRequest, ServerFault, Silent, Unavailable
from pegboard.rules.errors import PegboardError, RecordError
from pegboard.rules.names import VARIANTS
from pegboard.v1 import play_pb2
from pegboard.wire.codec import read_event
from pegboard.wire.records import read_result

METHOD = "/pegboard.v1.PlayService/Play"
PROTOCOL_VERSION = 1
FLUSH_S = 0.005
"""A batch that takes longer is answered in parts, so that opponents get their turns meanwhile."""

ANSWERS_AT_ONCE = 256
"""Answers in one message: a server takes 256 KiB, and answers the first while the rest comes."""

BACKOFF_FIRST_S, BACKOFF_MOST_S = 0.1, 5.0
REMARK_S = 2.0
"""A bot that waits longer than this for a server prints a line."""

SILENCE_BEATS = 3

_STILL_OPEN = (
    play_pb2.REJECTION_REASON_ILLEGAL_MOVE,
    play_pb2.REJECTION_REASON_CLAIM_TOO_HIGH,
    play_pb2.REJECTION_REASON_MUST_GO_OUT,
)
"""After these the turn comes again."""

_TRY_AGAIN = (Unavailable, Silent, ServerFault)


class PlayStream:
    """One connection of a bot, from `Hello` to its end."""

    def __init__(self, bot: Bot, call: Any, token: str) -> None:
        self._bot = bot
        self._call = call
        self._token = token
        self._infos: dict[str, MatchInfo] = {}
        self._refused: dict[tuple[str, int, int], Refused] = {}  # turns that come again
        self._waiting: list[Turn] = []
        self._resigned: list[Turn] = []
        self._heartbeat = 0
        self._wake = asyncio.Event()
        self._writing = asyncio.Lock()
        self._ended = False
        self._beats = -1  # heartbeats without a message since the read began; -1: not reading
        self._timer: asyncio.TimerHandle | None = None
        self._silence: Silent | None = None
        self.welcome: play_pb2.Welcome | None = None

    async def play(self) -> None:
        """Play until the server or `close` ends the stream. Raises `PegboardError`."""
        failure: PegboardError | None = None
        try:
            await self._call.write(self._hello().SerializeToString())
            if self._bot.choose_batch is None:
                await self._play_at_once()
            else:
                await self._play_in_thread(self._bot.choose_batch)
            failure = await self._status()
        except grpc.aio.AioRpcError as error:
            failure = error_from(error)
        except asyncio.InvalidStateError:  # the write came after the server ended the call
            failure = await self._status()
        except asyncio.CancelledError:
            if self._silence is None:
                raise
        finally:
            if self._timer is not None:
                self._timer.cancel()
        failure = (
            self._silence or failure
        )  # `_beat` cancelled the call, so what it raised says nothing
        if failure is not None:
            raise failure

    async def close(self) -> None:
        """Half-close: the server ends the stream."""
        if self._call.done():
            return
        # gRPC raises a private error if the call ends at this moment; `play` tells why it ended.
        with suppress(Exception):
            await self._call.done_writing()

    def _hello(self) -> play_pb2.PlayRequest:
        bot = self._bot
        return play_pb2.PlayRequest(
            hello=play_pb2.Hello(
                token=self._token,
                kit=bot.kit,
                kit_version=version("pegboard"),
                protocol_version=PROTOCOL_VERSION,
                max_open_turns=bot.max_open_turns,
                events=bot.events,
            )
        )

    async def _status(self) -> PegboardError | None:
        code = await self._call.code()
        if code is grpc.StatusCode.OK:
            return None
        trailing = await self._call.trailing_metadata()
        details = await self._call.details()
        return error_from(grpc.aio.AioRpcError(code, trailing_metadata=trailing, details=details))

    async def _read(self) -> Any:
        """Return the next response, or EOF."""
        self._beats = 0
        response = await self._call.read()
        self._beats = -1
        return response

    def _beat(self) -> None:
        """Count a heartbeat; end the call after SILENCE_BEATS of them without a message.

        A stream has one timer: a timeout around every read would cost more than the read.
        """
        if self._beats >= 0:
            self._beats += 1
        if self._beats > SILENCE_BEATS:
            self._silence = Silent(f"nothing from the server for {SILENCE_BEATS} heartbeats")
            self._call.cancel()
        elif self.welcome is not None:
            interval_s = self.welcome.heartbeat_interval_ms / 1000
            self._timer = asyncio.get_running_loop().call_later(interval_s, self._beat)

    async def _play_at_once(self) -> None:
        """Read, choose, answer, in turn."""
        read, write = self._read, self._call.write
        bot = self._bot
        choose = one_or_resign(bot.choose) if bot.resign_on_error else bot.choose
        while (response := await read()) is not grpc.aio.EOF:
            self._take(response)
            turns, self._waiting = self._waiting, []
            parts: list[bytes] = []
            flush_at = perf_counter() + FLUSH_S
            for turn in turns:
                choice = choose(turn)
                parts.append(self._answer(turn, choice))
                if perf_counter() > flush_at:
                    await write(b"".join(parts))
                    parts.clear()
                    flush_at = perf_counter() + FLUSH_S
            data = b"".join(parts) + self._rest()
            if data:
                await write(data)

    async def _play_in_thread(self, choose: Callable[[Sequence[Turn]], Sequence[Choice]]) -> None:
        """Read on while a thread chooses for all the turns there are."""
        if self._bot.resign_on_error:
            choose = all_or_resign(choose)
        reader = asyncio.create_task(self._read_on())
        try:
            while True:
                await self._wake.wait()
                self._wake.clear()
                turns, self._waiting = self._waiting, []
                parts: list[bytes] = []
                if turns:
                    choices = await asyncio.to_thread(choose, turns)
                    check_batch(turns, choices)
                    parts = [self._answer(*pair) for pair in zip(turns, choices, strict=True)]
                while len(parts) > ANSWERS_AT_ONCE:
                    await self._write_alone(b"".join(parts[:ANSWERS_AT_ONCE]))
                    del parts[:ANSWERS_AT_ONCE]
                data = b"".join(parts) + self._rest()
                if data:
                    await self._write_alone(data)
                if self._ended:
                    return await reader
                if self._waiting:
                    self._wake.set()
        finally:
            reader.cancel()

    async def _read_on(self) -> None:
        try:
            while (response := await self._read()) is not grpc.aio.EOF:
                self._take(response)
                if self._waiting:
                    self._wake.set()
                elif self._heartbeat:
                    await self._write_alone(self._rest())
        finally:
            self._ended = True
            self._wake.set()

    async def _write_alone(self, data: bytes) -> None:
        """Write while no other task writes: gRPC ends a call that has two writes at a time."""
        async with self._writing:
            await self._call.write(data)

    def _answer(self, turn: Turn, choice: Choice) -> bytes:
        if isinstance(choice, Resign):
            self._resigned.append(turn)
            return b""
        return encode_choice(turn, choice)

    def _rest(self) -> bytes:
        """Return what a message holds beside answers: resignations and the heartbeat."""
        if not self._heartbeat and not self._resigned:
            return b""
        request = play_pb2.PlayRequest(heartbeat=self._heartbeat)
        for turn in self._resigned:
            request.resignations.add(match=turn.match, seat=turn.seat)
        self._heartbeat = 0
        self._resigned.clear()
        return request.SerializeToString()

    def _take(self, response: play_pb2.PlayResponse) -> None:
        """Take one response, its fields in the order of their numbers."""
        if response.started or response.ended or response.rejected or response.events:
            self._take_news(response)
        infos, refused, waiting = self._infos, self._refused, self._waiting
        for message in response.turns:
            match = message.match
            turn = Turn(message, infos.get(match, UNKNOWN_MATCH))
            if refused:
                turn.refused = refused.pop((match, turn.seat, turn.turn_id), None)
            waiting.append(turn)
        if response.heartbeat:
            self._heartbeat = response.heartbeat
        if response.HasField("welcome"):
            self.welcome = response.welcome
            if self.welcome.heartbeat_interval_ms:
                self._beat()

    def _take_news(self, response: play_pb2.PlayResponse) -> None:
        bot = self._bot
        for started in response.started:
            info = self._infos[started.match] = match_info(started)
            bot.match_started(info)
        for events in response.events:
            for event in events.events:
                known = read_event(event)
                if known is not None:
                    bot.event(events.match, events.seat, event.sequence, known)
        for rejected in response.rejected:
            if rejected.reason in _STILL_OPEN and rejected.attempts_left:
                self._refused[rejected.match, rejected.seat, rejected.turn_id] = Refused(
                    rejected.reason, rejected.detail, rejected.attempts_left
                )
        for ended in response.ended:
            self._infos.pop(ended.match, None)
            # A termination that this version of the kit does not know is not told, as with events.
            with suppress(RecordError):
                result = read_result(ended.result)
                bot.match_ended(ended.match, result)


def check_batch(turns: Sequence[Turn], choices: Sequence[Choice]) -> None:
    """Raise `InvalidRequest` unless there is a choice for each turn."""
    if len(choices) != len(turns):
        raise InvalidRequest(
            f"choose_batch returned {len(choices)} choices for {len(turns)} turns;"
            " return one for each, in order"
        )


def resign(turn: Turn, error: Exception) -> Choice:
    """Tell the bot's author of an error, and return the choice to resign the match."""
    say(f"resigns {turn.match} after an error in {turn.title}")
    print_error(error)
    return RESIGN


def one_or_resign(choose: Callable[[Turn], Choice]) -> Callable[[Turn], Choice]:
    """Return a `choose` that resigns if the bot's own raises or returns a choice of a wrong kind."""

    def careful(turn: Turn) -> Choice:
        try:
            choice = choose(turn)
            if not isinstance(choice, Resign):
                encode_choice(turn, choice)
        except Exception as error:
            return resign(turn, error)
        return choice

    return careful


def all_or_resign(
    choose: Callable[[Sequence[Turn]], Sequence[Choice]],
) -> Callable[[Sequence[Turn]], Sequence[Choice]]:
    """Return a `choose_batch` that resigns the matches of those turns for which the bot's own fails.

    If the batch fails, each of its turns is asked again alone: only that tells which of them failed.
    """

    def one(turn: Turn) -> Choice:
        choices = choose([turn])
        check_batch([turn], choices)
        return choices[0]

    careful = one_or_resign(one)

    def careful_batch(turns: Sequence[Turn]) -> Sequence[Choice]:
        with suppress(Exception):  # `careful` prints what is wrong with a turn
            choices = choose(turns)
            check_batch(turns, choices)
            for turn, choice in zip(turns, choices, strict=True):
                if not isinstance(choice, Resign):
                    encode_choice(turn, choice)
            return choices
        return [careful(turn) for turn in turns]

    return careful_batch


def match_info(started: play_pb2.MatchStarted) -> MatchInfo:
    """Return what a `MatchStarted` tells."""
    control = started.time_control
    return MatchInfo(
        started.match,
        started.variant.removeprefix(VARIANTS),
        tuple(started.seats),
        started.seat_count,
        dict(started.options),
        control.bank_ms,
        control.increment_ms,
        control.move_ms,
    )


class BotClient:
    """A bot that stays connected: what `run` runs, for programs with an event loop of their own.

    `remark` gets one sentence for each lost server that the client waits for.
    """

    def __init__(
        self,
        bot: Bot,
        address: str = "",
        token: str = "",
        patience_s: float = PATIENCE_S,
        remark: Callable[[str], None] = lambda sentence: None,
    ) -> None:
        self._bot = bot
        self._address = address or os.environ.get("PEGBOARD_ADDRESS", "")
        self._token = token
        self._patience_s = patience_s
        self._remark = remark
        self._stream: PlayStream | None = None
        self._stopped = asyncio.Event()
        self._lost_at = 0.0
        self._backoff_s = BACKOFF_FIRST_S
        self._timer: asyncio.TimerHandle | None = None

    async def play(self) -> None:
        """Play until `stop`. Raises the `PegboardError` after which a new connection cannot help."""
        async with open_channel(self._address) as channel:
            method: Any = channel.stream_stream(
                METHOD, response_deserializer=play_pb2.PlayResponse.FromString
            )
            self._lost()
            try:
                while not self._stopped.is_set():
                    metadata: Any = bearer(self._token)
                    self._stream = PlayStream(self._bot, method(metadata=metadata), self._token)
                    try:
                        await self._stream.play()
                        return
                    except _TRY_AGAIN as error:
                        await self._wait_to_try_again(self._stream, error)
            finally:
                if self._timer is not None:
                    self._timer.cancel()

    def _lost(self) -> None:
        """Begin to count the time without a server."""
        self._lost_at = perf_counter()
        self._backoff_s = BACKOFF_FIRST_S
        if self._timer is not None:
            self._timer.cancel()
        self._timer = asyncio.get_running_loop().call_later(REMARK_S, self._remark_absence)

    def _remark_absence(self) -> None:
        if self._stopped.is_set() or (self._stream and self._stream.welcome is not None):
            return
        self._remark(f"no server at {self._where()} yet; waiting {self._patience_s:g} s for it")

    async def _wait_to_try_again(self, stream: PlayStream, error: PegboardError) -> None:
        """Pause after a lost stream. Raises `Unavailable` if there was no server for too long."""
        if stream.welcome is not None:
            self._lost()
        if perf_counter() - self._lost_at > self._patience_s:
            raise Unavailable(
                f"no server at {self._where()} for {self._patience_s:g} s ({error});"
                " is `pegboard serve` running there?"
            ) from None
        # Jitter spreads the reconnections of all bots of a server that restarts.
        await self._pause(self._backoff_s * random.uniform(0.5, 1.5))  # noqa: S311
        self._backoff_s = min(self._backoff_s * 2, BACKOFF_MOST_S)

    def _where(self) -> str:
        return self._address or f"{DEFAULT_ADDRESS} (PEGBOARD_ADDRESS is not set)"

    async def _pause(self, seconds: float) -> None:
        try:
            async with asyncio.timeout(seconds):
                await self._stopped.wait()
        except TimeoutError:
            pass

    async def stop(self) -> None:
        """Leave: half-close the stream and let `play` return."""
        self._stopped.set()
        if self._stream is not None:
            await self._stream.close()
