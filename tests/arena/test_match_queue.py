"""The queue hands out every fixture once, fairly, and as many at once as allowed."""

from __future__ import annotations

import random
from collections import Counter

from hypothesis import given, settings
from hypothesis import strategies as st

from pegboard.arena.config import BotEntry, Config, Contest
from pegboard.arena.match_queue import Attempt, MatchQueue, bot_limit
from pegboard.arena.schedule import Schedule

EVENTS = (
    Contest(variant="cribbage", seats=2, blocks=4, name="two"),
    Contest(variant="cribbage-3p", seats=3, blocks=2, name="three"),
)


def schedule(bots: int) -> Schedule:
    """Return a tournament of both events."""
    names = "abcdefgh"[:bots]
    config = Config(name="cup", bots=tuple(BotEntry(n) for n in names), events=EVENTS)
    return Schedule(config, bytes(32))


def nothing_done(_pairing: int, _index: int) -> bool:
    """A run that begins."""
    return False


@given(st.integers(3, 5), st.integers(1, 40), st.integers(0, 1 << 32))
@settings(deadline=None, max_examples=50)
def test_every_fixture_comes_once(bots: int, concurrency: int, seed: int) -> None:
    """Whatever finishes when, and whatever was done before; never more at once than allowed."""
    plan = schedule(bots)
    rng = random.Random(seed)
    done = {
        (pairing.number, index)
        for pairing in plan.pairings
        for index in range(pairing.total)
        if rng.random() < 0.25
    }
    queue = MatchQueue(plan.pairings, concurrency, lambda p, i: (p, i) in done)
    limit = bot_limit(plan.pairings, concurrency)
    running: list[Attempt] = []
    seen: Counter[str] = Counter()
    while True:
        entries = queue.take(rng.randint(1, 50))
        running += entries
        seen.update(entry.fixture.id for entry in entries)
        assert len(running) <= concurrency
        held = Counter(bot for entry in running for bot in set(entry.fixture.bots))
        assert max(held.values(), default=0) <= limit
        if not running:
            break
        queue.give_back(running.pop(rng.randrange(len(running))))
    expected = {p.fixture(i).id for p in plan.pairings for i in range(p.total)} - {
        plan.pairings[p].fixture(i).id for p, i in done
    }
    assert seen == Counter(expected)


def test_a_bot_that_hangs_does_not_stop_the_others() -> None:
    """Its own pairings wait; all others are played to the end."""
    plan = schedule(5)
    queue = MatchQueue(plan.pairings, 10, nothing_done)
    played = []
    stuck = 0
    while entries := queue.take(100):
        for entry in entries:
            if "a" in entry.fixture.bots:
                stuck += 1
            else:
                played.append(entry)
                queue.give_back(entry)
    assert stuck == bot_limit(plan.pairings, 10) < 10
    without_a = sum(p.total for p in plan.pairings if "a" not in p.bots)
    assert len(played) == without_a


def test_two_bots_may_use_all_of_the_concurrency() -> None:
    """There are no other bots to leave room for."""
    config = Config(name="cup", bots=(BotEntry("a"), BotEntry("b")), events=EVENTS[:1])
    plan = Schedule(config, bytes(32))
    assert bot_limit(plan.pairings, 64) == 64
    assert len(MatchQueue(plan.pairings, 64, nothing_done).take(100)) == 8


def test_what_has_no_result_comes_again() -> None:
    """With the next attempt's number; what an earlier session left to repeat comes first."""
    plan = schedule(3)
    queue = MatchQueue(plan.pairings, 100, nothing_done, again=[(0, 5, 2)])
    entries = queue.take(100)
    assert (entries[0].fixture, entries[0].number) == (plan.pairings[0].fixture(5), 2)
    assert len({entry.fixture.id for entry in entries}) == len(entries) == plan.total()
    queue.give_back(entries[3], again=True)
    queue.give_back(entries[4])
    assert queue.take(100) == [Attempt(entries[3].fixture, entries[3].number + 1)]


def test_pairings_advance_together() -> None:
    """After any number of matches no pairing is a block ahead of another."""
    plan = schedule(4)
    queue = MatchQueue(plan.pairings, 1, nothing_done)
    progress = dict.fromkeys(range(len(plan.pairings)), 0.0)
    while entries := queue.take(1):
        pairing = entries[0].fixture.pairing
        progress[pairing.number] += 1 / pairing.total
        assert max(progress.values()) - min(progress.values()) < 0.3
        queue.give_back(entries[0])
