"""What comes out of a run: one finished match, and the tables over all of them. Pure shapes."""

from __future__ import annotations

from typing import NamedTuple

import msgspec

from pegboard.arena.ratings import TableLine
from pegboard.rules.names import MATCHES
from pegboard.rules.record import Record
from pegboard.rules.results import Result

PROCESS_MARK = "--"
"""Stands between a bot's name and the number of its process if the bot has several."""


class EndedMatch(NamedTuple):
    """What tables need of a finished match. `bots` by seat, as the server knows them."""

    match: str
    bots: tuple[str, ...]
    result: Result

    @classmethod
    def of(cls, record: Record) -> EndedMatch:
        """Return the part of a finished match's record that tables need."""
        assert record.result is not None, "the server tells finished matches only"
        return cls(record.match, record.bots, record.result)


class EventTable(msgspec.Struct, frozen=True):
    """The lines of one event, and who took how many points from whom, by `bots`."""

    name: str
    variant: str
    seats: int
    matches: int
    lines: tuple[TableLine, ...]
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
    lines: tuple[TableLine, ...]
    cross: tuple[tuple[float, ...], ...]
    cross_games: tuple[tuple[float, ...], ...]
    events: tuple[EventTable, ...]
    last_faults: dict[str, str]


def bot_of(seated: str) -> str:
    """Return the bot's name for the name of one of its processes."""
    return seated.partition(PROCESS_MARK)[0]


def match_id(name: str) -> str:
    """Return the id of `matches/{id}`."""
    return name.removeprefix(MATCHES)
