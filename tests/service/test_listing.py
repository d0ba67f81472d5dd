"""`ListMatches`: filters and orders as a caller gives them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from google.protobuf.timestamp_pb2 import Timestamp
from tests.service.rig import serving

from pegboard.client.organiser import new_match
from pegboard.errors import InvalidRequest
from pegboard.service.listing import read_query
from pegboard.v1 import match_pb2

RANGE = match_pb2.TimeRange


async def test_an_organiser_lists_what_fits() -> None:
    """Filters and order reach the store."""
    async with serving() as rig, rig.organiser() as organiser:
        for number, (variant, bot) in enumerate([("draw", "bob"), ("cribbage", "carol")] * 2):
            await organiser.create([new_match(variant, ["alice", bot], match_id=f"m-{number}")])
        for name in ("matches/m-3", "matches/m-0"):
            await organiser.cancel(name)
        now = datetime.now(UTC)

        async def names(**query: Any) -> list[str]:
            found = organiser.list_matches(**query)
            return [match.name.removeprefix("matches/m-") async for match in found]

        oldest, ended = match_pb2.MATCH_ORDER_CREATE_TIME_ASC, match_pb2.MATCH_ORDER_END_TIME_ASC
        assert await names(variant="draw", order=oldest) == ["0", "2"]
        assert await names(bot="carol") == ["3", "1"]
        assert await names(order=ended) == ["3", "0"]
        hour = timedelta(hours=1)
        assert await names(created=(now - hour, now + hour)) == ["3", "2", "1", "0"]
        assert await names(ended=(None, now - hour)) == []
        with pytest.raises(InvalidRequest, match="is not before its end_time"):
            await names(created=(now, now - hour))


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"state": 9}, "no match state has the number 9"),
        ({"order": 9}, "no order of matches has the number 9"),
        ({"order": -1}, "no order of matches has the number -1"),
        ({"state": 1, "order": 3}, "a running match has no end"),
        ({"state": 1, "end_time": RANGE(end_time=Timestamp(seconds=1))}, "has no end"),
        ({"create_time": RANGE(start_time=Timestamp(nanos=-1))}, "create_time.start_time is not"),
        ({"end_time": RANGE(end_time=Timestamp(seconds=1 << 60))}, "end_time.end_time is not a"),
        ({"variant": "draw"}, "write variants/ID, not 'draw'"),
        ({"bot": "bob"}, "write bots/ID, not 'bob'"),
        ({"variant": "v" * 201}, "variant has 201 characters"),
        ({"bot": "b" * 201}, "bot has 201 characters"),
    ],
)
def test_a_bad_value_gets_one_sentence(fields: dict[str, Any], words: str) -> None:
    """Which says what is wrong."""
    with pytest.raises(InvalidRequest, match=words):
        read_query(match_pb2.ListMatchesRequest(**fields))


@pytest.mark.parametrize(("nanos", "milliseconds"), [(0, 5000), (1, 5001), (1_000_000, 5001)])
def test_times_between_milliseconds_are_rounded_up(nanos: int, milliseconds: int) -> None:
    """What happened at 5.000 s is not at or after 5.000000001 s, and is before it."""
    time = Timestamp(seconds=5, nanos=nanos)
    request = match_pb2.ListMatchesRequest(create_time=RANGE(start_time=time))
    assert read_query(request).created == (milliseconds, None)
