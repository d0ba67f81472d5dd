"""The script that keeps a machine busy: nothing of it stays, however it ends."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest
from tests.patience import PATIENCE_S, wait_until

BUSY = Path(__file__).with_name("busy.py")
WAITS = "print('ready', flush=True); input()"


def children(pid: int) -> list[int]:
    """Return the processes that a process has started (Linux)."""
    text = Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii")
    return [int(word) for word in text.split()]


def running(pid: int) -> bool:
    """Say whether a process runs; one that only waits to be asked for its status does not."""
    try:
        status = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return False
    return status.rpartition(")")[2].split()[0] not in "ZX"


def test_the_status_is_that_of_the_command() -> None:
    """So that make stops at a test that fails."""
    command = [sys.executable, str(BUSY), "1", sys.executable, "-c", "raise SystemExit(7)"]
    assert subprocess.run(command, timeout=PATIENCE_S).returncode == 7


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL, signal.SIGINT])
def test_nothing_stays_busy(number: signal.Signals) -> None:
    """Also when it is killed in the middle."""
    busy = subprocess.Popen(
        [sys.executable, str(BUSY), "2", sys.executable, "-c", WAITS],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    assert busy.stdout is not None
    assert busy.stdin is not None
    assert busy.stdout.readline() == b"ready\n"
    loops = children(busy.pid)
    assert len(loops) == 3
    busy.send_signal(number)
    busy.stdin.close()
    busy.wait(PATIENCE_S)
    assert wait_until(lambda: not any(map(running, loops)))
    busy.stdout.close()
