"""`pegboard bench`: runs the programs of `bench/`, which are part of the source tree only."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from pegboard.errors import InvalidRequest

FOLDER = Path(__file__).resolve().parents[3] / "bench"


def run_benchmarks(name: str | None, quick: bool) -> int:
    """Run one benchmark, or all in order; return the first exit status that is not 0.

    Raises `InvalidRequest` for an unknown name, and if there is no source tree.
    """
    programs = {path.stem: path for path in sorted(FOLDER.glob("[a-z]*.py"))}
    if not programs:
        raise InvalidRequest("the benchmarks are in the source tree; run this in a clone of it")
    if name is not None and name not in programs:
        raise InvalidRequest(f"no benchmark {name!r}; there are {', '.join(programs)}")
    chosen = [programs[name]] if name else list(programs.values())
    for path in chosen:
        arguments = [sys.executable, str(path), *(["--quick"] if quick else [])]
        status = subprocess.run(arguments, check=False).returncode
        if status != 0:
            return status
    return 0
