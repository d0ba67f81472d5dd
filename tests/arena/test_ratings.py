"""Points, crosstables, ratings and their error bars."""

from __future__ import annotations

import math
import random
import tracemalloc
from collections.abc import Sequence
from itertools import combinations, permutations
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pegboard.arena.ratings import ELO, RatingTable, TableLine, bradley_terry, mean_of, rate, table
from pegboard.arena.tally import UNIT, Block, RatedMatch, Tally

ORDERS = (("a", "b"), ("b", "a"))


def block(*points: float, pairing: int = 0, bots: str = "ab") -> Block:
    """Return a block of two matches: a's points in each seat order."""
    first, second = points
    a, b = tuple(bots)
    return Block(
        pairing,
        (
            RatedMatch((a, b), (first, 1 - first), (0, 1)),
            RatedMatch((b, a), (1 - second, second), (0, 1)),
        ),
    )


def tally_of(bots: str, *blocks: Block) -> Tally:
    """Return blocks added up."""
    tally = Tally(tuple(bots))
    for item in blocks:
        tally.add(item)
    return tally


def rated(bots: str, *blocks: Block, half: tuple[Block, ...] = ()) -> RatingTable:
    """Return the table of some blocks."""
    return table(rate(tally_of(bots, *blocks), half))


def line_of(result: RatingTable, bot: str) -> TableLine:
    """Return a bot's line."""
    return next(line for line in result.lines if line.bot == bot)


def numbers(result: RatingTable) -> dict[str, tuple[float, int]]:
    """Return points and games by bot."""
    return {line.bot: (line.points, line.games) for line in result.lines}


def test_points_are_those_of_the_seats() -> None:
    """A win is 1, a tie one half."""
    result = rated("ab", block(1, 1), block(1, 0.5))
    assert numbers(result) == {"a": (3.5, 4), "b": (0.5, 4)}
    assert result.cross.tolist() == [[0, 3.5], [0.5, 0]]


@given(st.permutations([0.0, 0.5, 1.0]))
@settings(deadline=None, max_examples=50)
def test_comparisons_of_many_seats_add_up_to_the_points(points: list[float]) -> None:
    """With three seats the first has 1, the second 1/2: half a comparison with each other seat."""
    playing = RatedMatch(("a", "b", "c"), tuple(points), (0, 1, 2))
    result = rated("abc", Block(0, (playing,)))
    for line, row in zip(sorted(result.lines, key=lambda s: s.bot), result.cross, strict=True):
        assert line.points == row.sum()


def test_partners_are_not_compared_with_each_other() -> None:
    """Two sides of two: each seat is compared with both opponents, half each."""
    playing = RatedMatch(("a", "b", "c", "d"), (1, 0, 1, 0), (0, 1, 0, 1))
    result = rated("abcd", Block(0, (playing,)))
    assert result.cross.tolist() == [[0, 0.5, 0, 0.5], [0] * 4, [0, 0.5, 0, 0.5], [0] * 4]


TWO_ON_ONE = (0, 1, 1)


@pytest.mark.parametrize(
    ("sides", "points"),
    [
        (TWO_ON_ONE, (1, 0, 0)),
        (TWO_ON_ONE, (0, 1, 1)),
        (TWO_ON_ONE, (0.5, 0.5, 0.5)),
        ((0, 1, 1, 2), (1, 0.5, 0.5, 0)),
        ((0, 1, 2, 2), (0, 0.75, 0.75, 0.75)),
        ((0, 1, 0, 1), (0, 1, 0, 1)),
    ],
)
def test_rows_add_up_to_points_whatever_the_size_of_the_sides(
    sides: tuple[int, ...], points: tuple[float, ...]
) -> None:
    """A seat's comparisons add up to 1 for its own row; the lone hand has two of one half each."""
    bots = tuple("abcd"[: len(sides)])
    result = rated("abcd"[: len(sides)], Block(0, (RatedMatch(bots, points, sides),)))
    for row, compared, value in zip(result.cross, result.games, points, strict=True):
        assert row.sum() == pytest.approx(value, abs=1e-6)
        assert compared.sum() == pytest.approx(1, abs=1e-6)


def test_in_two_on_one_equal_bots_have_equal_ratings() -> None:
    """Also half a block does not favour the pair: a comparison counts the same for both."""
    level = RatedMatch(("a", "b", "c"), (0.5, 0.5, 0.5), TWO_ON_ONE)
    half = rated("abc", half=(Block(0, (level,)),))
    assert [line.elo for line in half.lines] == [0, 0, 0]


def test_a_bot_is_not_compared_with_itself() -> None:
    """A bot in two seats takes from the third only."""
    playing = RatedMatch(("a", "a", "b"), (1, 0.5, 0), (0, 1, 2))
    result = rated("ab", Block(0, (playing,)))
    assert numbers(result) == {"a": (1.5, 2), "b": (0, 1)}
    assert result.cross.tolist() == [[0, 1], [0, 0]]


def test_alone_at_the_table_scores_are_compared_within_the_block() -> None:
    """Same deals, the higher score takes the comparison."""
    playings = tuple(
        RatedMatch((bot,), (1.0,), (0,), value)
        for bot, value in (("a", 60.0), ("b", 50.0), ("c", 50.0))
    )
    result = rated("abc", Block(0, playings))
    assert numbers(result) == {"a": (1, 1), "b": (0.25, 1), "c": (0.25, 1)}
    alone = rated("abc", half=(Block(0, playings[:1]),))
    assert numbers(alone) == {"a": (0, 0), "b": (0, 0), "c": (0, 0)}


def test_two_bots_have_the_rating_of_their_odds() -> None:
    """The closed form: 400 log10 of the odds, one virtual draw included."""
    result = rated("ab", *[block(1, 1)] * 30, *[block(0, 1)] * 30, *[block(0, 0)] * 10)
    won, lost = 90.5, 50.5
    difference = 400 * math.log10(won / lost)
    by_bot = {line.bot: line.elo for line in result.lines}
    assert by_bot["a"] == pytest.approx(difference / 2, abs=0.01)
    assert by_bot["b"] == pytest.approx(-difference / 2, abs=0.01)


@pytest.mark.parametrize("blocks", [1, 1000])
def test_a_bot_that_wins_everything_stays_finite(blocks: int) -> None:
    """The virtual draw bounds it, it rises with the number of games, and it is never certain."""
    tally = Tally(("a", "b"))
    tally.add(block(1, 1), blocks)
    first, last = table(rate(tally)).lines
    odds = (2 * blocks + 0.5) / 0.5
    assert first.bot == "a"
    assert first.elo - last.elo == pytest.approx(400 * math.log10(odds), abs=0.05)
    assert first.score == 1
    assert first.error is not None
    assert 0 < first.error < 1
    assert first.elo_low is not None
    assert first.elo_high is not None
    assert first.elo_low < first.elo < first.elo_high


def test_bots_without_matches_do_not_change_the_others() -> None:
    """They stand last with zeros; the others are rated as if they were not there."""
    blocks = [*[block(1, 0.5)] * 5, *[block(0, 1)] * 3]
    alone, among = rated("ab", *blocks), rated("abz", *blocks)
    assert alone.lines == among.lines[:2]
    assert among.lines[2] == TableLine(3, "z", 0, 0, 0, None, 0, None, None)


def test_nothing_played_is_a_table_of_zeros() -> None:
    """The live display asks before the first block is over."""
    assert [line.elo for line in rated("ab").lines] == [0, 0]


@given(
    st.lists(
        st.tuples(st.sampled_from([0, 0.5, 1]), st.sampled_from([0, 0.5, 1]), st.integers(0, 2)),
        min_size=1,
        max_size=30,
    ),
    st.randoms(use_true_random=False),
)
@settings(deadline=None, max_examples=50)
def test_a_table_does_not_depend_on_the_order_of_finishing(
    outcomes: list[tuple[float, float, int]], rng: random.Random
) -> None:
    """Bit for bit: a continued run must end with the same table."""
    pairs = ("ab", "ac", "bc")
    blocks = [block(x, y, pairing=p, bots=pairs[p]) for x, y, p in outcomes]
    mixed = rng.sample(blocks, len(blocks))
    one, other = (rated("abc", *order) for order in (blocks, mixed))
    assert one.lines == other.lines
    assert np.array_equal(one.cross, other.cross)


def test_luck_that_the_other_seating_takes_back_is_no_noise() -> None:
    """Deals that decide the match split every block: all the doubt is that of one block more."""
    split = rated("ab", *[block(1, 0)] * 50, *[block(0, 1)] * 50).lines[0]
    luck = rated("ab", *[block(1, 1)] * 50, *[block(0, 0)] * 50).lines[0]
    # Of 200 games: a block of two independent ones, and 100 blocks that are off by one each.
    assert split.error == pytest.approx(1.96 * math.sqrt(2 / 4) / 200, rel=1e-3)
    assert luck.error == pytest.approx(1.96 * math.sqrt(100 + 2 / 4) / 200, rel=1e-3)
    assert split.elo_high is not None
    assert luck.elo_high is not None
    assert luck.elo_high / split.elo_high == pytest.approx(math.sqrt(201), rel=1e-2)


def test_the_rating_of_two_bots_has_the_interval_of_their_score() -> None:
    """By the delta method: half the difference, whose slope is the curvature of the likelihood."""
    blocks = [*[block(1, 1)] * 30, *[block(0, 1)] * 30, *[block(0, 0)] * 10]
    line = line_of(rated("ab", *blocks), "a")
    p = 90.5 / 141
    residuals = 30 * (2 - 9 / 7) ** 2 + 30 * (1 - 9 / 7) ** 2 + 10 * (9 / 7) ** 2
    prior = 91 / 142 * (1 - 91 / 142)
    deviation = math.sqrt(residuals + 2 * prior) / (141 * p * (1 - p)) * ELO / 2
    assert line.elo_low == pytest.approx(line.elo - 1.96 * deviation, abs=0.05)
    assert line.elo_high == pytest.approx(line.elo + 1.96 * deviation, abs=0.05)


def test_half_a_block_counts_but_not_for_the_error_bars() -> None:
    """Its other seat orders could take back what the deal gave: the spread is that of whole ones."""
    whole = [*[block(1, 0.5)] * 5, *[block(0, 1)] * 3]
    lone = Block(0, (RatedMatch(("a", "b"), (0.0, 1.0), (0, 1)),))
    without, with_half = (rate(tally_of("ab", *whole), half) for half in ((), (lone,) * 3))
    assert np.array_equal(without.variance, with_half.variance)
    assert np.array_equal(without.whole_games, with_half.whole_games)
    assert with_half.sums.games.tolist() == [19, 19]
    assert table(without).lines[0].error == table(with_half).lines[0].error
    assert with_half.elo[0] < without.elo[0]
    only = rated("ab", half=(lone,))
    assert numbers(only) == {"a": (0, 1), "b": (1, 1)}
    assert all((s.error, s.elo_low, s.elo_high) == (None,) * 3 for s in only.lines)


def test_all_events_have_the_mean_of_their_ratings() -> None:
    """An event of ten times the matches does not outweigh the other; errors combine."""
    long = rate(tally_of("ab", *[block(1, 1)] * 80, *[block(0, 0)] * 20))
    short = rate(tally_of("ab", *[block(1, 0)] * 5, *[block(0, 0)] * 5))
    both = mean_of([long, short])
    assert both.elo == pytest.approx((long.elo + short.elo) / 2)
    assert both.elo_error == pytest.approx(np.hypot(long.elo_error, short.elo_error) / 2)
    line = line_of(table(both), "a")
    assert (line.points, line.games) == (165, 220)
    variance = (
        (line_of(table(long), "a").error or 0) * 200,
        (line_of(table(short), "a").error or 0) * 20,
    )
    assert line.error == pytest.approx(math.hypot(*variance) / 220, rel=1e-3)
    assert mean_of([long]) is long


def test_an_event_that_a_bot_has_not_played_does_not_count_for_it() -> None:
    """Early in a run some events have not begun."""
    one = rate(tally_of("abc", *[block(1, 1)] * 5))
    other = rate(tally_of("abc", *[block(1, 0.5, bots="bc")] * 5))
    both = mean_of([one, other, rate(Tally(tuple("abc")))])
    assert both.elo[0] == one.elo[0]
    assert both.elo[1] == pytest.approx((one.elo[1] + other.elo[1]) / 2)
    assert both.elo_error[2] == other.elo_error[2]
    nothing = mean_of([rate(Tally(("a", "b")))] * 2)
    assert [s.elo_low for s in table(nothing).lines] == [None, None]


def simulated(rng: np.random.Generator, blocks: int, strengths: Sequence[float]) -> Tally:
    """Return a tournament of all pairs: a deal helps a seat, by a normal number of logits."""
    bots = tuple("abcdefgh"[: len(strengths)])
    tally = Tally(bots)
    for pairing, (i, j) in enumerate(combinations(range(len(bots)), 2)):
        deal = rng.normal(size=blocks)
        edge = strengths[i] - strengths[j]
        first = rng.random(blocks) < 1 / (1 + np.exp(-edge - deal))
        second = rng.random(blocks) < 1 / (1 + np.exp(-edge + deal))
        for x, y in zip(first.tolist(), second.tolist(), strict=True):
            tally.add(block(float(x), float(y), pairing=pairing, bots=bots[i] + bots[j]))
    return tally


def coverage(blocks: int, strengths: Sequence[float], trials: int) -> tuple[float, float]:
    """Return how often the intervals of score and Elo hold the truth, over all bots."""
    rng = np.random.default_rng(7)
    truth = rate(simulated(rng, 100_000 // len(strengths), strengths))
    score = truth.sums.points / truth.sums.games
    hits = np.zeros(2)
    for _ in range(trials):
        result = table(rate(simulated(rng, blocks, strengths)))
        for i, bot in enumerate(truth.bots):
            line = line_of(result, bot)
            assert line.error is not None
            assert line.elo_low is not None
            assert line.elo_high is not None
            hits += (
                abs(line.score - score[i]) <= line.error,
                line.elo_low <= truth.elo[i] <= line.elo_high,
            )
    in_score, in_elo = hits / trials / len(strengths)
    return in_score, in_elo


def test_intervals_hold_the_truth_as_often_as_they_say() -> None:
    """Of 200 simulated tournaments about 190 have the true value within both intervals."""
    in_score, in_elo = coverage(60, (0.4, 0.0), 200)
    assert 0.91 <= in_score <= 0.985
    assert 0.91 <= in_elo <= 0.985


@pytest.mark.long
@pytest.mark.parametrize(
    ("blocks", "strengths", "low", "high"),
    [
        (2, (0.4, 0.0), 0.90, 1.0),
        (3, (1.0, 0.0), 0.84, 0.995),
        (5, (1.0, 0.5, 0.0, -0.5), 0.93, 0.985),
        (10, (2.0, 0.5, 0.0, -0.5, -2.0), 0.93, 0.985),
        (50, (2.0, 0.5, 0.0, -0.5, -2.0), 0.93, 0.97),
        (200, (0.4, 0.0), 0.93, 0.97),
    ],
)
def test_intervals_hold_with_few_blocks_and_with_many(
    blocks: int, strengths: tuple[float, ...], low: float, high: float
) -> None:
    """Also between bots that differ much, and with two blocks, too few for a bootstrap."""
    assert low <= coverage(blocks, strengths, 600)[1] <= high


def test_ratings_have_mean_zero_and_their_order_is_the_rank() -> None:
    """Ranks follow the rating."""
    blocks = [block(1, 0.5, pairing=p, bots=b) for p, b in enumerate(("ab", "ac", "bc"))]
    lines = rated("abc", *blocks).lines
    assert [line.bot for line in lines] == ["a", "b", "c"]
    assert sum(line.elo for line in lines) == pytest.approx(0, abs=0.02)


def test_the_number_of_bots_costs_no_more_than_their_pairs() -> None:
    """Three hundred bots in seconds; the memory of arrays stays at tens of megabytes."""
    bots = tuple(f"b{i:03}" for i in range(300))
    tally = Tally(bots)
    rng = random.Random(1)
    for pairing, (one, other) in enumerate(combinations(bots, 2)):
        x, y = float(rng.random() < 0.6), float(rng.random() < 0.6)
        tally.add(
            Block(
                pairing,
                (
                    RatedMatch((one, other), (x, 1 - x), (0, 1)),
                    RatedMatch((other, one), (1 - y, y), (0, 1)),
                ),
            )
        )
    tracemalloc.start()
    result = table(rate(tally))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 100e6
    assert {line.games for line in result.lines} == {598}


def test_a_pairing_takes_the_same_memory_however_many_blocks_it_has() -> None:
    """Sums are kept, not blocks: also for four seats, where hardly two blocks are the same."""
    rng = random.Random(2)
    bots = tuple("abcd")
    seatings = list(permutations(bots))

    def whole() -> Block:
        results = ([1.0, 2 / 3, 1 / 3, 0.0] for _ in seatings)
        return Block(
            0,
            tuple(
                RatedMatch(seats, tuple(rng.sample(points, 4)), (0, 1, 2, 3))
                for seats, points in zip(seatings, results, strict=True)
            ),
        )

    tally = Tally(bots)
    for _ in range(50):
        tally.add(whole())
    (strata,) = tally.strata()
    assert strata.blocks.tolist() == [50]
    assert strata.row_blocks.tolist() == [50], "one row, not one for each block"
    assert strata.points.sum() == pytest.approx(50 * 24 * 2)


@pytest.mark.parametrize("seats", [2, 3, 4, 5, 6])
def test_shares_are_whole_units(seats: int) -> None:
    """Sums are exact, so they do not depend on the order: every place and tie is a whole number."""
    for first, last in combinations(range(1, seats + 1), 2):
        points = sum(seats - place for place in range(first, last + 1)) / (last - first + 1)
        units = points / (seats - 1) * UNIT
        assert units == pytest.approx(round(units), abs=1e-6)


def test_blocks_of_other_weights_are_not_spread() -> None:
    """With `repeat` and rotations a block of two matches follows one of four: no noise of a bot's."""

    def part(*seated: str) -> Block:
        playings = (
            RatedMatch(tuple(seats), tuple(float(bot == "a") for bot in seats), (0, 1, 2, 3))
            for seats in seated
        )
        return Block(0, tuple(playings))

    four, two = part("aabb", "abba", "bbaa", "baab"), part("abab", "baba")
    alike = rate(tally_of("ab", *[four] * 10))
    mixed = rate(tally_of("ab", *[four] * 5, *[two] * 5))
    assert mixed.variance[0] < alike.variance[0] + 0.1


@pytest.mark.oracle
def test_ratings_agree_with_choix() -> None:
    """Without the virtual draw, on results that need none."""
    import choix

    rng = np.random.default_rng(3)
    strength = np.array([0.0, 0.5, 1.0, -0.7, 0.2])
    taken = np.zeros((5, 5))
    data = []
    for i in range(5):
        for j in range(i + 1, 5):
            wins = rng.binomial(60, 1 / (1 + math.exp(strength[j] - strength[i])))
            taken[i, j], taken[j, i] = wins, 60 - wins
            data += [(i, j)] * wins + [(j, i)] * (60 - wins)
    expected = choix.ilsr_pairwise(5, data) * ELO
    assert bradley_terry(taken, 0.0) == pytest.approx(expected - expected.mean(), abs=1e-3)


@pytest.mark.oracle
def test_ratings_maximise_the_likelihood() -> None:
    """With the virtual draw and ties, against a general optimiser."""
    from scipy.optimize import minimize

    rng = np.random.default_rng(4)
    taken = rng.integers(0, 9, size=(6, 6)) / 2 * (1 - np.eye(6))
    taken[0] = 0  # one that lost everything
    taken[:, 5] *= np.arange(6) != 0
    virtual = (1 - np.eye(6)) / 2 / 5

    def loss(x: Any) -> float:
        difference = x[:, None] - x[None, :]
        return float(((taken + virtual) * np.log1p(np.exp(-difference))).sum() + x.sum() ** 2)

    best = minimize(loss, np.zeros(6), method="BFGS", options={"gtol": 1e-8}).x
    assert bradley_terry(taken) == pytest.approx((best - best.mean()) * ELO, abs=1e-2)
