"""`pegboard tournament`: plays one, or shows one."""

from __future__ import annotations

from pathlib import Path

from pegboard.runner.tournament import run_tournament, show_tournament


def run(file: Path, out: Path | None, as_json: bool, fresh: bool = False) -> int:
    """Play or continue a tournament; return the exit status."""
    return run_tournament(file, out, json=as_json, fresh=fresh)


def show(folder: Path, as_json: bool) -> None:
    """Print the tables of a run's folder."""
    show_tournament(folder, json=as_json)
