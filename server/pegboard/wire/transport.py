"""How gRPC waits for its sockets, in processes whose whole work is short messages."""

from __future__ import annotations

import os
from importlib.metadata import version

SWITCH = "GRPC_EXPERIMENTS"
DIRECT = "-event_engine_client,-event_engine_listener"
UNKNOWN_FROM = (1, 86)
"""Later versions may have dropped the switches, and say so on standard error (grpc/grpc#43350)."""


def wait_directly() -> None:
    """Let the thread that waits for gRPC's results read the sockets itself, as before gRPC 1.80.

    Since then threads of an event engine stand between the two, and handing a lonely message from one
    to the next costs more than all else about it (`pegboard bench round_trip`). For main programs,
    before they import grpc, which reads the variable then. What the environment says already stands.
    """
    release = tuple(int(part) for part in version("grpcio").split(".")[:2])
    if release < UNKNOWN_FROM:
        os.environ.setdefault(SWITCH, DIRECT)
