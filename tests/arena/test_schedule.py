"""The schedule: everybody meets everybody, in every seat, on the same deals."""

from __future__ import annotations

import re
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pegboard.arena.config import Bot, Config, Contest
from pegboard.arena.schedule import Schedule, again, attempt_of

TWO = Contest(variant="cribbage", seats=2, blocks=3, name="two")
THREE = Contest(variant="cribbage-3p", seats=3, blocks=2, name="three")
FOUR = Contest(variant="cribbage-4p", seats=4, blocks=1, name="four")
PARTNERS = Contest(variant="cribbage-partners", seats=4, blocks=2, name="partners", teams=True)


def config(bots: int, *events: Contest, seed: int | str = 1, name: str = "cup") -> Config:
    """Return a tournament of bots a, b, c..."""
    names = "abcdefghij"[:bots]
    return Config(name=name, bots=tuple(Bot(n) for n in names), events=events, seed=seed)


@given(
    bots=st.integers(4, 7),
    events=st.lists(st.sampled_from([TWO, THREE, FOUR, PARTNERS]), min_size=1, max_size=3),
)
@settings(deadline=None, max_examples=50)
def test_a_schedule_is_a_fair_round_robin(bots: int, events: list[Contest]) -> None:
    """The total is what comes; ids are unique; within an event all bots have equal seats."""
    schedule = Schedule(config(bots, *events))
    fixtures = list(schedule)
    assert len(fixtures) == schedule.total()
    assert len({fixture.id for fixture in fixtures}) == len(fixtures)
    for event in range(len(events)):
        seats = Counter(
            (bot, seat)
            for fixture in fixtures
            if fixture.pairing.event == event
            for seat, bot in enumerate(fixture.bots)
        )
        assert len(seats) == bots * events[event].seats
        assert len(set(seats.values())) == 1, "every bot sits as often in every seat"


def test_two_seats_make_two_orders_and_three_make_six() -> None:
    """The block is one seed in every seat order."""
    schedule = Schedule(config(4, TWO, THREE, FOUR))
    sizes = {len(p.bots): len(p.orders) for p in schedule.pairings}
    assert sizes == {2: 2, 3: 6, 4: 24}
    assert [p.total for p in schedule.pairings] == [6] * 6 + [12] * 4 + [24]


def test_rotations_seat_everybody_everywhere_once() -> None:
    """For many seats all orders are too many; rotations keep the seats even."""
    contest = Contest(variant="cribbage-4p", seats=4, blocks=1, orders="rotations")
    (pairing,) = Schedule(config(4, contest)).pairings
    assert pairing.orders == (
        ("a", "b", "c", "d"),
        ("b", "c", "d", "a"),
        ("c", "d", "a", "b"),
        ("d", "a", "b", "c"),
    )


def test_teams_are_one_bot_on_a_side() -> None:
    """Partners sit opposite each other; both orders of the sides are played."""
    (pairing,) = Schedule(config(2, PARTNERS)).pairings
    assert pairing.orders == (("a", "b", "a", "b"), ("b", "a", "b", "a"))


def test_few_bots_can_fill_many_seats() -> None:
    """With `repeat` a bot holds several seats, but never all."""
    contest = Contest(variant="cribbage-3p", seats=3, blocks=1, repeat=True)
    pairings = Schedule(config(2, contest)).pairings
    assert [(p.bots, len(p.orders)) for p in pairings] == [
        (("a", "a", "b"), 3),
        (("a", "b", "b"), 3),
    ]


def test_a_block_shares_its_deals_and_no_two_blocks_do() -> None:
    """Seed and nonce are the block's, whoever sits where."""
    fixtures = list(Schedule(config(3, TWO)))
    deals = Counter((fixture.seed, fixture.nonce) for fixture in fixtures)
    assert set(deals.values()) == {2}
    assert len({seed for seed, _ in deals}) == len(deals) == 9
    assert all(len(seed) == 32 for seed, _ in deals)


def test_deals_follow_from_the_seed_alone() -> None:
    """The same file gives the same deals, another seed others; blocks may be added."""
    one, same, other = (list(Schedule(config(2, TWO, seed=seed))) for seed in (1, 1, "x"))
    assert one == same
    assert not {f.seed for f in one} & {f.seed for f in other}
    longer = Contest(variant="cribbage", seats=2, blocks=5, name="two")
    more = list(Schedule(config(2, longer)))[: len(one)]
    assert [(f.id, f.seed, f.bots) for f in more] == [(f.id, f.seed, f.bots) for f in one]


def test_all_pairings_advance_together() -> None:
    """Standings mean something from the first minutes on."""
    blocks = [fixture.block for fixture in Schedule(config(4, TWO, THREE))]
    assert blocks == sorted(blocks)


@given(st.integers(2, 6), st.data())
@settings(deadline=None, max_examples=50)
def test_a_match_id_finds_its_place(bots: int, data: st.DataObject) -> None:
    """Ids are legal names of matches, and lead back to pairing and index; so do replays."""
    schedule = Schedule(config(bots, TWO))
    pairing = data.draw(st.sampled_from(schedule.pairings))
    index = data.draw(st.integers(0, pairing.total - 1))
    attempt = data.draw(st.integers(0, 3))
    name = again(pairing.fixture(index).id, attempt)
    assert re.fullmatch(r"[a-z0-9-]{1,63}", name)
    assert schedule.find(name) == (pairing, index)
    assert attempt_of(name) == attempt
    assert attempt_of(again(name, attempt + 1)) == attempt + 1


@pytest.mark.parametrize(
    "name", ["", "x", "0-0-0", "{run}-9-0-0", "{run}-0-3-0", "{run}-0-0-2", "{run}-0-0", "zz-0-0-0"]
)
def test_a_foreign_match_id_is_nobodys(name: str) -> None:
    """Matches of other schedules are left alone."""
    schedule = Schedule(config(2, TWO))
    assert schedule.find(name.format(run=schedule.run)) is None


def test_an_index_out_of_range_is_an_error() -> None:
    """`fixture` does not wrap round."""
    (pairing,) = Schedule(config(2, TWO)).pairings
    for index in (-1, pairing.total):
        with pytest.raises(IndexError):
            pairing.fixture(index)


def test_a_large_schedule_is_laid_out_at_once() -> None:
    """Nothing is proportional to the number of matches."""
    contest = Contest(variant="cribbage", seats=2, blocks=1_000_000, name="long")
    schedule = Schedule(config(2, contest))
    assert schedule.total() == 2_000_000
    assert next(iter(schedule)).block == 0
    assert schedule.pairings[0].fixture(1_999_999).block == 999_999


def test_the_path_of_the_file_does_not_matter() -> None:
    """Only name and seed make ids: a copy of a tournament elsewhere plays alike."""
    assert Schedule(config(2, TWO)).run == Schedule(config(3, THREE)).run
    assert Schedule(config(2, TWO, name="other")).run != Schedule(config(2, TWO)).run
