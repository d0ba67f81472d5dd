"""What the cases share: the connection to the bot, and playing matches with it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple, TypeVar

from pegboard.conformance.bot import BotProgram
from pegboard.conformance.findings import Failed
from pegboard.conformance.server import ScriptedServer
from pegboard.conformance.stream import HELLO_BYTES, BotStream
from pegboard.conformance.table import Table
from pegboard.rules.names import BOTS
from pegboard.v1 import play_pb2

T = TypeVar("T")

BOT = "bot"
PROTOCOL_VERSION = 1
HEARTBEAT_S = 2.0
SLACK_S = 0.5
"""What an answer may be later than its clock: delays of this machine are not the bot's."""
BACK_S = 15.0
"""How long a bot may take to come back: its pauses double from 0.1 s to 5 s."""
QUIET_S = 0.2


class Settings(NamedTuple):
    """What the author of the bot chooses. `play_s`: how long each case plays matches at most."""

    variants: tuple[str, ...]
    clock_ms: int
    startup_s: float
    play_s: float


class Check:
    """The bot under test and its present stream; `warnings` are those of the case under way."""

    def __init__(
        self, settings: Settings, server: ScriptedServer, bot: BotProgram, token: str
    ) -> None:
        self.settings = settings
        self.server = server
        self.bot = bot
        self.token = token
        self.warnings: list[tuple[str, str]] = []
        self.hello = play_pb2.Hello()
        self._stream: BotStream | None = None
        self._names = 0

    def warn(self, seen: str, advice: str) -> None:
        """Note what a bot should do otherwise, though matches can be played with it."""
        if (seen, advice) not in self.warnings:
            self.warnings.append((seen, advice))

    # --- connections ---------------------------------------------------------------------------

    async def stream(self) -> BotStream:
        """Return the stream of a bot that is connected, or start the bot and let it connect."""
        if self._stream is not None and not self._stream.over.is_set() and self.bot.runs:
            return self._stream
        await self.restart()
        return await self.connect(self.settings.startup_s)

    async def restart(self) -> None:
        """Start a fresh process of the bot."""
        await self.leave()
        await self.bot.start()

    async def leave(self) -> None:
        """Kill the process and forget its streams."""
        await self.bot.kill()
        self._stream = None
        while not self.server.streams.empty():
            self.server.streams.get_nowait().finish()

    async def connect(self, within_s: float, heartbeat_s: float = HEARTBEAT_S) -> BotStream:
        """Wait for a stream, take its Hello and answer with Welcome. Raises `Failed`."""
        stream, request = await self.greeted(within_s)
        self.check_hello(stream, request)
        self.hello = request.hello
        welcome = play_pb2.Welcome(
            bot=BOTS + BOT,
            server_version="check",
            protocol_version=PROTOCOL_VERSION,
            heartbeat_interval_ms=round(heartbeat_s * 1000),
        )
        await stream.send(play_pb2.PlayResponse(welcome=welcome))
        stream.pulse_every(heartbeat_s)
        self._stream = stream
        return stream

    async def greeted(self, within_s: float) -> tuple[BotStream, play_pb2.PlayRequest]:
        """Wait for a stream and its first message. Raises `Failed`."""
        advice = (
            "open one PlayService.Play stream to PEGBOARD_ADDRESS (host:port or unix:/path) and "
            "send Hello at once"
        )
        stream = await self._or_ended(self.server.streams.get(), within_s)
        if stream is None:
            ending = await self.bot.ending(0.0)
            how = f"the bot {ending}" if ending else f"nothing came within {within_s:g} s"
            raise Failed(f"{how}, before it connected", advice)
        try:
            request = await stream.next(within_s)
        except TimeoutError:
            raise Failed(f"opened a stream, but sent nothing for {within_s:g} s", advice) from None
        if request is None:
            raise Failed(f"the stream ended before Hello{await self.why()}", advice)
        return stream, request

    async def _or_ended(self, coming: Awaitable[T], within_s: float) -> T | None:
        """Wait for something; None if the process ends first, or after that time."""
        wanted = asyncio.ensure_future(coming)
        process = self.bot.process
        tasks: list[asyncio.Future[Any]] = [wanted]
        if process is not None:
            tasks.append(asyncio.ensure_future(process.wait()))
        try:
            await asyncio.wait(tasks, timeout=within_s, return_when=asyncio.FIRST_COMPLETED)
            return wanted.result() if wanted.done() else None
        finally:
            for task in tasks:
                task.cancel()

    def check_hello(self, stream: BotStream, request: play_pb2.PlayRequest) -> None:
        """Raise `Failed` for a first message that a server would refuse."""
        if not request.HasField("hello"):
            raise Failed("the first message has no `hello`", "send Hello before anything else")
        if request.answers or request.resignations:
            raise Failed("the first message has more in it than `hello`", "send Hello alone")
        if request.ByteSize() > HELLO_BYTES:
            raise Failed(
                f"the first message has {request.ByteSize():,} bytes",
                f"at most {HELLO_BYTES:,} are taken",
            )
        hello = request.hello
        if hello.protocol_version != PROTOCOL_VERSION:
            raise Failed(
                f"Hello has protocol_version {hello.protocol_version}",
                f"set protocol_version to {PROTOCOL_VERSION}",
            )
        bearer = str(stream.metadata.get("authorization", ""))
        if self.token not in (hello.token, bearer.removeprefix("Bearer ")):
            given = "another token" if hello.token or bearer else "no token"
            raise Failed(f"Hello has {given}", "send the value of PEGBOARD_TOKEN as Hello.token")

    async def why(self) -> str:
        """Return how the process ended, as the end of a sentence; "" if it still runs."""
        ending = await self.bot.ending()
        return f": the bot {ending}" if ending else ""

    async def lost(self, stream: BotStream, when: str) -> Failed:
        """Return what is wrong with a bot whose stream is over while it should go on."""
        ending = await self.bot.ending()
        if ending:
            return Failed(f"the bot {ending}, {when}", "keep running until SIGTERM comes")
        how = "half-closed" if stream.half_closed else "broke off"
        return Failed(f"the bot {how} its stream {when}", "keep the stream open while the bot runs")

    # --- playing -------------------------------------------------------------------------------

    def table(self) -> Table:
        """Return an empty table for the bot."""
        return Table(self.settings.clock_ms, self.hello)

    def name(self) -> str:
        """Return a fresh id of a match."""
        self._names += 1
        return f"check-{self._names}"

    async def answers(
        self, stream: BotStream, table: Table, when: str = "while it had turns to answer"
    ) -> play_pb2.PlayRequest:
        """Return the next message of answers. Raises `Failed` if none comes within the clock."""
        while True:
            left = table.check_clocks(SLACK_S)
            try:
                request = await stream.next(max(left, 0.01))
            except TimeoutError:
                continue
            if request is None:
                raise await self.lost(stream, when)
            return request

    async def play(self, stream: BotStream, table: Table, play_s: float = 0.0) -> None:
        """Play the matches to their end, or until the time is over; then cancel them."""
        ends = time.monotonic() + (play_s or self.settings.play_s)
        while True:
            more = time.monotonic() < ends
            response = table.news(more)
            if not more and not table.open:
                table.end_all()
                response.MergeFrom(table.news(False))
            if response.ByteSize():
                await stream.send(response)
            if not table.open:
                break
            table.take(await self.answers(stream, table))
        if table.resigned:
            self.warn(
                f"resigned {table.resigned} matches",
                "if that is not meant: the Python kit resigns after an error in `choose`",
            )

    async def finish(self, stream: BotStream, table: Table) -> None:
        """Answer what is open, cancel the matches, and check that the bot is still there."""
        while table.open:
            table.take(await self.answers(stream, table))
        table.end_all()
        await stream.send(table.news(False))
        await self.quiet(stream, table)

    async def quiet(self, stream: BotStream, table: Table) -> None:
        """Give the bot a moment in which nothing is asked; it may answer late, once a turn."""
        late = table.late
        try:
            while True:
                request = await stream.next(QUIET_S)
                if request is None:
                    raise await self.lost(stream, "while it was asked nothing")
                table.take(request)
                if table.late - late > len(table.matches) + 100:
                    raise Failed(
                        "goes on answering turns that are over",
                        "answer each turn once; after a rejection only if the turn comes again",
                    )
        except TimeoutError:
            pass

    def settle(self) -> None:
        """Raise `Failed` for what was wrong with the stream, also if no case waited for it."""
        if self._stream is not None and self._stream.problem is not None:
            raise self._stream.problem
        if not self.server.streams.empty():
            raise Failed(
                "opened a second stream while the first was open",
                "open one Play stream for the whole process; it carries all matches",
            )


@contextmanager
def silence(stream: BotStream) -> Iterator[None]:
    """Send no heartbeats for a while."""
    stream.pulse_every(0)
    try:
        yield
    finally:
        stream.pulse_every(HEARTBEAT_S)


Case = Callable[[Check], Awaitable[str]]


def listing(words: Sequence[str]) -> str:
    """Return `a, b and c`."""
    return " and ".join(filter(None, [", ".join(words[:-1]), words[-1]])) if words else ""
