"""The store in one SQLite file (WAL).

Writes come as batches, each one transaction, and run in one thread of their own. A batch travels as a
few texts, so that it takes a handful of statements however many matches it is about: between statements
that thread has to wait for the GIL, which the event loop holds.

- `matches` has a row a match; of a finished one all that its record needs.
- `tags` has a row for each bot and each variant of a match: lists by these are read from there.
- `blocks` has a row a duplicate block: how many of its matches run, and how many have a result.
- `journal` has a row a batch: the moves of running matches, one a line (`rows.journal_line`). From time
  to time a batch is a snapshot, all moves of all running matches, and what came before it goes.

Every row carries checksums, since SQLite checks its own structure but not the values in it. Damage to
the structure or to the journal is a `StoreError`; a damaged match is left out, or ends by a server
fault, a damaged block stays sealed, and the other matches lose nothing.

A file belongs to one process at a time, by a lock on `FILE.lock`, and to one user: seeds of running
matches are in it. Readers of the same process use a connection of their own and never wait for the
writer.
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import count, islice
from pathlib import Path
from typing import IO, Any

import structlog

from pegboard.errors import StoreError
from pegboard.matches.spec import MatchSpec
from pegboard.matches.store.batch import Batch, Standing
from pegboard.matches.store.columns import Stored, Texts, checksum, texts_of
from pegboard.matches.store.file import (
    SQLITE_FAULTS,
    create_private,
    damage_sentence,
    error_sentence,
    keep_private,
    lock_file,
)
from pegboard.matches.store.protocol import NUMBER_MAX, Durability
from pegboard.matches.store.query import MatchQuery
from pegboard.matches.store.rows import Row, read_journal, spec_text
from pegboard.matches.store.schema import SCHEMA_VERSION, check_owner, make_tables, mend_indices
from pegboard.rules.game import Seat
from pegboard.rules.shuffle import SEED_BYTES

SQLITE_MIN = (3, 38, 0)
"""For `->>` and `UPDATE .. FROM`."""

log = structlog.get_logger(__name__)

_COLUMNS = ", ".join(f"matches.{field}" for field in Stored._fields)

_CREATED = """
INSERT INTO matches(key, id, request_id, label, block, name_sum,
                    spec, seed, rules_version, create_ms, deal_sum)
SELECT value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4, value ->> 5, value ->> 6,
       value ->> 7, value ->> 8, value ->> 9, value ->> 10
FROM json_each(?)
"""

_TAGGED = """
INSERT INTO tags(tag, key)
SELECT 'variant ' || (made.value ->> 6 ->> 'variant'), made.value ->> 0
FROM json_each(?1) AS made
UNION SELECT 'bot ' || bot.value, made.value ->> 0
FROM json_each(?1) AS made, json_each(made.value ->> 6, '$.bots') AS bot
"""
"""By what matches are found, beside the label: a bot may sit at several seats, so it has no column."""

_FINISHED = """
UPDATE matches SET finish = v.value ->> 1, end_ms = v.value ->> 2, result = v.value ->> 3,
    moves = v.value ->> 4, event_count = v.value ->> 5, events_digest = v.value ->> 6,
    result_sum = v.value ->> 7
FROM json_each(?) AS v WHERE matches.key = v.value ->> 0
"""

_BLOCKS = """
INSERT INTO blocks(block, matches, rated, running, sum)
SELECT value ->> 0, value ->> 1, value ->> 2, value ->> 3,
       checksum(value ->> 0, value ->> 1, value ->> 2, value ->> 3)
FROM json_each(?) WHERE true
ON CONFLICT(block) DO UPDATE SET
    rated = rated + excluded.rated, running = running + excluded.running,
    sum = iif(sum = checksum(block, matches, rated, running),
              checksum(block, matches, rated + excluded.rated, running + excluded.running), sum)
"""
"""A damaged row stays damaged: its checksum is renewed only if it was right."""

_BLOCK_INTACT = "blocks.sum = checksum(blocks.block, blocks.matches, rated, running)"

_MENDED = """
UPDATE matches SET spec = ?, seed = ?, rules_version = ?, create_ms = ?, deal_sum = ?, finish = 0
WHERE key = ?
"""

_SEALED = f"""
NOT EXISTS (SELECT 1 FROM blocks
            WHERE blocks.block = matches.block AND rated >= blocks.matches AND running = 0
            AND {_BLOCK_INTACT})
"""  # noqa: S608
_STANDING = f"SELECT matches, rated, running, {_BLOCK_INTACT} FROM blocks WHERE block = ?"  # noqa: S608


class SqliteStore:
    """One file, open (`store.protocol.Store`). `write_texts` runs in the thread that writes.

    `unsynced`: something has been written that the machine could still lose.
    """

    def __init__(self, path: Path, durability: Durability) -> None:
        if sqlite3.sqlite_version_info < SQLITE_MIN:
            needed = ".".join(map(str, SQLITE_MIN))
            raise StoreError(
                f"SQLite {sqlite3.sqlite_version} is too old; Python needs {needed} or newer"
            )
        self.path = path
        self.durability = durability
        self.unsynced = False
        self._syncs = True
        self._damaged: set[int] = set()
        self._damaged_blocks: set[str] = set()
        self._connections: list[sqlite3.Connection] = []
        self._lock: IO[str] | None = lock_file(path)
        self._executor = ThreadPoolExecutor(1, "pegboard-store")
        try:
            self._writer = self._connect()
            self._prepare()
            self._reader = self._connect()
        except SQLITE_FAULTS as error:
            self.close()
            raise StoreError(error_sentence(path, error)) from error
        except StoreError:
            self.close()
            raise

    # Opening and closing

    def _connect(self) -> sqlite3.Connection:
        create_private(self.path)
        connection = sqlite3.connect(str(self.path), isolation_level=None, check_same_thread=False)
        self._connections.append(connection)
        # Damaged text must not stop a query that reads intact rows as well.
        connection.text_factory = _text
        connection.create_function("checksum", -1, _checksum, deterministic=True)
        connection.execute("PRAGMA busy_timeout = 5000")
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA cell_size_check = ON")
        return connection

    def _prepare(self) -> None:
        """Check whose file it is and that it can be written; make the tables if it is new."""
        writer = self._writer
        is_new = check_owner(writer, self.path)
        keep_private(self.path)
        writer.execute("PRAGMA journal_mode = WAL")
        if is_new:
            make_tables(writer)
            return
        mend_indices(writer, self.path)
        try:
            # Writes nothing new, but shows now if the store cannot be written.
            writer.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
        except SQLITE_FAULTS as error:
            raise StoreError(f"cannot write to {self._name}: {error}") from error

    def close(self) -> None:
        """Close the file and let other processes open it."""
        self._executor.shutdown()
        for connection in self._connections:
            connection.close()
        if self._lock is not None:
            self._lock.close()
            self._lock = None

    # Writing

    async def write(self, batch: Batch, *, snapshot: bool, sync: bool) -> None:
        """Write a batch; see `Store.write`."""
        loop = asyncio.get_running_loop()
        texts = texts_of(batch)
        await loop.run_in_executor(self._executor, self.write_texts, texts, snapshot, sync)

    def write_texts(self, texts: Texts, snapshot: bool, sync: bool) -> None:
        """Write a batch that has travelled; see `Store.write`."""
        writer = self._writer
        try:
            if sync != self._syncs:
                writer.execute(f"PRAGMA synchronous = {'FULL' if sync else 'NORMAL'}")
                self._syncs = sync
            writer.execute("BEGIN IMMEDIATE")
            if texts.created:
                writer.execute(_CREATED, (texts.created,))
                writer.execute(_TAGGED, (texts.created,))
            if snapshot:
                writer.execute("DELETE FROM journal")
            if texts.journal:
                row = (texts.journal, checksum((texts.journal,)))
                writer.execute("INSERT INTO journal(lines, sum) VALUES (?, ?)", row)
            if texts.finished:
                writer.execute(_FINISHED, (texts.finished,))
            if texts.blocks:
                writer.execute(_BLOCKS, (texts.blocks,))
            writer.execute("COMMIT")
            if sync and self.unsynced and not any(texts):
                # An empty commit syncs nothing; a checkpoint first syncs all that was written before.
                writer.execute("PRAGMA wal_checkpoint(PASSIVE)")
            self.unsynced = not sync
        except SQLITE_FAULTS as error:
            self._roll_back()
            raise StoreError(f"cannot write to {self._name}: {error}") from error

    def _roll_back(self) -> None:
        try:
            if self._writer.in_transaction:
                self._writer.execute("ROLLBACK")
        except sqlite3.Error:  # the disk is gone: the next write fails too
            pass

    # Reading

    def find(self, match_id: str) -> Row | None:
        """Return the match. Raises `StoreError` if it is damaged."""
        return self._one("WHERE id = ?", (match_id,))

    def find_request(self, request_id: str) -> Row | None:
        """Return the match that this request has created. Raises `StoreError` if it is damaged."""
        return self._one("WHERE request_id = ? AND request_id != ''", (request_id,))

    def last(self) -> tuple[int, int]:
        """Return the highest key and the highest finish; 0 for none."""
        row = self._query("SELECT max(key), (SELECT max(finish) FROM matches) FROM matches")[0]
        key, finish = row[0] or 0, row[1] or 0
        if not (0 <= key < NUMBER_MAX and isinstance(finish, int) and 0 <= finish < NUMBER_MAX):
            raise StoreError(
                damage_sentence(self.path, f"a match has the number {key} or {finish}")
            )
        return key, finish

    def block(self, block: str) -> Standing | None:
        """Return how a block stands, None if it has no matches."""
        found = self._query(_STANDING, (block,))
        if not found:
            return None
        matches, rated, running, intact = found[0]
        if not intact:
            self._tell_damage_of_block(block)
        return Standing(matches, rated, running, damaged=not intact)

    def _tell_damage_of_block(self, block: str) -> None:
        if block not in self._damaged_blocks:
            self._damaged_blocks.add(block)
            log.error("a block in the store is damaged", block=block, store=str(self.path))

    def running(self) -> list[Row]:
        """Return the matches that have no result, by key, with the moves of the journal.

        One whose deal is damaged comes with an empty one; one whose name is damaged stays away. Raises
        `StoreError` if the journal is damaged.
        """
        rows = list(self._running_rows())
        moves: dict[int, list[str]] = {row.key: [] for row in rows}
        banks: dict[int, dict[Seat, int]] = {row.key: {} for row in rows}
        if rows:
            for key, seat, move, bank_ms in self._journal():
                if key in moves and move:
                    moves[key].append(f"{seat} {move}")
                if key in moves and bank_ms >= 0:
                    banks[key][seat] = bank_ms
        return [
            row._replace(moves="\n".join(moves[row.key]), banks_ms=banks[row.key]) for row in rows
        ]

    def _running_rows(self) -> Iterator[Row]:
        for stored in list(self._stored("WHERE result = '' ORDER BY key", ())):
            if not stored.name_is_intact:
                self._tell_damage(stored)
            elif stored.deal_is_intact:
                yield stored.row()
            else:
                self._tell_damage(stored)
                yield self._mended(stored)

    def _mended(self, stored: Stored) -> Row:
        """Give a match whose deal is damaged an empty deal, so that its end can be stored and read."""
        nothing = MatchSpec("", (), label=stored.label, nonce=stored.id, block=stored.block)
        row = Row(*stored[:5], spec_text(nothing), bytes(SEED_BYTES), "", 0.0, damaged=True)
        deal = Stored.of(row)[6:11]
        try:
            self._writer.execute(_MENDED, (*deal, stored.key))
        except SQLITE_FAULTS as error:
            raise StoreError(f"cannot write to {self._name}: {error}") from error
        return row

    def _journal(self) -> Iterator[tuple[int, Seat, str, int]]:
        rows = self._query("SELECT number, lines, sum FROM journal ORDER BY number")
        for expected, (number, lines, sum_) in zip(count(1), rows, strict=False):
            if number != expected or sum_ != checksum((lines,)):
                raise StoreError(damage_sentence(self.path, "its journal has changed"))
            try:
                yield from read_journal(lines)
            except ValueError:
                raise StoreError(damage_sentence(self.path, "its journal cannot be read")) from None

    def page(self, query: MatchQuery, after: int | None, size: int) -> list[Row]:
        """Return at most `size` matches that fit, in order; see `Store.page`."""
        rows = self._rows(*_listing(query, after))
        return list(islice((row for row in rows if query.fits(row)), size))

    def finished(self, label: str, after: int, size: int, most_bytes: int) -> list[Row]:
        """Return finished matches in the order of finishing, after `after`.

        At most `size`, and no more once their moves have `most_bytes`. Damaged ones are left out.
        """
        where = "WHERE finish != 0 AND finish > ?"
        if label:
            where += " AND label = ?"
        values = (after, label) if label else (after,)
        rows = []
        for row in islice(self._rows(f"{where} ORDER BY finish", values), size):
            rows.append(row)
            most_bytes -= len(row.moves)
            if most_bytes <= 0:
                break
        return rows

    def _one(self, where: str, values: Sequence[Any]) -> Row | None:
        for stored in self._stored(where, values):
            if not _is_intact(stored):
                self._tell_damage(stored)
                raise StoreError(damage_sentence(self.path, f"match {stored.id!r} has changed"))
            return stored.row()
        return None

    def _rows(self, where: str, values: Sequence[Any]) -> Iterator[Row]:
        for stored in self._stored(where, values):
            if _is_intact(stored):
                yield stored.row()
            else:
                self._tell_damage(stored)

    def _stored(self, where: str, values: Sequence[Any]) -> Iterator[Stored]:
        query = f"SELECT {_COLUMNS} FROM matches {where}"  # noqa: S608
        cursor = self._reader.cursor()
        try:
            for found in cursor.execute(query, values):
                yield Stored._make(found)
        except SQLITE_FAULTS as error:
            raise StoreError(error_sentence(self.path, error)) from error
        finally:
            cursor.close()  # a caller may stop early, and an open query holds the journal back

    def _query(self, query: str, values: Sequence[Any] = ()) -> list[Any]:
        try:
            return self._reader.execute(query, values).fetchall()
        except SQLITE_FAULTS as error:
            raise StoreError(error_sentence(self.path, error)) from error

    def _tell_damage(self, stored: Stored) -> None:
        """Log that a match is damaged, once."""
        if stored.key not in self._damaged:
            self._damaged.add(stored.key)
            log.error("a match in the store is damaged", match=str(stored.id), store=str(self.path))

    @property
    def _name(self) -> str:
        return f"the store {self.path}"


def _listing(query: MatchQuery, after: int | None) -> tuple[str, list[Any]]:
    """Return what follows `FROM matches` for a list, and its values.

    In the order of creation the matches of a bot, else of a variant, are read from `tags`, those of a
    label from its index: a page costs what it has, however many other matches there are.
    """
    order = query.order
    tags = [f"bot {query.bot}"] if query.bot else []
    tags += [f"variant {query.variant}"] if query.variant else []
    join, number = "", "matches.finish" if order.by_end else "matches.key"
    parts: list[str] = ["matches.finish != 0"] if order.by_end else []
    values: list[Any] = []
    if tags and not order.by_end:
        join, number = "JOIN tags ON tags.key = matches.key ", "tags.key"
        parts.append("tags.tag = ?")
        values.append(tags.pop(0))
    for tag in tags:
        parts.append("EXISTS (SELECT 1 FROM tags AS t WHERE t.tag = ? AND t.key = matches.key)")
        values.append(tag)
    if after is not None:
        parts.append(f"{number} {'<' if order.descending else '>'} ?")
        values.append(after)
    conditions = _conditions(query)
    parts += [part for part, _ in conditions]
    values += [value for _, found in conditions for value in found]
    where = f"WHERE {' AND '.join(parts)} " if parts else ""
    return f"{join}{where}ORDER BY {number}{' DESC' if order.descending else ''}", values


def _conditions(query: MatchQuery) -> list[tuple[str, list[Any]]]:
    """Return the conditions on the columns of a match, each with its values."""
    found: list[tuple[str, list[Any]]] = []
    if query.label:
        found.append(("label = ?", [query.label]))
    if query.finished is not None:
        found.append(("result != ''" if query.finished else "result = ''", []))
    for column, bounds in (("create_ms", query.created), ("end_ms", query.ended)):
        for bound, sign in zip(bounds, (">=", "<"), strict=True):
            if bound is not None:
                found.append((f"{column} {sign} ?", [bound]))
    if not query.sealed:
        found.append((f"NOT (block != '' AND {_SEALED})", []))
    return found


def _is_intact(stored: Stored) -> bool:
    finished = not stored.result or stored.result_is_intact
    return stored.name_is_intact and stored.deal_is_intact and finished


def _checksum(*values: Any) -> int:
    return checksum(values)


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace")
