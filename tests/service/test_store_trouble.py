"""A disk that is full under a real server: what is told stays true, health says so, and it ends."""

from __future__ import annotations

import asyncio
import resource
import signal
from pathlib import Path

import grpc
import grpc.aio
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc
from tests.service.rig import ORGANISER, serving
from tests.service.test_app import Process, folder

from pegboard.client import Organiser, new_match
from pegboard.errors import StoreError, Unavailable
from pegboard.rules.errors import PegboardError
from pegboard.v1 import match_pb2

__all__ = ["folder"]

SERVICES = ("CatalogService", "MatchService", "PlayService")
NAMES = ("", *(f"pegboard.v1.{name}" for name in SERVICES))
SERVING = health_pb2.HealthCheckResponse.SERVING
NOT_SERVING = health_pb2.HealthCheckResponse.NOT_SERVING


def fill(server: Process) -> None:
    """Let no file of the server grow: writes fail as on a full disk."""
    resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, (1, resource.RLIM_INFINITY))


def free(server: Process) -> None:
    """Make room again."""
    unlimited = (resource.RLIM_INFINITY, resource.RLIM_INFINITY)
    resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, unlimited)


async def healths(address: str) -> set[int]:
    """What the health service says of all services."""
    async with grpc.aio.insecure_channel(address) as channel:
        stub = health_pb2_grpc.HealthStub(channel)
        answers = [await stub.Check(health_pb2.HealthCheckRequest(service=name)) for name in NAMES]
    return {answer.status for answer in answers}


async def until_healths(address: str, wanted: int) -> None:
    """Wait until all services say so."""
    async with asyncio.timeout(60):
        while True:
            if await healths(address) == {wanted}:
                return
            await asyncio.sleep(0.02)


async def test_health_follows_the_store(folder: Path) -> None:
    """NOT_SERVING from the first write that fails, SERVING when there is room again."""
    with Process(folder) as server:
        async with Organiser(server.address, ORGANISER) as organiser:
            await organiser.ready()
            await organiser.create([new_match("draw", ["a", "b"], match_id="before")])
            assert await healths(server.address) == {SERVING}
            fill(server)
            with pytest.raises(StoreError) as caught:
                await organiser.create([new_match("draw", ["a", "b"], match_id="refused")])
            assert str(caught.value) == "the server cannot use its store; try again later"
            await until_healths(server.address, NOT_SERVING)
            assert (await organiser.get("matches/before")).name == "matches/before"
            free(server)
            await until_healths(server.address, SERVING)
            await organiser.create([new_match("draw", ["a", "b"], match_id="after")])
            listed = [match.name async for match in organiser.list_matches()]
            assert listed == ["matches/after", "matches/before"]


async def test_a_store_that_is_lost_ends_the_server_and_no_result_is_taken_back(
    folder: Path,
) -> None:
    """Streams end with UNAVAILABLE, the status is a failure, and the next start goes on."""
    with Process(folder, "--store-patience", "0.5") as server:
        async with Organiser(server.address, ORGANISER) as organiser:
            await organiser.ready()
            names = ("told", "running")
            await organiser.create([new_match("draw", ["a", "b"], match_id=each) for each in names])
            told = await organiser.cancel("matches/told")
            watching = asyncio.create_task(drain(organiser, "matches/running"))
            finished = organiser.watch_finished()
            assert (await anext(finished)).caught_up
            fill(server)
            with pytest.raises(PegboardError):
                await organiser.cancel("matches/running")
            with pytest.raises(Unavailable):
                await anext(finished)
            assert isinstance(await watching, Unavailable)
        _, err = server.process.communicate(timeout=60)
        assert server.process.returncode == 2
        last = err.splitlines()[-1]
        assert last.startswith(f"pegboard: cannot write to the store {folder / 'p.db'}: ")
        assert last.endswith("start again: matches go on as they were last stored")
        assert "Traceback" not in err
    with Process(folder) as server:
        async with Organiser(server.address, ORGANISER) as organiser:
            await organiser.ready()
            assert await organiser.get("matches/told") == told
            again = await organiser.get("matches/running")
            assert again.state == match_pb2.MATCH_STATE_RUNNING


async def drain(organiser: Organiser, name: str) -> PegboardError | None:
    """Watch a match to its end and return the error that ended it, None where it has a result."""
    try:
        async for events in organiser.watch_messages(name):
            if events[-1].HasField("match_ended"):
                return None
    except PegboardError as error:
        return error
    raise AssertionError("the stream ended well, and the match has no result")


def test_a_server_that_is_stopped_before_it_could_store_fails(folder: Path) -> None:
    """SIGTERM on a full disk: the status says that something was not stored."""

    async def trouble(server: Process) -> None:
        async with Organiser(server.address, ORGANISER) as organiser:
            await organiser.ready()
            await organiser.create([new_match("draw", ["a", "b"], match_id="m")])
            fill(server)
            with pytest.raises(PegboardError):
                await organiser.cancel("matches/m")

    with Process(folder) as server:
        asyncio.run(trouble(server))
        server.process.send_signal(signal.SIGTERM)
        _, err = server.process.communicate(timeout=60)
        assert server.process.returncode == 2
        assert "pegboard: cannot write to the store" in err.splitlines()[-1]
    with Process(folder) as server:
        assert server.line.startswith("listening on")
        fill(server)
        server.process.kill()


def test_a_store_that_cannot_be_written_is_told_of_at_the_start(folder: Path) -> None:
    """Not by the first match that is created."""
    with Process(folder) as server:
        server.process.send_signal(signal.SIGTERM)
        assert server.process.wait(60) == 0
    limit = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1, limit[1]))
    try:
        server = Process(folder)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limit)
    with server:
        _, err = server.process.communicate(timeout=60)
        assert server.line == ""
        assert server.process.returncode == 2
        assert err.startswith("pegboard: cannot ")
        assert len(err.splitlines()) == 1


async def test_callers_are_not_told_where_the_store_is(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of reads that fail as well."""
    async with serving() as rig, rig.organiser() as organiser:

        def broken(match_id: str) -> None:
            raise StoreError("cannot use the store /home/me/secret.db: disk I/O error")

        monkeypatch.setattr(rig.host._registry.store, "find", broken)
        with pytest.raises(StoreError) as caught:
            await organiser.get("matches/x")
        assert "secret" not in str(caught.value)
