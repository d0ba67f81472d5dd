"""The standard streams: closed ones, readers that have gone, encodings other than UTF-8.

Every symbol that we print has an ASCII alternative, so that tables and pages come out everywhere.
"""

from __future__ import annotations

import codecs
import contextlib
import os
import re
import sys
from typing import TextIO

from pegboard.rules.plain import plain

LINE_MOST = 1_000
"""The most characters of a line in which others' text may stand."""
PLAIN_WIDTH = 120
"""The width of a table in a file or pipe, unless COLUMNS names another."""
ERRORS = "pegboard-symbols"
ALTERNATIVES = {"±": "+-", "·": ".", "…": "...", **dict.fromkeys("─━╸╺", "-")}
_UNPRINTABLE = re.compile(r"[^\x20-\x7e\n]")


def settle_streams() -> None:
    """Make the standard streams usable: closed ones go to /dev/null, symbols fall back to ASCII."""
    for descriptor in (0, 1, 2):
        try:
            os.fstat(descriptor)
        except OSError:  # closed: the next file that is opened would become standard output
            os.open(os.devnull, os.O_RDWR)
    sys.stdout = sys.stdout or open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
    sys.stderr = sys.stderr or open(2, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
    codecs.register_error(ERRORS, alternative)
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors=ERRORS)


def alternative(error: UnicodeError) -> tuple[str, int]:
    """Return ASCII for the first character that cannot be encoded; a handler for `codecs`."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    char = error.object[error.start]
    escaped = char.encode("ascii", "backslashreplace").decode()
    return ALTERNATIVES.get(char, escaped), error.start + 1


def symbol(char: str) -> str:
    """Return a symbol as standard output can show it; known before a table is laid out."""
    try:
        char.encode(getattr(sys.stdout, "encoding", None) or "utf-8")
    except UnicodeEncodeError:
        return ALTERNATIVES[char]
    return char


def table_width() -> int | None:
    """Return the width for tables on standard output; None: rich asks the terminal, or COLUMNS."""
    if sys.stdout.isatty() or os.environ.get("COLUMNS", "").isdigit():
        return None
    return PLAIN_WIDTH


def json_text(text: str) -> str:
    r"""Return JSON of the same value in which all but printable ASCII is `\u....` if needed.

    JSON for a pipe in UTF-8 stays as it is but for controls, which a terminal would obey.
    """
    if text.isascii() and "\x7f" not in text:
        return text
    try:
        text.encode(getattr(sys.stdout, "encoding", None) or "utf-8")
    except UnicodeEncodeError:
        return _UNPRINTABLE.sub(_json_escape, text)
    return _UNPRINTABLE.sub(
        lambda found: found[0] if found[0].isprintable() else _json_escape(found), text
    )


def _json_escape(found: re.Match[str]) -> str:
    units = found[0].encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[i : i + 2].hex()}" for i in range(0, len(units), 2))


def shown(text: str) -> str:
    """Return text of others as one line without what a terminal would obey."""
    return plain(text, LINE_MOST)


def say(line: str) -> None:
    """Print a line on standard error; if its reader is gone, drop what is printed."""
    try:
        print(line, file=sys.stderr, flush=True)  # noqa: T201
    except OSError:
        lead_nowhere(sys.stderr)


def lead_nowhere(stream: TextIO | None) -> None:
    """Drop what is written to a stream from here on, also what is still in its buffer."""
    if stream is None:
        return
    with contextlib.suppress(OSError, ValueError, AttributeError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)
