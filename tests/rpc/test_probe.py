"""The server proves to itself that it has read what had arrived, and gives up where it cannot."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from tests.service.rig import serving, token_of

from pegboard.rpc import probe as probes
from pegboard.rpc.probe import ServerProbe


async def given(probe: ServerProbe, number: int) -> None:
    """Wait until a proof is given."""
    async with asyncio.timeout(20):
        while not probe.passed(number):  # noqa: ASYNC110
            await asyncio.sleep(0.001)


async def test_what_had_arrived_is_read_when_a_proof_is_given() -> None:
    """Each message that was sent before a proof was asked for has been read when it is given."""
    async with serving() as rig:
        wire = rig.wire(token_of("alice"))
        await wire.hello()
        probe = rig.server.probe
        bot = rig.host._bots.of("alice")
        for count in range(1, 51):
            await wire.send(heartbeat=count)
            await given(probe, probe.ask())
            assert bot.heard == count


async def test_no_proof_is_given_before_it_is_asked_for() -> None:
    """No proof is given before it is asked for."""
    async with serving() as rig:
        probe = rig.server.probe
        assert not probe.passed(1)
        number = probe.ask()
        assert not probe.passed(number)
        await given(probe, number)
        assert not probe.passed(number + 1)


async def test_a_server_that_cannot_call_itself_goes_on_without_proofs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Otherwise no match would end by time any more."""
    monkeypatch.setattr(probes, "PATIENCE_S", 0.05)

    async def unheard(request: Any, wait_for_ready: bool) -> None:
        await asyncio.sleep(3600)

    probe = ServerProbe()
    async with asyncio.timeout(20):
        await probe._call(unheard)


async def test_the_probes_socket_goes_with_the_server() -> None:
    """Nobody else can reach it, and it is removed."""
    async with serving() as rig:
        folder = rig.server.probe.folder
        assert folder is not None
        assert folder.stat().st_mode & 0o077 == 0
        assert list(folder.iterdir())
    assert not folder.exists()
