"""Ctrl-C and SIGTERM: the first stops a tournament in good order, the second ends the process at once.

Signals are read from a socket by a thread of its own, so that the second one also works while the
main thread computes a long table, writes files, or waits for something outside an event loop.
"""

from __future__ import annotations

import os
import signal
import socket
import sys
import threading
from collections.abc import Callable
from types import TracebackType
from typing import Any

EXIT_INTERRUPTED = 130
_NUMBERS = (signal.SIGINT, signal.SIGTERM)
_SHOW_CURSOR = b"\x1b[?25h\n"


class Interrupts:
    """Listens from entry to exit, in the main thread. `count` is how many signals have come."""

    def __init__(self, first: Callable[[], None]) -> None:
        """Take what to do at the first signal; it is called in the listening thread."""
        self.count = 0
        self._first = first
        self._old: dict[int, Any] = {}
        self._old_wakeup = -1
        self._read, self._write = socket.socketpair()
        self._write.setblocking(False)

    def __enter__(self) -> Interrupts:
        self._old_wakeup = signal.set_wakeup_fd(self._write.fileno(), warn_on_full_buffer=False)
        for number in _NUMBERS:
            # The handler does nothing, but only with a handler does Python write to the socket.
            self._old[number] = signal.signal(number, lambda *_: None)
        threading.Thread(target=self._listen, name="interrupts", daemon=True).start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for number, handler in self._old.items():
            signal.signal(number, handler)
        signal.set_wakeup_fd(self._old_wakeup)
        self._write.close()

    def _listen(self) -> None:
        while data := self._read.recv(64):
            for number in data:
                if number in _NUMBERS:
                    self._heard()
        self._read.close()

    def _heard(self) -> None:
        self.count += 1
        if self.count == 1:
            self._first()
            return
        if sys.stderr is not None and sys.stderr.isatty():
            os.write(2, _SHOW_CURSOR)  # a live display may have hidden it
        os._exit(EXIT_INTERRUPTED)  # the reaper process kills the bots; all that was written stays
