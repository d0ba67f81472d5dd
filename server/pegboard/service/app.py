"""The server process: from settings to a graceful stop."""

from __future__ import annotations

import asyncio
import gc
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import grpc
import grpc.aio
import structlog
from grpc_health.v1 import health, health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection

from pegboard.errors import InvalidRequest, StoreError
from pegboard.matches.host import MatchHost
from pegboard.matches.store.opening import open_store
from pegboard.matches.store.protocol import Durability, Store, StoreState
from pegboard.rpc.addresses import (
    Place,
    check_unix,
    find_places,
    make_way,
    split,
    unix_address,
    unix_target,
)
from pegboard.rpc.gate import Gate
from pegboard.rpc.limits import Limits
from pegboard.rpc.probe import ServerProbe
from pegboard.rpc.tokens import Tokens, load_tokens
from pegboard.rules.plain import plain, quoted
from pegboard.service import catalog_service, match_service, play_service
from pegboard.service.catalog_service import CatalogService
from pegboard.service.logs import configure_log
from pegboard.service.match_service import MatchService
from pegboard.service.play_service import PlayService
from pegboard.service.settings import ServeSettings
from pegboard.service.stop_signals import watch_for_stop
from pegboard.service.tls import tls_credentials

_log = structlog.get_logger("pegboard.server")


def print_line(line: str) -> None:
    """Print a line to standard output at once."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


class HostedService(NamedTuple):
    """A service that a server answers for: its full name, for reflection and health, and its calls."""

    name: str
    handler: grpc.GenericRpcHandler


FurtherServices = Callable[[MatchHost, Gate], Sequence[HostedService]]
"""Makes the services that a server answers for beside those of the catalog, matches and play."""


def no_further_services(_host: MatchHost, _gate: Gate) -> Sequence[HostedService]:
    """Return none."""
    return ()


async def serve(
    settings: ServeSettings,
    announce: Callable[[str], None] = print_line,
    further: FurtherServices = no_further_services,
) -> None:
    """Host matches until SIGTERM, SIGINT, or the end of standard input if that is asked for.

    Announces one line, `listening on ADDRESS...`, when ready. Raises `InvalidRequest` for settings
    that cannot work and `StoreError` for a store that cannot be opened, or not be written for longer
    than its patience: then the next start takes the matches up as they were stored.
    """
    configure_log(settings.log_level)
    tokens = load_tokens(settings.tokens)
    check_addresses(settings, tokens)
    store = open_settings_store(settings)
    host = MatchHost(store, settings=settings.host)
    gate = Gate(tokens, settings.limits, settings.public)
    server = Server(host, gate, further(host, gate))
    try:
        await host.open()
        addresses = server.bind(settings)
        await server.start()
    except BaseException:
        await host.close()
        raise
    stop = asyncio.Event()
    watch_for_stop(stop, settings.stop_on_eof)
    tune_collector()
    announce(f"listening on {' '.join(addresses)}")
    _log.info("listening", addresses=addresses, development=tokens.open_to_all)
    lost = asyncio.create_task(_lose_store(host, stop))
    await stop.wait()
    lost.cancel()
    _log.info("stopping")
    await server.stop()
    for path in settings.unix:
        path.unlink(missing_ok=True)
    _log.info("stopped")
    if host.store_state is StoreState.LOST:
        raise StoreError(
            f"{host.store_failure}; make room or mend the disk and start again: matches go on as they"
            " were last stored"
        )


async def _lose_store(host: MatchHost, stop: asyncio.Event) -> None:
    """Stop the server when its store is lost."""
    while host.store_state is not StoreState.LOST:
        await host.store_left(host.store_state)
    stop.set()


class Server:
    """The gRPC server around one host; `further` are services beside those of matches."""

    def __init__(self, host: MatchHost, gate: Gate, further: Sequence[HostedService] = ()) -> None:
        self._host = host
        self._gate = gate
        self._limits = gate.limits
        self._stopping: asyncio.Task[None] | None = None
        self._server = grpc.aio.server(options=server_options(gate.limits))
        self._play = PlayService(host, gate)
        self._health = health.aio.HealthServicer()
        self.probe = ServerProbe()
        self._pulse: asyncio.Task[None] | None = None
        self._store_watch: asyncio.Task[None] | None = None
        services = [
            HostedService(play_service.SERVICE.full_name, self._play.handler()),
            HostedService(match_service.SERVICE.full_name, MatchService(host, gate).handler()),
            HostedService(catalog_service.SERVICE.full_name, CatalogService().handler(gate)),
            *further,
        ]
        self._server.add_generic_rpc_handlers(tuple([each.handler for each in services]))
        health_pb2_grpc.add_HealthServicer_to_server(self._health, self._server)
        names = [each.name for each in services]
        self._names = ["", *names]
        reflection.enable_server_reflection(
            [*names, health.SERVICE_NAME, reflection.SERVICE_NAME], self._server
        )

    def bind(self, settings: ServeSettings) -> list[str]:
        """Listen and return the addresses, ports filled in. Raises `InvalidRequest`."""
        credentials = tls_credentials(settings)
        places = find_places(settings.listen)
        addresses = [self._bind_unix(path) for path in settings.unix]
        addresses += [self._bind_place(place, credentials) for place in places]
        exposed = [place.shown for place in places if not place.is_loopback]
        if exposed and credentials is None:
            warn_of_clear_text(exposed)
        return addresses

    def _bind_unix(self, path: Path) -> str:
        make_way(path)
        # Only the server's own user may connect: the socket is made without rights for others.
        mask = os.umask(0o177)
        try:
            self._server.add_insecure_port(unix_target(path))
        except RuntimeError:
            raise InvalidRequest(
                f"cannot listen on {plain(str(path))}; is its folder there, and ours?"
            ) from None
        finally:
            os.umask(mask)
        return unix_address(path)

    def _bind_place(self, place: Place, credentials: grpc.ServerCredentials | None) -> str:
        for literal in place.literals():
            try:
                if credentials is None:
                    self._server.add_insecure_port(literal)
                else:
                    self._server.add_secure_port(literal, credentials)
            except RuntimeError:
                raise InvalidRequest(
                    f"cannot listen on {literal}; the port was taken just now, choose another one"
                ) from None
        return place.shown if credentials is None else f"https://{place.shown}"

    async def start(self) -> None:
        """Begin to answer."""
        self.probe.listen(self._server)
        await self._server.start()
        self.probe.start()
        self._host.deadlines.probe = self.probe
        await self._tell_health()
        self._pulse = asyncio.create_task(self._play.pulse())
        self._store_watch = asyncio.create_task(self._watch_store())

    async def _watch_store(self) -> None:
        """Tell by health checks whether the store can be written, for ever."""
        while True:
            state = self._host.store_state
            await self._tell_health()
            await self._host.store_left(state)

    async def _tell_health(self) -> None:
        writable = self._host.store_state is StoreState.WRITABLE
        answer = health_pb2.HealthCheckResponse
        for name in self._names:
            await self._health.set(name, answer.SERVING if writable else answer.NOT_SERVING)

    async def stop(self) -> None:
        """Take no new calls, let streams finish their writes, store everything, close the host."""
        if self._stopping is None:
            self._stopping = asyncio.create_task(self._stop())
        await self._stopping

    async def _stop(self) -> None:
        await self._health.enter_graceful_shutdown()
        self._play.stop()
        ending = asyncio.create_task(self._server.stop(self._limits.stop_s))
        await asyncio.sleep(0)
        self._gate.close()  # gRPC hands over calls that it had taken before
        await self._host.close()  # watchers end by this
        await self.probe.stop()
        await ending
        for task in (self._pulse, self._store_watch):
            if task is not None:
                task.cancel()


def server_options(limits: Limits) -> list[tuple[str, Any]]:
    """Return gRPC's options: bounded messages, dead peers found, no port shared by accident."""
    return [
        ("grpc.max_receive_message_length", limits.received_bytes),
        ("grpc.max_concurrent_streams", limits.streams_per_connection),
        ("grpc.so_reuseport", 0),
        ("grpc.keepalive_time_ms", 20_000),
        ("grpc.keepalive_timeout_ms", 20_000),
        ("grpc.http2.max_pings_without_data", 0),
        ("grpc.http2.min_ping_interval_without_data_ms", 5_000),
        ("grpc.http2.min_recv_ping_interval_without_data_ms", 5_000),
    ]


def check_addresses(settings: ServeSettings, tokens: Tokens) -> None:
    """Raise `InvalidRequest` if the settings name no address that is safe to listen on."""
    if not settings.listen and not settings.unix:
        raise InvalidRequest("nowhere to listen; give --listen HOST:PORT or --unix PATH")
    if settings.listen and tokens.open_to_all:
        raise InvalidRequest(
            "a TCP port needs --tokens FILE, since everybody can reach it; without tokens use --unix"
        )
    for address in settings.listen:
        split(address)
    for path in settings.unix:
        check_unix(path)


def warn_of_clear_text(addresses: list[str]) -> None:
    """Say on standard error that others on the way can read tokens and cards."""
    sys.stderr.write(
        f"pegboard: warning: tokens and moves travel in clear text to {', '.join(addresses)}; give"
        " --tls-certificate and --tls-key, or listen on 127.0.0.1 behind a proxy or a tunnel\n"
    )
    sys.stderr.flush()


def open_settings_store(settings: ServeSettings) -> Store:
    """Open the store that the settings name. Raises `InvalidRequest` or `StoreError`."""
    try:
        durability = Durability(settings.durability)
    except ValueError:
        choices = ", ".join(each.value for each in Durability)
        raise InvalidRequest(
            f"no durability {quoted(settings.durability)}; one of {choices}"
        ) from None
    if settings.store is None:
        durability = Durability.MEMORY
    return open_store(None if durability is Durability.MEMORY else settings.store, durability)


def tune_collector() -> None:
    """Spare the cycle collector what stays: thousands of live matches made it stop the loop."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 50)
