"""Records as tables need them."""

from __future__ import annotations

from pegboard.arena.results import Finished
from pegboard.rules.record import MATCHES, Record


def finished_of(record: Record) -> Finished:
    """Return what tables need of a finished match's record."""
    result = record.result
    assert result is not None, "only finished matches are told"
    return Finished(
        record.match,
        record.bots,
        result.termination,
        result.seat_at_fault,
        result.points,
        result.scores,
        result.detail,
    )


def match_id(name: str) -> str:
    """Return the id of `matches/{id}`."""
    return name.removeprefix(MATCHES)
