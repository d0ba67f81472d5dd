"""The schedule: everybody meets everybody, in every seat, on the same deals."""

from __future__ import annotations

import math
import re
from collections import Counter
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pegboard.arena.config import BotEntry, Config, Contest
from pegboard.arena.schedule import Pairing, Schedule, secret_of
from pegboard.arena.scramble import Scramble

TWO = Contest(variant="cribbage", seats=2, blocks=3, name="two")
THREE = Contest(variant="cribbage-3p", seats=3, blocks=2, name="three")
FOUR = Contest(variant="cribbage-4p", seats=4, blocks=1, name="four")
PARTNERS = Contest(variant="cribbage-partners", seats=4, blocks=2, name="partners", teams=True)


EVENT_LISTS = st.lists(
    st.sampled_from([TWO, THREE, FOUR, PARTNERS]),
    min_size=1,
    max_size=3,
    unique_by=lambda contest: contest.name,
)
SECRET = bytes(range(32))


def plan(bots: int | str, *events: Contest, secret: bytes = SECRET) -> Schedule:
    """Return the schedule of bots a, b, c... or of those named, in this order."""
    names = bots if isinstance(bots, str) else "abcdefghij"[:bots]
    config = Config(name="cup", bots=tuple(BotEntry(n) for n in names), events=events)
    return Schedule(config, secret)


def orders(pairing: Pairing, block: int = 0) -> tuple[tuple[str, ...], ...]:
    """Return the bots by seat of all matches of a block."""
    places = range(pairing.seating.start(block), pairing.seating.start(block + 1))
    return tuple(pairing.fixture(place).bots for place in places)


def deals(fixtures: Schedule) -> dict[tuple[str, tuple[str, ...], int], tuple[bytes, str]]:
    """Return seed and nonce by event, bots by seat and block."""
    return {
        (fixture.pairing.contest.name, fixture.bots, fixture.block): (fixture.seed, fixture.nonce)
        for fixture in fixtures
    }


@given(
    bots=st.integers(4, 7),
    events=EVENT_LISTS,
)
@settings(deadline=None, max_examples=50)
def test_a_schedule_is_a_fair_round_robin(bots: int, events: list[Contest]) -> None:
    """The total is what comes; ids are unique; within an event all bots have equal seats."""
    schedule = plan(bots, *events)
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
    schedule = plan(4, TWO, THREE, FOUR)
    sizes = {len(p.bots): len(orders(p)) for p in schedule.pairings}
    assert sizes == {2: 2, 3: 6, 4: 24}
    assert [p.total for p in schedule.pairings] == [6] * 6 + [12] * 4 + [24]


def rotations(seats: int, *, repeat: bool = False, blocks: int = 12) -> Contest:
    """Return an event for 3, 4 or 5 seats that plays rotations."""
    variant = {3: "cribbage-3p", 4: "cribbage-4p", 5: "cribbage-5p"}[seats]
    return Contest(
        variant=variant,
        seats=seats,
        blocks=blocks,
        orders="rotations",
        repeat=repeat,
        name="turned",
    )


def test_rotations_give_every_bot_every_seat_once() -> None:
    """For many seats all orders are too many; rotations keep the seats even."""
    (pairing,) = plan(4, rotations(4)).pairings
    assert orders(pairing) == (
        ("a", "b", "c", "d"),
        ("b", "c", "d", "a"),
        ("c", "d", "a", "b"),
        ("d", "a", "b", "c"),
    )
    assert pairing.total == 12 * 4


@pytest.mark.parametrize("seats", [3, 4])
def test_rotations_give_every_bot_every_neighbour_equally_often(seats: int) -> None:
    """Block b takes the circle b mod (n-1)!: after all of them each bot sat left of each other."""
    circles = math.factorial(seats - 1)
    (pairing,) = plan(seats, rotations(seats, blocks=2 * circles)).pairings
    pairs = Counter(
        (order[seat], order[(seat + 1) % seats])
        for block in range(circles)
        for order in orders(pairing, block)
        for seat in range(seats)
    )
    assert len(pairs) == seats * (seats - 1)
    assert len(set(pairs.values())) == 1
    sets = [frozenset(orders(pairing, block)) for block in range(2 * circles)]
    assert len(set(sets)) == circles
    assert sets[:circles] == sets[circles:]


def test_circles_that_coincide_come_once() -> None:
    """With a bot in two seats some circles are the same, and some have fewer rotations."""
    pairing = next(
        p for p in plan(2, rotations(4, repeat=True)).pairings if p.bots == tuple("aabb")
    )
    assert [sorted(map("".join, orders(pairing, block))) for block in range(3)] == [
        ["aabb", "abba", "baab", "bbaa"],
        ["abab", "baba"],
        ["aabb", "abba", "baab", "bbaa"],
    ]
    assert pairing.total == 6 * 4 + 6 * 2
    fixtures = [pairing.fixture(place) for place in range(pairing.total)]
    assert [(f.block, f.order) for f in fixtures[:8]] == [
        (0, 0), (0, 1), (0, 2), (0, 3), (1, 0), (1, 1), (2, 0), (2, 1)
    ]  # fmt: skip
    assert [f.block_matches for f in fixtures[3:5]] == [4, 2]


def test_teams_are_one_bot_on_a_side() -> None:
    """Partners sit opposite each other; both orders of the sides are played."""
    (pairing,) = plan(2, PARTNERS).pairings
    assert orders(pairing) == (("a", "b", "a", "b"), ("b", "a", "b", "a"))


def test_few_bots_can_fill_many_seats() -> None:
    """With `repeat` a bot holds several seats, but never all."""
    contest = Contest(variant="cribbage-3p", seats=3, blocks=1, repeat=True)
    pairings = plan(2, contest).pairings
    assert [(p.bots, len(orders(p))) for p in pairings] == [
        (("a", "a", "b"), 3),
        (("a", "b", "b"), 3),
    ]


def test_a_block_shares_its_deals_and_no_two_blocks_do() -> None:
    """Seed and nonce are the block's, in every seat order."""
    fixtures = list(plan(3, TWO))
    shared = Counter((fixture.seed, fixture.nonce) for fixture in fixtures)
    assert set(shared.values()) == {2}
    assert len({seed for seed, _ in shared}) == len({nonce for _, nonce in shared}) == 9
    assert all(len(seed) == 32 for seed, _ in shared)
    assert {fixture.block_matches for fixture in fixtures} == {2}


def test_deals_follow_from_the_secret() -> None:
    """The same secret gives the same matches, another one others; blocks may be added."""
    one, same = list(plan(2, TWO)), list(plan(2, TWO))
    assert one == same
    other = list(plan(2, TWO, secret=secret_of(1, "cup")))
    for what in ("seed", "nonce", "id"):
        assert not {getattr(f, what) for f in one} & {getattr(f, what) for f in other}
    longer = Contest(variant="cribbage", seats=2, blocks=5, name="two")
    more = list(plan(2, longer))[: len(one)]
    assert [(f.id, f.seed, f.bots) for f in more] == [(f.id, f.seed, f.bots) for f in one]


def test_a_bot_or_an_event_that_joins_leaves_the_other_deals_alone() -> None:
    """Deals and ids go by the names of event and bots, not by numbers."""
    before = plan("bd", TWO, FOUR)
    after = plan("abcd", THREE, TWO)
    assert deals(after).items() >= deals(plan("bd", TWO)).items() >= deals(before).items()
    ids = {fixture.id for fixture in after}
    assert {fixture.id for fixture in before} <= ids
    renamed = Contest(variant="cribbage", seats=2, blocks=3, name="again")
    assert not set(deals(plan("bd", renamed)).values()) & set(deals(before).values())


def test_the_order_of_bots_in_the_file_does_not_matter() -> None:
    """Seats, deals and ids are the same."""
    assert list(plan("acbd", TWO, THREE)) == list(plan("dbca", TWO, THREE))


def test_a_seed_makes_a_secret() -> None:
    """By seed and name alone; numbers and their text are the same seed."""
    assert secret_of(1, "cup") == secret_of("1", "cup")
    secrets = {secret_of(seed, name) for seed in (1, 2, "x") for name in ("cup", "cap")}
    assert len(secrets) == 6
    assert {len(secret) for secret in secrets} == {32}


def test_all_pairings_advance_together() -> None:
    """Standings mean something from the first minutes on."""
    blocks = [fixture.block for fixture in plan(4, TWO, THREE)]
    assert blocks == sorted(blocks)


@given(st.integers(2, 6), st.binary(min_size=32, max_size=32), st.data())
@settings(deadline=None, max_examples=50)
def test_a_match_id_finds_its_place(bots: int, secret: bytes, data: st.DataObject) -> None:
    """Ids are legal names of matches, and lead back to pairing, place and attempt."""
    schedule = plan(bots, TWO, secret=secret)
    pairing = data.draw(st.sampled_from(schedule.pairings))
    place = data.draw(st.integers(0, pairing.total - 1))
    attempt = data.draw(st.integers(0, 3))
    name = pairing.match_id(place, attempt)
    assert re.fullmatch(r"[a-z0-9-]{1,63}", name)
    assert schedule.find(name) == (pairing, place, attempt)
    assert pairing.fixture(place).id == pairing.match_id(place, 0)


def test_a_match_id_is_read_with_the_secret_alone() -> None:
    """Another secret, also one that differs in a bit, does not read it."""
    fixture = next(iter(plan(2, TWO)))
    other = plan(2, TWO, secret=bytes([SECRET[0] ^ 1, *SECRET[1:]]))
    assert other.find(fixture.id) is None
    code = fixture.id.rpartition("-")[2]
    assert other.find(f"{other.run}-{other.pairings[0].tag}-{code}") is None


def test_match_ids_say_nothing_about_block_and_order() -> None:
    """Sorted, compared bit by bit, or as neighbours: no more alike within a block than beyond."""
    long = Contest(variant="cribbage", seats=2, blocks=2_000, name="long")
    (pairing,) = plan(2, long).pairings
    codes = [int(pairing.fixture(i).id.rpartition("-")[2], 16) for i in range(pairing.total)]
    mates = [a ^ b for a, b in zip(codes[::2], codes[1::2], strict=True)]
    apart = [a ^ b for a, b in zip(codes[1::2], codes[2::2], strict=False)]
    for differences in (mates, apart):
        bits = [sum(d >> bit & 1 for d in differences) for bit in range(64)]
        # Each is binomial: 2,000 throws, deviation 22. Six of them is one in 10**9.
        assert all(abs(count - len(differences) / 2) < 140 for count in bits)
    rising = sum(a < b for a, b in pairwise(codes))
    assert abs(rising - len(codes) / 2) < 6 * 32
    assert len({code >> 48 for code in codes}) > 3_700, "few have their first four digits in common"


@given(st.binary(min_size=32, max_size=32), st.integers(0, 2**64 - 1))
def test_a_scramble_can_be_undone(key: bytes, number: int) -> None:
    """Both ways, for all numbers."""
    scramble = Scramble(key)
    assert scramble.show(scramble.hide(number)) == number
    assert scramble.hide(scramble.show(number)) == number


def test_a_scramble_stays_as_it_is() -> None:
    """A run that an earlier version began must find its matches: the ids are part of its format."""
    assert f"{Scramble(bytes(32)).hide(0):016x}" == "86ddcf6bab347976"
    assert next(iter(plan(2, TWO))).id == "81b4acadfa-bf177c816cdabb37-05924f2f737f4d5e"


@pytest.mark.parametrize(
    "name", ["", "x", "{run}-{tag}", "{run}-{tag}-0", "{run}-0-0-0", "{wrong}"]
)
def test_a_foreign_match_id_has_no_place(name: str) -> None:
    """Matches of other schedules are left alone."""
    schedule = plan(2, TWO)
    (pairing,) = schedule.pairings
    beyond = pairing.match_id(pairing.total)
    names = {"run": schedule.run, "tag": pairing.tag, "wrong": beyond}
    assert schedule.find(name.format(**names)) is None
    assert schedule.find(f"{schedule.run}-{'0' * 16}-{'0' * 16}") is None


def test_an_index_out_of_range_is_an_error() -> None:
    """`fixture` does not wrap round."""
    (pairing,) = plan(2, TWO).pairings
    for index in (-1, pairing.total):
        with pytest.raises(IndexError):
            pairing.fixture(index)


def test_a_large_schedule_is_laid_out_at_once() -> None:
    """Nothing is proportional to the number of matches."""
    contest = Contest(variant="cribbage", seats=2, blocks=1_000_000, name="long")
    schedule = plan(2, contest)
    assert schedule.total() == 2_000_000
    assert next(iter(schedule)).block == 0
    assert schedule.pairings[0].fixture(1_999_999).block == 999_999
