"""Duplicate blocks, added up: all that ratings and error bars need, and no more. Pure numbers.

A match compares every two seats of different sides: the better placed one takes the comparison,
equal places share it. Comparisons are weighted in two ways:

- for the crosstable by the row: a seat's comparisons in a match add up to 1, evenly over the other
  sides and within a side over its seats, so that a bot's row adds up to its points;
- for the ratings by the pair: both seats of a comparison give it the mean of their two weights, since
  a rating fits who won a comparison, not who counted it. If all sides have the same size the two
  are equal.

A pairing keeps sums over its blocks and sums of their squares, in whole units: so they take the same
memory after a million blocks as after one, and do not depend on the order in which matches finish.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

UNIT = 40_320
"""The parts of one comparison or point: every share and weight of up to eight sides is whole."""
_CACHED = 4_096
_CHUNK = 1 << 18
"""Cells of a chunk of pairings: bounds the memory of one step of the arithmetic."""


class RatedMatch(NamedTuple):
    """A finished match of a block: bots, points and sides by seat; `value` ranks those of one seat."""

    bots: tuple[str, ...]
    points: tuple[float, ...]
    sides: tuple[int, ...]
    value: float = 0.0


class Block(NamedTuple):
    """What one seed gave, over its seat orders. `pairing` is the stratum it belongs to."""

    pairing: int
    matches: tuple[RatedMatch, ...]


class Sums(NamedTuple):
    """Sums over blocks, over all bots (n). What was taken and compared: (n, n), points: (n,).

    `fitted` and `weight` are for the ratings, `taken` and `compared` for the crosstable.
    """

    fitted: Floats
    weight: Floats
    taken: Floats
    compared: Floats
    points: Floats
    games: Floats

    @classmethod
    def zero(cls, size: int) -> Sums:
        """Return the sums of no blocks, for n bots."""
        a, b, c, d = (np.zeros((size, size)) for _ in range(4))
        return cls(a, b, c, d, np.zeros(size), np.zeros(size))

    def plus(self, other: Sums) -> Sums:
        """Return the sums of both."""
        return Sums(*(a + b for a, b in zip(self, other, strict=True)))


class Strata(NamedTuple):
    """Some pairings (s) with the same number of bots (k), and their sums over blocks.

    `bots` (s, k) are the bots' indices, `blocks` (s,) the numbers of blocks. `rows` are these sums of
    the pairings, apart for blocks whose seat orders weigh differently: pairing (r,), blocks (r,), and
    as in `Sums` fitted, weight (r, k, k), points, games (r, k); `wins` (r, k, k) are the sums of the
    products of what two bots took in a block, `squares` (r, k) of the squares of its points.
    """

    bots: Ints
    blocks: Floats
    row_pairing: Ints
    row_blocks: Floats
    fitted: Floats
    weight: Floats
    points: Floats
    games: Floats
    wins: Floats
    squares: Floats

    def merged(self, rows: Floats) -> Floats:
        """Return sums over the rows of each pairing: (r, ...) to (s, ...)."""
        starts = np.searchsorted(self.row_pairing, np.arange(len(self.blocks)))
        sums: Floats = np.add.reduceat(rows, starts, axis=0)
        return sums


class Tally:
    """Whole blocks of some pairings, added up."""

    def __init__(self, bots: Sequence[str]) -> None:
        self.bots = tuple(bots)
        self._index = {bot: i for i, bot in enumerate(self.bots)}
        self._groups: dict[tuple[int, int], _Group] = {}
        self._measured: dict[_Shape, _Measures] = {}

    def add(self, block: Block, count: int = 1) -> None:
        """Add a whole block `count` times; one without matches adds nothing."""
        if not block.matches:
            return
        bots, measures = self._measure(block)
        key = (len(bots), measures.unit)
        if key not in self._groups:
            self._groups[key] = _Group(len(bots))
        self._groups[key].add(block.pairing, bots, measures, count)

    def sums(self) -> Sums:
        """Return the sums over all blocks."""
        total = Sums.zero(len(self.bots))
        for (_, unit), group in sorted(self._groups.items()):
            total = total.plus(group.sums(len(self.bots), unit))
        return total

    def sums_of(self, blocks: Sequence[Block]) -> Sums:
        """Return the sums over other blocks, whole or not, in the order given."""
        total = Sums.zero(len(self.bots))
        for block in blocks:
            bots, measures = self._measure(block)
            group = _Group(len(bots))
            group.add(block.pairing, bots, measures, 1)
            total = total.plus(group.sums(len(self.bots), measures.unit))
        return total

    def strata(self) -> Iterator[Strata]:
        """Yield all pairings, in chunks, always in the same order."""
        for (_, unit), group in sorted(self._groups.items()):
            yield from group.strata(unit)

    def _measure(self, block: Block) -> tuple[tuple[int, ...], _Measures]:
        index = self._index
        bots = tuple(sorted({index[bot] for match in block.matches for bot in match.bots}))
        place = {self.bots[bot]: i for i, bot in enumerate(bots)}
        if all(len(match.bots) == 1 for match in block.matches):
            return bots, _measure_alone(block.matches, place)
        shape = tuple(
            (tuple(place[bot] for bot in match.bots), match.points, match.sides)
            for match in block.matches
        )
        measures = self._measured.get(shape)
        if measures is None:
            if len(self._measured) >= _CACHED:
                self._measured.clear()
            measures = self._measured[shape] = _measure_seats(shape, len(bots))
        return bots, measures


_Shape = tuple[tuple[tuple[int, ...], tuple[float, ...], tuple[int, ...]], ...]
"""Of each match of a block: the seats, by the places of their bots, their points and sides."""


class _Measures(NamedTuple):
    """One block in whole units: the columns of `_Group`. `design`: all that no result changes."""

    unit: int
    design: bytes
    columns: Ints


class _Columns:
    """Where the sums of a pairing of k bots lie in its row."""

    def __init__(self, k: int) -> None:
        lengths = {
            "blocks": 1,
            "fitted": k * k,
            "weight": k * k,
            "taken": k * k,
            "compared": k * k,
            "wins": k * k,
            "points": k,
            "games": k,
            "squares": k,
        }
        self.of: dict[str, slice] = {}
        self.width = 0
        for name, length in lengths.items():
            self.of[name] = slice(self.width, self.width + length)
            self.width += length


class _Group:
    """Sums of pairings with the same number of bots: one row a pairing and design, whole units."""

    def __init__(self, k: int) -> None:
        self._k = k
        self._columns = _Columns(k)
        self._rows: dict[tuple[int, bytes], int] = {}
        self._bots: list[tuple[int, ...]] = []
        self._values = np.zeros((1, self._columns.width), dtype=np.int64)

    def add(self, pairing: int, bots: tuple[int, ...], measures: _Measures, count: int) -> None:
        row = self._rows.setdefault((pairing, measures.design), len(self._rows))
        if row == len(self._bots):
            self._bots.append(bots)
            if row == len(self._values):
                more = np.zeros_like(self._values)
                self._values = np.concatenate([self._values, more])
        self._values[row] += measures.columns if count == 1 else measures.columns * count

    def sums(self, size: int, unit: int) -> Sums:
        """Return the sums over all pairings, for `size` bots."""
        bots = np.array(self._bots, dtype=np.int64).reshape(-1, self._k)
        cells = (bots[:, :, None] * size + bots[:, None, :]).ravel()

        def square(name: str) -> Floats:
            return np.bincount(cells, self._part(name), size * size).reshape(size, size) / unit

        def vector(name: str) -> Floats:
            return np.bincount(bots.ravel(), self._part(name), size).astype(np.float64)

        return Sums(
            square("fitted"),
            square("weight"),
            square("taken"),
            square("compared"),
            vector("points") / unit,
            vector("games"),
        )

    def _part(self, name: str) -> Ints:
        """Return the values of all rows. Whole numbers below 2**53: floats add them exactly."""
        return self._values[: len(self._bots), self._columns.of[name]].ravel()

    def strata(self, unit: int) -> Iterator[Strata]:
        """Yield the pairings by number, so many at once that memory is bounded."""
        keys = sorted(self._rows)
        pairings = np.array([pairing for pairing, _ in keys], dtype=np.int64)
        starts = np.flatnonzero(np.diff(pairings, prepend=-1))
        step = max(1, _CHUNK // (self._k * self._k))
        for first in range(0, len(starts), step):
            last = min(first + step, len(starts))
            end = starts[last] if last < len(starts) else len(keys)
            rows = [self._rows[key] for key in keys[starts[first] : end]]
            yield self._stratum(rows, starts[first:last] - starts[first], unit)

    def _stratum(self, rows: list[int], starts: Ints, unit: int) -> Strata:
        k = self._k
        values = self._values[rows].astype(np.float64)
        part = {name: values[:, place] for name, place in self._columns.of.items()}
        blocks = part["blocks"][:, 0]
        row_pairing = np.searchsorted(starts, np.arange(len(rows)), side="right") - 1
        return Strata(
            bots=np.array([self._bots[rows[start]] for start in starts], dtype=np.int64),
            blocks=np.add.reduceat(blocks, starts),
            row_pairing=row_pairing,
            row_blocks=blocks,
            fitted=part["fitted"].reshape(-1, k, k) / unit,
            weight=part["weight"].reshape(-1, k, k) / unit,
            points=part["points"] / unit,
            games=part["games"],
            wins=part["wins"].reshape(-1, k, k) / unit**2,
            squares=part["squares"] / unit**2,
        )


def _measure_seats(shape: _Shape, k: int) -> _Measures:
    fitted, weight, taken, compared = (np.zeros((k, k)) for _ in range(4))
    points, games = np.zeros(k), np.zeros(k)
    for seats, own_points, sides in shape:
        weights = _weights(sides)
        for a, bot in enumerate(seats):
            points[bot] += own_points[a]
            games[bot] += 1
            for b, other in enumerate(seats):
                if sides[a] != sides[b] and bot != other:
                    share = _share(own_points[a], own_points[b])
                    both = (weights[a, b] + weights[b, a]) / 2
                    fitted[bot, other] += both * share
                    weight[bot, other] += both
                    taken[bot, other] += weights[a, b] * share
                    compared[bot, other] += weights[a, b]
    return _columns(UNIT, fitted, weight, taken, compared, points, games)


def _weights(sides: tuple[int, ...]) -> Floats:
    """What a seat's comparison with another counts for it: each other side the same, in all 1."""
    others = max(len(set(sides)) - 1, 1)
    return np.array(
        [
            [1 / others / sides.count(other) if other != own else 0.0 for other in sides]
            for own in sides
        ]
    )


def _measure_alone(matches: Sequence[RatedMatch], place: Mapping[str, int]) -> _Measures:
    """In an event for one seat the block is the match: same deals, the higher score is better.

    A match without any other of its block is compared with nothing, and does not count.
    """
    k = len(place)
    values = np.zeros(k)
    for match in matches:
        values[place[match.bots[0]]] = match.value
    others = max(k - 1, 1)
    apart = 1 - np.eye(k)
    better = values[:, None] > values[None, :]
    equal = values[:, None] == values[None, :]
    taken = (better + equal / 2) * apart / others
    weight = apart / others
    games = np.full(k, float(k > 1))
    return _columns(2 * others, taken, weight, taken, weight, taken.sum(axis=1), games)


def _columns(
    unit: int,
    fitted: Floats,
    weight: Floats,
    taken: Floats,
    compared: Floats,
    points: Floats,
    games: Floats,
) -> _Measures:
    own, of_weight, of_points = (_whole(part, unit) for part in (fitted, weight, points))
    wins = own.sum(axis=1)
    count = games.astype(np.int64)
    parts = (
        np.ones(1, dtype=np.int64),
        own.ravel(),
        of_weight.ravel(),
        _whole(taken, unit).ravel(),
        _whole(compared, unit).ravel(),
        np.outer(wins, wins).ravel(),
        of_points,
        count,
        of_points**2,
    )
    return _Measures(unit, of_weight.tobytes() + count.tobytes(), np.concatenate(parts))


def _whole(values: Floats, unit: int) -> Ints:
    return np.rint(values * unit).astype(np.int64)


def _share(own: float, other: float) -> float:
    return 1.0 if own > other else 0.5 if own == other else 0.0
