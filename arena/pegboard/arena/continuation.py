"""Whether a run may go on: with the file that it was begun with, or with more blocks. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pegboard.arena.config import DEFAULT_BLOCKS

FREE_KEYS = frozenset({"concurrency", "server"})


def lasting(raw: Mapping[str, Any]) -> dict[str, Any]:
    """Return the part of a file that stays the same for the whole of a run.

    Left out are `FREE_KEYS`, on which no result depends; the blocks, which may grow (`blocks_of`);
    and the order of the bots.
    """
    kept = {key: value for key, value in raw.items() if key not in FREE_KEYS | {"blocks"}}
    events = kept.get("events")
    if isinstance(events, list):
        kept["events"] = [_without_blocks(event) for event in events]
    bots = kept.get("bots")
    if isinstance(bots, list) and all(isinstance(bot, dict) for bot in bots):
        kept["bots"] = sorted(bots, key=lambda bot: str(bot.get("name")))
    return kept


def _without_blocks(event: Any) -> Any:
    if not isinstance(event, dict):
        return event
    return {key: value for key, value in event.items() if key != "blocks"}


def blocks_of(raw: Mapping[str, Any]) -> dict[str, int]:
    """Return the blocks of each event of a file, by the event's name."""
    default = raw.get("blocks", DEFAULT_BLOCKS)
    return {
        event.get("name") or event["variant"]: event.get("blocks") or default
        for event in raw.get("events", [])
    }


def changed_key(old: Mapping[str, Any], new: Mapping[str, Any]) -> str | None:
    """Return what differs between the `lasting` parts of two files as a key path with both values."""
    before, after = lasting(old), lasting(new)
    for key in [*after, *(key for key in before if key not in after)]:
        if before.get(key) != after.get(key):
            return _difference(key, before.get(key), after.get(key))
    return None


def _difference(path: str, old: Any, new: Any) -> str:
    if isinstance(old, dict) and isinstance(new, dict):
        for key in [*new, *(key for key in old if key not in new)]:
            if old.get(key) != new.get(key):
                return _difference(f"{path}.{key}", old.get(key), new.get(key))
    if isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for i, (before, after) in enumerate(zip(old, new, strict=True)):
            if before != after:
                return _difference(f"{path}[{i}]", before, after)
    return f"{path} is {_shown(new)} and was {_shown(old)}"


def _shown(value: Any) -> str:
    if value is None:
        return "not set"
    if isinstance(value, list):
        return f"a list of {len(value)}"
    return repr(value)
