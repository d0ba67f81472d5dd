"""Text of others, made fit for one line of a message, a log or a terminal.

Names, tokens, moves and details come from bots: of any length, with line feeds, ESC or U+2028 in them.
Whatever is repeated to a person passes through here.
"""

from __future__ import annotations

QUOTE_MOST = 80
"""The most characters of others' text that a message repeats."""
SENTENCE_MOST = 400
"""The most characters of a whole sentence."""
_MORE = "..."


def plain(text: str, most: int = QUOTE_MOST) -> str:
    """Return at most `most` characters of the text, those that do not print as escapes."""
    if len(text) <= most and text.isprintable():
        return text
    shown = text[: most + 1]
    if not shown.isprintable():
        shown = "".join([each if each.isprintable() else _escape(each) for each in shown])
    return shown if len(shown) <= most else shown[: most - len(_MORE)] + _MORE


def quoted(text: str, most: int = QUOTE_MOST) -> str:
    """Return the plain text in quotes."""
    return f"'{plain(text, most)}'"


def sentence(text: str) -> str:
    """Return a whole sentence in which others' text may stand."""
    return plain(text, SENTENCE_MOST)


def _escape(character: str) -> str:
    return character.encode("unicode_escape", "backslashreplace").decode()
