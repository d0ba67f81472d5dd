"""Matches of a duplicate block are sealed until all of them have a result."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.matches.fakes import Hosted, opened, request

from pegboard.errors import InvalidRequest
from pegboard.matches.answers import Answer
from pegboard.matches.host import CreateRequest
from pegboard.matches.running import RunningMatch
from pegboard.matches.spec import MatchSpec
from pegboard.matches.store.protocol import Durability
from pegboard.matches.store.query import MatchQuery

DURABILITIES = [Durability.MEMORY, Durability.BATCHED, Durability.STRICT]
PAIR: dict[str, Any] = {"block": "pair", "block_matches": 2}


def readable(host: Hosted, **filters: Any) -> set[str]:
    """The ids that callers other than organisers find, page by page."""
    found: set[str] = set()
    token = ""
    while True:
        page, token = host.list(MatchQuery(sealed=False, **filters), page_size=2, page_token=token)
        assert not any(host.is_sealed(match) for match in page)
        found.update(match.id for match in page)
        if not token:
            return found


async def reopened(host: Hosted, path: Path | None, durability: Durability) -> Hosted:
    """The same store after a restart; one in memory goes on."""
    if path is None:
        return host
    await host.close()
    return await opened(path, durability)


@pytest.mark.parametrize("durability", DURABILITIES)
async def test_a_block_is_sealed_until_all_its_matches_have_a_result(
    durability: Durability, tmp_path: Path
) -> None:
    """Cancelled and faulty matches do not count; their replays do. Also across restarts."""
    path = None if durability is Durability.MEMORY else tmp_path / "store.db"
    host = await opened(path, durability)
    await host.create([request("a", "b", id=f"m{n}", label="cup", **PAIR) for n in range(2)])
    await host.begin("a", id="free", label="cup")
    assert readable(host) == readable(host, label="cup") == {"free"}
    assert {match.id for match in host.list()[0]} == {"free", "m0", "m1"}
    await host.forfeit("m0", 0, "gone")
    await host.cancel("m1")
    for _ in range(2):
        assert all(host.is_sealed(host.get(name)) for name in ("m0", "m1"))
        assert readable(host, finished=True) == set()
        host = await reopened(host, path, durability)
    await host.begin("b", "a", id="again", **PAIR)
    host = await reopened(host, path, durability)
    assert readable(host) == {"free"}
    await host.forfeit("again", 1, "gone")
    for _ in range(2):
        assert readable(host) == {"free", "m0", "m1", "again"}
        host = await reopened(host, path, durability)
    with pytest.raises(InvalidRequest, match="block 'pair' is over"):
        await host.begin("a", "b", id="late", **PAIR)
    await host.close()


async def test_a_replay_that_runs_too_long_keeps_its_block_sealed() -> None:
    """Results may be complete while a match of the same deals still runs."""
    host = await opened()
    await host.create([request("a", "b", id=f"m{n}", **PAIR) for n in range(3)])
    for name in ("m0", "m1"):
        await host.forfeit(name, 0, "gone")
    assert readable(host) == set()
    await host.cancel("m2")
    assert readable(host) == {"m0", "m1", "m2"}


async def test_a_server_fault_does_not_count(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is played again."""
    host = await opened()
    one, two = await host.create([request("a", id=f"m{n}", **PAIR) for n in range(2)])
    await host.forfeit("m0", 0, "gone")
    fault(host, two)
    await host.stored()
    assert two.finished is not None
    assert host.is_sealed(one)


def fault(host: Hosted, match: RunningMatch) -> None:
    """Let the server make an error in a match."""
    try:
        raise ZeroDivisionError
    except ZeroDivisionError:
        host.fault(match)


BAD: list[tuple[dict[str, Any], str]] = [
    ({"block": "b"}, "block_matches from 1 to 1000000, not 0"),
    ({"block": "b", "block_matches": 2_000_000}, "not 2000000"),
    ({"block_matches": 2}, "needs a block"),
    ({"block": "pair", "block_matches": 3}, "block 'pair' has 2 matches, not 3"),
    ({"block": "x" * 201, "block_matches": 2}, "at most 200 characters, not 201"),
    ({"block": "x\ny", "block_matches": 2}, "cannot hold control characters"),
]


@pytest.mark.parametrize(("spec", "words"), BAD, ids=[words for _, words in BAD])
async def test_a_block_that_makes_no_sense_is_refused(spec: dict[str, Any], words: str) -> None:
    """In one call with a match that fits, or later; nothing is created."""
    host = await opened()
    good = request("a", id="good", **PAIR)
    with pytest.raises(InvalidRequest, match=words):
        await host.create([good, request("a", id="bad", **spec)])
    assert host.list() == ([], "")
    await host.create([good])
    with pytest.raises(InvalidRequest, match=words):
        await host.create([request("a", id="bad", **spec)])


TEXTS: dict[str, tuple[CreateRequest, str]] = {
    "bot": (request("a" * 65), "a bot's name has at most 64"),
    "NUL": (request("a\0"), "a bot's name cannot hold control"),
    "bell": (request("a", label="\a"), "a label cannot hold control"),
    "label": (request("a", label="l" * 201), "a label has at most 200"),
    "line": (request("a", label="\u2028"), "a label cannot hold control"),
    "nonce": (request("a", nonce="n" * 201), "a nonce has at most 200"),
    "escape": (request("a", nonce="\x1b[2J"), "a nonce cannot hold control"),
    "request": (request("a", request_id="r" * 201), "a request_id has at most 200"),
    "no request": (request("a", request_id="\n"), "a request_id cannot hold control"),
    "half": (request("a", label="\ud800"), "a label cannot hold control"),
    "variant": (CreateRequest(MatchSpec("v" * 10**6, ("a",))), "a variant has at most 64"),
    "key": (request("a", options={"k" * 65: "1"}), "an option's key has at most 64"),
    "value": (request("a", options={"k": "1" * 201}), "an option's value has at most 200"),
    "options": (request("a", options={str(n): "1" for n in range(65)}), "at most 64 options"),
    "id": (request("a", id="m\n"), "no match id"),
    "digits": (request("a", id="٣"), "no match id"),
}


@pytest.mark.parametrize("kind", TEXTS)
async def test_text_is_short_and_can_be_printed(kind: str) -> None:
    """What is stored is shown to people, in logs and on terminals."""
    host = await opened()
    bad, words = TEXTS[kind]
    with pytest.raises(InvalidRequest, match=words) as caught:
        await host.create([bad])
    assert len(str(caught.value)) < 300
    assert str(caught.value).isprintable()


async def test_names_in_any_script_are_welcome(tmp_path: Path) -> None:
    """They come back as they were."""
    path = tmp_path / "store.db"
    host = await opened(path, Durability.BATCHED)
    texts = {"label": "Coupe d'été, 決勝 🂡", "nonce": "ñ" * 200, "block": "ж", "block_matches": 1}
    match = await host.begin("Zoë", id="m", **texts)
    await host.close()
    host = await opened(path, Durability.BATCHED)
    assert host.get("m").spec == match.spec
    assert host.list(MatchQuery(label="Coupe d'été, 決勝 🂡"))[0] == [host.get("m")]
    await host.close()


async def test_the_store_is_not_asked_for_what_cannot_be_an_id(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A megabyte of names that are none costs no query."""
    host = await opened()
    asked: list[str] = []
    monkeypatch.setattr(host._registry.store, "find", asked.append)
    strange = ["", "-a", "A", "a" * 64, "a\0", "a b", "é", "a\n", "matches/a", "x" * 10**6, "٣"]
    for name in strange:
        assert host._registry.find(name) is None
        assert host.resign("a", name, 0).reason.name == "UNKNOWN_SEAT"
        assert host.answer("a", Answer(name, 0, 1, move_index=0)).reason.name == "UNKNOWN_SEAT"
    assert asked == []
    assert host._registry.find("a-1") is None
    assert asked == ["a-1"]
