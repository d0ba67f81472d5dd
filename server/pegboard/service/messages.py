"""Matches, specs and rejections to and from messages."""

from __future__ import annotations

from typing import Any

from google.protobuf.timestamp_pb2 import Timestamp

from pegboard.errors import InvalidRequest
from pegboard.matches.creation import OPTIONS_MAX, TEXT_CHARACTERS
from pegboard.matches.rejection import Rejection
from pegboard.matches.running import AnyMatch
from pegboard.matches.spec import MatchSpec, TimeControl
from pegboard.rpc.names import read_id
from pegboard.rules.game import Seat
from pegboard.rules.names import BOTS, MATCHES, VARIANTS
from pegboard.rules.plain import plain, sentence
from pegboard.rules.results import Result
from pegboard.rules.shuffle import SEED_BYTES
from pegboard.v1 import match_pb2, play_pb2
from pegboard.wire.codec import event_message
from pegboard.wire.records import result_message

SEATS_MOST = 16


def check_text(field: str, text: str) -> None:
    """Raise `InvalidRequest` if a text is too long."""
    if len(text) > TEXT_CHARACTERS:
        raise InvalidRequest(
            f"{field} has {len(text)} characters; at most {TEXT_CHARACTERS} are taken"
        )


def _timestamp(seconds: float) -> Timestamp:
    nanos = round(seconds * 1_000_000) * 1000
    return Timestamp(seconds=nanos // 1_000_000_000, nanos=nanos % 1_000_000_000)


def time_control_message(control: TimeControl) -> match_pb2.TimeControl:
    """Return a time control as a message."""
    return match_pb2.TimeControl(
        bank_ms=control.bank_ms,
        increment_ms=control.increment_ms,
        move_ms=control.move_ms,
        startup_ms=control.startup_ms,
        match_ms=control.match_ms,
    )


def spec_message(spec: MatchSpec) -> match_pb2.MatchSpec:
    """Return a spec as a message, without the seed."""
    return match_pb2.MatchSpec(
        variant=VARIANTS + spec.variant,
        bots=[BOTS + bot for bot in spec.bots],
        options=spec.options,
        time_control=time_control_message(spec.time_control),
        label=spec.label,
        nonce=spec.nonce,
        withhold_seed=spec.withhold_seed,
        illegal_move_limit=spec.illegal_move_limit,
        block=spec.block,
        block_matches=spec.block_matches,
    )


def read_spec(message: match_pb2.MatchSpec) -> MatchSpec:
    """Return the spec of a message. What is not set there is left to the host (`matches.creation`).

    Raises `InvalidRequest` for a bad seed and for fields that are longer than any of use.
    """
    _check_sizes(message)
    if message.seed and len(message.seed) != SEED_BYTES:
        raise InvalidRequest(f"a seed has {SEED_BYTES} bytes, not {len(message.seed)}")
    control = message.time_control
    return MatchSpec(
        variant=read_id(VARIANTS, message.variant),
        bots=tuple(read_id(BOTS, bot) for bot in message.bots),
        options=dict(message.options),
        time_control=TimeControl(
            bank_ms=control.bank_ms,
            increment_ms=control.increment_ms,
            move_ms=control.move_ms,
            startup_ms=control.startup_ms,
            match_ms=control.match_ms,
        ),
        label=message.label,
        nonce=message.nonce,
        seed=message.seed or None,
        withhold_seed=message.withhold_seed,
        illegal_move_limit=message.illegal_move_limit,
        block=message.block,
        block_matches=message.block_matches,
    )


def _check_sizes(message: match_pb2.MatchSpec) -> None:
    for field in ("variant", "label", "nonce", "block"):
        check_text(field, getattr(message, field))
    if len(message.options) > OPTIONS_MAX or len(message.bots) > SEATS_MOST:
        raise InvalidRequest(
            f"a match has at most {SEATS_MOST} bots and {OPTIONS_MAX} options, not"
            f" {len(message.bots)} and {len(message.options)}"
        )
    for key, value in message.options.items():
        check_text("the key of an option", key)
        check_text(f"option {plain(key)}", value)
    for bot in message.bots:
        check_text("the name of a bot", bot)


def match_message(match: AnyMatch) -> match_pb2.Match:
    """Return a match as a message."""
    message = match_pb2.Match(
        name=MATCHES + match.id,
        spec=spec_message(match.spec),
        family=match.family,
        state=match_pb2.MATCH_STATE_RUNNING,
        create_time=_timestamp(match.create_time),
        commitment=match.commitment.hex(),
        event_count=(match.finished or match).event_count,
    )
    finished = match.finished
    if finished is not None:
        message.state = match_pb2.MATCH_STATE_FINISHED
        message.result.CopyFrom(result_message(finished.result))
        message.end_time.CopyFrom(_timestamp(finished.end_time))
    return message


def event_messages(
    match: AnyMatch, events: list[tuple[int, Any]], seat: Seat | None
) -> list[match_pb2.MatchEvent]:
    """Return numbered events as messages, as `seat` (None: a spectator) may see them."""
    game = match.game
    return [
        match_pb2.MatchEvent(sequence=sequence, match_ended=result_message(event))
        if isinstance(event, Result)
        else event_message(game.family, sequence, game.redact(event, seat))
        for sequence, event in events
    ]


def started_message(match: AnyMatch, bot: str) -> play_pb2.MatchStarted:
    """Return what a bot is told when a match starts."""
    spec = match.spec
    return play_pb2.MatchStarted(
        match=MATCHES + match.id,
        variant=VARIANTS + spec.variant,
        family=match.game.family,
        seats=match.seats_of(bot),
        seat_count=len(spec.bots),
        options=spec.options,
        time_control=time_control_message(spec.time_control),
    )


def rejected_message(
    match: str, seat: Seat, turn_id: int, rejection: Rejection
) -> play_pb2.MoveRejected:
    """Return why an answer did not count; `match` is the match's id."""
    reason: Any = int(rejection.reason)
    return play_pb2.MoveRejected(
        match=MATCHES + plain(match),
        seat=seat,
        turn_id=turn_id,
        reason=reason,
        detail=sentence(rejection.detail),
        attempts_left=rejection.attempts_left,
    )
