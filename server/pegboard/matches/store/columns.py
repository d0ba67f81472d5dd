"""Rows as columns of SQLite, with checksums, and a batch as the few texts that travel to it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, NamedTuple
from zlib import crc32

from pegboard.matches.store.batch import Batch
from pegboard.matches.store.rows import Row


class Stored(NamedTuple):
    """The columns of a match in the store, as values of SQLite, each group with its checksum.

    Times are whole milliseconds, since SQLite does not promise to read a decimal fraction to the last
    bit. A damaged column may hold a value of any type.
    """

    key: int
    id: str
    request_id: str
    label: str
    block: str
    name_sum: int
    spec: str
    seed: str
    rules_version: str
    create_ms: int
    deal_sum: int
    finish: int
    end_ms: int | None
    result: str
    moves: str
    event_count: int
    events_digest: str
    result_sum: int

    @classmethod
    def of(cls, row: Row) -> Stored:
        """Return the columns of a row."""
        name = row[:5]
        deal = (row.spec, row.seed.hex(), row.rules_version, round(row.create_time * 1000))
        end_ms = None if row.end_time is None else round(row.end_time * 1000)
        result = (row.finish, end_ms, *row[11:15])
        return cls._make((*name, checksum(name), *deal, checksum(deal), *result, checksum(result)))

    @property
    def name_is_intact(self) -> bool:
        """Whether key, id, request, label and block are as they were written."""
        return self.name_sum == checksum(self[:5])

    @property
    def deal_is_intact(self) -> bool:
        """Whether spec, seed, version and time of creation are as they were written."""
        return self.deal_sum == checksum(self[6:10])

    @property
    def result_is_intact(self) -> bool:
        """Whether everything that is written at the end is as it was written."""
        return self.result_sum == checksum(self[11:17])

    def row(self) -> Row:
        """Return the row. Name and deal must be intact, of a finished match the result too."""
        deal = (self.spec, bytes.fromhex(self.seed), self.rules_version, self.create_ms / 1000)
        running = Row(*self[:5], *deal)
        if not self.result:
            return running
        return running._replace(
            finish=self.finish,
            end_time=None if self.end_ms is None else self.end_ms / 1000,
            result=self.result,
            moves=self.moves,
            event_count=self.event_count,
            events_digest=self.events_digest,
        )


def checksum(values: tuple[Any, ...]) -> int:
    """Return CRC-32 over values of SQLite: it finds every damage within four bytes in a row."""
    return crc32(repr(values).encode("utf-8", "surrogatepass"))


class Texts(NamedTuple):
    """A batch as it travels: lines for the journal, JSON for the others, "" for nothing."""

    created: str = ""
    journal: str = ""
    finished: str = ""
    blocks: str = ""


def texts_of(batch: Batch) -> Texts:
    """Return a batch as it travels."""
    return Texts(
        _dumps([Stored.of(row)[:11] for row in batch.created]),
        "\n".join(batch.journal),
        _dumps([(row.key, *Stored.of(row)[11:]) for row in batch.finished]),
        _dumps(batch.changes),
    )


def _dumps(rows: Sequence[Any]) -> str:
    return json.dumps(rows, separators=(",", ":")) if rows else ""
