"""Runs a command beside busy processes, as on a crowded machine: `python tests/busy.py N COMMAND...`.

The busy processes end with this one, however it ends. The exit status is that of the command.
"""

from __future__ import annotations

import signal
import subprocess
import sys
from contextlib import ExitStack
from types import FrameType

# Standard input is a pipe of ours, which ends when we do: also by SIGKILL.
LOOP = """
import os, sys, threading
threading.Thread(target=lambda: (sys.stdin.buffer.read(), os._exit(0)), daemon=True).start()
while True:
    pass
"""


def main() -> int:
    """Start the busy processes, run the command, end the busy processes."""
    count, command = int(sys.argv[1]), sys.argv[2:]
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, stop)
    with ExitStack() as stack:
        for _ in range(count):
            loop = subprocess.Popen(
                [sys.executable, "-c", LOOP], stdin=subprocess.PIPE, start_new_session=True
            )
            stack.enter_context(loop)
            stack.callback(loop.kill)
        return subprocess.run(command, check=False).returncode


def stop(number: int, _frame: FrameType | None) -> None:
    """End as Ctrl-C does, so that the stack is unwound."""
    sys.exit(128 + number)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
