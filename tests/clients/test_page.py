"""clients/README.md: the bots on the page play."""

from __future__ import annotations

import asyncio
import os
import re
import sys
from pathlib import Path

import pytest
from tests.service.rig import serving, token_of

from pegboard.v1 import match_pb2, play_pb2

PAGE = Path(__file__).resolve().parents[2] / "clients" / "README.md"
TEXT = PAGE.read_text(encoding="utf-8")
SNIPPETS = re.findall(r"^```python\n(.*?)^```", TEXT, re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("code", SNIPPETS, ids=["kit", "bare"])
@pytest.mark.parametrize("variant", ["cribbage", "draw"])
async def test_a_bot_on_the_page_plays_a_match_to_its_end(code: str, variant: str) -> None:
    """As it stands there, in a process of its own."""
    async with serving() as rig:
        rig.play("bob")
        bot = await asyncio.create_subprocess_exec(
            sys.executable,
            "-c",
            code,
            env={
                **os.environ,
                "PEGBOARD_ADDRESS": rig.address,
                "PEGBOARD_TOKEN": token_of("alice"),
            },
        )
        try:
            name = await rig.match("alice", "bob", variant=variant)
            result = await rig.result(name, 30)
            assert result.termination == match_pb2.TERMINATION_NORMAL, result
        finally:
            bot.kill()
            await bot.wait()


def test_both_bots_are_short() -> None:
    """Fifteen lines that do something."""
    assert len(SNIPPETS) == 2
    for code in SNIPPETS:
        assert len([line for line in code.splitlines() if line.strip()]) <= 15


def test_every_rejection_and_every_field_is_on_the_page() -> None:
    """The page follows the contract."""
    for value in play_pb2.RejectionReason.keys()[1:]:
        assert value.removeprefix("REJECTION_REASON_") in TEXT
    for message in (play_pb2.Hello, play_pb2.PlayResponse):
        for field in message.DESCRIPTOR.fields:
            assert field.name in TEXT
