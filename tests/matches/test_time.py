"""Clocks, lateness of the loop, bots that are away."""

from __future__ import annotations

import asyncio
import time
from typing import Any

import pytest
from tests.matches.fakes import MS, Hosted, find_game, opened, request

from pegboard.matches.answers import Answer
from pegboard.matches.clock import SeatClock
from pegboard.matches.deadlines import Deadlines
from pegboard.matches.host import HostSettings, MatchHost
from pegboard.matches.running import OpenTurn, RunningMatch
from pegboard.matches.spec import TimeControl
from pegboard.matches.store.opening import open_store
from pegboard.matches.store.protocol import Durability
from pegboard.rules.results import Result, Termination

ONE_SECOND = TimeControl(move_ms=1000)
SETTINGS = HostSettings(lag_ms=100, lag_refill_ms=10, reconnect_s=3)


async def asked(
    control: TimeControl = ONE_SECOND, **spec: Any
) -> tuple[Hosted, RunningMatch, list[OpenTurn]]:
    """A match in which bot `a` has the turns of both seats, their clocks running."""
    host = await opened(settings=SETTINGS)
    box = host.connect("a")
    match = await host.begin("a", "a", time_control=control, **spec)
    return host, match, box.take().turns


def say(host: Hosted, turn: OpenTurn, index: int = 0) -> Any:
    """Answer with a listed move."""
    return host.answer("a", Answer("m", turn.seat, turn.turn_id, move_index=index))


async def result_of(host: Hosted, match: RunningMatch) -> Result:
    """The result, once it is published."""
    await host.stored()
    assert match.finished is not None
    return match.finished.result


async def test_a_turn_ends_after_cap_and_allowance() -> None:
    host, match, turns = await asked()
    assert say(host, turns[0]) is None
    await host.pass_s(1.1)
    assert match.ending is None
    await host.pass_s(0.05)
    result = await result_of(host, match)
    assert (result.termination, result.seat_at_fault) == (Termination.TIMEOUT, 1)
    assert result.detail == "a (seat 1) in match m: no answer within 1 s"


async def test_an_answer_within_the_allowance_uses_it_up() -> None:
    host, match, turns = await asked()
    clock = match.seats[0].clock
    await host.pass_s(1.06)
    assert say(host, turns[0]) is None
    assert clock.spare_ns == (100 - 60 + 10) * MS


async def test_the_loops_lateness_is_credited() -> None:
    host, match, turns = await asked()
    await host.pass_s(0.9)
    await host.pass_s(0.1, late_s=20)
    assert match.ending is None, "the loop was late, not the bot"
    assert say(host, turns[0]) is None
    assert match.seats[0].clock.spare_ns == 100 * MS


async def test_a_turn_found_overdue_is_over_only_after_punctual_ticks() -> None:
    host, match, turns = await asked()
    await host.pass_s(1.11)
    assert match.seats[0].overdue is not None
    assert match.ending is None
    assert say(host, turns[0]) is None, "received before the end was certain"
    assert match.ending is None


async def test_a_loop_that_is_always_busy_ends_a_turn_at_last() -> None:
    host, match, _ = await asked()
    for _ in range(400):
        await host.pass_s(0.01, late_s=0.01)
    assert match.ending is not None


async def test_a_bank_is_charged_and_gets_its_increment() -> None:
    host, match, turns = await asked(TimeControl(bank_ms=2000, increment_ms=100, move_ms=1500))
    assert turns[0].time_ms(host.now_ns(), host.deadlines.lag_ns) == (1500, 2100)
    await host.pass_s(1.2)
    assert say(host, turns[0]) is None
    assert match.seats[0].clock.bank_ms == 2100 - 1200 + 100
    assert match.seats[1].clock.bank_ms == 2100


async def test_an_empty_bank_ends_the_turn() -> None:
    host, match, turns = await asked(TimeControl(bank_ms=300, move_ms=9000))
    assert turns[0].time_ms(host.now_ns(), host.deadlines.lag_ns) == (300, 300)
    await host.pass_s(0.5)
    assert (await result_of(host, match)).termination is Termination.TIMEOUT


async def test_a_later_turn_with_less_time_ends_at_its_own_time() -> None:
    """One entry a seat in the heap: a nearer deadline needs another."""
    host = await opened(settings=SETTINGS)
    box = host.connect("a")
    control = TimeControl(bank_ms=8200, move_ms=8000)
    match = await host.begin("a", options={"stones": "30"}, time_control=control)
    (turn,) = box.take().turns
    await host.pass_s(7.9)
    assert say(host, turn) is None
    (turn,) = box.take().turns
    assert turn.time_ms(host.now_ns(), host.deadlines.lag_ns)[0] == 300
    await host.pass_s(0.6)
    assert (await result_of(host, match)).termination is Termination.TIMEOUT
    await host.pass_s(10)
    assert len(host.deadlines) == 0, "entries of dead matches go"


async def test_the_heap_holds_one_entry_a_seat_however_many_turns() -> None:
    host = await opened(settings=SETTINGS)
    box = host.connect("a")
    await host.begin("a", options={"stones": "200"})
    for _ in range(150):
        (turn,) = box.take().turns
        await host.pass_s(0.01)
        assert say(host, turn) is None
    assert len(host.deadlines) == 1


async def test_a_bot_that_never_comes_forfeits_by_disconnect() -> None:
    host = await opened(settings=SETTINGS)
    host.connect("a")
    match = await host.begin("a", "b", time_control=TimeControl(startup_ms=2000))
    await host.pass_s(1.9)
    assert match.ending is None
    await host.pass_s(0.2)
    result = await result_of(host, match)
    assert (result.termination, result.seat_at_fault) == (Termination.DISCONNECT, 1)
    assert result.detail == "b (seat 1) in match m: did not connect within 2 s"


async def test_a_bot_that_is_away_too_long_forfeits() -> None:
    host = await opened(settings=SETTINGS)
    boxes = {name: host.connect(name) for name in "ab"}
    match = await host.begin("a", "b")
    boxes["b"].close()
    await host.pass_s(2.9)
    assert match.ending is None
    boxes["b"] = host.connect("b")
    boxes["b"].close()
    await host.pass_s(2.9)
    assert match.ending is None, "it was back in between"
    await host.pass_s(0.2)
    result = await result_of(host, match)
    assert (result.termination, result.seat_at_fault) == (Termination.DISCONNECT, 1)
    assert "did not come back within 3 s" in result.detail


async def test_a_bot_that_left_before_the_match_has_the_time_to_start() -> None:
    host = await opened(settings=SETTINGS)
    host.connect("a").close()
    await host.pass_s(0.01)
    host.connect("b")
    control = TimeControl(startup_ms=10_000, move_ms=60_000)
    match = await host.begin("a", "b", time_control=control)
    await host.pass_s(9.9)
    assert match.ending is None
    await host.pass_s(0.2)
    assert (await result_of(host, match)).termination is Termination.DISCONNECT


async def test_a_clock_runs_on_while_the_bot_is_away() -> None:
    host = await opened(settings=SETTINGS)
    box = host.connect("a")
    host.connect("b")
    match = await host.begin("a", "b", time_control=TimeControl(move_ms=1000))
    assert host.answer("b", Answer("m", 1, 1, move_index=0)) is None
    (turn,) = box.take().turns
    box.close()
    await host.pass_s(0.4)
    box = host.connect("a")
    assert box.take().turns == [turn]
    assert turn.time_ms(host.now_ns(), host.deadlines.lag_ns) == (600, None)
    box.close()
    await host.pass_s(0.8)
    result = await result_of(host, match)
    assert result.termination is Termination.DISCONNECT
    assert "away, and no answer within 1 s" in result.detail


async def test_a_bot_without_a_stream_is_there_while_it_polls_or_thinks() -> None:
    host = await opened(settings=SETTINGS)
    host.connect("b")
    match = await host.begin("a", "b", time_control=TimeControl(move_ms=20_000))
    assert host.answer("b", Answer("m", 1, 1, move_index=0)) is None
    turn = await host.next_turn("a", "", 0)
    assert turn is not None
    await host.pass_s(15)
    assert match.ending is None
    assert say(host, turn) is None
    host.called("a")
    await host.pass_s(2.9)
    assert match.ending is None
    await host.pass_s(0.3)
    assert (await result_of(host, match)).termination is Termination.DISCONNECT


@pytest.mark.parametrize("late_ms", [0, 1, 2])
def test_small_lateness_is_no_lag(late_ms: int) -> None:
    deadlines = Deadlines()
    deadlines.tick(10 * MS)
    deadlines.tick((20 + late_ms) * MS)
    assert deadlines.lag_ns == 0


def test_lateness_after_a_pause_is_no_lag() -> None:
    deadlines = Deadlines()
    deadlines.tick(10 * MS)
    deadlines.pause()
    deadlines.tick(10_000 * MS)
    assert deadlines.lag_ns == 0


def test_a_seat_without_a_bank_is_never_charged() -> None:
    clock = SeatClock(TimeControl(move_ms=50), spare_ns=0)
    clock.start(0, 0)
    clock.stop(40 * MS, 0, refill_ns=0, spare_max_ns=0)
    assert clock.bank_ms is None
    clock.start(0, 0)
    assert clock.limit_ns == 50 * MS


async def test_a_loop_that_stalls_again_and_again_makes_no_bot_lose_on_time() -> None:
    """Real time: a prompt bot, a move cap of 60 ms, and a loop that stands still for 150 ms."""
    host = MatchHost(
        open_store(None, Durability.MEMORY),
        find_game=find_game,
        settings=HostSettings(lag_ms=20, lag_refill_ms=0),
    )
    await host.open()
    box = host.connect("a")
    control = TimeControl(move_ms=60)
    asked = [request("a", "a", time_control=control) for _ in range(100)]
    matches = await host.create(asked)
    stalls = 0
    while any(match.finished is None for match in matches):
        turns = box.take().turns
        stalls += 1
        if stalls % 3 == 0:
            time.sleep(0.15)  # noqa: ASYNC251
        await asyncio.sleep(0.03)
        for turn in turns:
            host.answer("a", Answer(turn.match.id, turn.seat, turn.turn_id, move_index=0))
    assert stalls >= 12
    terminations = {match.finished.result.termination for match in matches if match.finished}
    assert terminations == {Termination.NORMAL}
    await host.close()


class Failing:
    """A probe that fails."""

    def ask(self) -> int:
        """Fail."""
        raise ZeroDivisionError

    def passed(self, number: int) -> bool:
        """Fail."""
        raise ZeroDivisionError


@pytest.mark.parametrize("kind", ["turn", "start-up", "return", "limit"])
async def test_a_deadline_that_fails_ends_its_match_by_a_server_fault(kind: str) -> None:
    """Dropped, it would leave the match without an end; the clocks of all others tick on."""
    host = await opened(settings=HostSettings(reconnect_s=2))
    box = None if kind == "start-up" else host.connect("a")
    limit_ms = 1000 if kind == "limit" else 0
    startup_ms = 1000 if kind == "start-up" else 60_000
    move_ms = 1000 if kind == "turn" else 60_000
    control = TimeControl(move_ms=move_ms, startup_ms=startup_ms, match_ms=limit_ms)
    match = await host.begin("a", time_control=control)
    if kind == "return":
        assert box is not None
        box.close()
    probe, host.deadlines.probe = host.deadlines.probe, Failing()
    await host.pass_s(3)
    assert (await result_of(host, match)).termination is Termination.SERVER_FAULT
    host.deadlines.probe = probe
    other = await host.begin("b", id="other", time_control=TimeControl(startup_ms=1000))
    await host.pass_s(2)
    assert (await result_of(host, other)).termination is Termination.VOID
    await host.close()
