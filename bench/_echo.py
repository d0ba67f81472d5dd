"""The reference of the service's benchmarks: a grpc.aio echo, one message a decision.

A server process and client processes on a Unix socket, 64-byte messages, bidirectional streams, raw
bytes without protobuf: as little work a decision as grpc.aio can do.

    python bench/_echo.py server SOCKET
    python bench/_echo.py client SOCKET STREAMS SECONDS     prints round trips and seconds
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import grpc
import uvloop

from pegboard.wire.transport import DIRECT, SWITCH

METHOD = "/bench.Echo/Play"
MESSAGE = bytes(64)


class EchoHandler(grpc.GenericRpcHandler):
    """Answers every message with itself."""

    def service(self, handler_call_details: Any) -> Any:
        """Return the one method there is."""
        return grpc.stream_stream_rpc_method_handler(self.echo)

    async def echo(self, requests: AsyncIterator[bytes], context: Any) -> None:
        """Write back what is read."""
        async for message in requests:
            await context.write(message)


async def serve(path: str) -> None:
    """Serve until killed."""
    server = grpc.aio.server()
    server.add_generic_rpc_handlers((EchoHandler(),))
    server.add_insecure_port(f"unix:{path}")
    await server.start()
    print("ready", flush=True)
    await server.wait_for_termination()


async def ping(channel: grpc.aio.Channel, until: float) -> int:
    """Exchange messages on one stream, one at a time, until the time is over."""
    call: Any = channel.stream_stream(METHOD)()
    count = 0
    while time.perf_counter() < until:
        await call.write(MESSAGE)
        await call.read()
        count += 1
    await call.done_writing()
    return count


async def drive(path: str, streams: int, seconds: float) -> None:
    """Print the round trips made on so many streams, and the time they took."""
    async with grpc.aio.insecure_channel(f"unix:{path}") as channel:
        await ping(channel, time.perf_counter() + 0.5)
        start = time.perf_counter()
        counts = await asyncio.gather(*(ping(channel, start + seconds) for _ in range(streams)))
        print(sum(counts), time.perf_counter() - start, flush=True)


def environment(direct: bool) -> dict[str, str]:
    """Return the processes' environment; `direct`: gRPC waits as in Pegboard's own processes."""
    return {**os.environ, SWITCH: DIRECT} if direct else {**os.environ}


@contextlib.contextmanager
def echo_server(direct: bool) -> Iterator[str]:
    """Run an echo server process; yields its socket."""
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "echo")
        command = [sys.executable, __file__, "server", path]
        env = environment(direct)
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=env) as process:
            assert process.stdout is not None
            process.stdout.readline()
            try:
                yield path
            finally:
                process.kill()


def echoes_per_second(clients: int, streams: int, seconds: float, direct: bool = False) -> float:
    """Measure round trips a second over all clients, each with so many streams.

    gRPC is as it comes, unless `direct` (`wire.transport`).
    """
    with echo_server(direct) as path:
        command = [sys.executable, __file__, "client", path, str(streams), str(seconds)]
        processes = [
            subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment(direct))
            for _ in range(clients)
        ]
        outputs = [process.communicate()[0].split() for process in processes]
    return sum(int(count) / float(took) for count, took in outputs)


if __name__ == "__main__":
    if sys.argv[1] == "server":
        uvloop.run(serve(sys.argv[2]))
    else:
        uvloop.run(drive(sys.argv[2], int(sys.argv[3]), float(sys.argv[4])))
