"""Points, crosstables, ratings and their error bars."""

from __future__ import annotations

import math
import random
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pegboard.arena.ratings import ELO, Block, Playing, Table, Tally, bradley_terry, rate, table

ORDERS = (("a", "b"), ("b", "a"))


def block(*points: float, pairing: int = 0, bots: str = "ab") -> Block:
    """Return a block of two matches: a's points in each seat order."""
    first, second = points
    a, b = tuple(bots)
    return Block(
        pairing,
        (
            Playing((a, b), (first, 1 - first), (0, 1)),
            Playing((b, a), (1 - second, second), (0, 1)),
        ),
    )


def rated(bots: str, *blocks: Block, resamples: int = 0) -> Table:
    """Return the table of some blocks."""
    tally = Tally(tuple(bots))
    for item in blocks:
        tally.add(item)
    return table(tally, resamples=resamples)


def numbers(result: Table) -> dict[str, tuple[float, int]]:
    """Return points and games by bot."""
    return {line.bot: (line.points, line.games) for line in result.standings}


def test_points_are_those_of_the_seats() -> None:
    """A win is 1, a tie one half."""
    result = rated("ab", block(1, 1), block(1, 0.5))
    assert numbers(result) == {"a": (3.5, 4), "b": (0.5, 4)}
    assert result.cross.tolist() == [[0, 3.5], [0.5, 0]]


@given(st.permutations([0.0, 0.5, 1.0]))
@settings(deadline=None, max_examples=50)
def test_comparisons_of_many_seats_add_up_to_the_points(points: list[float]) -> None:
    """With three seats the first has 1, the second 1/2: half a comparison with each other seat."""
    playing = Playing(("a", "b", "c"), tuple(points), (0, 1, 2))
    result = rated("abc", Block(0, (playing,)))
    for line, row in zip(sorted(result.standings, key=lambda s: s.bot), result.cross, strict=True):
        assert line.points == row.sum()


def test_partners_are_not_compared_with_each_other() -> None:
    """Two sides of two: each seat is compared with both opponents, half each."""
    playing = Playing(("a", "b", "c", "d"), (1, 0, 1, 0), (0, 1, 0, 1))
    result = rated("abcd", Block(0, (playing,)))
    assert result.cross.tolist() == [[0, 0.5, 0, 0.5], [0] * 4, [0, 0.5, 0, 0.5], [0] * 4]


def test_a_bot_is_not_compared_with_itself() -> None:
    """A bot in two seats takes from the third only."""
    playing = Playing(("a", "a", "b"), (1, 0.5, 0), (0, 1, 2))
    result = rated("ab", Block(0, (playing,)))
    assert numbers(result) == {"a": (1.5, 2), "b": (0, 1)}
    assert result.cross.tolist() == [[0, 1], [0, 0]]


def test_alone_at_the_table_scores_are_compared_within_the_block() -> None:
    """Same deals, the higher score takes the comparison."""
    playings = tuple(
        Playing((bot,), (1.0,), (0,), value)
        for bot, value in (("a", 60.0), ("b", 50.0), ("c", 50.0))
    )
    result = rated("abc", Block(0, playings))
    assert numbers(result) == {"a": (1, 1), "b": (0.25, 1), "c": (0.25, 1)}


def test_two_bots_have_the_rating_of_their_odds() -> None:
    """The closed form: 400 log10 of the odds, one virtual draw included."""
    result = rated("ab", *[block(1, 1)] * 30, *[block(0, 1)] * 30, *[block(0, 0)] * 10)
    won, lost = 90.5, 50.5
    difference = 400 * math.log10(won / lost)
    by_bot = {line.bot: line.elo for line in result.standings}
    assert by_bot["a"] == pytest.approx(difference / 2, abs=0.01)
    assert by_bot["b"] == pytest.approx(-difference / 2, abs=0.01)


@pytest.mark.parametrize("blocks", [1, 1000])
def test_a_bot_that_wins_everything_stays_finite(blocks: int) -> None:
    """The virtual draw bounds it, and it rises with the number of games."""
    tally = Tally(("a", "b"))
    tally.add(block(1, 1), blocks)
    first, last = table(tally).standings
    odds = (2 * blocks + 0.5) / 0.5
    assert first.bot == "a"
    assert first.elo - last.elo == pytest.approx(400 * math.log10(odds), abs=0.05)
    assert first.score == 1
    assert first.error == (0 if blocks > 1 else None)
    assert first.elo_low is None


def test_bots_that_never_met_anybody_do_not_disturb() -> None:
    """They stand last with zeros; the others are rated as if they were not there."""
    blocks = [*[block(1, 0.5)] * 5, *[block(0, 1)] * 3]
    alone, among = rated("ab", *blocks), rated("abz", *blocks)
    assert alone.standings == among.standings[:2]
    assert among.standings[2][1:] == ("z", 0, 0, 0, 0, 0, None, None)


def test_nothing_played_is_a_table_of_zeros() -> None:
    """The live display asks before the first block is over."""
    assert [line.elo for line in rated("ab", resamples=100).standings] == [0, 0]


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
    one, other = (rated("abc", *order, resamples=50) for order in (blocks, mixed))
    assert one.standings == other.standings
    assert np.array_equal(one.cross, other.cross)


def test_luck_that_the_other_seating_takes_back_is_no_noise() -> None:
    """Deals that decide the match split every block: nothing is uncertain about the score."""
    split = rated("ab", *[block(1, 0)] * 50, *[block(0, 1)] * 50, resamples=200)
    luck = rated("ab", *[block(1, 1)] * 50, *[block(0, 0)] * 50, resamples=200)
    assert split.standings[0].error == 0
    assert split.standings[0].elo_low is None
    # 50 blocks each way: the standard error is 1/2 over the root of 100 (99 with one mean).
    assert luck.standings[0].error == pytest.approx(1.96 * 0.5 / math.sqrt(99), rel=1e-3)
    assert (luck.standings[0].elo_low or 0) < 0 < (luck.standings[0].elo_high or 0)


def test_intervals_hold_the_truth_as_often_as_they_say() -> None:
    """Of 200 simulated tournaments about 190 have the true value within both intervals."""
    rng = np.random.default_rng(7)
    truth = 0.6
    elo = ELO * math.log(truth / (1 - truth))
    in_score = in_elo = 0
    for _ in range(200):
        wins = rng.binomial(1, truth, size=(120, 2))
        counts = np.unique(wins, axis=0, return_counts=True)
        tally = Tally(("a", "b"))
        for (x, y), count in zip(*counts, strict=True):
            tally.add(block(float(x), float(y)), int(count))
        line = next(s for s in table(tally, resamples=300).standings if s.bot == "a")
        assert line.error is not None
        assert line.elo_low is not None
        assert line.elo_high is not None
        in_score += abs(line.score - truth) <= line.error
        in_elo += line.elo_low <= elo / 2 <= line.elo_high
    assert 180 <= in_score <= 198
    assert 180 <= in_elo <= 198


def test_ratings_have_mean_zero_and_their_order_is_the_rank() -> None:
    """Ranks follow the rating."""
    blocks = [block(1, 0.5, pairing=p, bots=b) for p, b in enumerate(("ab", "ac", "bc"))]
    lines = rated("abc", *blocks).standings
    assert [line.bot for line in lines] == ["a", "b", "c"]
    assert sum(line.elo for line in lines) == pytest.approx(0, abs=0.02)


def test_many_tables_are_rated_at_once() -> None:
    """A stack of tables gives the ratings of each."""
    rng = np.random.default_rng(1)
    stack = rng.integers(0, 30, size=(7, 5, 5)).astype(float)
    stack *= 1 - np.eye(5)
    together = bradley_terry(stack)
    for taken, ratings in zip(stack, together, strict=True):
        assert bradley_terry(taken) == pytest.approx(ratings, abs=1e-6)


def test_a_pairing_is_drawn_within_itself() -> None:
    """The schedule fixes how many blocks a pairing has; so does the bootstrap."""
    tally = Tally(("a", "b", "c"))
    tally.add(block(1, 1, pairing=0, bots="ab"), 10)
    tally.add(block(1, 1, pairing=1, bots="ac"), 10)
    for line in rate(tally.bots, tally.strata(), resamples=100).standings:
        assert line.elo_low is None
    assert [len(tally.strata(r)) for r in (range(1), range(1, 2), range(2), None)] == [1, 1, 2, 2]


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
