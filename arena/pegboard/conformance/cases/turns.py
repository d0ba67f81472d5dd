"""Turns that come twice, come again, come with a rejection or are withdrawn; and what is new."""

from __future__ import annotations

import time
from typing import Any, TypeVar

from google.protobuf.message import Message

from pegboard.client.turn import CLAIM_TOO_HIGH, MUST_GO_OUT, Refused, Turn
from pegboard.conformance.check import Check
from pegboard.conformance.findings import Failed
from pegboard.conformance.stream import BotStream
from pegboard.conformance.table import Asked, Table
from pegboard.rules import catalog
from pegboard.rules.results import Termination
from pegboard.v1 import match_pb2, play_pb2

M = TypeVar("M", bound=Message)

ILLEGAL = play_pb2.REJECTION_REASON_ILLEGAL_MOVE
NEW_NUMBER: Any = 99
"""Of an enum value that later versions of the contract might add."""
NEW_FIELD = b"\xfa\x7c\x05later"
"""Field 1999, of bytes: one that later versions of the contract might add to any message."""
NARROWED_TURNS = 3


def begin(check: Check, variant: str = "") -> Table:
    """Return a table with one match, the bot at seat 0."""
    table = check.table()
    chosen = variant or check.settings.variants[0]
    table.add(check.name(), chosen, catalog.find(chosen).game.seats[0], (0,), seed=0)
    return table


async def first_turn(stream: BotStream, table: Table) -> Asked:
    """Send what there is; return the one turn in it."""
    await stream.send(table.news())
    return next(iter(table.open.values()))


async def answer_of(check: Check, stream: BotStream, table: Table, turn: Turn) -> play_pb2.Answer:
    """Return the answer to a turn, without taking it; others are taken."""
    while True:
        request = await check.answers(stream, table)
        for answer in request.answers:
            if (answer.match, answer.seat) == (turn.match, turn.seat):
                if answer.turn_id != turn.turn_id:
                    raise Failed(
                        f"answered turn {answer.turn_id}, asked for {turn.title}",
                        "copy `turn_id` of the turn into its answer",
                    )
                table.move(turn, answer)
                return answer
        table.take(request)


async def repeated_turn(check: Check) -> str:
    """The same turn twice in a message, as after a reconnect: answered once at least."""
    stream = await check.stream()
    table = begin(check)
    response = table.news()
    response.turns.append(response.turns[0])
    await stream.send(response)
    table.take(await check.answers(stream, table))
    await check.quiet(stream, table)
    await check.finish(stream, table)
    return "answered twice" if table.late else "answered once"


async def rejected_move(check: Check) -> str:
    """A move is rejected; the turn comes again, in the same message and then in a later one."""
    stream = await check.stream()
    table = begin(check)
    asked = await first_turn(stream, table)
    for together in (True, False):
        answer = await answer_of(check, stream, table, asked.turn)
        table.reject(answer, Refused(ILLEGAL, "the check rejects this answer", 2))
        response = table.news(False)
        if not together:
            await stream.send(response)
            response = play_pb2.PlayResponse()
        response.turns.append(asked.turn.message)
        table.open[asked.turn.match, asked.turn.seat] = Asked(asked.turn, time.monotonic())
        await stream.send(response)
    table.take(await check.answers(stream, table))
    await check.finish(stream, table)
    return "answered again, twice"


async def narrowed_claim(check: Check) -> str:
    """A claim is refused; the turn comes again with a narrower range."""
    stream = await check.stream()
    table = begin(check, "cribbage-muggins")
    narrowed = 0
    ends = time.monotonic() + check.settings.play_s
    while narrowed < NARROWED_TURNS and time.monotonic() < ends:
        await stream.send(table.news())
        if not table.open:
            break
        asked = next(iter(table.open.values()))
        answer = await answer_of(check, stream, table, asked.turn)
        again = narrower(asked.turn, answer)
        if again is None:
            table.answer(answer)
            continue
        turn, refused = again
        table.reject(answer, refused)
        response = table.news(False)
        response.turns.append(turn.message)
        table.open[turn.match, turn.seat] = Asked(turn, time.monotonic())
        await stream.send(response)
        table.take(play_pb2.PlayRequest(answers=[await answer_of(check, stream, table, turn)]))
        narrowed += 1
    await check.finish(stream, table)
    return f"{narrowed} refused claims made again within the range"


def narrower(turn: Turn, answer: play_pb2.Answer) -> tuple[Turn, Refused] | None:
    """Return the turn after its claim was refused; None if the answer claims nothing.

    What was claimed is refused as too high if less can be claimed, otherwise as too low.
    """
    bounds = turn.number
    if not answer.HasField("index") or bounds is None or turn.number_of(answer.index) is None:
        return None
    low, high = bounds
    claim = answer.number if answer.HasField("number") else low
    if low == high or claim > high or turn.number_of(answer.index) != bounds:
        return None
    too_high = claim > low
    message = play_pb2.Turn.FromString(turn.message.SerializeToString())
    for move in message.legal_moves:
        if move.HasField("number_range"):
            if too_high:
                move.number_range.max = claim - 1
            else:
                move.number_range.min = low + 1
    reason = CLAIM_TOO_HIGH if too_high else MUST_GO_OUT
    return Turn(message, turn.info), Refused(reason, "the check refuses this claim", 3)


async def withdrawn_turn(check: Check) -> str:
    """A turn is withdrawn while the bot thinks: the match ends, and its answer is rejected."""
    stream = await check.stream()
    table = begin(check)
    asked = await first_turn(stream, table)
    table.end(asked.turn.match, Termination.CANCELLED)
    await stream.send(table.news(False))
    await check.quiet(stream, table)
    await stream.send(table.news(False))  # the rejection of a late answer
    late = table.late
    await check.quiet(stream, table)
    if table.late > late:
        raise Failed(
            "answered again after its answer was rejected as stale",
            "answer again only if the turn itself comes again",
        )
    return "its late answer was rejected, and it went on" if late else "not answered"


async def unknown_content(check: Check) -> str:
    """Fields, enum values and kinds of events of a later version are passed over."""
    stream = await check.stream()
    table = begin(check)
    await stream.send(with_new_field(play_pb2.PlayResponse()))
    response = table.news()
    for message in [response, *response.started, *response.turns]:
        with_new_field(message)
    for turn in response.turns:
        for part in (turn.clock, turn.view, *turn.legal_moves):
            with_new_field(part)
    key = {"match": response.started[0].match, "seat": 0}
    if check.hello.events:
        event = with_new_field(match_pb2.MatchEvent(sequence=1))
        response.events.add(**key, events=[event])
    response.rejected.add(**key, turn_id=1000, reason=NEW_NUMBER, detail="a new reason")
    result = match_pb2.MatchResult(termination=NEW_NUMBER)
    response.ended.add(match="matches/of-a-later-version", result=result)
    response.started.add(match="matches/other", variant="variants/later", family="later")
    await stream.send(response)
    table.take(await check.answers(stream, table, "after fields and values that it does not know"))
    await check.finish(stream, table)
    return "passed over"


def with_new_field(message: M) -> M:
    """Add an unknown field and return the message."""
    message.MergeFromString(NEW_FIELD)
    return message
