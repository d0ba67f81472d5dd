"""Before any match: Hello, heartbeats, and tokens that are refused."""

from __future__ import annotations

import asyncio
import time

from pegboard.conformance.check import BACK_S, QUIET_S, Check, silence
from pegboard.conformance.findings import Failed
from pegboard.errors import Replaced, Unauthenticated
from pegboard.rules.errors import PegboardError

BEATS = 3
BEAT_S = 5.0
SHORT_BEAT_S = 0.3
SILENCE_BEATS = 3
STOP_S = 5.0


async def hello(check: Check) -> str:
    """The bot connects, says Hello, and then waits to be asked."""
    begun = time.monotonic()
    stream = await check.stream()
    took_s = time.monotonic() - begun
    hello = check.hello
    if not hello.kit or not hello.kit_version:
        missing = "kit_version" if hello.kit else "kit"
        check.warn(f"Hello has no {missing}", "name the kit and its version: server logs show them")
    try:
        request = await stream.next(QUIET_S)
    except TimeoutError:
        request = None
    else:
        if request is None:
            raise await check.lost(stream, "after Welcome")
        raise Failed("sent answers before it had a turn", "answer turns, and nothing else")
    kit = f"{hello.kit} {hello.kit_version}".strip() or "no kit named"
    return f"came within {took_s:.1f} s ({kit[:60]})"


async def heartbeats(check: Check) -> str:
    """Each heartbeat is answered with its number."""
    stream = await check.stream()
    with silence(stream):
        numbers = [await stream.beat() for _ in range(BEATS)]
        ends = time.monotonic() + BEAT_S
        # A bot that reads several at once may answer the last only.
        while numbers[-1] not in stream.beats and time.monotonic() < ends:
            if stream.over.is_set():
                raise stream.problem or await check.lost(stream, "after a heartbeat")
            await asyncio.sleep(0.01)
    if numbers[-1] not in stream.beats:
        raise Failed(
            f"left heartbeat {numbers[-1]} unanswered for {BEAT_S:g} s",
            "send a PlayRequest with the same `heartbeat`, also when no match runs; a server ends "
            "the stream after three that are not answered",
        )
    return f"{BEATS} heartbeats answered"


async def silent_server(check: Check) -> str:
    """A server that is silent for three heartbeats is given up, and dialled again."""
    await check.restart()
    stream = await check.connect(check.settings.startup_s, SHORT_BEAT_S)
    stream.pulse_every(SHORT_BEAT_S)
    await asyncio.sleep(2 * SHORT_BEAT_S)
    stream.pulse_every(0)
    patience_s = SILENCE_BEATS * SHORT_BEAT_S
    begun = time.monotonic()
    try:
        async with asyncio.timeout(patience_s + 4.0):
            await stream.ended.wait()
    except TimeoutError:
        check.warn(
            f"still waited {patience_s + 4:.1f} s after the last heartbeat of an interval of "
            f"{SHORT_BEAT_S:g} s",
            "cancel the stream and connect again after three intervals without a message: a server "
            "that is cut off does not say so",
        )
        await check.leave()
        return "waits for a silent server"
    gave_up_s = time.monotonic() - begun
    await check.connect(BACK_S)
    return f"gave a silent server up after {gave_up_s:.1f} s and came back"


async def stops_after(check: Check, error: PegboardError, name: str) -> str:
    """End the stream with a status after which a new connection cannot help."""
    stream = await check.stream()
    stream.finish(error)
    ending = ""
    ends = time.monotonic() + STOP_S
    while not ending and time.monotonic() < ends:
        if not check.server.streams.empty():
            again, _ = await check.greeted(STOP_S)
            again.finish(error)
            raise Failed(f"connected again after {name}", f"stop after the status {name}")
        ending = await check.bot.ending(0.05)
    if not ending:
        raise Failed(f"still ran {STOP_S:g} s after {name}", f"exit after the status {name}")
    await check.leave()
    return ending


async def replaced(check: Check) -> str:
    """ABORTED: another process plays for the bot."""
    return await stops_after(
        check, Replaced("a newer connection of bot took over"), "ABORTED (REPLACED)"
    )


async def refused_token(check: Check) -> str:
    """UNAUTHENTICATED: the token is wrong, and stays so."""
    return await stops_after(
        check, Unauthenticated("nobody has this token; ask the organiser"), "UNAUTHENTICATED"
    )
