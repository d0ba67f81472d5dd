"""The warden: a small process that outlives the runner and leaves nothing running behind it.

    python warden.py RUN_ID [LOCK_FD]         standard library only; started by `Warden`

It reads one command a line from its standard input: `add PGID`, `del PGID`, `tmp FOLDER`. When that
ends - the runner is done, was interrupted, or was killed with -9 - it kills every process group that
was added and not taken off, then (on Linux) every process whose environment says
`PEGBOARD_RUN_ID=RUN_ID`, also those that left their group, and removes the folder.

It inherits the lock of the results' folder, so that a new run there begins only after the sweep.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import sys
import time
from pathlib import Path

RUN_ID_VARIABLE = "PEGBOARD_RUN_ID"
SWEEPS = 40
PAUSE_S = 0.05


def main() -> None:
    """Read commands until the runner is gone, then sweep."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    run_id = sys.argv[1]
    groups: set[int] = set()
    folders: list[str] = []
    for line in sys.stdin:
        command, _, argument = line.strip().partition(" ")
        if command == "add":
            groups.add(int(argument))
        elif command == "del":
            groups.discard(int(argument))
        elif command == "tmp":
            folders.append(argument)
    sweep(run_id, groups)
    for folder in folders:
        shutil.rmtree(folder, ignore_errors=True)


def sweep(run_id: str, groups: set[int]) -> None:
    """Kill the groups and every process of the run, until a look around finds none."""
    for group in groups:
        kill(-group)
    for _ in range(SWEEPS):
        found = processes_of(run_id)
        for pid in found:
            kill(pid)
        if not found:
            return
        time.sleep(PAUSE_S)


def processes_of(run_id: str) -> list[int]:
    """Return the living processes, but for this one, whose environment names the run."""
    mark = f"{RUN_ID_VARIABLE}={run_id}".encode()
    own = os.getpid()
    return [
        pid
        for entry in Path("/proc").glob("[0-9]*")
        if (pid := int(entry.name)) != own and mark in environment(entry)
    ]


def environment(entry: Path) -> list[bytes]:
    """Return the environment of a process; nothing for a zombie or another user's."""
    try:
        return (entry / "environ").read_bytes().split(b"\0")
    except OSError:
        return []


def kill(target: int) -> None:
    """Kill a process, or a group where `target` is negative; gone already is fine."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.kill(target, signal.SIGKILL)


if __name__ == "__main__":
    main()
