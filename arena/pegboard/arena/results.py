"""What came out: finished matches gathered into tables. Pure.

A `Scoreboard` takes finished matches in any order and gives the same `Results` for the same matches.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

import msgspec

from pegboard.arena.ratings import Rating, Table, mean_of, rate, table
from pegboard.arena.schedule import Pairing, Schedule
from pegboard.arena.tally import Block, Floats, Playing, Tally
from pegboard.rules.results import UNRATED

ATTEMPTS = 4
"""How often a match is played that ends without a result, before it is left out of the table."""

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
        self._tallies = [Tally(schedule.bots) for _ in schedule.contests]
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
        pairing, index, attempt = found
        if self._done[pairing.number][index] or ended.match in self._void:
            return False
        if ended.termination in UNRATED:
            self._void.add(ended.match)
            if attempt + 1 < ATTEMPTS:
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
            found is not None and self.is_done(found.pairing.number, found.place)
        )

    def attempts(self) -> Iterator[tuple[int, int, int]]:
        """Yield (pairing, index, next attempt) of what ended without a result and is to come again."""
        latest: dict[tuple[int, int], int] = {}
        for match in self._void:
            found = self.schedule.find(match)
            assert found is not None
            key = (found.pairing.number, found.place)
            latest[key] = max(latest.get(key, 0), found.attempt + 1)
        for (pairing, index), attempt in sorted(latest.items()):
            if not self.is_done(pairing, index):
                yield pairing, index, attempt

    def _rate(self, pairing: Pairing, index: int, ended: Finished) -> None:
        bots = tuple(map(bot_of, ended.bots))
        block, order = pairing.seating.place(index)
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
        if len(orders) == len(pairing.seating.orders(block)):
            del self._open[pairing.number, block]
            self._tallies[pairing.event].add(_block(pairing.number, orders))

    def _half_blocks(self) -> list[list[Block]]:
        """By event, what is there of blocks that are not over, or never will be."""
        halves: list[list[Block]] = [[] for _ in self._tallies]
        for (number, _), orders in sorted(self._open.items()):
            pairing = self.schedule.pairings[number]
            halves[pairing.event].append(_block(number, orders))
        return halves

    def live(self) -> Table:
        """Return the table of whole blocks: half a block would show the luck of the deal."""
        return table(mean_of([rate(tally) for tally in self._tallies]))

    def results(self, name: str, digest: str) -> Results:
        """Return all tables. Half blocks count for points and ratings, not for the error bars."""
        ratings = [
            rate(tally, halves)
            for tally, halves in zip(self._tallies, self._half_blocks(), strict=True)
        ]
        bots = self.schedule.bots
        whole = table(mean_of(ratings))
        total = self.schedule.total()
        return Results(
            name=name,
            digest=digest,
            complete=self.finished == total,
            total=total,
            finished=self.finished,
            unrated=self.unrated,
            bots=bots,
            lines=self._lines(whole, range(len(ratings))),
            cross=_rows(whole.cross),
            cross_games=_rows(whole.games),
            events=tuple(map(self._event, range(len(ratings)), ratings)),
            last_faults={
                bot: self._last_faults[bot][2] for bot in bots if bot in self._last_faults
            },
        )

    def _event(self, number: int, rating: Rating) -> EventTable:
        contest = self.schedule.contests[number]
        part = table(rating)
        return EventTable(
            name=contest.name,
            variant=contest.variant,
            seats=contest.seats,
            matches=self._matches[number],
            lines=self._lines(part, range(number, number + 1)),
            cross=_rows(part.cross),
            cross_games=_rows(part.games),
        )

    def _lines(self, part: Table, events: range) -> tuple[Line, ...]:
        faults: dict[str, Counter[str]] = {bot: Counter() for bot in self.schedule.bots}
        for (event, bot, kind), count in self.faults.items():
            if event in events:
                faults[bot][kind] += count
        return tuple(
            Line(**standing._asdict(), faults=dict(sorted(faults[standing.bot].items())))
            for standing in part.standings
        )


def _block(pairing: int, orders: dict[int, Playing]) -> Block:
    """A block with its playings in the order of the schedule: sums must not depend on time."""
    return Block(pairing, tuple(playing for _, playing in sorted(orders.items())))


def _rows(matrix: Floats) -> tuple[tuple[float, ...], ...]:
    return tuple(tuple(row) for row in matrix.tolist())
