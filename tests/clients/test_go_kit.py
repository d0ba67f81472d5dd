"""The Go kit and its bots beside those in Python, at a real server."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from tests.clients import turn_vectors
from tests.patience import PATIENCE_S, until
from tests.service.rig import Rig, serving, token_of
from tests.toolchains import require

from pegboard.client import testing
from pegboard.client.bot import as_bot
from pegboard.client.testing import ScriptedMatch
from pegboard.rules.record import Record
from pegboard.v1 import match_pb2

pytestmark = pytest.mark.polyglot

KIT = Path(__file__).resolve().parents[2] / "clients" / "go"
VARIANTS = ("cribbage", "draw", "cribbage-muggins")
SEED = "go and python"
ENDLESS = """package main

import "github.com/pegboard/pegboard/clients/go/pegboard"

func main() {
	pegboard.Run(func(*pegboard.Turn) pegboard.Choice {
		println("asked")
		select {}
	})
}
"""


def build(folder: Path, name: str, source: str) -> Path:
    """Compile a package of the kit's module, or a file, and return the program."""
    require("go")
    program = folder / name
    subprocess.run(["go", "build", "-o", str(program), source], cwd=KIT, check=True)
    return program


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The random and the greedy bot."""
    folder = tmp_path_factory.mktemp("go")
    return {name: build(folder, name, f"./bots/{name}") for name in ("random", "greedy")}


def start(program: Path, **env: str) -> subprocess.Popen[str]:
    """Start a bot; of the bots' own variables it has those that are given."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith("PEGBOARD_")}
    return subprocess.Popen([str(program)], env=kept | env, stderr=subprocess.PIPE, text=True)


def start_at(rig: Rig, name: str, program: Path, **env: str) -> subprocess.Popen[str]:
    """Start a bot at a server."""
    return start(program, PEGBOARD_ADDRESS=rig.address, PEGBOARD_TOKEN=token_of(name), **env)


@asynccontextmanager
async def ended_in_good_order(*bots: subprocess.Popen[str]) -> AsyncIterator[None]:
    """Tell the bots to stop after the block: each ends with status 0 and has said nothing."""
    try:
        yield
        for bot in bots:
            bot.terminate()
            _, err = await asyncio.to_thread(bot.communicate, timeout=PATIENCE_S)
            assert (bot.returncode, err) == (0, "")
    finally:
        for bot in bots:
            bot.kill()


async def test_go_bots_play_python_bots_without_a_fault(programs: dict[str, Path]) -> None:
    """Bob and Carol are in Go; what the random one did is what the one in Python does."""
    turn_vectors.RANDOM.SEED = SEED
    async with serving() as rig:
        rig.play("alice", turn_vectors.RANDOM.choose)
        rig.play("zoe", turn_vectors.GREEDY.choose)
        bob = start_at(rig, "bob", programs["random"], PEGBOARD_BOT_SEED=SEED)
        carol = start_at(rig, "carol", programs["greedy"])
        async with ended_in_good_order(bob, carol), rig.organiser() as organiser:
            pairs = [(go, python) for go in ("bob", "carol") for python in ("alice", "zoe")]
            names = [
                await rig.match(*order, variant=variant)
                for variant in VARIANTS
                for pair in pairs
                for order in (pair, pair[::-1])
            ]
            results = await asyncio.gather(*(rig.result(name) for name in names))
            records = [await organiser.record(name) for name in names]
    assert {result.termination for result in results} == {match_pb2.TERMINATION_NORMAL}
    checked = {record.variant: repeated(record) for record in records if "bob" in record.bots}
    assert checked.keys() == {*VARIANTS}
    assert min(checked.values()) > 20


def repeated(record: Record) -> int:
    """Ask the random bot in Python again for each move of Bob; return how many were the same."""
    match = ScriptedMatch.from_record(record, 0)
    bot = as_bot(turn_vectors.RANDOM.choose)
    seat_of_bob, moves = record.bots.index("bob"), ScriptedMatch.from_record(record).moves
    for seat, move in moves:
        if seat == seat_of_bob:
            testing._ask(match, match.turn(seat), bot)  # claims are refused and asked for again
            assert match.moves[-1] == (seat, move), f"move {len(match.moves)} of {record.variant}"
        else:
            match.apply(seat, move)
    return sum(seat == seat_of_bob for seat, _ in moves)


async def test_the_bot_of_the_page_plays(tmp_path: Path) -> None:
    page = (KIT / "README.md").read_text(encoding="utf-8")
    (code,) = re.findall(r"^```go\n(package main.*?)^```", page, re.MULTILINE | re.DOTALL)
    assert code.count("\n") <= 15
    (tmp_path / "main.go").write_text(code, encoding="utf-8")
    program = build(tmp_path, "bot", str(tmp_path / "main.go"))
    async with serving() as rig:
        rig.play("alice")
        bot = start_at(rig, "bob", program)
        async with ended_in_good_order(bot):
            for variant in VARIANTS:
                result = await rig.result(await rig.match("alice", "bob", variant=variant))
                assert result.termination == match_pb2.TERMINATION_NORMAL, result


def one_line_of(bot: subprocess.Popen[str]) -> str:
    """Return the line with which a bot ends; its status is 1."""
    try:
        _, err = bot.communicate(timeout=PATIENCE_S)
    finally:
        bot.kill()
    assert bot.returncode == 1
    assert err.startswith("pegboard bot: ")
    assert err.count("\n") == 1
    return str(err)


@pytest.mark.parametrize(
    ("env", "sentence"),
    [
        ({"PEGBOARD_ADDRESS": "nonsense", "PEGBOARD_TOKEN": "x"}, "is not an address"),
        ({"PEGBOARD_ADDRESS": "localhost:1"}, "PEGBOARD_TOKEN is not set"),
        ({}, "PEGBOARD_TOKEN is not set"),
    ],
)
def test_variables_that_cannot_be_used_end_a_bot(
    programs: dict[str, Path], env: dict[str, str], sentence: str
) -> None:
    assert sentence in one_line_of(start(programs["random"], **env))


async def test_a_wrong_token_ends_a_bot(programs: dict[str, Path]) -> None:
    async with serving() as rig:
        bot = start(programs["random"], PEGBOARD_ADDRESS=rig.address, PEGBOARD_TOKEN="wrong")
        assert "nobody has this token" in await asyncio.to_thread(one_line_of, bot)


async def test_a_newer_connection_ends_a_bot(programs: dict[str, Path]) -> None:
    async with serving() as rig:
        name = await rig.match("alice", "bob", variant="draw")
        older = start_at(rig, "bob", programs["random"])
        rig.play("alice")
        await rig.result(name)
        newer = start_at(rig, "bob", programs["random"])
        async with ended_in_good_order(newer):
            assert "a newer connection of bob" in await asyncio.to_thread(one_line_of, older)


async def test_a_second_signal_ends_a_bot_in_a_turn(tmp_path: Path) -> None:
    (tmp_path / "main.go").write_text(ENDLESS, encoding="utf-8")
    program = build(tmp_path, "bot", str(tmp_path / "main.go"))
    async with serving() as rig:
        await rig.match("bob", "bob")
        bot = start_at(rig, "bob", program)
        try:
            assert bot.stderr is not None
            assert await asyncio.to_thread(bot.stderr.readline) == "asked\n"
            bot.send_signal(signal.SIGINT)
            await until(lambda: ended_by_another(bot))
            assert bot.returncode == -signal.SIGINT
        finally:
            bot.kill()


def ended_by_another(bot: subprocess.Popen[str]) -> bool:
    """Whether the bot has ended; if not, send the signal once more: the first may not be taken yet."""
    if bot.poll() is None:
        bot.send_signal(signal.SIGINT)
    return bot.poll() is not None


async def test_a_proxy_of_the_environment_is_not_asked(programs: dict[str, Path]) -> None:
    nowhere = "http://127.0.0.1:9"
    proxies = dict.fromkeys(("http_proxy", "https_proxy", "HTTPS_PROXY", "grpc_proxy"), nowhere)
    async with serving() as rig:
        rig.play("alice")
        bot = start_at(rig, "bob", programs["random"], **proxies)
        async with ended_in_good_order(bot):
            result = await rig.result(await rig.match("alice", "bob", variant="draw"))
            assert result.termination == match_pb2.TERMINATION_NORMAL
