"""clients/python/README.md: its programs run as they stand there."""

from __future__ import annotations

import asyncio
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.patience import PATIENCE_S
from tests.service.rig import ORGANISER, Rig, serving, token_of

from pegboard.client.testing import ScriptedMatch
from pegboard.rules.record import Record
from pegboard.v1 import match_pb2

PAGE = Path(__file__).resolve().parents[2] / "clients" / "python" / "README.md"
BOT, AGAIN, ORGANISE = re.findall(
    r"^```python\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL
)


def start(code: str, rig: Rig, token: str, folder: Path) -> subprocess.Popen[str]:
    """Start a program that finds the rig's server in its environment."""
    return subprocess.Popen(
        [sys.executable, "-c", code],
        env={**os.environ, "PEGBOARD_ADDRESS": rig.address, "PEGBOARD_TOKEN": token},
        cwd=folder,
        stdout=subprocess.PIPE,
        text=True,
    )


@pytest.fixture
def killed() -> Iterator[list[subprocess.Popen[str]]]:
    """Processes that are killed after the test."""
    processes: list[subprocess.Popen[str]] = []
    yield processes
    for process in processes:
        process.kill()
        process.wait()


async def test_the_bot_plays_and_its_record_is_asked_again(
    killed: list[subprocess.Popen[str]], tmp_path: Path
) -> None:
    async with serving() as rig:
        rig.play("bob")
        name = await rig.match("alice", "bob", match_id="lost")
        bot = start(BOT, rig, token_of("alice"), tmp_path)
        killed.append(bot)
        printing = asyncio.create_task(asyncio.to_thread(bot.communicate))
        result = await rig.result(name)
        assert result.termination == match_pb2.TERMINATION_NORMAL
        async with rig.organiser() as organiser:
            record = await organiser.record(name)
        bot.terminate()
        out, _ = await printing
        assert bot.returncode == 0
    assert out.startswith("turn 1 of seat 0 in matches/lost\n")
    (tmp_path / "lost.jsonl").write_text(record.to_json() + "\n", encoding="utf-8")
    assert ask_again(record, tmp_path)


def ask_again(record: Record, folder: Path) -> int:
    """Run the page's second program at a move of seat 0; return how many moves were before."""
    before = next(n for n, move in enumerate(record.moves) if n > 10 and move.startswith("0 PLAY"))
    code = BOT.replace("run(choose)", "") + AGAIN.replace("record, 40", f"record, {before}")
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
    turn = ScriptedMatch.from_record(record, before).turn(0)
    assert done.stdout.startswith(f"{turn}\n")
    index = int(done.stdout.splitlines()[-1])
    assert f"0 {turn.moves[index]}" == record.moves[before]
    return before


async def test_the_organiser_watches_a_match_to_its_end(
    killed: list[subprocess.Popen[str]], tmp_path: Path
) -> None:
    assert len([line for line in ORGANISE.splitlines() if line.strip()]) <= 15
    async with serving() as rig:
        rig.play("alice")
        rig.play("bob")
        program = start(ORGANISE, rig, ORGANISER, tmp_path)
        killed.append(program)
        out, _ = await asyncio.to_thread(program.communicate, timeout=PATIENCE_S)
        assert program.returncode == 0
    *events, result, record = out.splitlines()
    assert [int(line.split()[0]) for line in events] == list(range(1, len(events) + 1))
    assert "Result(termination=<Termination.NORMAL" in result
    assert Record.from_json(record).bots == ("alice", "bob")
