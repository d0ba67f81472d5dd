"""Numbers that listed moves lack: `GameMove.number_range`."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from pegboard.v1 import match_pb2
from pegboard.wire.encoding import delimited, key

_RANGE = key(match_pb2.GameMove.DESCRIPTOR, "number_range")


@lru_cache(maxsize=1 << 10)
def range_bytes(low: int, high: int) -> bytes:
    """Return a range as the last field of a serialised `GameMove`."""
    return delimited(_RANGE, match_pb2.NumberRange(min=low, max=high).SerializeToString())


def read_number(messages: Sequence[match_pb2.GameMove]) -> tuple[int, int] | None:
    """Return the bounds of the first listed move that takes a number, or None if no move takes one.

    All open moves of a turn have the same bounds, but for a call of muggins, which comes after the
    plays: it names at least 1, and refused claims leave its bounds as they were (X-04).
    """
    for message in messages:
        if message.HasField("number_range"):
            return message.number_range.min, message.number_range.max
    return None
