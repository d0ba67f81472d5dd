"""Ratings and scores with error bars: pure numbers, from the sums of a `Tally`.

Ratings are Bradley-Terry on the Elo scale (a difference of 400 is odds of 10 to 1), their mean 0.
Each bot is given one virtual drawn game, spread evenly over all others: it keeps the rating of a bot
that won or lost everything finite, and costs little once some dozens of games are played.

Error bars are pair-aware: what is drawn is the block, not the match, so luck that one seating gives
and another takes back is not noise. Both intervals are 95 %, from variances over whole blocks within
each pairing. The variance of a sum over n blocks is estimated by

    sum((r - mean)^2) + m p (1 - p)          r: a block's result less its expectation

with m comparisons (or games) in a block and p = (taken + 1) / (compared + 2) of the pairing: besides
its n blocks, which leave n - 1 degrees of freedom, each pairing has one more block whose matches are
independent. So the spread is never 0 for want of blocks. The ratings' covariance is the sandwich
H^-1 S H^-1 of that variance S of the scores and the curvature H of the likelihood.

Many events have one table: the mean of their ratings, as each event counts the same whatever its
number of matches and however large a difference its game makes.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import msgspec
import numpy as np
import numpy.typing as npt

from pegboard.arena.tally import Block, Floats, Strata, Sums, Tally

ELO = 400 / math.log(10)
VIRTUAL_GAMES = 1.0
_Z = 1.959963984540054
_TOLERANCE = 1e-9
_STEPS = 200


class TableLine(msgspec.Struct, frozen=True):
    """One line of a table. `games` counts seats held; the numbers of a bot without games are 0.

    `error` is the half width of the 95 % interval of the score. It and the Elo interval are None
    if the bot has no whole block. `faults` are counts by termination.
    """

    rank: int
    bot: str
    points: float
    games: int
    score: float
    error: float | None
    elo: float
    elo_low: float | None
    elo_high: float | None
    faults: dict[str, int] = {}


class RatingTable(NamedTuple):
    """The lines, best first, and the crosstable over `bots`.

    `cross[i][j]` is what bot i took from bot j, `games[i][j]` what it could have taken.
    """

    lines: tuple[TableLine, ...]
    bots: tuple[str, ...]
    cross: Floats
    games: Floats


class Rating(NamedTuple):
    """Numbers by bot (n): rating and its standard error, both Elo; NaN if there is none.

    `variance` is that of the points in whole blocks, in which the bots have `whole_games`.
    """

    bots: tuple[str, ...]
    elo: Floats
    elo_error: Floats
    variance: Floats
    whole_games: Floats
    sums: Sums


def rate(tally: Tally, half_blocks: Sequence[Block] = ()) -> Rating:
    """Rate the bots of one event.

    `half_blocks` count for points and ratings; variances are of whole blocks alone, and so are the
    games that they are divided by. The result depends on the blocks, not on the order of adding.
    """
    whole = tally.sums()
    sums = whole.plus(tally.sums_of(half_blocks)) if half_blocks else whole
    strength = _fit(sums.fitted, VIRTUAL_GAMES)
    score = _ratio(whole.points, whole.games)
    meat, variance = _variances(tally, strength, score)
    with np.errstate(invalid="ignore"):
        error = np.sqrt(np.diag(_sandwich(whole, strength, meat))) * ELO
    return Rating(
        bots=tally.bots,
        elo=strength * ELO,
        elo_error=np.where(whole.games > 0, error, np.nan),
        variance=variance,
        whole_games=whole.games,
        sums=sums,
    )


def mean_of(ratings: Sequence[Rating]) -> Rating:
    """Return one rating of several events of the same bots: the mean of those that a bot played.

    The events are independent, so variances add up; points and games are added up as they are.
    """
    if len(ratings) == 1:
        return ratings[0]
    played = np.array([rating.sums.games > 0 for rating in ratings])
    events = np.maximum(played.sum(axis=0), 1)
    elo = np.array([rating.elo for rating in ratings])
    squares = np.array([rating.elo_error for rating in ratings]) ** 2
    total = ratings[0].sums
    for rating in ratings[1:]:
        total = total.plus(rating.sums)
    return Rating(
        bots=ratings[0].bots,
        elo=np.where(played, elo, 0).sum(axis=0) / events,
        elo_error=np.where(
            played.any(axis=0), np.sqrt(np.where(played, squares, 0).sum(axis=0)) / events, np.nan
        ),
        variance=sum((rating.variance for rating in ratings), np.zeros(len(total.games))),
        whole_games=sum((rating.whole_games for rating in ratings), np.zeros(len(total.games))),
        sums=total,
    )


def table(rating: Rating, faults: Mapping[str, Mapping[str, int]] | None = None) -> RatingTable:
    """Return the lines, by rating, and the crosstable. `faults` are counts by bot and termination."""
    points, games = rating.sums.points, rating.sums.games
    elo, bots = rating.elo, rating.bots
    score = _ratio(points, games)
    error = (
        _Z * np.sqrt(rating.variance) / np.where(rating.whole_games > 0, rating.whole_games, np.nan)
    )
    low, high = elo - _Z * rating.elo_error, elo + _Z * rating.elo_error
    order = sorted(range(len(bots)), key=lambda i: (games[i] == 0, -elo[i], -score[i], bots[i]))
    lines = tuple(
        TableLine(
            rank=rank,
            bot=bots[i],
            points=round(float(points[i]), 6),
            games=round(float(games[i])),
            score=round(float(score[i]), 6),
            error=_rounded(error[i], 6),
            elo=round(float(elo[i]), 2),
            elo_low=_rounded(low[i], 2),
            elo_high=_rounded(high[i], 2),
            faults=dict(sorted((faults or {}).get(bots[i], {}).items())),
        )
        for rank, i in enumerate(order, start=1)
    )
    sums = rating.sums
    return RatingTable(lines, bots, np.round(sums.taken, 6), np.round(sums.compared, 6))


def bradley_terry(taken: Floats, virtual_games: float = VIRTUAL_GAMES) -> Floats:
    """Return Elo ratings (n,), mean 0, for comparisons taken (n, n)."""
    return _fit(taken, virtual_games) * ELO


# The fit: strengths are natural logarithms of odds.


def _fit(taken: Floats, virtual_games: float) -> Floats:
    """Return strengths (n,), mean 0.

    Newton's method on the log likelihood, which is concave; steps are cut so that it does not
    overshoot if results are lopsided. Bots without comparisons get 0, and so do not disturb.
    """
    size = len(taken)
    if size < 2:
        return np.zeros(size)
    played = _played(taken)
    wins = taken + _virtual_draws(played, virtual_games) / 2
    games = wins + wins.T
    strength = np.zeros(size)
    for _ in range(_STEPS):
        expected = _expected(strength)
        gradient = (wins - games * expected).sum(axis=1)
        step = np.linalg.solve(_curvature(games, expected, played), gradient)
        largest = np.abs(step).max()
        strength += step * min(1.0, 1 / max(largest, 1e-300))
        if largest < _TOLERANCE:
            break
    mean = strength[played].mean() if played.any() else 0.0
    return np.where(played, strength - mean, 0.0)


def _played(taken: Floats) -> npt.NDArray[np.bool_]:
    played: npt.NDArray[np.bool_] = (taken + taken.T).sum(axis=1) > 0
    return played


def _virtual_draws(played: npt.NDArray[np.bool_], games: float) -> Floats:
    """Return the virtual games (n, n) of each pair of bots that have played."""
    both: Floats = np.outer(played, played) * (1.0 - np.eye(len(played)))
    return both * (games / max(int(played.sum()) - 1, 1))


def _expected(strength: Floats) -> Floats:
    """Return the share (n, n) that each bot should take from each other."""
    odds: Floats = 1 / (1 + np.exp(strength[None, :] - strength[:, None]))
    return odds


def _curvature(games: Floats, expected: Floats, played: npt.NDArray[np.bool_]) -> Floats:
    """Return minus the second derivative of the log likelihood, made regular.

    The likelihood has no direction of common shift: pinning the mean adds it. Bots that have not
    played get a 1 on the diagonal.
    """
    size = len(games)
    pin: Floats = np.full((size, size), 1 / size) + np.diag(~played).astype(np.float64)
    return _laplacian(games * expected * (1 - expected)) + pin


def _laplacian(weights: Floats) -> Floats:
    """Return the matrix (..., n, n) of a sum of weighted squared differences."""
    sums: Floats = weights.sum(axis=-1)
    matrix: Floats = np.eye(weights.shape[-1]) * sums[..., None] - weights
    return matrix


# Variances


def _sandwich(whole: Sums, strength: Floats, meat: Floats) -> Floats:
    """Return the covariance (n, n) of the strengths as whole blocks alone would give them."""
    played = _played(whole.fitted)
    games = whole.weight + _virtual_draws(played, VIRTUAL_GAMES)
    bread = _curvature(games, _expected(strength), played)
    return _solved(bread, _solved(bread, meat).T)


def _solved(matrix: Floats, right: Floats) -> Floats:
    return np.linalg.solve(matrix, right).astype(np.float64)


def _variances(tally: Tally, strength: Floats, score: Floats) -> tuple[Floats, Floats]:
    """Return the covariance (n, n) of what was taken in all, and the variance (n,) of the points."""
    size = len(strength)
    expected = _expected(strength)
    meat: Floats = np.zeros(size * size)
    variance: Floats = np.zeros(size)
    for strata in tally.strata():
        bots = strata.bots
        cells = (bots[:, :, None] * size + bots[:, None, :]).ravel()
        pair = expected[bots[:, :, None], bots[:, None, :]]
        meat += _scattered(cells, _of_wins(strata, pair), size * size)
        variance += _scattered(bots.ravel(), _of_points(strata, score[bots]), size)
    return meat.reshape(size, size), variance


def _scattered(places: npt.NDArray[np.int64], values: Floats, size: int) -> Floats:
    """Return sums (size,) of the values that go to each place."""
    return np.bincount(places, values.ravel(), size).astype(np.float64)


def _of_wins(strata: Strata, expected: Floats) -> Floats:
    """Return the covariances (s, k, k) of what was taken in the blocks of each pairing.

    `expected` (s, k, k) matters only if seat orders weigh differently from block to block.
    """
    blocks = strata.row_blocks[:, None]
    foreseen = (strata.weight * expected[strata.row_pairing]).sum(axis=2) / blocks
    taken = strata.fitted.sum(axis=2)
    product = taken[:, :, None] * foreseen[:, None, :]
    squares = (
        strata.wins
        - product
        - product.swapaxes(1, 2)
        + blocks[:, :, None] * foreseen[:, :, None] * foreseen[:, None, :]
    )
    total = strata.merged(taken - blocks * foreseen)
    count = strata.blocks[:, None, None]
    spread = strata.merged(squares) - total[:, :, None] * total[:, None, :] / count
    fitted, weight = strata.merged(strata.fitted), strata.merged(strata.weight)
    return spread + _laplacian(weight / count * _binomial(fitted, weight))


def _of_points(strata: Strata, score: Floats) -> Floats:
    """Return the variances (s, k) of the points in each pairing; `score` (s, k)."""
    blocks = strata.row_blocks[:, None]
    foreseen = score[strata.row_pairing] * strata.games / blocks
    squares = strata.squares - 2 * foreseen * strata.points + blocks * foreseen**2
    total = strata.merged(strata.points - blocks * foreseen)
    count = strata.blocks[:, None]
    spread = np.maximum(strata.merged(squares) - total**2 / count, 0)
    points, games = strata.merged(strata.points), strata.merged(strata.games)
    return spread + games / count * _binomial(points, games)


def _binomial(taken: Floats, compared: Floats) -> Floats:
    """Return the variance of one comparison, by a share that is never 0 or 1."""
    share: Floats = (taken + 1) / (compared + 2)
    return share * (1 - share)


def _ratio(points: Floats, games: Floats) -> Floats:
    return np.divide(points, games, out=np.zeros(len(points)), where=games > 0)


def _rounded(value: float, digits: int) -> float | None:
    return None if math.isnan(value) else round(float(value), digits)
