"""The reaper: a small process that outlives the runner and leaves nothing running behind it.

    python -I reaper.py RUN_ID LOG_LIMIT        standard library only; started by `Launcher`

The reaper reads one command a line from its standard input, each a JSON list: `["add", PGID]`,
`["del", PGID]`, `["log", FILE]`, `["tmp", FOLDER]`. Standard input ends when the runner ends, also by
SIGKILL. Then the reaper kills every process group that was added and not deleted, then (on Linux) every
process whose environment says `PEGBOARD_RUN_ID=RUN_ID`, also those that left their group, and removes
the folders of `tmp`.

Bots write to their logs directly, not through a pipe, so that a suspended runner does not block them.
The reaper keeps the logs small: one that has outgrown LOG_LIMIT bytes loses its middle.

The reaper inherits the lock of the run folder, so that a new run there begins only after the sweep.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import shutil
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

RUN_ID_VARIABLE = "PEGBOARD_RUN_ID"
SWEEPS = 40
PAUSE_S = 0.05
TRIM_S = 0.1
TAIL_BYTES = 64 * 1024
CUT = b"\n--- the log was full: what stood here is left out\n"


def main() -> None:
    """Read commands until the runner is gone, then sweep."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    run_id, limit = sys.argv[1], int(sys.argv[2])
    groups: set[int] = set()
    logs: set[str] = set()
    folders: list[str] = []
    for command, argument in commands(logs, limit):
        if command == "add":
            groups.add(argument)
        elif command == "del":
            groups.discard(argument)
        elif command == "log":
            logs.add(argument)
        elif command == "tmp":
            folders.append(argument)
    sweep(run_id, groups)
    for log in logs:
        trim(log, limit)
    for folder in folders:
        shutil.rmtree(folder, ignore_errors=True)


def commands(logs: set[str], limit: int) -> Iterator[tuple[str, Any]]:
    """Yield the commands as they come, until standard input ends; keep the logs small meanwhile."""
    rest = b""
    while True:
        ready, _, _ = select.select([0], [], [], TRIM_S if logs else None)
        if ready:
            data = os.read(0, 65536)
            if not data:
                return
            *lines, rest = (rest + data).split(b"\n")
            for line in lines:
                command, argument = json.loads(line)
                yield command, argument
        for log in logs:
            trim(log, limit)


def trim(log: str, limit: int) -> None:
    """Cut a log that has outgrown its limit: its first half and its end stay.

    The end is copied over the middle before the file is cut, so that at any moment the file ends
    with what was written last.
    """
    with contextlib.suppress(OSError):
        size = os.stat(log).st_size
        if size <= limit:
            return
        file = os.open(log, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
        try:
            tail = min(TAIL_BYTES, limit // 4)
            end = CUT + os.pread(file, tail, size - tail)
            os.pwrite(file, end, limit // 2)
            os.ftruncate(file, limit // 2 + len(end))
        finally:
            os.close(file)


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
    """Kill a process, or a group if `target` is negative, unless it has ended already."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.kill(target, signal.SIGKILL)


if __name__ == "__main__":
    main()
