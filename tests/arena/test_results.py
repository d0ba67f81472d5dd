"""The scoreboard: the same matches give the same results, in any order and from any session."""

from __future__ import annotations

import random

import msgspec
import pytest

from pegboard.arena.config import BotEntry, Config, Contest
from pegboard.arena.results import EndedMatch, Results
from pegboard.arena.schedule import Schedule
from pegboard.arena.scoreboard import ATTEMPTS, Scoreboard
from pegboard.rules.results import Result, Termination

CONFIG = Config(
    name="cup",
    bots=(BotEntry("a"), BotEntry("b", processes=2), BotEntry("c")),
    events=(
        Contest(variant="cribbage", seats=2, blocks=3, name="two"),
        Contest(variant="cribbage-3p", seats=3, blocks=2, name="three"),
    ),
)
SCHEDULE = Schedule(CONFIG, bytes(32))


def matches(seed: int = 1) -> list[EndedMatch]:
    """Return a whole tournament of random results, some of them faults."""
    rng = random.Random(seed)
    ended = []
    for fixture in SCHEDULE:
        places = rng.sample(
            [1.0, 0.0] if len(fixture.bots) == 2 else [1.0, 0.5, 0.0], k=None or len(fixture.bots)
        )
        fault = rng.random() < 0.2
        bots = tuple(
            f"{bot}--{fixture.order % 2 + 1}" if bot == "b" else bot for bot in fixture.bots
        )
        ended.append(
            EndedMatch(
                fixture.id,
                bots,
                Result(
                    Termination.TIMEOUT if fault else Termination.NORMAL,
                    places.index(0.0) if fault else None,
                    tuple(places),
                    tuple(range(len(places))),
                    (),
                    f"late in {fixture.id}" if fault else "",
                ),
            )
        )
    return ended


def again(match: str, attempt: int) -> str:
    """Return the id under which a match is played again."""
    found = SCHEDULE.find(match)
    assert found is not None
    return found.pairing.match_id(found.place, attempt)


def results_of(ended: list[EndedMatch]) -> Results:
    """Return what a run with these matches shows."""
    board = Scoreboard(SCHEDULE)
    for match in ended:
        board.add(match)
    return board.results("cup", "d")


def test_results_do_not_depend_on_the_order_of_finishing() -> None:
    """Equal to the last bit: a continued run is compared with an uninterrupted one."""
    ended = matches()
    expected = results_of(ended)
    assert expected.complete
    assert expected.finished == SCHEDULE.total() == 18 + 12
    for seed in range(5):
        mixed = random.Random(seed).sample(ended, len(ended))
        assert results_of(mixed) == expected


def test_results_survive_their_file() -> None:
    """What `show` reads is what was written."""
    results = results_of(matches())
    data = msgspec.json.encode(results)
    assert msgspec.json.decode(data, type=Results) == results


def test_processes_of_a_bot_are_one_bot() -> None:
    """`b--1` and `b--2` are b."""
    results = results_of(matches())
    assert {line.bot for line in results.lines} == {"a", "b", "c"}
    assert {line.games for line in results.lines} == {12 + 12}


def test_points_and_faults_add_up() -> None:
    """Over all bots, and over the events."""
    ended = matches()
    results = results_of(ended)
    assert sum(line.points for line in results.lines) == pytest.approx(
        sum(sum(m.result.points) for m in ended)
    )
    faults = sum(m.result.termination == "TIMEOUT" for m in ended)
    assert sum(line.faults.get("TIMEOUT", 0) for line in results.lines) == faults > 0
    for line in results.lines:
        parts = [part for event in results.events for part in event.lines if part.bot == line.bot]
        assert sum(part.points for part in parts) == line.points
        assert sum(part.faults.get("TIMEOUT", 0) for part in parts) == line.faults.get("TIMEOUT", 0)
    last = [m for m in ended if m.result.termination == "TIMEOUT"][-1]
    bot = last.bots[last.result.seat_at_fault or 0][0]
    assert results.last_faults[bot].startswith("late in ")


def test_a_match_counts_once() -> None:
    """A server that tells of a match again changes nothing; nor does one of another schedule."""
    board = Scoreboard(SCHEDULE)
    first = matches()[0]
    assert board.add(first)
    assert not board.add(first)
    assert not board.add(first._replace(match="0-0-0"))
    assert board.finished == 1
    assert board.has_seen(first.match)
    assert not board.has_seen(matches()[1].match)


def test_a_server_fault_is_played_again_and_never_rated() -> None:
    """The first attempt leaves the fixture open; the second counts."""
    board = Scoreboard(SCHEDULE)
    first = matches()[0]
    lost = first._replace(result=Result(Termination.SERVER_FAULT, None, (), (), ()))
    assert board.add(lost)
    assert not board.add(lost)
    assert list(board.attempts()) == [(0, 0, 1)]
    assert not board.is_done(0, 0)
    assert board.add(first._replace(match=again(first.match, 1)))
    assert board.is_done(0, 0)
    assert list(board.attempts()) == []
    assert board.results("cup", "d").unrated == 0


def test_a_match_that_never_gets_a_result_is_left_out_at_last() -> None:
    """The run must end; the table says how many."""
    board = Scoreboard(SCHEDULE)
    ended = matches()
    for attempt in range(ATTEMPTS):
        name = again(ended[0].match, attempt)
        board.add(EndedMatch(name, ended[0].bots, Result(Termination.CANCELLED, None, (), (), ())))
    for match in ended[1:]:
        board.add(match)
    results = board.results("cup", "d")
    assert results.complete
    assert results.unrated == 1
    assert sum(event.matches for event in results.events) == SCHEDULE.total() - 1
    assert sum(line.games for line in results.lines) == 17 * 2 + 12 * 3


def test_live_standings_are_of_whole_blocks() -> None:
    """Half a block would show the luck of the deal."""
    board = Scoreboard(SCHEDULE)
    ended = matches()
    board.add(ended[0])
    assert not any(line.games for line in board.live().lines)
    board.add(ended[1])
    assert sum(line.games for line in board.live().lines) == 4


def test_alone_at_the_table_a_fault_is_below_every_score() -> None:
    """In an event for one seat scores are compared, over the same deals."""
    contest = Contest(variant="cribbage-solitaire", seats=1, blocks=1, name="alone")
    plan = Schedule(Config(name="cup", bots=CONFIG.bots, events=(contest,)), bytes(32))
    board = Scoreboard(plan)
    for fixture, score in zip(plan, (0, 40, 30), strict=True):
        fault = fixture.bots == ("b",)
        board.add(
            EndedMatch(
                fixture.id,
                fixture.bots,
                Result(
                    Termination.CRASH if fault else Termination.NORMAL,
                    0 if fault else None,
                    (0.0 if fault else 1.0,),
                    (score,),
                    (),
                ),
            )
        )
    results = board.results("cup", "d")
    assert [(line.bot, line.points) for line in results.lines] == [("c", 1), ("a", 0.5), ("b", 0)]
