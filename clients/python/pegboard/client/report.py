"""What a bot's process tells its author on standard error."""

from __future__ import annotations

import asyncio
import sys
import traceback
from concurrent import futures
from pathlib import Path
from types import TracebackType

from pegboard.rules.plain import plain

LINE_MOST = 1_000


def say(sentence: str) -> None:
    """Print a line on standard error."""
    sys.stderr.write(f"pegboard bot: {plain(sentence, LINE_MOST)}\n")
    sys.stderr.flush()


def print_error(error: Exception) -> None:
    """Print an exception of the bot with the author's part of its traceback."""
    traceback.print_exception(error.with_traceback(authors_part(error.__traceback__)))
    sys.stderr.flush()


def authors_part(trace: TracebackType | None) -> TracebackType | None:
    """Return a traceback without the calls of kit and event loop that lead to the author's code.

    It is the whole traceback if none of the author's code is in it.
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
