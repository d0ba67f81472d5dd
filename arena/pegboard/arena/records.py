"""Records as they come from a server, as the rules know them."""

from __future__ import annotations

from pegboard.arena.results import Finished
from pegboard.rules.record import Record, RecordResult
from pegboard.v1 import match_pb2

_TERMINATION = {
    number: name.removeprefix("TERMINATION_") for name, number in match_pb2.Termination.items()
}


def record_of(message: match_pb2.Record) -> Record:
    """Return the record that a message holds."""
    return Record(
        version=message.version,
        rules_version=message.rules_version,
        match=match_id(message.match),
        variant=message.variant,
        options=dict(message.options),
        bots=tuple(message.bots),
        nonce=message.nonce,
        seed=message.seed or None,
        commitment=message.commitment,
        moves=tuple(message.moves),
        result=_result(message.result),
        events_digest=message.events_digest.hex(),
    )


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
    return name.removeprefix("matches/")


def _result(message: match_pb2.Result) -> RecordResult:
    at_fault = message.seat_at_fault if message.HasField("seat_at_fault") else None
    return RecordResult(
        termination=_TERMINATION[message.termination],
        seat_at_fault=at_fault,
        points=tuple(message.points),
        scores=tuple(message.scores),
        games_won=tuple(message.games_won),
        detail=message.detail,
    )
