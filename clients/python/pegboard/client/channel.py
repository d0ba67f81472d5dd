"""Connections to a server: addresses, options, and errors as the classes the server raised."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

import grpc
import grpc.aio

from pegboard.client.address import DEFAULT_ADDRESS, parse_address
from pegboard.rules.errors import PegboardError
from pegboard.wire.errors import STATUS_KEY, error_of

LIMIT_RECEIVE_BYTES = 64 * 1024 * 1024

_OPTIONS: list[tuple[str, int]] = [
    # Batches of results and records may be larger than gRPC's default of 4 MiB.
    ("grpc.max_receive_message_length", LIMIT_RECEIVE_BYTES),
    ("grpc.keepalive_time_ms", 20_000),
    ("grpc.keepalive_timeout_ms", 20_000),
    ("grpc.http2.max_pings_without_data", 0),
    # A server that comes back is found again within about a second.
    ("grpc.initial_reconnect_backoff_ms", 100),
    ("grpc.max_reconnect_backoff_ms", 1_000),
    # The least time for one attempt: on a busy machine a handshake takes longer than a second.
    ("grpc.min_reconnect_backoff_ms", 20_000),
    # Bots of one machine that share a process must not share a connection's flow control.
    ("grpc.use_local_subchannel_pool", 1),
]


def open_channel(address: str = "") -> grpc.aio.Channel:
    """Open a channel to `host:port`, `unix:/path` or `https://host:port` (TLS): `address` module.

    The default address is that of `PEGBOARD_ADDRESS`, then `localhost:50151`. Nothing is connected
    yet. Raises `InvalidRequest` for an address of another shape.
    """
    target, secure, local = parse_address(
        address or os.environ.get("PEGBOARD_ADDRESS", "") or DEFAULT_ADDRESS
    )
    # A proxy named in the environment cannot reach the loopback of this machine.
    options = [*_OPTIONS, ("grpc.enable_http_proxy", 0)] if local else _OPTIONS
    if secure:
        return grpc.aio.secure_channel(target, grpc.ssl_channel_credentials(), options)
    return grpc.aio.insecure_channel(target, options)


def error_from(failure: grpc.aio.AioRpcError) -> PegboardError:
    """Return the error class that the server raised, or `Unavailable` if no server answers."""
    details: bytes | None = None
    for key, value in failure.trailing_metadata() or ():
        if key == STATUS_KEY and isinstance(value, bytes):
            details = value
    return error_of(failure.code(), failure.details() or "", details)


@contextmanager
def server_errors() -> Iterator[None]:
    """Turn gRPC's errors in the block into `PegboardError`s."""
    try:
        yield
    except grpc.aio.AioRpcError as failure:
        raise error_from(failure) from None


def bearer(token: str) -> list[tuple[str, str | bytes]]:
    """Return the metadata that carries a token."""
    return [("authorization", f"Bearer {token}")] if token else []
