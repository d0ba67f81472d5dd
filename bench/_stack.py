"""A server process and bot processes for the benchmarks of the whole stack."""

from __future__ import annotations

import asyncio
import contextlib
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from pegboard.client.organiser import Organiser, new_match

ROOT = Path(__file__).resolve().parent.parent
COMPILED = ROOT / ".venv-compiled" / "bin" / "python"
"""The interpreter of `make compiled`, where it has been run."""
RANDOM = (str(ROOT / "examples" / "bots" / "random_bot.py"),)
"""The bot that plays at random, as arguments of an interpreter."""
AT_ONCE = ("-c", "from pegboard.client import run; run(lambda turn: 0)")
"""A bot that answers with the first move listed."""
SECONDS_PER_TICK = 1 / os.sysconf("SC_CLK_TCK")


class Stack(NamedTuple):
    """A running server with its bots connected."""

    organiser: Organiser
    server: subprocess.Popen[str]
    bots: tuple[str, ...]


class Played(NamedTuple):
    """What a measured run played."""

    matches: int
    decisions: int
    seconds: float
    server_cpu_s: float

    @property
    def per_second(self) -> float:
        """Decisions a second."""
        return self.decisions / self.seconds


@contextlib.asynccontextmanager
async def stack(
    bots: Sequence[str], durability: str, python: str = sys.executable, bot: Sequence[str] = RANDOM
) -> AsyncIterator[Stack]:
    """Start a server and a bot for each name, all with `python`; stop them at the end."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        tokens = folder / "tokens.toml"
        lines = ["[bots]", *(f'{name} = "token-{name}"' for name in bots)]
        tokens.write_text("\n".join([*lines, "[organisers]", 'bench = "token-bench"', ""]))
        tokens.chmod(0o600)
        address = f"unix:{folder / 'socket'}"
        server = start_server(python, folder, tokens, durability)
        players = [start_bot([python, *bot], name, address) for name in bots]
        try:
            async with Organiser(address, "token-bench") as organiser:
                await organiser.ready()
                yield Stack(organiser, server, tuple(bots))
        finally:
            stop([*players, server])


def pythons() -> dict[str, str]:
    """Return the interpreters to measure, by what they run."""
    both = {"pure": sys.executable, "compiled": str(COMPILED)}
    return both if COMPILED.exists() else {"pure": sys.executable}


def stop(processes: Sequence[subprocess.Popen[Any]]) -> None:
    """End the processes, bots first."""
    for process in processes:
        process.terminate()
        process.wait()


def start_server(python: str, folder: Path, tokens: Path, durability: str) -> subprocess.Popen[str]:
    """Start `pegboard serve` and wait for its line."""
    command = [python, "-m", "pegboard.cli.main", "serve", "--unix", str(folder / "socket")]
    command += ["--tokens", str(tokens), "--store", str(folder / "store.db")]
    command += ["--durability", durability, "--log-level", "warning"]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert server.stdout is not None
    server.stdout.readline()
    return server


def start_bot(command: Sequence[str], name: str, address: str) -> subprocess.Popen[bytes]:
    """Start a bot."""
    environment = {**os.environ, "PEGBOARD_ADDRESS": address, "PEGBOARD_TOKEN": f"token-{name}"}
    return subprocess.Popen(command, env=environment)


def cpu_seconds(process: subprocess.Popen[str]) -> float:
    """Return user and system time of a process so far (Linux)."""
    fields = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) * SECONDS_PER_TICK


async def play(running: Stack, variant: str, matches: int, at_once: int, label: str) -> Played:
    """Play so many matches, `at_once` at any time, and count the decisions."""
    left = matches
    decisions = finished = 0
    cpu, start = cpu_seconds(running.server), time.perf_counter()

    async def create(count: int) -> None:
        nonlocal left
        count = min(count, left)
        left -= count
        if count:
            request = new_match(variant, running.bots, label=label)
            await running.organiser.create([request] * count)

    watcher = running.organiser.watch_finished(label)
    await create(at_once)
    async with asyncio.timeout(600):
        async for batch in watcher:
            for match in batch.finished:
                decisions += len(match.record.moves)
            finished += len(batch.finished)
            if finished == matches:
                break
            await create(len(batch.finished))
    seconds = time.perf_counter() - start
    return Played(matches, decisions, seconds, cpu_seconds(running.server) - cpu)
