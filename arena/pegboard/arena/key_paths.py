"""Where a value stands in a tournament file: `time.move_ms`, `bot 2 ("b"), command`. Pure."""

from __future__ import annotations

import json
import re

ENTRY = re.compile(r"(bot|event) \d+( \(.*\))?", re.DOTALL)
"""The path of an entry of a list of tables."""


def entry_path(key: str, index: int, name: str) -> str:
    """Return the path of an entry, e.g. `bot 2 ("b")` for the key `bots`."""
    path = f"{key.removesuffix('s')} {index + 1}"
    return f"{path} ({json.dumps(name[:60])})" if name else path


def joined(where: str, key: str) -> str:
    """Return the path of a key within another one, e.g. `time.move_ms` or `bot 2 ("b"), command`."""
    between = ", " if ENTRY.fullmatch(where) else "."
    return f"{where}{between}{key}" if where and key else where or key
