"""Opening a store by its path and durability."""

from __future__ import annotations

from pathlib import Path

from pegboard.errors import StoreError
from pegboard.matches.store.memory import MemoryStore
from pegboard.matches.store.protocol import Durability, Store
from pegboard.matches.store.sqlite import SqliteStore


def open_store(path: Path | None, durability: Durability = Durability.BATCHED) -> Store:
    """Open the store at `path`, making it if there is none; None for MEMORY.

    Raises `StoreError` for a path that cannot be used, a file of another kind or of another version, a
    damaged one, and one that another process has open.
    """
    if (path is None) != (durability is Durability.MEMORY):
        raise StoreError("a store in memory has no file, and every other durability needs one")
    return MemoryStore() if path is None else SqliteStore(path, durability)
