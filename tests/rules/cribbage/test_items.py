"""The items of a score: found on demand, and an honest sequence all the same."""

from __future__ import annotations

import copy
import json
import pickle
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from pegboard.rules.cribbage.events import Reason, Scored
from pegboard.rules.cribbage.lazy_items import LazyItems
from pegboard.rules.game import explained


@pytest.fixture
def scored(script: Callable[..., Any]) -> Scored:
    """Return the score of a hand in the show: fifteens, a pair, a run."""
    table = script(deal_1_1="4C 7D 5C 8D 6C 9D 4D KD KC KS 2C 2D 6D")
    while True:
        seat = table.state.to_act()[0]
        table.do(f"{seat} {table.state.choices(seat).moves[-1].text()}")
        for event in table.events:
            if isinstance(event, Scored) and event.reason == Reason.HAND and event.points:
                return event


def items_of(event: Scored) -> tuple[Any, ...]:
    """Return the items as a plain tuple, the way a reader would."""
    return tuple(iter(event.items))


def test_items_are_a_sequence_and_no_tuple(scored: Scored) -> None:
    """Length, places, slices, membership, count, index, order: all say the same."""
    items, plain = scored.items, items_of(scored)
    assert isinstance(items, LazyItems)
    assert isinstance(items, Sequence)
    assert not isinstance(items, tuple)
    assert len(items) == len(plain) > 0
    assert [items[place] for place in range(len(items))] == list(plain)
    assert items[-1] == plain[-1]
    assert items[:] == plain
    assert plain[0] in items
    assert plain[0]._replace(points=77) not in items
    assert items.count(plain[0]) == plain.count(plain[0]) == 1
    assert items.index(plain[-1]) == len(plain) - 1
    assert list(reversed(items)) == list(reversed(plain))
    with pytest.raises(IndexError):
        items[len(plain)]


def test_items_compare_and_hash_by_what_they_hold(scored: Scored) -> None:
    """Equal to the tuple from both sides, in an event too; anything else is another value."""
    items, plain = scored.items, items_of(scored)
    assert items == plain
    assert plain == items
    assert items != (*plain, plain[0])
    assert items.__eq__(list(plain)) is NotImplemented
    assert hash(items) == hash(plain)
    assert scored == scored._replace(items=plain)
    assert hash(scored) == hash(scored._replace(items=plain))
    assert repr(plain) in repr(items)


def test_what_takes_a_tuple_apart_is_refused_instead_of_misled(scored: Scored) -> None:
    """JSON and `+` need a tuple, and `tuple(items)` is one."""
    with pytest.raises(TypeError):
        json.dumps(scored.items)
    with pytest.raises(TypeError):
        scored.items + items_of(scored)  # type: ignore[operator]
    assert json.loads(json.dumps(tuple(scored.items))) == json.loads(json.dumps(items_of(scored)))
    assert (*scored.items,) == items_of(scored)


def test_items_are_pickled_and_copied_whole(scored: Scored) -> None:
    """Before they were looked at and after."""
    fresh = scored.items
    for other in (pickle.loads(pickle.dumps(scored)), copy.deepcopy(scored), copy.copy(scored)):
        assert other == scored
        assert explained(other) == explained(scored)
        assert tuple(other.items) == tuple(fresh)
