"""What a list of matches is asked for: filters, and an order that pages follow."""

from __future__ import annotations

import json
from enum import IntEnum
from typing import NamedTuple

from pegboard.matches.store.rows import Row

Milliseconds = tuple[int | None, int | None]
"""A range of time since 1970: from the first, included, to the second, excluded; None: no bound."""

ANY_TIME: Milliseconds = (None, None)


class MatchOrder(IntEnum):
    """The order of a list; numbers as in the contract. By their ends only finished matches are listed.

    Matches are numbered as they are created and as they finish, and pages go on after such a number: so
    what begins or ends meanwhile moves no match from one page to another.
    """

    CREATE_TIME_DESC = 1
    CREATE_TIME_ASC = 2
    END_TIME_DESC = 3
    END_TIME_ASC = 4

    @property
    def by_end(self) -> bool:
        """Whether matches come by their ends."""
        return self >= MatchOrder.END_TIME_DESC

    @property
    def descending(self) -> bool:
        """Whether the last one comes first."""
        return self in (MatchOrder.CREATE_TIME_DESC, MatchOrder.END_TIME_DESC)

    def place(self, row: Row) -> int:
        """Return the number of a row by which pages go on."""
        return row.finish if self.by_end else row.key


class MatchQuery(NamedTuple):
    """A match is listed if it fits all of these; "", None and `ANY_TIME` fit every match.

    `bot` sits at one of its seats. `finished`: it has a result, or it has none. `sealed` False: without
    the matches of blocks that are not over.
    """

    label: str = ""
    finished: bool | None = None
    variant: str = ""
    bot: str = ""
    created: Milliseconds = ANY_TIME
    ended: Milliseconds = ANY_TIME
    sealed: bool = True
    order: MatchOrder = MatchOrder.CREATE_TIME_DESC

    def fits(self, row: Row) -> bool:
        """Return whether the row fits, but for `sealed`, which the store knows."""
        if self.order.by_end and not row.finish:
            return False
        if self.finished is not None and bool(row.finish) != self.finished:
            return False
        if self.label and row.label != self.label:
            return False
        if not _within(self.created, row.create_time) or not _within(self.ended, row.end_time):
            return False
        if not self.variant and not self.bot:
            return True
        spec = json.loads(row.spec)
        fits_variant = not self.variant or spec["variant"] == self.variant
        return fits_variant and (not self.bot or self.bot in spec["bots"])


EVERY_MATCH = MatchQuery()


def _within(bounds: Milliseconds, seconds: float | None) -> bool:
    if bounds == ANY_TIME:
        return True
    if seconds is None:
        return False
    first, end = bounds
    milliseconds = round(seconds * 1000)
    return (first is None or milliseconds >= first) and (end is None or milliseconds < end)
