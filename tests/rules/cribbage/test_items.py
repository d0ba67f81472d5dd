"""The items of a score: what was counted tells them, whenever a reader asks."""

from __future__ import annotations

import copy
import json
import pickle
from collections.abc import Callable
from typing import Any

import pytest

from pegboard.rules.cribbage.events import Counted, Reason, Scored, explain
from pegboard.rules.game import explained
from pegboard.wire import cribbage as wire


@pytest.fixture
def table(script: Callable[..., Any]) -> Any:
    """Return a match after its first deal, whose pone has fifteens, a pair and a run in hand."""
    table = script(deal_1_1="4C 7D 5C 8D 6C 9D 4D KD KC KS 2C 2D JD")
    while not scores(table, Reason.CRIB):
        seat = table.state.to_act()[0]
        table.do(f"{seat} {table.state.choices(seat).moves[-1].text()}")
    return table


def scores(table: Any, reason: Reason) -> list[Scored]:
    """Return the scores for a reason, points or none."""
    return [event for event in table.events if isinstance(event, Scored) and event.reason == reason]


@pytest.mark.parametrize("reason", [Reason.HEELS, Reason.PLAY, Reason.HAND, Reason.CRIB])
def test_items_make_the_points(table: Any, reason: Reason) -> None:
    found = scores(table, reason)
    assert any(event.points for event in found)
    for event in found:
        assert isinstance(event.counted, Counted)
        assert sum(item.points for item in explain(event)) == event.points


def test_the_point_of_the_last_card_has_no_items(table: Any) -> None:
    (last,) = scores(table, Reason.LAST)
    assert (last.points, last.counted, explain(last)) == (1, None, ())
    assert explained(last) == last.text()


def test_an_event_that_is_not_a_score_has_no_items(table: Any) -> None:
    assert explain(table.events[0]) == ()
    assert explained(table.events[0]) == table.events[0].text()


def test_a_score_that_was_sent_has_the_items_that_the_server_found(table: Any) -> None:
    for event in table.events:
        if isinstance(event, Scored):
            read = wire.EVENTS.read(wire.EVENTS.write(event))
            assert isinstance(read, Scored)
            assert explain(read) == explain(event)
            assert (read.text(), explained(read)) == (event.text(), explained(event))


def test_scores_are_pickled_copied_and_written_as_json(table: Any) -> None:
    (scored,) = scores(table, Reason.CRIB)
    for other in (pickle.loads(pickle.dumps(scored)), copy.deepcopy(scored), copy.copy(scored)):
        assert other == scored
        assert explain(other) == explain(scored)
    assert json.loads(json.dumps(explain(scored))) == [
        [item.kind, item.points, list(item.cards)] for item in explain(scored)
    ]
