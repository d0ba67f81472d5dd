"""Turns that wait with stopped clocks: for a bot to come, for room on its stream, for its polls."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest
from tests.matches.fakes import MS, Hosted, opened, request, settle

from pegboard.errors import TooManyRequests
from pegboard.matches.answers import Answer
from pegboard.matches.host import HostSettings
from pegboard.matches.running import OpenTurn, RunningMatch
from pegboard.matches.spec import TimeControl
from pegboard.matches.store.protocol import Durability
from pegboard.rules.errors import MatchOver
from pegboard.rules.results import Result, Termination

ONE_SECOND = TimeControl(move_ms=1000)
SETTINGS = HostSettings(lag_ms=100, lag_refill_ms=10, reconnect_s=3)


async def result_of(host: Hosted, match: RunningMatch) -> Result:
    """The result, once it is published."""
    await host.stored()
    assert match.finished is not None
    return match.finished.result


async def begin(host: Hosted, count: int) -> list[RunningMatch]:
    """Matches m0, m1... of bot `a` alone."""
    asked = [request("a", id=f"m{n}", time_control=ONE_SECOND) for n in range(count)]
    matches: list[RunningMatch] = await host.create(asked)
    return matches


def turn_held(turn: OpenTurn) -> bool:
    """Whether the turn waits for the store."""
    return turn.held


def running(matches: list[RunningMatch]) -> list[bool]:
    """Whose clocks run."""
    return [bool(match.seats[0].clock.started_ns) for match in matches]


async def test_a_clock_runs_whether_or_not_the_turn_is_read() -> None:
    """A stream that is not read does not stop a clock; what is told is what is left."""
    host = await opened(settings=SETTINGS)
    box = host.connect("a", events=True)
    first, second = await begin(host, 2)
    await host.pass_s(0.4)
    turn = box.take().turns[0]
    assert turn.time_ms(host.now_ns(), host.deadlines.lag_ns) == (600, None)
    await host.pass_s(0.1)
    assert turn.time_ms(host.now_ns(), host.deadlines.lag_ns) == (500, None), (
        "started once, told again"
    )
    assert first.ending is None
    await host.pass_s(0.7)
    assert (await result_of(host, second)).termination is Termination.TIMEOUT


async def test_a_clock_starts_when_the_bot_comes() -> None:
    """While a bot has not come its turns wait, without being charged."""
    host = await opened(settings=SETTINGS)
    (match,) = await begin(host, 1)
    await host.pass_s(5)
    assert match.ending is None
    (turn,) = host.connect("a").take().turns
    assert turn.time_ms(host.now_ns(), host.deadlines.lag_ns) == (1000, None)
    await host.pass_s(1.2)
    assert (await result_of(host, match)).termination is Termination.TIMEOUT


async def test_a_held_turn_starts_when_the_store_releases_it(tmp_path: Path) -> None:
    """What the store takes is not the bot's time."""
    host = await opened(tmp_path / "store.db", Durability.STRICT, SETTINGS)
    box = host.connect("a")
    (match,) = await begin(host, 1)
    (turn,) = box.take().turns
    assert host.answer("a", Answer("m0", 0, turn.turn_id, move_index=0)) is None
    second = match.seats[0].turn
    assert second is not None
    assert turn_held(second)
    host.time.ns += 700 * MS
    assert running([match]) == [False]
    await host.stored()
    await settle()
    assert not turn_held(second)
    assert second.time_ms(host.now_ns(), host.deadlines.lag_ns) == (1000, None)
    await host.close()


async def test_only_so_many_clocks_run_as_the_stream_takes_turns() -> None:
    """The others wait with stopped clocks, in order; each starts as soon as there is room."""
    host = await opened(settings=SETTINGS)
    box = host.connect("a", max_open_turns=2)
    matches = await begin(host, 4)
    assert running(matches) == [True, True, False, False]
    await host.pass_s(0.5)
    first, _ = box.take().turns
    assert host.answer("a", Answer("m0", 0, first.turn_id, move_index=0)) is None
    assert running(matches) == [False, True, True, False]
    (third,) = box.take().turns
    assert (third.match.id, third.time_ms(host.now_ns(), host.deadlines.lag_ns)) == (
        "m2",
        (1000, None),
    )
    await host.pass_s(0.65)
    ended = [match.id for match in matches if match.ending is not None]
    assert ended == ["m1"], "the others' clocks stood still"


async def test_a_bot_that_holds_its_only_turn_loses_one_match_after_the_other() -> None:
    host = await opened(settings=SETTINGS)
    box = host.connect("a", max_open_turns=1)
    matches = await begin(host, 5)
    assert len(box.take().turns) == 1
    await host.pass_s(6)
    terminations = [(await result_of(host, match)).termination for match in matches]
    assert terminations == [Termination.TIMEOUT] * 5


async def test_clocks_that_run_go_on_when_the_bot_comes_back_with_less_room() -> None:
    """So a bot cannot stop clocks by connecting again; the turns that run are told first."""
    host = await opened(settings=SETTINGS)
    host.connect("a", max_open_turns=2)
    matches = await begin(host, 3)
    await host.pass_s(0.3)
    box = host.connect("a", max_open_turns=1)
    (turn,) = box.take().turns
    assert turn.time_ms(host.now_ns(), host.deadlines.lag_ns) == (700, None)
    assert running(matches) == [True, True, False]
    await host.pass_s(0.9)
    assert [match.ending is None for match in matches] == [False, False, True]


async def test_a_seat_waits_only_so_long_in_a_match() -> None:
    """Then its clocks run, whether or not the bot has room."""
    host = await opened(settings=replace(SETTINGS, wait_s=3))
    box = host.connect("a", max_open_turns=1)
    control = TimeControl(move_ms=4000)
    asked = [request("a", id=f"m{n}", time_control=control) for n in range(2)]
    first, second = await host.create(asked)
    (turn,) = box.take().turns
    await host.pass_s(2.8)
    assert running([first, second]) == [True, False]
    await host.pass_s(0.4)
    assert running([first, second]) == [True, True]
    assert box.take().turns == [], "there is no room all the same"
    assert second.seats[0].clock.waited_ns >= 3000 * MS
    assert host.answer("a", Answer("m0", 0, turn.turn_id, move_index=0)) is None
    (turn,) = box.take().turns
    assert turn.match is second
    assert running([first, second]) == [False, True]


async def test_being_away_is_under_the_same_limit_once_the_bot_has_come() -> None:
    """A bot that is gone whenever it is asked does not stretch its matches without end."""
    host = await opened(settings=replace(SETTINGS, wait_s=1))
    match = await host.begin("a", "b", time_control=TimeControl(move_ms=1000, startup_ms=60_000))
    await host.pass_s(20)
    assert running([match]) == [False], "the start-up time is another affair"
    boxes = {name: host.connect(name) for name in "ab"}
    assert match.state is not None
    seat = getattr(match.state, "turn")  # noqa: B009
    name, other = match.spec.bots[seat], match.spec.bots[1 - seat]
    assert host.answer(name, Answer("m", seat, 1, move_index=0)) is None
    boxes[name].close()
    assert host.answer(other, Answer("m", 1 - seat, 1, move_index=0)) is None
    await host.pass_s(0.5)
    assert not match.seats[seat].clock.started_ns
    await host.pass_s(2)
    result = await result_of(host, match)
    assert (result.termination, result.seat_at_fault) == (Termination.DISCONNECT, seat)
    assert "away, and no answer within 1 s" in result.detail


async def test_a_bot_that_polls_is_asked_one_turn_at_a_time() -> None:
    """Its polls count as room for one; a turn that another poll takes runs too."""
    host = await opened(settings=SETTINGS)
    matches = await begin(host, 4)
    turn = await host.next_turn("a", "", 0)
    assert turn is not None
    assert running(matches) == [True, False, False, False]
    assert (await host.next_turn("a", "m2", 0)) is matches[2].seats[0].turn
    assert running(matches) == [True, False, True, False]
    assert host.answer("a", Answer("m0", 0, turn.turn_id, move_index=0)) is None
    host.called("a")
    assert running(matches) == [False, False, True, False]
    assert host.answer("a", Answer("m2", 0, 1, move_index=0)) is None
    host.called("a")
    assert running(matches) == [False, True, False, False]


async def test_a_bot_that_polls_for_a_match_that_is_over_loses_the_others_on_time() -> None:
    """Such a poll ends at once with an error; who calls is there, so its clocks run."""
    host = await opened(settings=SETTINGS)
    matches = await begin(host, 5)
    await host.cancel("m0")
    for _ in range(60):
        with pytest.raises(MatchOver, match="match m0 is over"):
            await host.next_turn("a", "m0", 30)
        await host.pass_s(0.1)
    terminations = [(await result_of(host, match)).termination for match in matches[1:]]
    assert terminations == [Termination.TIMEOUT] * 4


async def test_a_bot_that_only_answers_is_there_too() -> None:
    """A bot that calls can take turns, so its clocks run; answers to closed turns do not stop them."""
    host = await opened(settings=SETTINGS)
    matches = await begin(host, 2)
    assert await host.next_turn("a", "", 0) is not None
    for _ in range(30):
        assert host.answer("a", Answer("m0", 0, 77, move_index=0)) is not None
        host.called("a")
        await host.pass_s(0.1)
    terminations = [(await result_of(host, match)).termination for match in matches]
    assert terminations == [Termination.TIMEOUT] * 2


async def test_a_poll_ends_when_its_match_does() -> None:
    host = await opened(settings=SETTINGS)
    host.connect("b")
    match = await host.begin("b", "a")
    turn = await host.next_turn("a", "m", 0)
    assert turn is not None
    assert host.answer("a", Answer("m", 1, turn.turn_id, move_index=0)) is None
    waiting = asyncio.create_task(host.next_turn("a", "m", 60))
    await settle()
    assert not waiting.done()
    await host.cancel(match.id)
    with pytest.raises(MatchOver):
        await asyncio.wait_for(waiting, 1)


async def test_polls_do_not_pile_up() -> None:
    host = await opened(settings=replace(SETTINGS, polls_max=3))
    polls = [asyncio.create_task(host.next_turn("a", "", 60)) for _ in range(3)]
    await settle()
    with pytest.raises(TooManyRequests, match="a has 3 calls of GetTurn open"):
        await host.next_turn("a", "", 60)
    await host.begin("a")
    done, _ = await asyncio.wait(polls, timeout=1, return_when=asyncio.FIRST_COMPLETED)
    assert done
    await host.close()
    await asyncio.gather(*polls)
