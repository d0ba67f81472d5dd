"""Who is there: bots that never come, that are away, all at once; the limit of a match; proofs."""

from __future__ import annotations

import pytest
from tests.matches.fakes import Hosted, opened

from pegboard.matches.answers import Answer
from pegboard.matches.host import HostSettings
from pegboard.matches.running import RunningMatch
from pegboard.matches.spec import TimeControl
from pegboard.rules.results import Result, Termination

SETTINGS = HostSettings(lag_ms=100, lag_refill_ms=10, reconnect_s=3)
PATIENT = TimeControl(move_ms=60_000)


async def result_of(host: Hosted, match: RunningMatch) -> Result:
    """The result, once it is published."""
    await host.stored()
    assert match.finished is not None
    return match.finished.result


async def test_a_match_to_which_no_bot_comes_is_void() -> None:
    host = await opened(settings=SETTINGS)
    match = await host.begin("a", "b", time_control=TimeControl(startup_ms=2000))
    await host.pass_s(2.1)
    result = await result_of(host, match)
    assert (result.termination, result.seat_at_fault) == (Termination.VOID, None)
    assert result.points == ()
    assert result.detail == "match m: none of its bots connected; the match does not count"


async def test_one_of_three_bots_came_and_is_not_hurt() -> None:
    """The first that is absent is at fault; the bot that is there shares the first place."""
    host = await opened(settings=SETTINGS)
    host.connect("b")
    control = TimeControl(startup_ms=2000, move_ms=60_000)
    match = await host.begin("a", "b", "c", time_control=control)
    await host.pass_s(2.1)
    result = await result_of(host, match)
    assert (result.termination, result.seat_at_fault) == (Termination.DISCONNECT, 0)
    assert result.points[1] == max(result.points)


@pytest.mark.parametrize(("back", "loser"), [("", None), ("a", 1), ("b", 0)])
async def test_no_bot_wins_because_the_other_was_missed_first(back: str, loser: int | None) -> None:
    """Both leave, 1 s apart, and have 3 s: who comes back meanwhile wins, or it is void."""
    host = await opened(settings=SETTINGS)
    boxes = {name: host.connect(name) for name in "ab"}
    match = await host.begin("a", "b", time_control=PATIENT)
    boxes["a"].close()
    await host.pass_s(1)
    boxes["b"].close()
    await host.pass_s(2.5)
    assert match.ending is None, "the time of the other is not over"
    if back:
        host.connect(back)
    await host.pass_s(2)
    result = await result_of(host, match)
    assert result.seat_at_fault == loser
    if back:
        assert result.termination is Termination.DISCONNECT
    else:
        assert result.termination is Termination.VOID
        assert result.detail == "match m: its bots stayed away; the match does not count"


async def test_a_bot_that_was_there_for_a_moment_decides_the_match() -> None:
    """So no bot keeps a match in doubt by coming and going."""
    host = await opened(settings=SETTINGS)
    boxes = {name: host.connect(name) for name in "ab"}
    match = await host.begin("a", "b", time_control=PATIENT)
    boxes["a"].close()
    await host.pass_s(2)
    boxes["b"].close()
    await host.pass_s(1.5)
    host.connect("b").close()
    await host.pass_s(1.1)
    result = await result_of(host, match)
    assert (result.termination, result.seat_at_fault) == (Termination.DISCONNECT, 0)


async def test_one_that_left_and_one_that_never_came_have_no_winner() -> None:
    host = await opened(settings=SETTINGS)
    control = TimeControl(startup_ms=10_000, move_ms=60_000)
    match = await host.begin("a", "b", time_control=control)
    host.connect("a").close()
    await host.pass_s(9.9)
    assert match.ending is None
    await host.pass_s(1.2)
    assert (await result_of(host, match)).termination is Termination.VOID


async def test_a_clock_that_runs_out_while_all_are_away_gives_no_win() -> None:
    host = await opened(settings=SETTINGS)
    boxes = {name: host.connect(name) for name in "ab"}
    match = await host.begin("a", "b", time_control=TimeControl(move_ms=1000))
    boxes["a"].close()
    boxes["b"].close()
    await host.pass_s(2.5)
    assert match.ending is None
    await host.pass_s(1.5)
    assert (await result_of(host, match)).termination is Termination.VOID


# The limit of a match


async def test_a_match_ends_at_its_limit_by_who_has_used_the_most_time() -> None:
    """The lateness of the loop is credited; the sentence says how much the seat has used."""
    host = await opened(settings=SETTINGS)
    boxes = {name: host.connect(name) for name in "ab"}
    control = TimeControl(move_ms=60_000, match_ms=10_000)
    match = await host.begin("a", "b", time_control=control)
    (turn,) = boxes["b"].take().turns
    await host.pass_s(1)
    assert host.answer("b", Answer("m", 1, turn.turn_id, move_index=0)) is None
    await host.pass_s(1, late_s=4)
    (turn,) = boxes["a"].take().turns
    assert host.answer("a", Answer("m", 0, turn.turn_id, move_index=0)) is None
    assert match.seats[0].clock.thought_ns == 2_000_000_000
    await host.pass_s(7.9)
    assert match.ending is None, "the loop was late for 4 s"
    assert match.state is not None
    (slow,) = match.state.to_act()
    await host.pass_s(0.3)
    result = await result_of(host, match)
    assert (result.termination, result.seat_at_fault) == (Termination.TIMEOUT, slow)
    assert "not over within 10 s, and this seat had used the most time, " in result.detail


async def test_time_for_which_turns_wait_counts_at_the_limit() -> None:
    """A bot that never has room for a match has used its time all the same."""
    host = await opened(settings=SETTINGS)
    host.connect("b")
    box = host.connect("a", max_open_turns=1)
    await host.begin("a", id="first", time_control=PATIENT)
    control = TimeControl(move_ms=60_000, match_ms=4000)
    match = await host.begin("a", "b", time_control=control)
    assert [turn.match.id for turn in box.take().turns] == ["first"]
    await host.pass_s(1)
    assert host.answer("b", Answer("m", 1, 1, move_index=0)) is None
    await host.pass_s(3.2)
    result = await result_of(host, match)
    assert (result.termination, result.seat_at_fault) == (Termination.TIMEOUT, 0)
    assert "4.0 s" in result.detail


async def test_a_match_at_its_limit_to_which_no_bot_came_is_void() -> None:
    host = await opened(settings=SETTINGS)
    match = await host.begin("a", "b", time_control=TimeControl(match_ms=4000))
    await host.pass_s(4.2)
    assert (await result_of(host, match)).termination is Termination.VOID


# Proofs that all was read


class Proofs:
    """A probe that passes when told."""

    def __init__(self) -> None:
        self.asked = 0
        self.given = 0

    def ask(self) -> int:
        """Count."""
        self.asked += 1
        return self.asked

    def passed(self, number: int) -> bool:
        """Whether it was told."""
        return number <= self.given


async def test_a_turn_is_over_only_when_all_that_had_arrived_was_read() -> None:
    """And when nothing more had come from the bot meanwhile."""
    host = await opened(settings=SETTINGS)
    box = host.connect("a")
    match = await host.begin("a", "a", time_control=TimeControl(move_ms=1000))
    turns = box.take().turns
    probe = host.deadlines.probe = Proofs()
    await host.pass_s(5)
    assert match.ending is None
    assert probe.asked == 2, "once a seat"
    box.message_came()
    probe.given = 2
    await host.pass_s(0.1)
    assert match.ending is None, "something came: once more"
    assert probe.asked == 4
    assert host.answer("a", Answer("m", 0, turns[0].turn_id, move_index=0)) is None
    probe.given = 4
    await host.pass_s(0.1)
    assert (await result_of(host, match)).seat_at_fault == 1


async def test_a_bot_that_sends_for_ever_loses_all_the_same() -> None:
    host = await opened(settings=SETTINGS)
    box = host.connect("a")
    match = await host.begin("a", time_control=TimeControl(move_ms=1000))
    for _ in range(400):
        box.message_came()
        await host.pass_s(0.01)
    assert (await result_of(host, match)).termination is Termination.TIMEOUT


@pytest.mark.parametrize("came", [False, True])
async def test_an_absence_is_over_only_when_all_that_had_arrived_was_read(came: bool) -> None:
    """A Hello may lie unread too; so may an answer before the limit of the match."""
    host = await opened(settings=SETTINGS)
    host.connect("b")
    control = TimeControl(startup_ms=2000, move_ms=60_000)
    match = await host.begin("a", "b", time_control=control)
    if came:
        host.connect("a").close()
    probe = host.deadlines.probe = Proofs()
    await host.pass_s(4)
    assert match.ending is None
    assert probe.asked
    probe.given = probe.asked
    await host.pass_s(1.1)
    result = await result_of(host, match)
    assert (result.termination, result.seat_at_fault) == (Termination.DISCONNECT, 0)


async def test_the_limit_of_a_match_waits_for_the_proof_too() -> None:
    host = await opened(settings=SETTINGS)
    match = await host.begin("a", "b", time_control=TimeControl(match_ms=2000))
    probe = host.deadlines.probe = Proofs()
    await host.pass_s(3)
    assert match.ending is None
    probe.given = probe.asked
    await host.pass_s(0.1)
    assert (await result_of(host, match)).termination is Termination.VOID
