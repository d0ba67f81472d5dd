"""Small tournaments of deterministic bots, and the runner as a process of its own."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from tests.patience import PATIENCE_S, wait_until

from pegboard.arena.results import EndedMatch, Results
from pegboard.runner.records_file import read_records
from pegboard.runner.run_folder import read_results

STEADY = Path(__file__).parent / "bots" / "steady.py"
RUNNER = (sys.executable, "-I", "-m", "pegboard.cli.main", "tournament", "run")


def bot(
    name: str,
    *,
    env: Mapping[str, str] | None = None,
    command: Sequence[str] = ("{python}", str(STEADY)),
    **more: int,
) -> str:
    """Return a [[bots]] entry; keys of its environment as given."""
    lines = [f'name = "{name}"', f"command = {list(command)!r}"]
    lines += [f"{key} = {value}" for key, value in more.items()]
    pairs = ", ".join(f'{key} = "{value}"' for key, value in (env or {}).items())
    return "\n".join(["[[bots]]", *lines, f"env = {{ {pairs} }}", ""])


def event(variant: str, **more: object) -> str:
    """Return an [[events]] entry."""
    lines = [f'variant = "{variant}"', *(f"{key} = {value}" for key, value in more.items())]
    return "\n".join(["[[events]]", *lines, ""])


ONE = bot("one")
TWO = bot("two", env={"STRENGTH": "2"})
THREE = bot("three", env={"STRENGTH": "4"}, processes=2)
CRIBBAGE = event("cribbage", options="{ target = 41 }")
TOP = "seed = 1\nblocks = 3\nconcurrency = 4"
"""With a seed, so that two runs play the same matches."""
DRAW = event("draw", options="{ target = 20 }")


def write(folder: Path, *parts: str, top: str = TOP) -> Path:
    """Write a tournament file and return its path."""
    path = folder / "cup.toml"
    path.write_text("\n".join(['name = "cup"', top, *parts]), encoding="utf-8")
    return path


def start(
    file: Path, out: Path, *more: str, env: dict[str, str] | None = None
) -> subprocess.Popen[str]:
    """Start the runner."""
    return subprocess.Popen(
        [*RUNNER, str(file), "--out", str(out), *more],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=file.parent,
        env=env,
    )


def finish(runner: subprocess.Popen[str], timeout_s: float = 250) -> tuple[int, str, str]:
    """Wait for the runner; return status, output and errors."""
    out, errors = runner.communicate(timeout=timeout_s)
    return runner.returncode, out, errors


def play(file: Path, out: Path, timeout_s: float = 250) -> tuple[Results, list[EndedMatch]]:
    """Play a tournament to its end and return what came out."""
    status, _, errors = finish(start(file, out), timeout_s)
    assert status == 0, errors
    return read_results(out), list(read_records(out / "records.jsonl"))


def count_records(out: Path) -> int:
    """Return how many matches have been written down."""
    path = out / "records.jsonl"
    return path.read_bytes().count(b"\n") if path.exists() else 0


def wait_for_records(runner: subprocess.Popen[str], out: Path, count: int) -> None:
    """Wait until so many matches have been written down, or the runner is done."""
    while count_records(out) < count and runner.poll() is None:
        time.sleep(0.01)


def processes_with(text: str) -> list[int]:
    """Return the processes whose command line holds a text."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            line = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue
        if text in line:
            found.append(int(entry.name))
    return found


def nothing_left(text: str, within_s: float = PATIENCE_S) -> bool:
    """Wait until no process has a text in its command line; return whether there is none."""
    return wait_until(lambda: not processes_with(text), within_s)
