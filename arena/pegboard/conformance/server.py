"""The scripted server: it answers `Play` alone, and leaves every stream to the cases."""

from __future__ import annotations

import asyncio
from typing import Any

import grpc
import grpc.aio

from pegboard.client.address import parse_address
from pegboard.conformance.stream import BotStream

SERVICE = "pegboard.v1.PlayService"
RECEIVE_BYTES = 16 * 1024 * 1024
"""More than a message may have (`stream.MESSAGE_BYTES`), so that a case can say how large it is."""
LOOPBACK = "127.0.0.1"
OPTIONS = [("grpc.max_receive_message_length", RECEIVE_BYTES), ("grpc.so_reuseport", 0)]


class ScriptedServer:
    """Listens at an address; `streams` are those that the bot has opened and no case has taken."""

    def __init__(self, socket: str = "") -> None:
        """Take the path of a Unix socket; "": a free TCP port of the loopback interface."""
        self.streams: asyncio.Queue[BotStream] = asyncio.Queue()
        self.address = f"unix:{socket}" if socket else f"{LOOPBACK}:0"
        self._server: Any = None

    async def start(self) -> None:
        """Listen, at the same address as before if this is not the first start."""
        self._server = grpc.aio.server(options=OPTIONS)
        play: Any = grpc.stream_stream_rpc_method_handler(self._play)
        handler = grpc.method_handlers_generic_handler(SERVICE, {"Play": play})
        self._server.add_generic_rpc_handlers((handler,))
        is_socket = self.address.startswith("unix:")
        target = parse_address(self.address).target if is_socket else self.address
        port = self._server.add_insecure_port(target)
        if not is_socket:
            self.address = f"{LOOPBACK}:{port}"
        await self._server.start()

    async def stop(self) -> None:
        """End all connections and listen no longer."""
        if self._server is not None:
            await self._server.stop(None)
            self._server = None

    async def _play(self, _requests: Any, context: Any) -> None:
        stream = BotStream(context)
        self.streams.put_nowait(stream)
        await stream.serve()
