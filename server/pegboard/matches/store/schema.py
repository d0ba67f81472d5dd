"""The tables of the store, and the check of a file for them."""

from __future__ import annotations

import sqlite3
from contextlib import suppress
from pathlib import Path
from typing import Any

import structlog

from pegboard.errors import StoreError
from pegboard.matches.store.file import SQLITE_FAULTS, damage_sentence

APPLICATION_ID = 0x50454742  # "PEGB"
SCHEMA_VERSION = 5

CHECKED_BYTES = 64 * 1024 * 1024
"""A larger file is not checked as a whole when it is opened: the check takes a second per 50 MB."""

log = structlog.get_logger(__name__)

_SCHEMA = """
CREATE TABLE matches (
    key INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    request_id TEXT NOT NULL,
    label TEXT NOT NULL,
    block TEXT NOT NULL,
    name_sum INTEGER NOT NULL,
    spec TEXT NOT NULL,
    seed TEXT NOT NULL,
    rules_version TEXT NOT NULL,
    create_ms INTEGER NOT NULL,
    deal_sum INTEGER NOT NULL,
    finish INTEGER NOT NULL DEFAULT 0,
    end_ms INTEGER,
    result TEXT NOT NULL DEFAULT '',
    moves TEXT NOT NULL DEFAULT '',
    event_count INTEGER NOT NULL DEFAULT 0,
    events_digest TEXT NOT NULL DEFAULT '',
    result_sum INTEGER NOT NULL DEFAULT 0
);
CREATE UNIQUE INDEX matches_request ON matches(request_id) WHERE request_id != '';
CREATE INDEX matches_label ON matches(label, key);
CREATE INDEX matches_running ON matches(key) WHERE result = '';
CREATE UNIQUE INDEX matches_finish ON matches(finish) WHERE finish != 0;
CREATE INDEX matches_label_finish ON matches(label, finish) WHERE finish != 0;
CREATE TABLE tags (tag TEXT NOT NULL, key INTEGER NOT NULL, PRIMARY KEY (tag, key)) WITHOUT ROWID;
CREATE TABLE blocks (
    block TEXT PRIMARY KEY,
    matches INTEGER NOT NULL,
    rated INTEGER NOT NULL,
    running INTEGER NOT NULL,
    sum INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE journal (number INTEGER PRIMARY KEY, lines TEXT NOT NULL, sum INTEGER NOT NULL);
"""


def check_owner(connection: sqlite3.Connection, path: Path) -> bool:
    """Return whether the file is new. Raises `StoreError` for another kind of file or version."""
    application = connection.execute("PRAGMA application_id").fetchone()[0]
    version = connection.execute("PRAGMA user_version").fetchone()[0]
    tables = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
    if application != APPLICATION_ID and (application or version or tables):
        raise StoreError(f"{path} is not a Pegboard store; give another path")
    if version > SCHEMA_VERSION:
        raise StoreError(
            f"{path} was made by a newer Pegboard (store version {version}, this one reads"
            f" {SCHEMA_VERSION}); update Pegboard or give another path"
        )
    if 0 < version < SCHEMA_VERSION:
        raise StoreError(
            f"{path} was made by an older Pegboard (store version {version}, this one reads"
            f" {SCHEMA_VERSION}); give another path"
        )
    return not version


def make_tables(connection: sqlite3.Connection) -> None:
    """Make a new file a store."""
    connection.executescript(
        f"BEGIN; {_SCHEMA} PRAGMA application_id = {APPLICATION_ID};"
        f" PRAGMA user_version = {SCHEMA_VERSION}; COMMIT;"
    )


def mend_indices(connection: sqlite3.Connection, path: Path) -> None:
    """Build indices that disagree with their rows again. Raises `StoreError` for other damage.

    An index follows from the rows, which carry checksums of their own.
    """
    if _tables(connection) != _own_tables():
        raise StoreError(damage_sentence(path, "its tables are not what they should be"))
    if path.stat().st_size > CHECKED_BYTES or not (fault := _fault(connection)):
        return
    connection.execute("BEGIN IMMEDIATE")
    try:
        connection.execute("REINDEX")
        if _fault(connection):
            raise StoreError(damage_sentence(path, fault))
        connection.execute("COMMIT")
    except SQLITE_FAULTS as error:
        raise StoreError(damage_sentence(path, fault)) from error
    finally:
        if connection.in_transaction:
            with suppress(sqlite3.Error):
                connection.execute("ROLLBACK")
    log.warning("damaged indices of the store were built again", store=str(path))


def _fault(connection: sqlite3.Connection) -> str:
    """Return the first fault of structure or indices, "" for none."""
    found = str(connection.execute("PRAGMA integrity_check(1)").fetchone()[0])
    return "" if found == "ok" else " ".join(found.split())


def _tables(connection: sqlite3.Connection) -> list[Any]:
    query = "SELECT type, name, tbl_name, sql FROM sqlite_master ORDER BY name"
    return connection.execute(query).fetchall()


def _own_tables() -> list[Any]:
    connection = sqlite3.connect(":memory:")
    try:
        connection.executescript(_SCHEMA)
        return _tables(connection)
    finally:
        connection.close()
