"""A service that is handed to the server is served as those of the server are."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import grpc
import grpc.aio
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection_pb2, reflection_pb2_grpc
from tests.service.rig import token_file

from pegboard.matches.host import MatchHost
from pegboard.matches.store.opening import open_store
from pegboard.matches.store.protocol import Durability
from pegboard.rpc.gate import Gate
from pegboard.rpc.limits import Limits
from pegboard.rpc.tokens import load_tokens
from pegboard.service.app import HostedService, Server
from pegboard.service.settings import ServeSettings

NAME = "example.v1.EchoService"


async def echo(request: bytes, _context: Any) -> bytes:
    """Return what came."""
    return request


async def test_a_further_service_answers_and_is_listed(tmp_path: Path) -> None:
    """Its calls, its health, and its name by reflection."""
    calls: dict[str, Any] = {"Echo": grpc.unary_unary_rpc_method_handler(echo)}
    further = HostedService(NAME, grpc.method_handlers_generic_handler(NAME, calls))
    host = MatchHost(open_store(None, Durability.MEMORY))
    await host.open()
    server = Server(host, Gate(load_tokens(token_file(tmp_path)), Limits(stop_s=1.0)), [further])
    (address,) = server.bind(ServeSettings(unix=(tmp_path / "s",)))
    await server.start()
    try:
        async with grpc.aio.insecure_channel(address) as channel:
            call: Any = channel.unary_unary(f"/{NAME}/Echo")
            assert await call(b"word") == b"word"
            health: Any = health_pb2_grpc.HealthStub(channel)
            answer = await health.Check(health_pb2.HealthCheckRequest(service=NAME))
            assert answer.status == health_pb2.HealthCheckResponse.SERVING
            listing: Any = reflection_pb2_grpc.ServerReflectionStub(channel).ServerReflectionInfo()
            await listing.write(reflection_pb2.ServerReflectionRequest(list_services=""))
            found = (await listing.read()).list_services_response.service
            assert NAME in [each.name for each in found]
            await listing.done_writing()
    finally:
        await server.stop()
