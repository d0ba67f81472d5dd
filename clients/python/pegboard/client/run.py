"""`run(bot)`: the main program of a bot."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from pegboard.client.bot import PATIENCE_S, Bot, as_bot
from pegboard.client.turn import Choice, Turn
from pegboard.rules.errors import PegboardError
from pegboard.wire.transport import wait_directly

if TYPE_CHECKING:
    from pegboard.client.session import Player

STOP_S = 2.0
"""How long a bot that is told to stop waits for the server to end the stream."""


def run(
    bot: Bot | Callable[[Turn], Choice],
    address: str = "",
    token: str = "",
    patience_s: float = PATIENCE_S,
) -> None:
    """Connect and play until told to stop (SIGTERM, SIGINT); the main program of a bot.

    Address and token default to `PEGBOARD_ADDRESS` and `PEGBOARD_TOKEN`. A lost connection is made
    again. Ends the process with status 1 and one line on standard error where that is of no use: a
    token that nobody has, a newer connection of the same bot, no server for `patience_s`.
    """
    wait_directly()
    from pegboard.client.session import Player  # imports grpc, which reads what was just set

    try:
        player = Player(
            as_bot(bot),
            address or os.environ.get("PEGBOARD_ADDRESS", ""),
            token or os.environ.get("PEGBOARD_TOKEN", ""),
            patience_s,
        )
        with asyncio.Runner(loop_factory=loop_factory()) as runner:
            runner.run(_play(player))
    except PegboardError as error:
        sys.stderr.write(f"pegboard bot: {error}\n")
        sys.exit(1)


def loop_factory() -> Callable[[], Any] | None:
    """Return the maker of a fast event loop, where there is one."""
    try:
        import uvloop
    except ImportError:
        return None
    factory: Callable[[], Any] = uvloop.new_event_loop
    return factory


async def _play(player: Player) -> None:
    loop = asyncio.get_running_loop()
    playing = asyncio.create_task(player.play())
    stopping: list[asyncio.Task[None]] = []

    def stop() -> None:
        if not stopping:
            stopping.append(asyncio.create_task(player.stop()))
            loop.call_later(STOP_S, playing.cancel)

    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop)
    with contextlib.suppress(asyncio.CancelledError):
        await playing
