"""The store: matches in one SQLite file (WAL), or in memory.

Writes come as batches, each one transaction, from one thread. A batch travels as three texts, so
that it takes a handful of statements however many matches it is about: between statements the thread
has to wait for the interpreter, which the event loop is busy with.

- `matches` has a row a match; of a finished one all that its record needs.
- `journal` has a row a batch: the moves of running matches, one a line (`rows.journal_line`). From time
  to time a batch is a snapshot, all moves of all running matches, and what came before it goes.

A file belongs to one process at a time, by a lock on `FILE.lock`. Readers of the same process use a
connection of their own and never wait for the writer.
"""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import IO, Any

from pegboard.matches.rows import NO_BANKS, Row, read_journal
from pegboard.rules.errors import StoreError
from pegboard.rules.game import Seat

try:
    import fcntl
except ImportError:  # pragma: no cover
    fcntl = None  # type: ignore[assignment]

APPLICATION_ID = 0x50454742  # "PEGB"
SCHEMA_VERSION = 2
SQLITE_MIN = (3, 38, 0)
"""For `->>` and `UPDATE .. FROM`."""

_SCHEMA = """
CREATE TABLE matches (
    key INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    request_id TEXT NOT NULL,
    label TEXT NOT NULL,
    spec TEXT NOT NULL,
    seed TEXT NOT NULL,
    rules_version TEXT NOT NULL,
    create_time REAL NOT NULL,
    finish INTEGER NOT NULL DEFAULT 0,
    end_time REAL,
    result TEXT NOT NULL DEFAULT '',
    moves TEXT NOT NULL DEFAULT '',
    event_count INTEGER NOT NULL DEFAULT 0,
    events_digest TEXT NOT NULL DEFAULT ''
);
CREATE UNIQUE INDEX matches_request ON matches(request_id) WHERE request_id != '';
CREATE INDEX matches_label ON matches(label, key);
CREATE INDEX matches_running ON matches(key) WHERE finish = 0;
CREATE UNIQUE INDEX matches_finish ON matches(finish) WHERE finish != 0;
CREATE INDEX matches_label_finish ON matches(label, finish) WHERE finish != 0;
CREATE TABLE journal (number INTEGER PRIMARY KEY, lines TEXT NOT NULL);
"""

_CREATED = """
INSERT INTO matches(key, id, request_id, label, spec, seed, rules_version, create_time)
SELECT value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4, value ->> 5, value ->> 6,
       value ->> 7
FROM json_each(?)
"""

_FINISHED = """
UPDATE matches SET finish = v.value ->> 1, end_time = v.value ->> 2, result = v.value ->> 3,
    moves = v.value ->> 4, event_count = v.value ->> 5, events_digest = v.value ->> 6
FROM json_each(?) AS v WHERE matches.key = v.value ->> 0
"""

_COLUMNS = (
    "key, id, request_id, label, spec, seed, rules_version, create_time, finish, end_time, result,"
    " moves, event_count, events_digest"
)


class Durability(Enum):
    """When what happens is written, which outlives the process, and synced, which outlives the machine.

    STRICT: nothing is published before it is both. BATCHED: moves are published at once, written some
    20 ms later, and synced with what comes next of creations, results and unary answers, which wait
    for it. MEMORY: there is no file.
    """

    STRICT = "strict"
    BATCHED = "batched"
    MEMORY = "memory"


@dataclass(slots=True)
class Batch:
    """What one transaction writes; `journal` are its lines."""

    created: list[Row] = field(default_factory=list)
    journal: list[str] = field(default_factory=list)
    finished: list[Row] = field(default_factory=list)

    def texts(self) -> tuple[str, str, str]:
        """Return created (JSON), journal (lines) and finished (JSON), "" for none."""
        created = [(*row[:5], row.seed.hex(), *row[6:8]) for row in self.created]
        finished = [(row.key, *row[8:14]) for row in self.finished]
        return _dumps(created), "\n".join(self.journal), _dumps(finished)


def open_store(path: Path | None, durability: Durability = Durability.BATCHED) -> Store:
    """Open the store at `path`, making it where there is none; None for MEMORY.

    Raises `StoreError` for a path that cannot be used, a file of another kind or of a newer
    version, a damaged one, and one that another process has open.
    """
    if sqlite3.sqlite_version_info < SQLITE_MIN:
        needed = ".".join(map(str, SQLITE_MIN))
        raise StoreError(
            f"SQLite {sqlite3.sqlite_version} is too old; Python needs {needed} or newer"
        )
    if (path is None) != (durability is Durability.MEMORY):
        raise StoreError("a store in memory has no file, and every other durability needs one")
    return Store(path, durability)


class Store:
    """One store, open. `write` is for one thread, everything else for the one that opened it.

    `unsynced`: something has been written that the machine could still lose.
    """

    def __init__(self, path: Path | None, durability: Durability) -> None:
        self.path = path
        self.durability = durability
        self.unsynced = False
        self._syncs = True
        self._lock = None if path is None else _lock(path)
        try:
            self._writer = self._connect()
            self._prepare()
            self._reader = self._writer if path is None else self._connect()
        except sqlite3.Error as error:
            self._unlock()
            raise StoreError(_damage(path, error)) from error
        except StoreError:
            self._unlock()
            raise

    # Opening and closing

    def _connect(self) -> sqlite3.Connection:
        where = ":memory:" if self.path is None else str(self.path)
        connection = sqlite3.connect(where, isolation_level=None, check_same_thread=False)
        connection.execute("PRAGMA busy_timeout = 5000")
        connection.execute("PRAGMA synchronous = FULL")
        return connection

    def _prepare(self) -> None:
        """Check whose file it is and make the tables where it is new."""
        writer = self._writer
        application = writer.execute("PRAGMA application_id").fetchone()[0]
        version = writer.execute("PRAGMA user_version").fetchone()[0]
        tables = writer.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
        if application != APPLICATION_ID and (application or version or tables):
            raise StoreError(f"{self.path} is not a Pegboard store; give another path")
        if version > SCHEMA_VERSION:
            raise StoreError(
                f"{self.path} was made by a newer Pegboard (store version {version}, this one reads"
                f" {SCHEMA_VERSION}); update Pegboard or give another path"
            )
        if 0 < version < SCHEMA_VERSION:
            raise StoreError(
                f"{self.path} was made by an older Pegboard (store version {version}, this one reads"
                f" {SCHEMA_VERSION}); give another path"
            )
        writer.execute("PRAGMA journal_mode = WAL")
        if not version:
            writer.executescript(
                f"BEGIN; {_SCHEMA} PRAGMA application_id = {APPLICATION_ID};"
                f" PRAGMA user_version = {SCHEMA_VERSION}; COMMIT;"
            )

    def close(self) -> None:
        """Close the file and let other processes open it."""
        for connection in {self._reader, self._writer}:
            connection.close()
        self._unlock()

    def _unlock(self) -> None:
        if self._lock is not None:
            self._lock.close()
            self._lock = None

    # Writing

    def write(self, texts: tuple[str, str, str], snapshot: bool = False, sync: bool = True) -> None:
        """Write `Batch.texts` in one transaction; with `snapshot` its journal takes the place of all.

        What is written outlives the process; with `sync` it outlives the machine, and so does all that
        was written before. Raises `StoreError`, and then nothing is written.
        """
        created, journal, finished = texts
        writer = self._writer
        try:
            if sync != self._syncs:
                writer.execute(f"PRAGMA synchronous = {'FULL' if sync else 'NORMAL'}")
                self._syncs = sync
            writer.execute("BEGIN IMMEDIATE")
            if created:
                writer.execute(_CREATED, (created,))
            if snapshot:
                writer.execute("DELETE FROM journal")
            if journal:
                writer.execute("INSERT INTO journal(lines) VALUES (?)", (journal,))
            if finished:
                writer.execute(_FINISHED, (finished,))
            writer.execute("COMMIT")
            if sync and self.unsynced and not any(texts):
                # Nothing to commit is nothing to sync; a checkpoint begins by syncing all there is.
                writer.execute("PRAGMA wal_checkpoint(PASSIVE)")
            self.unsynced = not sync
        except sqlite3.Error as error:
            self._roll_back()
            raise StoreError(f"cannot write to {self._name}: {error}") from error

    def _roll_back(self) -> None:
        try:
            if self._writer.in_transaction:
                self._writer.execute("ROLLBACK")
        except sqlite3.Error:  # the disk is gone: the next write says so
            pass

    # Reading

    def find(self, match_id: str) -> Row | None:
        """Return the match."""
        return self._one("WHERE id = ?", (match_id,))

    def find_request(self, request_id: str) -> Row | None:
        """Return the match that was created by this request."""
        return self._one("WHERE request_id = ? AND request_id != ''", (request_id,))

    def last(self) -> tuple[int, int]:
        """Return the highest key and the highest finish; 0 for none."""
        row = self._query("SELECT max(key), (SELECT max(finish) FROM matches) FROM matches")[0]
        return row[0] or 0, row[1] or 0

    def running(self) -> list[Row]:
        """Return the matches that are not finished, by key, with the moves of the journal."""
        rows = self._rows("WHERE finish = 0 ORDER BY key", ())
        if not rows:
            return []
        moves: dict[int, list[str]] = {row.key: [] for row in rows}
        banks: dict[int, dict[Seat, int]] = {row.key: {} for row in rows}
        for (text,) in self._query("SELECT lines FROM journal ORDER BY number"):
            for key, seat, move, bank_ms in read_journal(text):
                if key in moves and move:
                    moves[key].append(f"{seat} {move}")
                if key in moves and bank_ms >= 0:
                    banks[key][seat] = bank_ms
        return [
            row._replace(moves="\n".join(moves[row.key]), banks_ms=banks[row.key]) for row in rows
        ]

    def page(self, label: str, finished: bool | None, before: int, size: int) -> list[Row]:
        """Return at most `size` matches, newest first, with keys below `before`."""
        where = "WHERE key < ?"
        values: list[Any] = [before]
        if label:
            where += " AND label = ?"
            values.append(label)
        if finished is not None:
            where += " AND finish != 0" if finished else " AND finish = 0"
        return self._rows(f"{where} ORDER BY key DESC LIMIT ?", (*values, size))

    def finished(self, label: str, after: int, size: int) -> list[Row]:
        """Return at most `size` finished matches, in the order of finishing, after `after`."""
        where = "WHERE finish != 0 AND finish > ?"
        if label:
            where += " AND label = ?"
        values = (after, label, size) if label else (after, size)
        return self._rows(f"{where} ORDER BY finish LIMIT ?", values)

    def _one(self, where: str, values: Sequence[Any]) -> Row | None:
        rows = self._rows(where, values)
        return rows[0] if rows else None

    def _rows(self, where: str, values: Sequence[Any]) -> list[Row]:
        found = self._query(f"SELECT {_COLUMNS} FROM matches {where}", values)  # noqa: S608
        return [Row._make((*row[:5], bytes.fromhex(row[5]), *row[6:], NO_BANKS)) for row in found]

    def _query(self, query: str, values: Sequence[Any] = ()) -> list[Any]:
        try:
            return self._reader.execute(query, values).fetchall()
        except sqlite3.Error as error:
            raise StoreError(_damage(self.path, error)) from error

    @property
    def _name(self) -> str:
        return "the store in memory" if self.path is None else f"the store {self.path}"


def _dumps(rows: Iterable[Any]) -> str:
    rows = list(rows)
    return json.dumps(rows, separators=(",", ":")) if rows else ""


def _lock(path: Path) -> IO[str]:
    """Take the file's lock, in which the process that has it writes its number."""
    if not path.parent.is_dir():
        raise StoreError(f"cannot open the store {path}: there is no folder {path.parent}")
    if path.is_dir():
        raise StoreError(f"cannot open the store {path}: it is a folder; give a file")
    try:
        lock = Path(f"{path}.lock").open("a+")  # noqa: SIM115
    except OSError as error:
        raise StoreError(f"cannot open the store {path}: {error.strerror}") from error
    try:
        if fcntl is not None:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        lock.seek(0)
        owner = lock.read().strip() or "unknown"
        lock.close()
        raise StoreError(
            f"the store {path} is in use by another server (process {owner}); stop it or give"
            " another path"
        ) from None
    lock.truncate(0)
    lock.write(str(os.getpid()))
    lock.flush()
    return lock


def _damage(path: Path | None, error: sqlite3.Error) -> str:
    text = str(error)
    if "not a database" in text:
        return f"{path} is not a Pegboard store; give another path"
    if "malformed" in text or "corrupt" in text:
        return f"the store {path} is damaged ({text}); restore a copy or give another path"
    return f"cannot use the store {path or 'in memory'}: {text}"
