"""Killed with -9 at any moment: nothing that was acknowledged is lost, and everything goes on."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.matches.fakes import opened, play

from pegboard.matches.store.protocol import Durability

VICTIM = Path(__file__).with_name("victim.py")


def run_and_kill(path: Path, durability: Durability, wait_s: float) -> list[str]:
    """Let the victim acknowledge something, kill it a little later, return what it said."""
    command = [sys.executable, str(VICTIM), str(path), durability.value]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as victim:
        assert victim.stdout is not None
        said = [victim.stdout.readline()]
        time.sleep(wait_s)
        victim.send_signal(signal.SIGKILL)
        said += victim.stdout.readlines()
    assert said[0], "the victim died of itself"
    return [line for line in said if line.endswith("\n") and line[:2] in ("M ", "R ")]


async def check(path: Path, durability: Durability, said: list[str]) -> None:
    """Everything that was said is still so, and all running matches can be played to the end."""
    host = await opened(path, durability)
    for line in said:
        kind, match_id, what = line.split()
        match = host.get(match_id)
        if kind == "R":
            assert match.finished is not None
            assert match.finished.result.termination.name == what
        elif match.finished is None:
            assert match.log.move_count >= int(what)
        else:
            assert len(match.record(True).moves) >= int(what)
    box = {"a": host.connect("a")}
    for match in host.running():
        assert match.log.first == 1 or match.log.move_count > 0
    while host.running():
        play(host, host.running()[0], box)
        await host.stored()
    matches, _ = host.list(page_size=1000)
    assert all(
        match.finished and match.finished.result.termination.name == "NORMAL" for match in matches
    )
    assert [number for number, _ in matches[0].events(0)][-1] == matches[0].event_count
    await host.close()


@pytest.mark.parametrize("durability", [Durability.STRICT, Durability.BATCHED])
async def test_nothing_acknowledged_is_lost(durability: Durability, tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    await check(path, durability, run_and_kill(path, durability, wait_s=0.2))


@pytest.mark.long
@pytest.mark.parametrize("durability", [Durability.STRICT, Durability.BATCHED])
@pytest.mark.parametrize("seed", range(10))
async def test_nothing_is_lost_over_many_crashes(
    durability: Durability, seed: int, tmp_path: Path
) -> None:
    path = tmp_path / "store.db"
    rng = random.Random(seed)
    said = []
    for _ in range(4):
        said += run_and_kill(path, durability, wait_s=rng.random() * 0.5)
    await check(path, durability, said)
