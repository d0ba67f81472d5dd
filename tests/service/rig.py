"""A server in the test's own event loop, on a Unix socket, and bots on bare gRPC."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import grpc
import grpc.aio
from tests.patience import PATIENCE_S

from pegboard.client import Bot, BotClient, Organiser, Turn, new_match
from pegboard.client.bot import as_bot
from pegboard.client.channel import error_from
from pegboard.client.testing import random_choice
from pegboard.matches.host import HostSettings, MatchHost
from pegboard.matches.store.opening import open_store
from pegboard.matches.store.protocol import Durability
from pegboard.rpc.gate import Gate
from pegboard.rpc.limits import Limits
from pegboard.rpc.tokens import load_tokens
from pegboard.rules.errors import PegboardError
from pegboard.service.app import Server
from pegboard.service.settings import ServeSettings
from pegboard.v1 import match_pb2, play_pb2

BOTS = ("alice", "bob", "carol", "zoe")
ORGANISER = "organisers-token"


def token_of(bot: str) -> str:
    """The token of a bot in the rig's file."""
    return f"token-of-{bot}"


def metadata_of(bot: str) -> list[tuple[str, str]]:
    """The metadata with the token of a bot."""
    return [("authorization", f"Bearer {token_of(bot)}")]


def token_file(folder: Path) -> Path:
    """Write the rig's token file."""
    path = folder / "tokens.toml"
    bots = "\n".join(f'{bot} = "{token_of(bot)}"' for bot in BOTS)
    path.write_text(f'[bots]\n{bots}\n[organisers]\narena = "{ORGANISER}"\n', encoding="utf-8")
    path.chmod(0o600)
    return path


@dataclass
class Rig:
    """A running server."""

    folder: Path
    host: MatchHost
    server: Server
    address: str
    tasks: list[asyncio.Task[Any]] = field(default_factory=list)
    players: list[BotClient] = field(default_factory=list)
    channels: list[grpc.aio.Channel] = field(default_factory=list)

    def organiser(self, token: str = ORGANISER) -> Organiser:
        """Connect an organiser."""
        return Organiser(self.address, token)

    def play(self, name: str, bot: Bot | Callable[[Turn], Any] = random_choice) -> BotClient:
        """Let a bot of the kit play until the rig is taken down."""
        player = BotClient(as_bot(bot), self.address, token_of(name))
        self.players.append(player)
        self.tasks.append(asyncio.create_task(player.play()))
        return player

    def wire(self, token: str = "", metadata: Sequence[tuple[str, str]] = ()) -> Wire:
        """Open a bare stream; with a token its Hello is sent."""
        channel = grpc.aio.insecure_channel(self.address, [("grpc.use_local_subchannel_pool", 1)])
        self.channels.append(channel)
        return Wire(channel, token, metadata)

    async def match(self, *bots: str, variant: str = "cribbage", **more: Any) -> str:
        """Create a match and return its name."""
        async with self.organiser() as organiser:
            (match,) = await organiser.create([new_match(variant, bots, **more)])
        return match.name

    async def result(self, name: str, timeout_s: float = PATIENCE_S) -> match_pb2.MatchResult:
        """Wait for the end of a match."""
        async with self.organiser() as organiser, asyncio.timeout(timeout_s):
            async for _ in organiser.watch(name):
                pass
            return (await organiser.get(name)).result


class Wire:
    """A `Play` stream without a kit."""

    def __init__(
        self, channel: grpc.aio.Channel, token: str, metadata: Sequence[tuple[str, str]]
    ) -> None:
        method: Any = channel.stream_stream("/pegboard.v1.PlayService/Play")
        self.call: Any = method(metadata=list(metadata))
        self._token = token

    async def hello(self, **more: Any) -> play_pb2.Welcome:
        """Say Hello and return the Welcome."""
        fields = {"token": self._token, "protocol_version": 1, **more}
        await self.send(hello=play_pb2.Hello(**fields))
        response = await self.read()
        assert response is not None
        return response.welcome

    async def send(self, **fields: Any) -> None:
        """Send a message with these fields."""
        await self.call.write(play_pb2.PlayRequest(**fields).SerializeToString())

    async def read(self) -> play_pb2.PlayResponse | None:
        """Return the next message, None at the end."""
        async with asyncio.timeout(PATIENCE_S):
            data = await self.call.read()
        return None if data is grpc.aio.EOF else play_pb2.PlayResponse.FromString(data)

    async def turn(self) -> play_pb2.Turn:
        """Return the next turn, whatever comes before."""
        while True:
            response = await self.read()
            assert response is not None, "the stream ended without a turn"
            if response.turns:
                return response.turns[0]

    async def rejection(self) -> play_pb2.MoveRejected:
        """Return the next rejection, whatever comes before."""
        while True:
            response = await self.read()
            assert response is not None, "the stream ended without a rejection"
            if response.rejected:
                return response.rejected[0]

    async def answer(self, turn: play_pb2.Turn, **changes: Any) -> None:
        """Answer a turn by index 0, fields changed."""
        fields = {"match": turn.match, "seat": turn.seat, "turn_id": turn.turn_id, **changes}
        if "move" not in fields:
            fields.setdefault("index", 0)
        await self.send(answers=[play_pb2.Answer(**fields)])

    async def end(self) -> PegboardError | None:
        """Read to the end and return the error, None for OK."""
        try:
            while await self.read() is not None:
                pass
        except grpc.aio.AioRpcError as failure:
            return error_from(failure)
        code = await self.call.code()
        if code is grpc.StatusCode.OK:
            return None
        return error_from(
            grpc.aio.AioRpcError(
                code,
                trailing_metadata=await self.call.trailing_metadata(),
                details=await self.call.details(),
            )
        )


@asynccontextmanager
async def serving(
    limits: Limits | None = None, host_settings: HostSettings | None = None, public: bool = False
) -> AsyncIterator[Rig]:
    """Run a server with tokens and a store in memory."""
    with tempfile.TemporaryDirectory(prefix="pegboard-") as name:
        folder = Path(name)
        host = MatchHost(
            open_store(None, Durability.MEMORY), settings=host_settings or HostSettings()
        )
        await host.open()
        tokens = load_tokens(token_file(folder))
        server = Server(host, Gate(tokens, limits or Limits(stop_s=1.0), public))
        socket = folder / "s"
        (address,) = server.bind(ServeSettings(unix=(socket,)))
        await server.start()
        rig = Rig(folder, host, server, address)
        try:
            yield rig
        finally:
            for player in rig.players:
                await player.stop()
            await server.stop()
            for task in rig.tasks:
                task.cancel()
            await asyncio.gather(*rig.tasks, return_exceptions=True)
            for channel in rig.channels:
                await channel.close()
