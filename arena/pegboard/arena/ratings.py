"""Points, crosstables and ratings with error bars: pure numbers.

A match compares every two seats of different sides: the better placed one takes the comparison,
equal places share it. Comparisons are weighted so that a bot's add up to its points (1.0 for first
place down to 0.0). Everything is then a sum over duplicate blocks.

Error bars are pair-aware: the block is what is drawn, not the match, so luck that one seating gives
and another takes back does not count as noise. `Standing.error` is the half width of a 95 % interval
of the mean points (a ratio estimate over blocks); the Elo interval is the 2.5 and 97.5 percentile
over 1,000 bootstrap samples of blocks, drawn within each pairing, with a fixed seed.

Ratings are Bradley-Terry on the Elo scale (a difference of 400 is odds of 10 to 1), their mean 0.
Each bot is given one virtual drawn game, spread evenly over all others: it keeps the rating of a bot
that won or lost everything finite, and costs little once some dozens of games are played.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

ELO = 400 / math.log(10)
RESAMPLES = 1_000
CONFIDENCE = 0.95
VIRTUAL_GAMES = 1.0
_Z = 1.959963984540054
_SEED = 20_26
_TOLERANCE = 1e-9
_STEPS = 200


class Playing(NamedTuple):
    """One finished match of a block: bots, points and sides by seat, `value` ranks solo playings."""

    bots: tuple[str, ...]
    points: tuple[float, ...]
    sides: tuple[int, ...]
    value: float = 0.0


class Block(NamedTuple):
    """What one seed gave, over all seat orders. `pairing` is the stratum it is drawn within."""

    pairing: int
    playings: tuple[Playing, ...]


class Standing(NamedTuple):
    """One line of the table. `games` counts seats held; the numbers of a bot without games are 0.

    `error` and the Elo interval are None where nothing can be said: a single block, or (the
    interval) blocks that all came out the same, as when a bot wins everything.
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


class Table(NamedTuple):
    """Standings, best first, and the crosstable: `cross[i][j]` is what bot i took from bot j."""

    standings: tuple[Standing, ...]
    bots: tuple[str, ...]
    cross: Floats
    games: Floats


class Tally:
    """Blocks, added up. Equal blocks of a pairing are kept once with their count."""

    def __init__(self, bots: Sequence[str]) -> None:
        self.bots = tuple(bots)
        self._index = {bot: i for i, bot in enumerate(self.bots)}
        self._patterns: dict[int, Counter[_Pattern]] = {}

    def add(self, block: Block, count: int = 1) -> None:
        """Add a block `count` times; one without playings adds nothing."""
        if not block.playings:
            return
        patterns = self._patterns.setdefault(block.pairing, Counter())
        patterns[_pattern(block, self._index)] += count

    def take(self, other: Tally) -> None:
        """Add all blocks of another tally of the same bots."""
        for pairing, patterns in other._patterns.items():
            self._patterns.setdefault(pairing, Counter()).update(patterns)

    def strata(self, pairings: range | None = None) -> list[Stratum]:
        """Return one stratum a pairing (of `pairings` only), ascending, patterns in a fixed order."""
        wanted = sorted(self._patterns)
        return [
            Stratum(sorted(self._patterns[pairing].items()))
            for pairing in wanted
            if pairings is None or pairing in pairings
        ]


_Pattern = tuple[tuple[int, ...], tuple[float, ...]]
"""Bots of a block, ascending, and per ordered pair of them: taken, compared; then points, games."""


def _pattern(block: Block, index: Mapping[str, int]) -> _Pattern:
    bots = sorted({index[bot] for playing in block.playings for bot in playing.bots})
    place = {bot: i for i, bot in enumerate(bots)}
    size = len(bots)
    taken = np.zeros((size, size))
    points = np.zeros(size)
    games = np.zeros(size)
    if all(len(playing.bots) == 1 for playing in block.playings):
        _compare_alone(block, index, place, taken, points, games)
    else:
        for playing in block.playings:
            seats = [place[index[bot]] for bot in playing.bots]
            np.add.at(points, seats, playing.points)
            np.add.at(games, seats, 1)
            _compare_seats(playing, seats, taken)
    return tuple(bots), (*taken.ravel().tolist(), *points.tolist(), *games.tolist())


def _compare_seats(playing: Playing, seats: Sequence[int], taken: Floats) -> None:
    """Compare seats of different sides, weighted so that a seat's comparisons add up to 1."""
    sides = playing.sides
    others = [len(sides) - sides.count(side) for side in sides]
    for a, bot_a in enumerate(seats):
        for b, bot_b in enumerate(seats):
            if sides[a] != sides[b] and bot_a != bot_b:
                weight = (1 / others[a] + 1 / others[b]) / 2
                taken[bot_a, bot_b] += weight * _share(playing.points[a], playing.points[b])


def _compare_alone(
    block: Block,
    index: Mapping[str, int],
    place: Mapping[int, int],
    taken: Floats,
    points: Floats,
    games: Floats,
) -> None:
    """In an event for one seat the block is the match: same deals, the higher score is better."""
    seats = [place[index[playing.bots[0]]] for playing in block.playings]
    values = [playing.value for playing in block.playings]
    weight = 1 / max(len(seats) - 1, 1)
    for a, bot_a in enumerate(seats):
        games[bot_a] += 1
        for b, bot_b in enumerate(seats):
            if a != b:
                share = weight * _share(values[a], values[b])
                taken[bot_a, bot_b] += share
                points[bot_a] += share


def _share(own: float, other: float) -> float:
    return 1.0 if own > other else 0.5 if own == other else 0.0


class Stratum:
    """The blocks of one pairing as arrays: patterns (P) with counts (P)."""

    def __init__(self, patterns: Sequence[tuple[_Pattern, int]]) -> None:
        self.bots = np.array(sorted({bot for (bots, _), _ in patterns for bot in bots}), dtype=int)
        size = len(self.bots)
        place = {int(bot): i for i, bot in enumerate(self.bots)}
        self.counts = np.array([count for _, count in patterns], dtype=np.int64)
        self.taken = np.zeros((len(patterns), size, size))
        self.points = np.zeros((len(patterns), size))
        self.games = np.zeros((len(patterns), size))
        for row, ((bots, numbers), _) in enumerate(patterns):
            own = [place[bot] for bot in bots]
            cells = len(bots) ** 2
            values = np.array(numbers)
            self.taken[row][np.ix_(own, own)] = values[:cells].reshape(len(bots), len(bots))
            self.points[row, own] = values[cells : cells + len(bots)]
            self.games[row, own] = values[cells + len(bots) :]

    def sums(self, counts: npt.NDArray[np.int64]) -> Floats:
        """Return what was taken, (..., size, size), for counts of patterns (..., P)."""
        sums: Floats = np.tensordot(counts.astype(np.float64), self.taken, axes=1)
        return sums

    def resample(self, samples: int, rng: np.random.Generator) -> npt.NDArray[np.int64]:
        """Return counts of patterns (samples, P) as drawing the blocks anew would give them."""
        total = int(self.counts.sum())
        drawn: npt.NDArray[np.int64]
        drawn = rng.multinomial(total, self.counts / total, size=samples)
        return drawn


def table(tally: Tally, *, resamples: int = RESAMPLES) -> Table:
    """Rate everything tallied: `rate` for all strata."""
    return rate(tally.bots, tally.strata(), resamples=resamples)


def rate(bots: Sequence[str], strata: Sequence[Stratum], *, resamples: int = RESAMPLES) -> Table:
    """Rate bots by some strata. `resamples` 0: no Elo interval.

    The result depends on the blocks alone, not on the order in which they were added.
    """
    count = len(bots)
    cross, points, games = np.zeros((count, count)), np.zeros(count), np.zeros(count)
    for stratum in strata:
        cross[np.ix_(stratum.bots, stratum.bots)] += stratum.sums(stratum.counts)
        points[stratum.bots] += stratum.counts @ stratum.points
        games[stratum.bots] += stratum.counts @ stratum.games
    elo = bradley_terry(cross)
    low, high = _interval(strata, count, elo, resamples)
    score = np.divide(points, games, out=np.zeros(count), where=games > 0)
    error = _score_errors(strata, score, games)
    order = sorted(range(count), key=lambda i: (games[i] == 0, -elo[i], -score[i], bots[i]))
    standings = tuple(
        Standing(
            rank=rank,
            bot=bots[i],
            points=round(float(points[i]), 6),
            games=round(float(games[i])),
            score=round(float(score[i]), 6),
            error=_rounded(error[i], 6),
            elo=round(float(elo[i]), 2),
            elo_low=_rounded(low[i], 2),
            elo_high=_rounded(high[i], 2),
        )
        for rank, i in enumerate(order, start=1)
    )
    return Table(standings, tuple(bots), np.round(cross, 6), np.round(cross + cross.T, 6))


def _rounded(value: float, digits: int) -> float | None:
    return None if math.isnan(value) else round(float(value), digits)


def bradley_terry(taken: Floats, virtual_games: float = VIRTUAL_GAMES) -> Floats:
    """Return Elo ratings, mean 0, for comparisons taken: (..., n, n), many tables at once.

    Newton's method on the log likelihood, which is concave; steps are cut so that it does not
    overshoot where results are lopsided. Bots without comparisons get 0, and so do not disturb.
    """
    size = taken.shape[-1]
    if size < 2:
        return np.zeros(taken.shape[:-1])
    played = (taken + np.swapaxes(taken, -1, -2)).sum(axis=-1) > 0
    both = played[..., :, None] & played[..., None, :] & ~np.eye(size, dtype=bool)
    others = np.maximum(played.sum(axis=-1) - 1, 1)
    wins = taken + both * (virtual_games / 2 / others)[..., None, None]
    games = wins + np.swapaxes(wins, -1, -2)
    strength = np.zeros(taken.shape[:-1])
    # The likelihood has no direction of common shift; pinning the mean makes the matrix regular.
    pin = np.full((size, size), 1 / size) + np.eye(size) * ~played[..., None, :]
    for _ in range(_STEPS):
        expected = _logistic(strength[..., :, None] - strength[..., None, :])
        gradient = (wins - games * expected).sum(axis=-1)
        curvature = games * expected * (1 - expected)
        hessian = _laplacian(curvature) + pin
        step = np.linalg.solve(hessian, gradient[..., None])[..., 0]
        largest = np.abs(step).max(axis=-1, keepdims=True)
        strength += step * np.minimum(1, 1 / np.maximum(largest, 1e-300))
        if largest.max() < _TOLERANCE:
            break
    strength -= _mean_where(strength, played)
    return np.where(played, strength * ELO, 0.0)


def _logistic(x: Floats) -> Floats:
    odds: Floats = 1 / (1 + np.exp(-x))
    return odds


def _laplacian(weights: Floats) -> Floats:
    size = weights.shape[-1]
    matrix: Floats = np.eye(size) * weights.sum(axis=-1)[..., None] - weights
    return matrix


def _mean_where(values: Floats, mask: npt.NDArray[np.bool_]) -> Floats:
    count = np.maximum(mask.sum(axis=-1, keepdims=True), 1)
    mean: Floats = (values * mask).sum(axis=-1, keepdims=True) / count
    return mean


def _interval(
    strata: Sequence[Stratum], count: int, elo: Floats, resamples: int
) -> tuple[Floats, Floats]:
    """Percentiles of the ratings over bootstrap samples of blocks; NaN where none differ."""
    unknown = np.full(count, np.nan)
    if not resamples or not strata:
        return unknown, unknown
    rng = np.random.default_rng(_SEED)
    samples = np.zeros((resamples, count, count))
    for stratum in strata:
        rows = stratum.sums(stratum.resample(resamples, rng))
        samples[:, stratum.bots[:, None], stratum.bots[None, :]] += rows
    ratings = bradley_terry(samples)
    tail = 100 * (1 - CONFIDENCE) / 2
    low, high = np.percentile(ratings, [tail, 100 - tail], axis=0)
    known = high - low > _TOLERANCE * ELO
    return (
        np.where(known, np.minimum(low, elo), np.nan),
        np.where(known, np.maximum(high, elo), np.nan),
    )


def _score_errors(strata: Sequence[Stratum], score: Floats, games: Floats) -> Floats:
    """Half widths of the mean points: a ratio estimate over blocks, stratified by pairing.

    A pairing with a single block says nothing about its own spread; its distance from the bot's
    mean stands in for it. NaN for a bot with a single block in all.
    """
    variance, blocks_of = np.zeros(len(score)), np.zeros(len(score))
    for stratum in strata:
        blocks = int(stratum.counts.sum())
        residual = stratum.points - score[stratum.bots] * stratum.games
        mean = (stratum.counts @ residual) / blocks if blocks > 1 else 0.0
        squares = stratum.counts @ (residual - mean) ** 2
        variance[stratum.bots] += squares * blocks / max(blocks - 1, 1)
        blocks_of[stratum.bots] += blocks
    error = _Z * np.divide(np.sqrt(variance), games, out=np.zeros(len(score)), where=games > 0)
    return np.where(blocks_of == 1, np.nan, error)
