"""Files that only this user can read, written as a whole or with an error that names them."""

from __future__ import annotations

import os
from pathlib import Path
from typing import IO

from pegboard.runner.errors import FolderError


def open_private(path: Path, mode: str) -> IO[bytes]:
    """Open a file that, if it is made now, only this user can read."""
    return open(path, mode, opener=lambda name, flags: os.open(name, flags, 0o600))


def write_atomically(path: Path, data: bytes) -> None:
    """Replace a file so that a reader, or a crash, sees the old content or the new.

    Raises `FolderError`, e.g. for a full disk; the old content is there then.
    """
    spare = path.with_name(f".{path.name}.new")
    try:
        spare.unlink(missing_ok=True)  # it could have another mode
        with open_private(spare, "xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        spare.replace(path)
    except OSError as error:
        raise cannot_write(path, error) from None


def cannot_write(path: Path, error: OSError) -> FolderError:
    """Return the error for a file of the run that cannot be written."""
    return FolderError(
        f"{path} cannot be written: {error.strerror or error}; mend that (a full disk needs room), "
        "and the same command continues the run"
    )
