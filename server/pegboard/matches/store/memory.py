"""A store that ends with its process: matches in dictionaries, for tests and throw-away servers."""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections.abc import Iterator

from pegboard.matches.store.batch import Batch, BlockChange, Standing
from pegboard.matches.store.protocol import Durability
from pegboard.matches.store.query import MatchOrder, MatchQuery
from pegboard.matches.store.rows import Row


class MemoryStore:
    """A store in memory (`store.protocol.Store`). It needs no journal: no process reads it later."""

    durability = Durability.MEMORY
    unsynced = False

    def __init__(self) -> None:
        self._rows: dict[int, Row] = {}
        self._keys: list[int] = []  # ascending; batches may be written in another order
        self._by_id: dict[str, int] = {}
        self._by_request: dict[str, int] = {}
        self._finished: list[int] = []  # keys by finish, which counts from 1
        self._blocks: dict[str, Standing] = {}

    async def write(self, batch: Batch, *, snapshot: bool, sync: bool) -> None:
        """Keep a batch."""
        for row in batch.created:
            self._rows[row.key] = row
            insort(self._keys, row.key)
            self._by_id[row.id] = row.key
            if row.request_id:
                self._by_request[row.request_id] = row.key
        for row in batch.finished:
            self._finish(row)
        for change in batch.changes:
            self._change(change)

    def _finish(self, row: Row) -> None:
        self._rows[row.key] = self._rows[row.key]._replace(
            finish=row.finish,
            end_time=row.end_time,
            result=row.result,
            moves=row.moves,
            event_count=row.event_count,
            events_digest=row.events_digest,
        )
        self._finished.append(row.key)
        assert row.finish == len(self._finished), "matches finish one by one"

    def _change(self, change: BlockChange) -> None:
        before = self._blocks.get(change.block, Standing(change.matches, 0, 0))
        self._blocks[change.block] = before._replace(
            rated=before.rated + change.rated, running=before.running + change.running
        )

    def find(self, match_id: str) -> Row | None:
        """Return the match."""
        key = self._by_id.get(match_id)
        return None if key is None else self._rows[key]

    def find_request(self, request_id: str) -> Row | None:
        """Return the match that this request has created."""
        key = self._by_request.get(request_id)
        return None if key is None else self._rows[key]

    def last(self) -> tuple[int, int]:
        """Return the highest key and the highest finish; 0 for none."""
        return self._keys[-1] if self._keys else 0, len(self._finished)

    def block(self, block: str) -> Standing | None:
        """Return how a block stands, None if it has no matches."""
        return self._blocks.get(block)

    def running(self) -> list[Row]:
        """Return none: no earlier process has left a match."""
        return []

    def page(self, query: MatchQuery, after: int | None, size: int) -> list[Row]:
        """Return at most `size` matches that fit, in order, after the number `after`."""
        found: list[Row] = []
        for key in self._keys_after(query.order, after):
            row = self._rows[key]
            if query.fits(row) and (query.sealed or not self._is_sealed(row)):
                found.append(row)
                if len(found) == size:
                    break
        return found

    def _keys_after(self, order: MatchOrder, after: int | None) -> Iterator[int]:
        """Yield keys in order, after the one of number `after`."""
        keys = self._finished if order.by_end else self._keys
        if order.descending:
            end = len(keys)
            if after is not None:
                end = min(after - 1, end) if order.by_end else bisect_left(keys, after)
            return (keys[place] for place in range(end - 1, -1, -1))
        start = 0
        if after is not None:
            start = after if order.by_end else bisect_right(keys, after)
        return (keys[place] for place in range(start, len(keys)))

    def _is_sealed(self, row: Row) -> bool:
        return bool(row.block) and not self._blocks[row.block].is_over

    def finished(self, label: str, after: int, size: int, most_bytes: int) -> list[Row]:
        """Return finished matches in the order of finishing, after `after`."""
        found: list[Row] = []
        for place in range(after, len(self._finished)):
            row = self._rows[self._finished[place]]
            if label and row.label != label:
                continue
            found.append(row)
            most_bytes -= len(row.moves)
            if len(found) == size or most_bytes <= 0:
                break
        return found

    def close(self) -> None:
        """Do nothing: there is no file."""
