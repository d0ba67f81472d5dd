"""Bad bots get a clear message; their match ends by their fault; everybody else plays on."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.patience import PATIENCE_S
from tests.service.rig import Rig, serving, token_of

from pegboard.matches.host import HostSettings
from pegboard.rpc.limits import Limits
from pegboard.v1 import match_pb2 as pb

ZOO = Path(__file__).resolve().parents[1] / "bots" / "zoo.py"
LIMITS = Limits(heartbeat_s=0.5, stall_s=2.0, stop_s=1.0)
HOST = HostSettings(reconnect_s=1.0)
TIME = pb.TimeControl(move_ms=1500, startup_ms=2500)
# A bot that is to be late has to be there first, and starting takes a minute on a crowded machine.
PATIENT = pb.TimeControl(move_ms=1500, startup_ms=120_000)

GONE = {pb.TERMINATION_DISCONNECT}
LATE = {pb.TERMINATION_TIMEOUT}


async def start(rig: Rig, kind: str) -> asyncio.subprocess.Process:
    """Start a bad bot as zoe."""
    return await asyncio.create_subprocess_exec(
        sys.executable,
        str(ZOO),
        kind,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        env={**os.environ, "PEGBOARD_ADDRESS": rig.address, "PEGBOARD_TOKEN": token_of("zoe")},
    )


@pytest.mark.parametrize(
    ("kind", "terminations", "words"),
    [
        ("exits", GONE, ""),
        ("hangs", GONE, ""),
        ("noise", GONE, ""),
        ("garbage_first", GONE, "INVALID_ARGUMENT: the first message is not a PlayRequest"),
        (
            "garbage_later",
            GONE | LATE,
            "INVALID_ARGUMENT: zoe sent bytes that are not a PlayRequest",
        ),
        ("old_protocol", GONE, "INVALID_ARGUMENT: this server speaks protocol version 1, not 99"),
        ("illegal", {pb.TERMINATION_ILLEGAL_MOVE}, "rejected: 1 no move has index 999"),
        ("stale", GONE | LATE, "rejected: 2 turn 100"),
        ("meddler", GONE | LATE, "rejected: 3 zoe does not sit at seat"),
        ("impostor", GONE, "UNAUTHENTICATED: nobody has this token"),
        ("organiser", GONE, "PERMISSION_DENIED: arena is an organiser"),
        ("huge", GONE | LATE, "RESOURCE_EXHAUSTED: "),
        ("flood", GONE | LATE, "RESOURCE_EXHAUSTED: more than 1000"),
        ("chatter", GONE | LATE, "RESOURCE_EXHAUSTED: more than 1000"),
        ("deaf", GONE | LATE, ""),
        ("crash", GONE | LATE, ""),
        ("slow", GONE | LATE, ""),
        ("stuffed", LATE, ""),
        ("holder", LATE, ""),
        ("poller", {pb.TERMINATION_ILLEGAL_MOVE}, "FAILED_PRECONDITION: match "),
        ("greeter", GONE | LATE, "INVALID_ARGUMENT: zoe sent a second Hello"),
        ("resigner", GONE | LATE, "RESOURCE_EXHAUSTED: more than 1000"),
        ("longnames", GONE | LATE, "RESOURCE_EXHAUSTED: zoe sent a message of 10485"),
        ("stutter", GONE | LATE, "RESOURCE_EXHAUSTED: more than 1000"),
        ("loudkit", GONE, "INVALID_ARGUMENT: the first message has"),
        ("revolving", GONE | LATE, "RESOURCE_EXHAUSTED: more than 1000"),
    ],
)
async def test_a_bad_bot_loses_its_match_and_no_other_is_disturbed(
    kind: str, terminations: set[int], words: str
) -> None:
    """The result names bot, match and reason, the bot is told, the others finish."""
    async with serving(LIMITS, HOST) as rig:
        rig.play("alice")
        rig.play("bob")
        bad = await rig.match(
            "alice", "zoe", time_control=TIME if terminations == GONE else PATIENT
        )
        good = [await rig.match("alice", "bob", variant="draw") for _ in range(3)]
        process = await start(rig, kind)
        try:
            result = await rig.result(bad)
            assert result.termination in terminations, result
            assert result.seat_at_fault == 1
            assert list(result.points) == [1.0, 0.0]
            assert "zoe" in result.detail
            assert bad.removeprefix("matches/") in result.detail
            for name in good:
                assert (await rig.result(name)).termination == pb.TERMINATION_NORMAL
        finally:
            if process.returncode is None and not words:
                process.kill()
        assert words in await last_words(process, words)


@pytest.mark.parametrize("kind", ["stuffed", "holder", "poller"])
async def test_a_bot_that_does_not_take_its_turns_holds_no_match_up(kind: str) -> None:
    """All of its matches end, one after the other at the latest, and nobody else loses one."""
    quick = pb.TimeControl(move_ms=600)
    async with serving(LIMITS, HOST) as rig:
        rig.play("alice")
        bad = [await rig.match("zoe", "alice", time_control=quick) for _ in range(10)]
        process = await start(rig, kind)
        try:
            results = [await rig.result(name) for name in bad]
        finally:
            process.kill()
            await process.wait()
        assert {result.seat_at_fault for result in results} == {0}
        late = [result for result in results if result.termination == pb.TERMINATION_TIMEOUT]
        assert len(late) >= 9, results


async def last_words(process: asyncio.subprocess.Process, wanted: str) -> str:
    """Read what the bot prints until it says what is wanted; then it may go."""
    heard = ""
    assert process.stdout is not None
    try:
        async with asyncio.timeout(PATIENCE_S):
            while wanted not in heard or not wanted:
                line = await process.stdout.readline()
                if not line:
                    break
                heard += line.decode()
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()
    return heard


async def test_a_spy_reads_nothing_of_a_block_that_is_not_over() -> None:
    """Neither the mirror that it holds nor the one that it has played to the end."""
    block: dict[str, Any] = {"variant": "draw", "block": "b", "block_matches": 2}
    async with serving(LIMITS, HOST) as rig, rig.organiser() as organiser:
        rig.play("alice")
        first = await rig.match("alice", "zoe", **block)
        held = await rig.match("zoe", "carol", **block)  # carol comes later
        process = await start(rig, "spy")
        heard = await last_words(process, f"watch as 1 {first} over: ")
        told = [line.split(": ") for line in heard.splitlines()]
        # Its own seats, while they run: what it is told there comes to it anyway.
        own = {f"watch as 1 {first} running", f"watch as 0 {held} running"}
        denied = {what for what, answer in told if answer in {"PERMISSION_DENIED", "0"}}
        assert {what for what, _ in told} - denied == own
        assert {
            f"{what} {name}"
            for what in ("get", "list")
            for name in (f"{first} over", f"{held} running")
        } <= denied
        await organiser.forfeit(held, 0, "gone")
        async with rig.organiser(token_of("zoe")) as zoe:
            assert (await zoe.record(first)) == (await organiser.record(first))
            assert (await zoe.get(held)).spec.block == "b"
            assert {match.name async for match in zoe.list_matches()} == {first, held}
