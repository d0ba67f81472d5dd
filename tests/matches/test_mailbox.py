"""What a connected bot is told, in which order, how much at once, and again after a reconnect."""

from __future__ import annotations

import asyncio

from tests.matches.fakes import opened, play, request, settle
from tests.patience import PATIENCE_S

from pegboard.matches.answers import Answer
from pegboard.matches.rejection import Rejection, RejectionReason


async def test_whatever_is_ready_travels_together_in_order() -> None:
    host = await opened()
    box = host.connect("a")
    matches = await host.create([request("a", "b", id=f"m{n}") for n in range(5)])
    delivery = box.take()
    assert delivery.started == matches
    assert [turn.match for turn in delivery.turns] == matches
    assert delivery
    assert not box.take()


async def test_nothing_of_a_match_comes_before_its_start() -> None:
    host = await opened()
    box = host.connect("a")
    matches = await host.create([request("a", id=f"m{n}") for n in range(5)])
    first, second, third = box.take(2), box.take(2), box.take(2)
    assert (first.started, first.turns) == (matches[:2], [])
    assert (second.started, second.turns) == (matches[2:4], [])
    assert third.started == matches[4:]
    assert [turn.match for turn in third.turns] == matches[:2]


async def test_no_more_turns_are_out_than_the_bot_wants() -> None:
    host = await opened()
    box = host.connect("a", max_open_turns=2)
    await host.create([request("a", id=f"m{n}") for n in range(3)])
    first, second = box.take().turns
    assert box.take().turns == []
    waiting = asyncio.create_task(box.wait())
    await settle()
    assert not waiting.done()
    host.answer("a", Answer(first.match.id, 0, first.turn_id, move_index=0))
    await waiting
    (third,) = box.take().turns
    assert third.match.id == "m2"
    assert box.take().turns == []
    await host.cancel(second.match.id)
    (again,) = box.take().turns
    assert again.match.id == "m0"


async def test_waiting_ends_with_something_to_take() -> None:
    host = await opened()
    box = host.connect("a")
    waiting = asyncio.create_task(box.wait())
    await settle()
    assert not waiting.done()
    await host.begin("a")
    await asyncio.wait_for(waiting, PATIENCE_S)
    await asyncio.wait_for(box.wait(), PATIENCE_S)


async def test_a_newer_connection_takes_over_with_all_open_turns() -> None:
    host = await opened()
    old = host.connect("a")
    match = await host.begin("a", "a")
    turns = old.take().turns
    waiting = asyncio.create_task(old.wait())
    await settle()
    new = host.connect("a")
    await asyncio.wait_for(waiting, PATIENCE_S)
    assert old.replaced
    assert not old.take()
    old.close()
    delivery = new.take()
    assert (delivery.started, delivery.turns) == ([match], turns)
    play(host, match, {"a": new})
    host.answer("a", Answer("m", turns[0].seat, turns[0].turn_id, move_index=0))
    assert not new.replaced


async def test_events_come_only_to_those_who_want_them_and_from_the_start() -> None:
    host = await opened()
    deaf = host.connect("b")
    eager = host.connect("a", events=True)
    match = await host.begin("a", "b")
    first = eager.take()
    assert first.events == [(match, 0, 0)]
    assert match.events(0)[0][1].text().startswith("HEAP 10 FIRST")
    (turn,) = deaf.take().turns
    waiting = asyncio.create_task(eager.wait())
    await settle()
    assert host.answer("b", Answer("m", 1, turn.turn_id, move_index=0)) is None
    await asyncio.wait_for(waiting, PATIENCE_S)
    assert eager.take().events == [(match, 0, 1)]
    assert host.resign("b", "m", 1) is None
    await host.stored()
    last = eager.take()
    assert match.finished is not None
    assert last.events == [(match.finished, 0, 2)]
    assert match.finished.events(2) == [(3, match.finished.result)]
    assert last.ended == [match.finished]
    assert deaf.take().events == []
    assert not eager.take()


async def test_events_of_the_past_come_again_after_a_reconnect() -> None:
    host = await opened()
    host.connect("a")
    match = await host.begin("a", "a")
    assert host.connect("a", events=True).take().events == [(match, 0, 0), (match, 1, 0)]


async def test_a_rejection_joins_the_next_delivery() -> None:
    host = await opened()
    box = host.connect("a")
    rejection = Rejection(RejectionReason.STALE_TURN, "late", 0)
    box.reject("m", 0, 1, rejection)
    await asyncio.wait_for(box.wait(), PATIENCE_S)
    assert box.take().rejected == [("m", 0, 1, rejection)]


async def test_a_poll_gets_untaken_turns_first_and_open_ones_again() -> None:
    host = await opened()
    waiting = asyncio.create_task(host.next_turn("a", "", 5))
    await settle()
    await host.create([request("a", id="m0"), request("a", id="m1")])
    first = await waiting
    second = await host.next_turn("a", "", 0)
    assert first is not None
    assert second is not None
    assert [first.match.id, second.match.id] == ["m0", "m1"]
    assert await host.next_turn("a", "", 0) is first
    assert await host.next_turn("a", "m1", 0) is second
    assert host.answer("a", Answer("m0", 0, 1, move_index=0)) is None
    again = await host.next_turn("a", "", 0)
    assert again is not None
    assert (again.match.id, again.turn_id) == ("m0", 2)


async def test_a_poll_ends_without_a_turn_when_none_comes() -> None:
    host = await opened()
    assert await host.next_turn("a", "", 0.01) is None
    waiting = asyncio.create_task(host.next_turn("a", "", 60))
    await settle()
    await host.close()
    assert await asyncio.wait_for(waiting, PATIENCE_S) is None
