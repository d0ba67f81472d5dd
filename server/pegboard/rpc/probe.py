"""The server calls itself, to prove that it has read whatever had arrived.

On a busy machine a bot's answer may lie unread in a socket, or in gRPC's own thread, while the event
loop is punctual. So before anything is decided by time the host asks for a proof
(`matches.clock.Probe`): two calls of this process to a listener of its own, one after the other. They
take the way that the bots' messages take, through the same thread and the same loop, and gRPC reads its
sockets in the order in which data came: what had arrived when the first call began is read when the
second is over.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
import tempfile
from pathlib import Path
from typing import Any

import grpc.aio
import structlog
from grpc_health.v1 import health_pb2, health_pb2_grpc

CALLS = 2
PATIENCE_S = 5.0
ATTEMPTS = 3
"""A call that takes longer is tried again: it may be this process that was stopped meanwhile."""

_log = structlog.get_logger("pegboard.probe")


class ServerProbe:
    """Proofs by number: asked for, and given. One task makes the calls while any are asked for."""

    def __init__(self) -> None:
        self.asked = 0
        self.given = 0
        self._wanted = asyncio.Event()
        self.folder: Path | None = None
        self._address = ""
        self._task: asyncio.Task[None] | None = None

    # For the host (matches.clock.Probe)

    def ask(self) -> int:
        """Ask for a proof and return its number."""
        self.asked += 1
        self._wanted.set()
        return self.asked

    def passed(self, number: int) -> bool:
        """Whether all that had arrived when that proof was asked for was read."""
        return self.given >= number

    # For the server

    def listen(self, server: grpc.aio.Server) -> None:
        """Let the server listen on a socket that only this user can reach."""
        self.folder = Path(tempfile.mkdtemp(prefix="pegboard-", dir=short_folder()))
        self._address = f"unix:{self.folder / 'probe'}"
        server.add_insecure_port(self._address)

    def start(self) -> None:
        """Begin to give proofs."""
        self._task = asyncio.create_task(self._run(), name="pegboard-probe")

    async def stop(self) -> None:
        """Give no more proofs and remove the socket."""
        if self._task is not None:
            self._task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._task
        if self.folder is not None:
            shutil.rmtree(self.folder, ignore_errors=True)

    async def _run(self) -> None:
        options = [("grpc.use_local_subchannel_pool", 1), ("grpc.enable_http_proxy", 0)]
        async with grpc.aio.insecure_channel(self._address, options) as channel:
            call = health_pb2_grpc.HealthStub(channel).Check
            while True:
                await self._wanted.wait()
                self._wanted.clear()
                number = self.asked
                for _ in range(CALLS):
                    await self._call(call)
                self.given = number

    async def _call(self, call: Any) -> None:
        """Make one call. A server that cannot call itself goes by the lateness of its loop alone."""
        failure = ""
        for _ in range(ATTEMPTS):
            try:
                async with asyncio.timeout(PATIENCE_S):
                    await call(health_pb2.HealthCheckRequest(), wait_for_ready=True)
                return
            except Exception as error:  # whatever it is: without proofs no match would end by time
                failure = repr(error)
        _log.warning("probe_failed", attempts=ATTEMPTS, reason=failure)


def short_folder() -> str | None:
    """Return where sockets can be: the folder for temporary files, unless its path is too long."""
    return None if len(os.fsencode(tempfile.gettempdir())) < 64 else "/tmp"  # noqa: S108
