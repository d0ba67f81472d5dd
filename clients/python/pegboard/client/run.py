"""`run(bot)`: the main program of a bot."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import sys
import traceback
from collections.abc import Callable
from concurrent import futures
from pathlib import Path
from types import FrameType, TracebackType
from typing import TYPE_CHECKING, Any

from pegboard.client.bot import PATIENCE_S, Bot, as_bot
from pegboard.client.turn import Choice, Turn
from pegboard.errors import Unauthenticated
from pegboard.rules.errors import PegboardError
from pegboard.rules.plain import plain
from pegboard.wire.transport import wait_directly

if TYPE_CHECKING:
    from pegboard.client.session import BotClient

LINE_MOST = 1_000
STOP_S = 2.0
"""How long a bot that is told to stop waits for the server to end the stream."""


def run(
    bot: Bot | Callable[[Turn], Choice],
    address: str = "",
    token: str = "",
    patience_s: float = PATIENCE_S,
) -> None:
    """Connect and play until told to stop (SIGTERM, SIGINT; twice: at once); a bot's main program.

    Address and token default to `PEGBOARD_ADDRESS` and `PEGBOARD_TOKEN`. A lost connection is made
    again. Ends the process with status 1 and one line on standard error where that is of no use: a
    token that nobody has, a newer connection of the same bot, no server for `patience_s`. An error of
    the bot itself ends it with status 1 and a traceback of the author's part of the calls.
    """
    wait_directly()
    from pegboard.client.session import BotClient  # imports grpc, which reads what was just set

    token = token or os.environ.get("PEGBOARD_TOKEN", "")
    try:
        client = BotClient(as_bot(bot), address, token, patience_s, say)
        with asyncio.Runner(loop_factory=loop_factory()) as runner:
            runner.run(_play(client))
    except Unauthenticated as error:
        say(f"{error}{'' if token else '; PEGBOARD_TOKEN is not set'}")
        sys.exit(1)
    except PegboardError as error:
        say(str(error))
        sys.exit(1)
    except Exception as error:  # the bot's own: its author wants to see where
        traceback.print_exception(error.with_traceback(authors_part(error.__traceback__)))
        sys.exit(1)


def say(sentence: str) -> None:
    """Print a line on standard error."""
    sys.stderr.write(f"pegboard bot: {plain(sentence, LINE_MOST)}\n")
    sys.stderr.flush()


def authors_part(trace: TracebackType | None) -> TracebackType | None:
    """Return a traceback without the calls of kit and event loop that lead to the author's code.

    All of it if there is none of the author's code in it.
    """
    rest = trace
    while rest is not None and is_ours(rest.tb_frame.f_code.co_filename):
        rest = rest.tb_next
    return rest or trace


def is_ours(file: str) -> bool:
    """Say whether a file is the kit's, or of the event loop and threads that it runs on."""
    folders = (Path(__file__).parent, Path(asyncio.__file__).parent, Path(futures.__file__).parent)
    # Frames of uvloop, which is compiled, have no folder but `uvloop`.
    return file.startswith("uvloop/") or any(Path(file).is_relative_to(each) for each in folders)


def loop_factory() -> Callable[[], Any] | None:
    """Return the maker of a fast event loop, where there is one."""
    try:
        import uvloop
    except ImportError:
        return None
    factory: Callable[[], Any] = uvloop.new_event_loop
    return factory


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
        # Not `add_signal_handler`: a bot in an endless `choose` never comes back to the loop.
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
