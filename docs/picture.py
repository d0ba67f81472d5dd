"""Draws docs/tournament.svg, the picture of the README, from the results of `make demo`."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from rich.console import Console
from rich.text import Text

ROOT = Path(__file__).resolve().parent.parent
WIDTH = 96
COLOURED = {"FORCE_COLOR": "1", "TTY_COMPATIBLE": "1", "TERM": "xterm-256color"}


def main() -> None:
    """Show the tournament as on a terminal, and save that."""
    command = [sys.executable, "-m", "pegboard.cli.main", "tournament", "show", "runs/quickstart"]
    env = {**os.environ, **COLOURED, "COLUMNS": str(WIDTH)}
    shown = subprocess.run(
        command, cwd=ROOT, env=env, capture_output=True, text=True, check=True
    ).stdout
    text = f"$ pegboard tournament run examples/quickstart.toml\n{shown.rstrip()}"
    with Path(os.devnull).open("w") as nowhere:
        console = Console(record=True, width=WIDTH + 2, force_terminal=True, file=nowhere)
        console.print(Text.from_ansi(text))
    console.save_svg(str(ROOT / "docs" / "tournament.svg"), title="pegboard")


if __name__ == "__main__":
    main()
