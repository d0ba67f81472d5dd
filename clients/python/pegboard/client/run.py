"""`run(bot)`: the main program of a bot."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import sys
from collections.abc import Callable
from types import FrameType
from typing import TYPE_CHECKING

from pegboard.client.bot import PATIENCE_S, Bot, as_bot
from pegboard.client.report import print_error, say
from pegboard.client.turn import Choice, Turn
from pegboard.errors import Unauthenticated
from pegboard.rules.errors import PegboardError
from pegboard.wire.transport import wait_directly

if TYPE_CHECKING:
    from pegboard.client.session import BotClient

STOP_S = 2.0
"""How long a bot that is told to stop waits for the server to end the stream."""


def run(
    bot: Bot | Callable[[Turn], Choice],
    address: str = "",
    token: str = "",
    patience_s: float = PATIENCE_S,
    resign_on_error: bool | None = None,
) -> None:
    """Connect and play until told to stop (SIGTERM, SIGINT; twice: at once); a bot's main program.

    Address and token default to `PEGBOARD_ADDRESS` and `PEGBOARD_TOKEN`. A lost connection is made
    again. If that is of no use (an unknown token, a newer connection of the same bot, no server for
    `patience_s`), the process ends with status 1 and one line on standard error. An exception in the
    bot's code ends it with status 1 and a traceback of the author's part of the calls; with
    `resign_on_error` one in `choose` costs only the match (`Bot.resign_on_error`, which the argument
    sets unless it is None).
    """
    wait_directly()
    from pegboard.client.session import (
        BotClient,  # imports grpc, which reads the variable that was just set
    )

    token = token or os.environ.get("PEGBOARD_TOKEN", "")
    try:
        player = as_bot(bot)
        if resign_on_error is not None:
            player.resign_on_error = resign_on_error
        client = BotClient(player, address, token, patience_s, say)
        with asyncio.Runner(loop_factory=loop_factory()) as runner:
            runner.run(_play(client))
    except Unauthenticated as error:
        say(f"{error}{'' if token else '; PEGBOARD_TOKEN is not set'}")
        sys.exit(1)
    except PegboardError as error:
        say(str(error))
        sys.exit(1)
    except Exception as error:  # raised by the bot's own code
        print_error(error)
        sys.exit(1)


def loop_factory() -> Callable[[], asyncio.AbstractEventLoop] | None:
    """Return the maker of uvloop's event loop, None if uvloop is not installed."""
    try:
        import uvloop
    except ImportError:
        return None
    return uvloop.new_event_loop


async def _play(client: BotClient) -> None:
    loop = asyncio.get_running_loop()
    playing = asyncio.create_task(client.play())
    stopping: list[asyncio.Task[None]] = []
    told = False

    def stop() -> None:
        if not stopping:
            stopping.append(asyncio.create_task(client.stop()))
            loop.call_later(STOP_S, playing.cancel)

    def on_signal(number: int, _frame: FrameType | None) -> None:
        # Not `add_signal_handler`, which needs the event loop: an endless `choose` blocks it.
        nonlocal told
        if told:
            signal.signal(number, signal.SIG_DFL)
            signal.raise_signal(number)
        told = True
        loop.call_soon_threadsafe(stop)

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, on_signal)
    with contextlib.suppress(asyncio.CancelledError):
        await playing
