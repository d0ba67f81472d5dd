"""The store's file: locked for one process, private to one user, and its faults in sentences."""

from __future__ import annotations

import os
import sqlite3
from contextlib import suppress
from pathlib import Path
from typing import IO

import structlog

from pegboard.errors import StoreError

try:
    import fcntl
except ImportError:  # pragma: no cover
    fcntl = None  # type: ignore[assignment]

PRIVATE = 0o600
"""Seeds of running matches are in the file: only its owner may read it."""

SQLITE_FAULTS = (sqlite3.Error, UnicodeError, OverflowError)
"""What `sqlite3` raises; a `UnicodeError` if SQLite quotes damaged bytes in its message."""

log = structlog.get_logger(__name__)


def create_private(path: Path) -> None:
    """Make the file for its owner alone if there is none. Raises `StoreError`."""
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, PRIVATE)
    except FileExistsError:
        return
    except OSError as error:
        raise StoreError(f"cannot open the store {path}: {error.strerror}") from error
    os.fchmod(descriptor, PRIVATE)  # whatever the umask
    os.close(descriptor)


def keep_private(path: Path) -> None:
    """Take the rights of others away; SQLite gives files that it makes beside the store its mode."""
    for suffix in ("", "-wal", "-shm", ".lock"):
        _tighten(Path(f"{path}{suffix}"))


def _tighten(path: Path) -> None:
    """Take the rights of others to a file away, and say so if they had any."""
    try:
        mode = path.stat().st_mode & 0o777
        if mode != PRIVATE:
            path.chmod(PRIVATE)
            if mode & 0o077:
                log.warning("only its owner may read the store from now on", file=str(path))
    except FileNotFoundError:
        pass
    except OSError as error:
        log.warning("others may read the store", file=str(path), reason=error.strerror)


def lock_file(path: Path) -> IO[str]:
    """Take the lock of the file; the process that holds the lock writes its number into it."""
    if not path.parent.is_dir():
        raise StoreError(f"cannot open the store {path}: there is no folder {path.parent}")
    if path.is_dir():
        raise StoreError(f"cannot open the store {path}: it is a folder; give a file")
    try:
        lock = open(f"{path}.lock", "a+", opener=_open_private)  # noqa: SIM115
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
    try:
        lock.truncate(0)
        lock.write(str(os.getpid()))
        lock.flush()
    except OSError as error:
        with suppress(OSError):  # closing tries to write again
            lock.close()
        raise StoreError(f"cannot write to {path}.lock: {error.strerror}") from error
    return lock


def _open_private(path: str, flags: int) -> int:
    return os.open(path, flags, PRIVATE)


def error_sentence(path: Path, error: Exception) -> str:
    """Return what is wrong with a file that SQLite cannot use."""
    text = str(error)
    if "not a database" in text:
        return f"{path} is not a Pegboard store; give another path"
    if isinstance(error, UnicodeError):
        return damage_sentence(path, "its text is not UTF-8")
    if "malformed" in text or "corrupt" in text:
        return damage_sentence(path, text)
    return f"cannot use the store {path}: {_one_line(text)}"


def damage_sentence(path: Path, how: str) -> str:
    """Return that a file is damaged, and what to do."""
    return f"the store {path} is damaged ({_one_line(how)}); restore a copy or give another path"


def _one_line(text: str) -> str:
    return " ".join(text.split())[:200]
