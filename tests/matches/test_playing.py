"""Playing a match: turns, answers, results."""

from __future__ import annotations

from pegboard.matches.rejection import RejectionReason
from pegboard.matches.spec import Termination
from pegboard.rules.record import Record

from tests.matches.fakes import opened, play


async def test_a_match_is_played_to_its_outcome() -> None:
    host = await opened()
    boxes = {name: host.connect(name) for name in "ab"}
    match = await host.begin("a", "b")
    assert play(host, match, boxes) == 12
    assert match.result is None, "published before it is stored"
    await host.stored()
    assert match.result is not None
    assert match.result.termination is Termination.NORMAL
    assert match.result.points in ((1.0, 0.0), (0.0, 1.0))
    assert [box.take().ended for box in boxes.values()] == [[match], [match]]
    record = match.record(reveal_seed=True)
    assert Record.from_json(record.to_json()) == record
    assert len(record.moves) == 12
    assert match.events(0)[-1] == (match.event_count, match.result)
    assert [number for number, _ in match.events(0)] == list(range(1, match.event_count + 1))
    await host.close()
