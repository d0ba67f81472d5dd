"""How gRPC waits for its sockets."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from pegboard.wire import transport
from pegboard.wire.transport import DIRECT, SWITCH, wait_directly

QUIET = """
import asyncio
from pegboard.wire.transport import wait_directly

wait_directly()
import grpc.aio

async def main():
    server = grpc.aio.server()
    port = server.add_insecure_port("localhost:0")
    await server.start()
    async with grpc.aio.insecure_channel(f"localhost:{port}") as channel:
        await channel.channel_ready()
    await server.stop(0)

asyncio.run(main())
"""


def test_the_switch_is_set_where_it_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    """A later gRPC is left alone, and so is what the user has set."""
    monkeypatch.setenv(SWITCH, "")
    monkeypatch.delenv(SWITCH)
    monkeypatch.setattr(transport, "version", lambda name: "1.86.0")
    wait_directly()
    assert SWITCH not in os.environ
    monkeypatch.setattr(transport, "version", lambda name: "1.85.3")
    wait_directly()
    assert os.environ[SWITCH] == DIRECT
    monkeypatch.setenv(SWITCH, "mine")
    wait_directly()
    assert os.environ[SWITCH] == "mine"


def test_grpc_knows_the_switches() -> None:
    """It would complain on standard error about one that it does not know."""
    done = subprocess.run(
        [sys.executable, "-c", QUIET], capture_output=True, text=True, timeout=60, check=True
    )
    assert (done.stdout, done.stderr) == ("", "")


@pytest.mark.parametrize("module", ["pegboard.client", "pegboard.cli.main", "pegboard.cli.serve"])
def test_main_programs_import_grpc_after_the_switch(module: str) -> None:
    """gRPC reads it when it is imported: an import too early would silently cost each turn a third."""
    code = f"import sys, {module}; print('grpc' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout == "False\n", done.stderr
