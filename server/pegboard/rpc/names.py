"""The names in requests: a collection and an id, as in `matches/ID`, `variants/ID` and `bots/ID`."""

from __future__ import annotations

from pegboard.errors import InvalidRequest
from pegboard.rules.plain import quoted

ID_MOST = 80
"""More characters than any id has (63); the rest is cut off, since messages repeat ids."""


def read_id(collection: str, name: str) -> str:
    """Return the id of a name of this collection (`rules.names`). Raises `InvalidRequest`."""
    start = len(collection)
    if not name.startswith(collection) or len(name) == start:
        raise InvalidRequest(f"write {collection}ID, not {quoted(name)}")
    return name[start : start + ID_MOST]
