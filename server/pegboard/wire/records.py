"""Records and results on the wire, both ways."""

from __future__ import annotations

from typing import Any

from pegboard.rules.errors import RecordError
from pegboard.rules.names import BOTS, MATCHES, VARIANTS
from pegboard.rules.record import PREFIX, VERSION, Record, read_bytes
from pegboard.rules.results import Result, Termination
from pegboard.v1 import match_pb2


def result_message(result: Result) -> match_pb2.MatchResult:
    """Return a result as a message."""
    return match_pb2.MatchResult(
        termination=match_pb2.Termination.Value(PREFIX + result.termination),
        seat_at_fault=result.seat_at_fault,
        points=result.points,
        scores=result.scores,
        games_won=result.games_won,
        detail=result.detail,
    )


def read_result(message: match_pb2.MatchResult) -> Result:
    """Return the result of a message. Raises `RecordError` for a termination not known here."""
    try:
        name = match_pb2.Termination.Name(message.termination)
        termination = Termination(name.removeprefix(PREFIX))
    except ValueError:
        raise RecordError(f"no termination has the number {message.termination}") from None
    return Result(
        termination=termination,
        seat_at_fault=message.seat_at_fault if message.HasField("seat_at_fault") else None,
        points=tuple(message.points),
        scores=tuple(message.scores),
        games_won=tuple(message.games_won),
        detail=message.detail,
    )


def record_message(record: Record) -> match_pb2.MatchRecord:
    """Return a record as a message; a seed that is withheld is empty."""
    fields: dict[str, Any] = {}
    if record.result is not None:
        fields["result"] = result_message(record.result)
    return match_pb2.MatchRecord(
        version=VERSION,
        rules_version=record.rules_version,
        match=MATCHES + record.match,
        variant=VARIANTS + record.variant,
        family=record.family,
        options=record.options,
        bots=[BOTS + bot for bot in record.bots],
        nonce=record.nonce,
        seed="" if record.seed is None else record.seed.hex(),
        commitment=record.commitment.hex(),
        moves=record.moves,
        events_digest=record.events_digest,
        **fields,
    )


def read_record(message: match_pb2.MatchRecord) -> Record:
    """Return the record of a message. Raises `RecordError`, also for a shape not known here."""
    if message.version != VERSION:
        raise RecordError(f"record version {message.version} is unknown here; update this program")
    return Record(
        rules_version=message.rules_version,
        match=message.match.removeprefix(MATCHES),
        variant=message.variant.removeprefix(VARIANTS),
        family=message.family,
        options=dict(message.options),
        bots=tuple(bot.removeprefix(BOTS) for bot in message.bots),
        nonce=message.nonce,
        seed=read_bytes("seed", message.seed) if message.seed else None,
        commitment=read_bytes("commitment", message.commitment),
        moves=tuple(message.moves),
        result=read_result(message.result) if message.HasField("result") else None,
        events_digest=message.events_digest,
    )
