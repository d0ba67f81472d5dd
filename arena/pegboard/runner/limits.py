"""What the operating system lets a process of a run use."""

from __future__ import annotations

import contextlib
import os
import resource
from collections.abc import Mapping
from pathlib import Path

BOT_OPEN_FILES = 4096
BOT_FILE_BYTES = 1 << 30
"""The largest file that a bot can write, its log included; `reaper` cuts logs at a smaller size."""

THREADS_BASE = 4096
THREADS_A_PROCESS = 512
FILES_BASE = 128
FILES_A_PROCESS = 2
MANY_PROCESSES = 64
MANY_A_CORE = 8


def bot_limits(processes: int) -> dict[int, int]:
    """Return the limits of a bot's process by resource, for a run with so many processes.

    Linux counts processes and threads by user, so the threads that the user runs already are added.
    """
    return {
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_FSIZE: BOT_FILE_BYTES,
        resource.RLIMIT_NOFILE: BOT_OPEN_FILES,
        resource.RLIMIT_NPROC: _own_threads() + THREADS_BASE + processes * THREADS_A_PROCESS,
    }


def memory_limit(memory_mb: int) -> dict[int, int]:
    """Return the limit of a process's address space; none for 0."""
    return {resource.RLIMIT_AS: memory_mb * 1024 * 1024} if memory_mb else {}


def confine(pid: int, limits: Mapping[int, int]) -> None:
    """Limit a running process (Linux); never above a limit that it has already.

    A process that has ended by now needs no limits.
    """
    for number, value in limits.items():
        with contextlib.suppress(OSError, AttributeError):
            hard = resource.prlimit(pid, number)[1]
            bound = value if hard == resource.RLIM_INFINITY else min(value, hard)
            resource.prlimit(pid, number, (bound, bound))


def _own_threads() -> int:
    """Count the threads of this user; 0 if there is no /proc."""
    uid = os.getuid()
    count = 0
    for entry in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if entry.stat().st_uid == uid:
                count += len(os.listdir(entry / "task"))
    return count


def raise_open_files(processes: int) -> str:
    """Raise this process's limit of open files as far as allowed; its children inherit it.

    Return a sentence if that is too little for so many processes, else "".
    """
    need = FILES_BASE + processes * FILES_A_PROCESS
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != hard:
        with contextlib.suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
            soft = hard
    if soft == resource.RLIM_INFINITY or soft >= need:
        return ""
    return (
        f"the limit of open files is {soft:,} here and {processes:,} processes need about "
        f"{need:,}; raise it (`ulimit -Hn` shows how far), or play with fewer processes"
    )


def many_processes(processes: int, matches: int) -> str:
    """Return a warning if a run has very many processes for this machine, else ""."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    if processes <= max(MANY_PROCESSES, MANY_A_CORE * (cores or 1)):
        return ""
    return (
        f"this run starts {processes:,} processes at once on {cores} cores and plays {matches:,} "
        "matches: it needs memory for all of them and may take long; Ctrl-C stops it"
    )
