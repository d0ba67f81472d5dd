"""Text of others, made safe to show: bots, servers, files and arguments may hold anything.

A terminal obeys what it is sent: ESC starts a command, CR overwrites the line, a bidi override
reverses what follows. Such characters are shown as escapes; JSON keeps the exact text instead.
"""

from __future__ import annotations

LIMIT = 1_000
CUT = "…"


def printable(text: str, limit: int = LIMIT) -> str:
    """Return `text` in one line of at most `limit` characters before escaping.

    Everything that `str.isprintable` refuses (controls, bidi and line separators, surrogates) becomes
    the escape that `repr` would print.
    """
    if len(text) > limit:
        text = text[: limit - 1] + CUT
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else _escape(char) for char in text)


def _escape(char: str) -> str:
    return char.encode("unicode_escape").decode("ascii")
