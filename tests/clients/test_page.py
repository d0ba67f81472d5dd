"""clients/README.md: the bots on the page play."""

from __future__ import annotations

import asyncio
import os
import re
import sys
from pathlib import Path

import pytest
from tests.service.rig import Rig, serving, token_of

from pegboard.rules.catalog import CATALOG
from pegboard.v1 import match_pb2, play_pb2

PAGE = Path(__file__).resolve().parents[2] / "clients" / "README.md"
TEXT = PAGE.read_text(encoding="utf-8")
SNIPPETS = re.findall(r"^```python\n(.*?)^```", TEXT, re.MULTILINE | re.DOTALL)


async def started(code: str, rig: Rig) -> asyncio.subprocess.Process:
    """Return the process of a bot that plays as alice."""
    env = {"PEGBOARD_ADDRESS": rig.address, "PEGBOARD_TOKEN": token_of("alice")}
    return await asyncio.create_subprocess_exec(
        sys.executable, "-c", code, env={**os.environ, **env}
    )


@pytest.mark.parametrize("code", SNIPPETS, ids=["kit", "bare"])
@pytest.mark.parametrize("variant", ["cribbage", "draw"])
async def test_a_bot_on_the_page_plays_a_match_to_its_end(code: str, variant: str) -> None:
    async with serving() as rig:
        rig.play("bob")
        bot = await started(code, rig)
        try:
            name = await rig.match("alice", "bob", variant=variant)
            result = await rig.result(name, 30)
            assert result.termination == match_pb2.TERMINATION_NORMAL, result
        finally:
            bot.kill()
            await bot.wait()


@pytest.mark.parametrize("variant", CATALOG)
async def test_the_bot_without_a_kit_finishes_every_variant(variant: str) -> None:
    """It keeps nothing, not even the turns that it has answered."""
    async with serving() as rig:
        rig.play("bob")
        bot = await started(SNIPPETS[1], rig)
        try:
            seats = CATALOG[variant].game.seats[-1]
            name = await rig.match(*["alice", *["bob"] * (seats - 1)], variant=variant)
            result = await rig.result(name, 60)
            assert result.termination == match_pb2.TERMINATION_NORMAL, result
        finally:
            bot.kill()
            await bot.wait()


def test_both_bots_are_short() -> None:
    assert len(SNIPPETS) == 2
    for code in SNIPPETS:
        assert len([line for line in code.splitlines() if line.strip()]) <= 15


def test_every_rejection_and_every_field_is_on_the_page() -> None:
    for value in play_pb2.RejectionReason.keys()[1:]:
        assert value.removeprefix("REJECTION_REASON_") in TEXT
    for message in (play_pb2.Hello, play_pb2.PlayResponse):
        for field in message.DESCRIPTOR.fields:
            assert field.name in TEXT
