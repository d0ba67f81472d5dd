"""Lost connections, a server that starts again, and the end."""

from __future__ import annotations

import asyncio
import time
from contextlib import suppress

from pegboard.conformance.check import BACK_S, Check
from pegboard.conformance.findings import Failed
from pegboard.conformance.stream import BotStream
from pegboard.conformance.table import Table
from pegboard.errors import Unavailable
from pegboard.rules import catalog

MATCHES = 4
AWAY_S = 0.5
KILL_S = 1.0
"""What the arena gives a bot between SIGTERM and SIGKILL."""
STOP_S = 5.0
MEMORY_MB = 2048


async def under_way(check: Check, stream: BotStream) -> Table:
    """Return a table of matches in which every seat of the bot has had a turn."""
    table = check.table()
    variants = check.settings.variants
    for number in range(MATCHES):
        variant = variants[number % len(variants)]
        table.add(check.name(), variant, catalog.find(variant).game.seats[0], (0,), seed=number)
    await stream.send(table.news())
    table.take(await check.answers(stream, table))
    return table


async def resume(check: Check, table: Table) -> str:
    """Wait until the bot is back, tell it its open turns again, and play on."""
    begun = time.monotonic()
    stream = await check.connect(BACK_S)
    back_s = time.monotonic() - begun
    answered = table.answered
    await stream.send(table.again())
    await check.play(stream, table, min(2.0, check.settings.play_s))
    return f"back after {back_s:.1f} s, {table.answered - answered:,} turns answered"


async def dropped(check: Check) -> str:
    """The stream breaks off in the middle of matches."""
    stream = await check.stream()
    table = await under_way(check, stream)
    table.news()  # the answers of the last message open turns that the bot will not get
    stream.finish(Unavailable("the server is stopping"))
    return await resume(check, table)


async def restarted(check: Check) -> str:
    """The server goes away, with the connection, and comes back at the same address."""
    stream = await check.stream()
    table = await under_way(check, stream)
    table.news()
    await check.server.stop()
    await asyncio.sleep(AWAY_S)
    if not check.bot.runs:
        await check.server.start()
        raise await check.lost(stream, f"while the server was away for {AWAY_S:g} s")
    await check.server.start()
    return await resume(check, table)


async def stop(check: Check) -> str:
    """SIGTERM: half-close, wait for the end of the stream, exit with status 0, leave nothing."""
    stream = await check.stream()
    process = check.bot.process
    assert process is not None
    memory_mb = check.bot.peak_memory_mb()
    if memory_mb > MEMORY_MB:
        check.warn(
            f"used {memory_mb:,} MB of memory",
            "a tournament may limit it (`memory_mb`), and starts several bots at once",
        )
    begun = time.monotonic()
    status = await process.stop(STOP_S)
    took_s = time.monotonic() - begun
    left = check.bot.left_behind()
    check.settle()
    if took_s >= STOP_S:
        raise Failed(
            f"still ran {STOP_S:g} s after SIGTERM",
            "handle SIGTERM: half-close the stream, wait for its end, exit with status 0; the arena "
            f"kills after {KILL_S:g} s",
        )
    if status != 0:
        raise Failed(
            f"{process.ending()} after SIGTERM",
            "handle SIGTERM: half-close the stream, wait for its end, exit with status 0",
        )
    if left:
        raise Failed(
            f"left processes of its own behind, in other groups: {', '.join(map(str, left))}",
            "end what the bot has started before it exits",
        )
    with suppress(TimeoutError):
        async with asyncio.timeout(1.0):
            await stream.ended.wait()
    if not stream.half_closed:
        check.warn(
            "broke the stream off at SIGTERM",
            "half-close it and wait for its end, so that answers under way still count",
        )
    if took_s > KILL_S:
        check.warn(f"took {took_s:.1f} s to exit", f"the arena kills {KILL_S:g} s after SIGTERM")
    await check.leave()
    return f"exited with status 0 after {took_s:.2f} s"
