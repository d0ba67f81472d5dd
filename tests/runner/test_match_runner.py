"""What the run asks of a server for each match."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from pegboard.arena.config import BotEntry, Config, Contest
from pegboard.arena.match_queue import Attempt
from pegboard.arena.schedule import Schedule
from pegboard.runner.match_runner import MatchRunner
from pegboard.v1 import match_pb2

EVENTS = (
    Contest(variant="cribbage", seats=2, blocks=3, name="two"),
    Contest(variant="cribbage-4p", seats=4, blocks=4, name="four", orders="rotations", repeat=True),
    Contest(variant="cribbage-solitaire", seats=1, blocks=2, name="alone"),
)
CONFIG = Config(name="cup", bots=(BotEntry("a"), BotEntry("b"), BotEntry("c")), events=EVENTS)


def requests(attempt: int) -> list[match_pb2.CreateMatchRequest]:
    """Return what is asked for all matches of a tournament, played for the `attempt`th time."""
    nowhere: Any = None
    runner = MatchRunner(CONFIG, "label", nowhere, nowhere)
    schedule = Schedule(CONFIG, bytes(32))
    return [runner._request(Attempt(fixture, attempt)) for fixture in schedule]


def test_a_block_is_sealed_as_a_whole() -> None:
    """All its matches name it, with their number, and have one seed and nonce that others have not."""
    blocks = defaultdict(list)
    for request in requests(0):
        blocks[request.spec.block].append(request.spec)
    for specs in blocks.values():
        assert {spec.block_matches for spec in specs} == {len(specs)}
        assert len({(spec.seed, spec.nonce, spec.variant) for spec in specs}) == 1
    assert len({specs[0].seed for specs in blocks.values()}) == len(blocks)
    sizes = {len(specs) for specs in blocks.values()}
    assert sizes == {2, 3, 4}, "also blocks of repeated bots, whose circles differ in size"


def test_an_attempt_has_the_block_of_the_first_and_another_id() -> None:
    """A match that had no result is played again on the same deals."""
    first, again = requests(0), requests(1)
    assert [r.spec for r in first] == [r.spec for r in again]
    ids = {r.match_id for r in first + again}
    assert len(ids) == len({r.request_id for r in first + again}) == 2 * len(first)
