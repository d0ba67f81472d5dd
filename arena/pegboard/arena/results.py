"""What came out: finished matches gathered into tables. Pure.

A `Scoreboard` takes finished matches in any order and gives the same `Results` for the same matches.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import msgspec

from pegboard.arena.ratings import RESAMPLES, Block, Floats, Playing, Table, Tally, rate
from pegboard.arena.schedule import Pairing, Schedule, attempt_of

UNRATED = frozenset({"CANCELLED", "SERVER_FAULT", "VOID"})
"""Terminations that say nothing about a bot: such a match is played again."""

ATTEMPTS = 4
"""How often a match is played before it is left out of the table."""

PROCESS_MARK = "--"
"""Stands between a bot's name and the number of its process where it has several."""


class Finished(NamedTuple):
    """How one match ended. `bots` by seat, as the server knows them."""

    match: str
    bots: tuple[str, ...]
    termination: str
    seat_at_fault: int | None
    points: tuple[float, ...]
    scores: tuple[int, ...]
    detail: str = ""


class Line(msgspec.Struct, frozen=True):
    """One line of a table; see `ratings.Standing`. `faults` by termination."""

    rank: int
    bot: str
    points: float
    games: int
    score: float
    error: float | None
    elo: float
    elo_low: float | None
    elo_high: float | None
    faults: dict[str, int]


class EventTable(msgspec.Struct, frozen=True):
    """The lines of one event, and who took how many points from whom, by `bots`."""

    name: str
    variant: str
    seats: int
    matches: int
    lines: tuple[Line, ...]
    cross: tuple[tuple[float, ...], ...]
    cross_games: tuple[tuple[float, ...], ...]


class Results(msgspec.Struct, frozen=True):
    """The whole table. A function of the matches alone: two equal runs have equal results."""

    name: str
    digest: str
    complete: bool
    total: int
    finished: int
    unrated: int
    bots: tuple[str, ...]
    lines: tuple[Line, ...]
    cross: tuple[tuple[float, ...], ...]
    cross_games: tuple[tuple[float, ...], ...]
    events: tuple[EventTable, ...]
    last_faults: dict[str, str]


def bot_of(seated: str) -> str:
    """Return the bot's name for the name of one of its processes."""
    return seated.partition(PROCESS_MARK)[0]


class Scoreboard:
    """All finished matches of a schedule."""

    def __init__(self, schedule: Schedule) -> None:
        self.schedule = schedule
        self.faults: Counter[tuple[int, str, str]] = Counter()
        self.finished = 0
        self.unrated = 0
        self._tally = Tally(schedule.bots)
        self._matches: Counter[int] = Counter()
        self._open: dict[tuple[int, int], dict[int, Playing]] = {}
        self._done = [bytearray(pairing.total) for pairing in schedule.pairings]
        self._void: set[str] = set()
        self._last_faults: dict[str, tuple[int, int, str]] = {}

    def add(self, ended: Finished) -> bool:
        """Take a match in; return whether it is new and of this schedule."""
        found = self.schedule.find(ended.match)
        if found is None:
            return False
        pairing, index = found
        if self._done[pairing.number][index] or ended.match in self._void:
            return False
        if ended.termination in UNRATED:
            self._void.add(ended.match)
            if attempt_of(ended.match) + 1 < ATTEMPTS:
                return True
            self.unrated += 1
        else:
            self._rate(pairing, index, ended)
        self._done[pairing.number][index] = 1
        self.finished += 1
        return True

    def is_done(self, pairing: int, index: int) -> bool:
        """Say whether a fixture needs no more playing."""
        return bool(self._done[pairing][index])

    def has_seen(self, match: str) -> bool:
        """Say whether a match of this id has been taken in."""
        found = self.schedule.find(match)
        return match in self._void or (
            found is not None and self.is_done(found[0].number, found[1])
        )

    def attempts(self) -> Iterator[tuple[int, int, int]]:
        """Yield (pairing, index, next attempt) of what ended without a result and is to come again."""
        latest: dict[tuple[int, int], int] = {}
        for match in self._void:
            found = self.schedule.find(match)
            assert found is not None
            key = (found[0].number, found[1])
            latest[key] = max(latest.get(key, 0), attempt_of(match) + 1)
        for (pairing, index), attempt in sorted(latest.items()):
            if not self.is_done(pairing, index):
                yield pairing, index, attempt

    def _rate(self, pairing: Pairing, index: int, ended: Finished) -> None:
        bots = tuple(map(bot_of, ended.bots))
        block, order = divmod(index, len(pairing.orders))
        # Alone at the table, the score is what compares; a fault is below every score.
        faulty = ended.seat_at_fault is not None
        value = float("-inf") if faulty else float(sum(ended.scores))
        playing = Playing(bots, ended.points, pairing.sides, value)
        self._matches[pairing.event] += 1
        if ended.seat_at_fault is not None:
            bot = bots[ended.seat_at_fault]
            self.faults[pairing.event, bot, ended.termination] += 1
            place = (pairing.number, index, ended.detail)
            self._last_faults[bot] = max(self._last_faults.get(bot, place), place)
        orders = self._open.setdefault((pairing.number, block), {})
        orders[order] = playing
        if len(orders) == len(pairing.orders):
            del self._open[pairing.number, block]
            self._tally.add(_block(pairing.number, orders))

    def _all(self) -> Tally:
        """Everything, also blocks that stay open since a match of theirs ended without result."""
        tally = Tally(self.schedule.bots)
        tally.take(self._tally)
        for (pairing, _), orders in self._open.items():
            tally.add(_block(pairing, orders))
        return tally

    def live(self) -> Table:
        """Return the table of whole blocks, without Elo intervals: cheap."""
        return rate(self.schedule.bots, self._tally.strata(), resamples=0)

    def results(self, name: str, digest: str, *, resamples: int = RESAMPLES) -> Results:
        """Return all tables."""
        tally = self._all()
        bots = self.schedule.bots
        whole = rate(bots, tally.strata(), resamples=resamples)
        total = self.schedule.total()
        return Results(
            name=name,
            digest=digest,
            complete=self.finished == total,
            total=total,
            finished=self.finished,
            unrated=self.unrated,
            bots=bots,
            lines=self._lines(whole, None),
            cross=_rows(whole.cross),
            cross_games=_rows(whole.games),
            events=tuple(self._events(tally, resamples)),
            last_faults={
                bot: self._last_faults[bot][2] for bot in bots if bot in self._last_faults
            },
        )

    def _events(self, tally: Tally, resamples: int) -> Iterator[EventTable]:
        for number, contest in enumerate(self.schedule.contests):
            own = [pairing.number for pairing in self.schedule.pairings if pairing.event == number]
            part = rate(
                self.schedule.bots,
                tally.strata(range(own[0], own[-1] + 1)) if own else [],
                resamples=resamples,
            )
            yield EventTable(
                name=contest.name,
                variant=contest.variant,
                seats=contest.seats,
                matches=self._matches[number],
                lines=self._lines(part, number),
                cross=_rows(part.cross),
                cross_games=_rows(part.games),
            )

    def _lines(self, table: Table, event: int | None) -> tuple[Line, ...]:
        return tuple(
            Line(**standing._asdict(), faults=dict(sorted(self._faults(standing.bot, event))))
            for standing in table.standings
        )

    def _faults(self, bot: str, event: int | None) -> Iterable[tuple[str, int]]:
        counts: Counter[str] = Counter()
        for (where, who, kind), count in self.faults.items():
            if who == bot and event in (None, where):
                counts[kind] += count
        return counts.items()


def _block(pairing: int, orders: dict[int, Playing]) -> Block:
    """A block with its playings in the order of the schedule: sums must not depend on time."""
    return Block(pairing, tuple(playing for _, playing in sorted(orders.items())))


def _rows(matrix: Floats) -> tuple[tuple[float, ...], ...]:
    return tuple(tuple(row) for row in matrix.tolist())
