"""Lists of matches: filters, orders, pages that stay as they are."""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.matches.fakes import GAMES, Heap, Hosted, opened, request

from pegboard.errors import InvalidRequest
from pegboard.matches.host import CreateRequest
from pegboard.matches.store.protocol import Durability
from pegboard.matches.store.query import MatchOrder, MatchQuery
from pegboard.matches.store.sqlite import _listing

STORES = [Durability.MEMORY, Durability.BATCHED]


def match_request(number: int) -> CreateRequest:
    """One of six: two variants, three bots, two labels."""
    bots = ("a", "b") if number % 3 else ("a", "c")
    asked = request(*bots, id=f"m{number}", label="even" if number % 2 == 0 else "odd")
    variant = "heap" if number < 4 else "pile"
    return asked._replace(spec=replace(asked.spec, variant=variant))


@asynccontextmanager
async def six(durability: Durability, path: Path) -> AsyncIterator[Hosted]:
    """Six matches, of which m1, then m4, then m0 have ended."""
    GAMES["pile"] = Heap()
    host = await opened(None if durability is Durability.MEMORY else path / "store.db", durability)
    try:
        for number in range(6):
            await host.create([match_request(number)])
        for number in (1, 4, 0):
            await host.cancel(f"m{number}")
        yield host
    finally:
        await host.close()
        del GAMES["pile"]


def listed(host: Hosted, page_size: int = 50, **query: Any) -> str:
    """The numbers of all matches of a list, page by page."""
    numbers, token = "", ""
    while True:
        page, token = host.list(MatchQuery(**query), page_size=page_size, page_token=token)
        numbers += "".join(match.id.removeprefix("m") for match in page)
        if not token:
            return numbers


@pytest.mark.parametrize("durability", STORES)
@pytest.mark.parametrize("page_size", [1, 2, 50])
async def test_filters_and_orders(durability: Durability, page_size: int, tmp_path: Path) -> None:
    """Every filter alone and with others, in every order."""
    async with six(durability, tmp_path) as host:
        for query, numbers in (
            ({}, "543210"),
            ({"order": MatchOrder.CREATE_TIME_ASC}, "012345"),
            ({"order": MatchOrder.END_TIME_DESC}, "041"),
            ({"order": MatchOrder.END_TIME_ASC}, "140"),
            ({"variant": "pile"}, "54"),
            ({"variant": "pile", "order": MatchOrder.CREATE_TIME_ASC}, "45"),
            ({"variant": "nothing"}, ""),
            ({"bot": "c"}, "30"),
            ({"bot": "b", "variant": "heap"}, "21"),
            ({"bot": "b", "order": MatchOrder.END_TIME_ASC}, "14"),
            ({"bot": "a", "label": "even", "finished": False}, "2"),
            ({"variant": "heap", "finished": True}, "10"),
            ({"label": "odd", "order": MatchOrder.END_TIME_DESC}, "1"),
        ):
            assert listed(host, page_size, **query) == numbers, query


@pytest.mark.parametrize("durability", STORES)
async def test_ranges_of_time(durability: Durability, tmp_path: Path) -> None:
    """The first bound belongs to a range, the second does not."""
    async with six(durability, tmp_path) as host:
        matches, _ = host.list()
        times = {match.id: round(match.create_time * 1000) for match in matches}
        first, last = times["m0"], times["m5"]
        assert listed(host, created=(first, last + 1)) == "543210"
        assert listed(host, created=(last + 1, None)) == ""
        assert listed(host, created=(None, first)) == ""
        since = [number for number in range(5, -1, -1) if times[f"m{number}"] >= times["m3"]]
        assert listed(host, created=(times["m3"], None)) == "".join(map(str, since))
        assert listed(host, ended=(0, None)) == "410"
        assert listed(host, ended=(None, 1)) == ""


@pytest.mark.parametrize("durability", STORES)
@pytest.mark.parametrize("order", MatchOrder)
async def test_pages_stay_as_they_are(
    durability: Durability, order: MatchOrder, tmp_path: Path
) -> None:
    """A match that begins, or ends, between two pages comes at the far end or not at all."""
    async with six(durability, tmp_path) as host:
        whole = listed(host, order=order)
        page, token = host.list(MatchQuery(order=order), page_size=2)
        await host.cancel("m2")
        await host.create([request("a", id="m9")])
        rest, _ = host.list(MatchQuery(order=order), page_token=token)
        numbers = "".join(match.id.removeprefix("m") for match in [*page, *rest])
        assert numbers[: len(whole)] == whole
        assert len(numbers) == len(whole) + (not order.descending)


async def test_a_token_holds_for_its_own_query() -> None:
    """Another filter or order would leave matches out."""
    host = await opened()
    await host.create([request("a", label="x") for _ in range(3)])
    _, token = host.list(MatchQuery(label="x"), page_size=1)
    for query in (MatchQuery(), MatchQuery(label="x", order=MatchOrder.CREATE_TIME_ASC)):
        with pytest.raises(InvalidRequest, match="same filters"):
            host.list(query, page_size=1, page_token=token)


@pytest.mark.parametrize(
    ("query", "plan"),
    [
        (MatchQuery(bot="a"), "SEARCH tags USING PRIMARY KEY (tag=? AND key<?)"),
        (MatchQuery(variant="v"), "SEARCH tags USING PRIMARY KEY (tag=? AND key<?)"),
        (MatchQuery(label="x"), "SEARCH matches USING INDEX matches_label (label=? AND key<?)"),
        (MatchQuery(), "SEARCH matches USING INTEGER PRIMARY KEY (rowid<?)"),
        (
            MatchQuery(order=MatchOrder.END_TIME_DESC),
            "SEARCH matches USING INDEX matches_finish (finish<?)",
        ),
        (
            MatchQuery(label="x", order=MatchOrder.END_TIME_DESC),
            "SEARCH matches USING INDEX matches_label_finish (label=? AND finish<?)",
        ),
    ],
)
async def test_a_list_is_read_from_an_index(query: MatchQuery, plan: str, tmp_path: Path) -> None:
    """In its order: SQLite sorts nothing and does not read what comes before the page."""
    path = tmp_path / "store.db"
    await (await opened(path, Durability.BATCHED)).close()
    where, values = _listing(query, 7)
    connection = sqlite3.connect(path)
    found = connection.execute(
        f"EXPLAIN QUERY PLAN SELECT matches.spec FROM matches {where}",
        values,
    ).fetchall()
    connection.close()
    assert found[0][3] == plan
    assert not any("TEMP B-TREE" in row[3] for row in found)
