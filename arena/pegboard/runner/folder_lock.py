"""The lock of a run's folder: one runner at a time, until nothing of its run is left."""

from __future__ import annotations

import contextlib
import fcntl
import os
import time
from pathlib import Path

from pegboard.runner.errors import FolderError

TAKE_OVER_S = 15.0


def lock_folder(folder: Path) -> int:
    """Lock the folder and return the descriptor of its lock file.

    The reaper of a run that was killed holds the lock until it has swept: wait for that, at most
    `TAKE_OVER_S`. Raises `FolderError` if the process that holds the lock lives.
    """
    lock = os.open(folder / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    deadline = time.monotonic() + TAKE_OVER_S
    while True:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = os.pread(lock, 32, 0).decode(errors="replace").strip()
            if _is_alive(holder) or time.monotonic() > deadline:
                os.close(lock)
                raise FolderError(
                    f"{folder} is in use by process {holder or 'unknown'}; wait for it or stop it "
                    "first, or choose another folder with --out"
                ) from None
            time.sleep(0.05)
            continue
        os.ftruncate(lock, 0)
        os.pwrite(lock, f"{os.getpid()}\n".encode(), 0)
        return lock


def _is_alive(holder: str) -> bool:
    if not holder.isdecimal():
        return False
    with contextlib.suppress(OSError):
        status = Path(f"/proc/{holder}/stat").read_text(encoding="utf-8", errors="replace")
        return status.rpartition(")")[2].split()[:1] != ["Z"]
    try:
        os.kill(int(holder), 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
