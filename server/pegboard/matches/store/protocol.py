"""What the host needs of a store: to keep what its matches' logs say beyond the process.

`store.sqlite` keeps matches in one file, `store.memory` in this process. Another store, PostgreSQL say,
implements `Store` and joins `store.opening`; nothing outside this package knows which store it is.
"""

from __future__ import annotations

from enum import Enum
from typing import Protocol

from pegboard.matches.store.batch import Batch, Standing
from pegboard.matches.store.query import MatchQuery
from pegboard.matches.store.rows import Row

NUMBER_MAX = 1 << 53
"""No key and no finish is larger; the next one could not be stored."""


class Durability(Enum):
    """When what happens is written, which outlives the process, and synced, which outlives the machine.

    STRICT: nothing is published before it is both. BATCHED: moves are published at once, written some
    20 ms later, and synced with what comes next of creations, results and unary answers, which wait
    for it. MEMORY: there is no file.
    """

    STRICT = "strict"
    BATCHED = "batched"
    MEMORY = "memory"


class StoreState(Enum):
    """How a store does. FAILING: what was written last failed, and is tried again. LOST: for good."""

    WRITABLE = "writable"
    FAILING = "failing"
    LOST = "lost"


class Store(Protocol):
    """A store, open. One task writes at a time; every read is short and does not wait for a write."""

    @property
    def durability(self) -> Durability:
        """When what happens is written and synced."""
        ...

    @property
    def unsynced(self) -> bool:
        """Whether something has been written that the machine could still lose."""
        ...

    async def write(self, batch: Batch, *, snapshot: bool, sync: bool) -> None:
        """Write a batch in one transaction; with `snapshot` its journal takes the place of all.

        What is written outlives the process; with `sync` it outlives the machine, and so does all that
        was written before. Raises `StoreError`, and then nothing is written.
        """
        ...

    def find(self, match_id: str) -> Row | None:
        """Return the match. Raises `StoreError` if it is damaged."""
        ...

    def find_request(self, request_id: str) -> Row | None:
        """Return the match that this request has created. Raises `StoreError` if it is damaged."""
        ...

    def last(self) -> tuple[int, int]:
        """Return the highest key and the highest finish; 0 for none."""
        ...

    def block(self, block: str) -> Standing | None:
        """Return how a block stands, None if it has no matches."""
        ...

    def running(self) -> list[Row]:
        """Return the matches that have no result, by key, with the moves of the journal.

        Raises `StoreError` if the journal is damaged.
        """
        ...

    def page(self, query: MatchQuery, after: int | None, size: int) -> list[Row]:
        """Return at most `size` matches that fit, in order, after the number `after`.

        None is from the first one. Damaged ones are left out.
        """
        ...

    def finished(self, label: str, after: int, size: int, most_bytes: int) -> list[Row]:
        """Return finished matches in the order of finishing, after `after`.

        At most `size`, and no more once their moves have `most_bytes`. Damaged ones are left out.
        """
        ...

    def close(self) -> None:
        """Let go of what the store holds; another process may open it."""
        ...
