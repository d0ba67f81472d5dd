"""What tells a server to stop: signals, or the end of standard input."""

from __future__ import annotations

import asyncio
import os
import signal

from pegboard.errors import InvalidRequest


def watch_for_stop(stop: asyncio.Event, stop_on_eof: bool) -> None:
    """Set `stop` on SIGTERM or SIGINT, or at the end of standard input if that is asked for."""
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    if not stop_on_eof:
        return

    def read() -> None:
        if not os.read(0, 4096):
            loop.remove_reader(0)
            stop.set()

    try:
        loop.add_reader(0, read)
    except OSError:
        raise InvalidRequest("--stop-on-eof needs a pipe as standard input") from None
