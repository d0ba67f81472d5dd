"""Finished matches gathered into tables. Pure.

A `Scoreboard` takes finished matches in any order and gives the same `Results` for the same matches.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator

from pegboard.arena.ratings import Rating, RatingTable, mean_of, rate, table
from pegboard.arena.results import EndedMatch, EventTable, Results, bot_of
from pegboard.arena.schedule import Pairing, Schedule
from pegboard.arena.tally import Block, Floats, RatedMatch, Tally
from pegboard.rules.results import UNRATED

ATTEMPTS = 4
"""How many times a match without a result is played, before it is left out of the table."""

Faults = defaultdict[str, Counter[str]]
"""Counts by bot and termination."""


class Scoreboard:
    """All finished matches of a schedule."""

    def __init__(self, schedule: Schedule) -> None:
        self.schedule = schedule
        self.finished = 0
        self.unrated = 0
        self._tallies = [Tally(schedule.bots) for _ in schedule.contests]
        self._matches: Counter[int] = Counter()
        self._faults: list[Faults] = [defaultdict(Counter) for _ in schedule.contests]
        self._open: dict[tuple[int, int], dict[int, RatedMatch]] = {}
        self._done = [bytearray(pairing.total) for pairing in schedule.pairings]
        self._void: set[str] = set()
        self._last_faults: dict[str, tuple[int, int, str]] = {}

    def add(self, ended: EndedMatch) -> bool:
        """Take a match in; return whether it is new and of this schedule."""
        found = self.schedule.find(ended.match)
        if found is None:
            return False
        pairing, index, attempt = found
        if self._done[pairing.number][index] or ended.match in self._void:
            return False
        if ended.result.termination in UNRATED:
            self._void.add(ended.match)
            if attempt + 1 < ATTEMPTS:
                return True
            self.unrated += 1
        else:
            self._rate(pairing, index, ended)
        self._done[pairing.number][index] = 1
        self.finished += 1
        return True

    def is_complete(self) -> bool:
        """Say whether all fixtures are done."""
        return self.finished == self.schedule.total()

    def is_done(self, pairing: int, index: int) -> bool:
        """Say whether a fixture has a result, or has been played `ATTEMPTS` times without one."""
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

    def _rate(self, pairing: Pairing, index: int, ended: EndedMatch) -> None:
        bots = tuple(map(bot_of, ended.bots))
        block, order = pairing.seating.place(index)
        # In an event for one seat scores are compared; a fault is below every score.
        result = ended.result
        faulty = result.seat_at_fault is not None
        value = float("-inf") if faulty else float(sum(result.scores))
        self._matches[pairing.event] += 1
        if result.seat_at_fault is not None:
            bot = bots[result.seat_at_fault]
            self._faults[pairing.event][bot][result.termination.value] += 1
            place = (pairing.number, index, result.detail)
            self._last_faults[bot] = max(self._last_faults.get(bot, place), place)
        orders = self._open.setdefault((pairing.number, block), {})
        orders[order] = RatedMatch(bots, result.points, pairing.sides, value)
        if len(orders) == len(pairing.seating.orders(block)):
            del self._open[pairing.number, block]
            self._tallies[pairing.event].add(_block(pairing.number, orders))

    def _half_blocks(self) -> list[list[Block]]:
        """Return, by event, the matches of blocks that are not complete, or never will be."""
        halves: list[list[Block]] = [[] for _ in self._tallies]
        for (number, _), orders in sorted(self._open.items()):
            pairing = self.schedule.pairings[number]
            halves[pairing.event].append(_block(number, orders))
        return halves

    def live(self) -> RatingTable:
        """Return the table of whole blocks: half a block would show the luck of the deal."""
        return table(mean_of([rate(tally) for tally in self._tallies]), self._all_faults())

    def _all_faults(self) -> Faults:
        """Return the faults of all events, added up."""
        total: Faults = defaultdict(Counter)
        for faults in self._faults:
            for bot, counts in faults.items():
                total[bot] += counts
        return total

    def results(self, name: str, digest: str) -> Results:
        """Return all tables. Half blocks count for points and ratings, not for the error bars."""
        ratings = [
            rate(tally, halves)
            for tally, halves in zip(self._tallies, self._half_blocks(), strict=True)
        ]
        bots = self.schedule.bots
        whole = table(mean_of(ratings), self._all_faults())
        total = self.schedule.total()
        return Results(
            name=name,
            digest=digest,
            complete=self.finished == total,
            total=total,
            finished=self.finished,
            unrated=self.unrated,
            bots=bots,
            lines=whole.lines,
            cross=_rows(whole.cross),
            cross_games=_rows(whole.games),
            events=tuple(map(self._event, range(len(ratings)), ratings)),
            last_faults={
                bot: self._last_faults[bot][2] for bot in bots if bot in self._last_faults
            },
        )

    def _event(self, number: int, rating: Rating) -> EventTable:
        contest = self.schedule.contests[number]
        part = table(rating, self._faults[number])
        return EventTable(
            name=contest.name,
            variant=contest.variant,
            seats=contest.seats,
            matches=self._matches[number],
            lines=part.lines,
            cross=_rows(part.cross),
            cross_games=_rows(part.games),
        )


def _block(pairing: int, orders: dict[int, RatedMatch]) -> Block:
    """A block with its matches in the order of the schedule: sums must not depend on time."""
    return Block(pairing, tuple(match for _, match in sorted(orders.items())))


def _rows(matrix: Floats) -> tuple[tuple[float, ...], ...]:
    return tuple(tuple(row) for row in matrix.tolist())
