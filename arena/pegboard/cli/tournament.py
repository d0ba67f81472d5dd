"""`pegboard tournament`: plays one, or shows one."""

from __future__ import annotations

import asyncio
from pathlib import Path

from pegboard.cli.interrupts import EXIT_INTERRUPTED, Interrupts
from pegboard.runner.progress import Reporter
from pegboard.runner.reporters import make_reporter
from pegboard.runner.run_folder import RunFolder, read_results
from pegboard.runner.tables import print_results
from pegboard.runner.tournament import SessionEnding, Tournament
from pegboard.runner.tournament_file import load

EXIT_STATUS = {
    SessionEnding.PLAYED: 0,
    SessionEnding.ABSENT: 1,
    SessionEnding.MOTIONLESS: 1,
    SessionEnding.STOPPED: EXIT_INTERRUPTED,
}


def default_folder(file: Path) -> Path:
    """Return the folder of the results without `--out`: `runs/NAME OF THE FILE`, links followed."""
    return Path("runs") / file.resolve().stem


def run(file: Path, out: Path | None, as_json: bool, fresh: bool = False) -> int:
    """Play or continue a tournament; return the exit status.

    With `fresh` the files of an earlier run in the folder are set aside, and every match is new.
    """
    plan = load(file)
    reporter = make_reporter(json=as_json)
    path = out or default_folder(file)
    with RunFolder(path, plan.raw, plan.text, fresh=fresh) as folder:
        if folder.set_aside is not None:
            reporter.note(f"what an earlier run left here is now in {folder.set_aside}")
        return play(Tournament(plan.config, folder, reporter, home=plan.folder), reporter)


def play(tournament: Tournament, reporter: Reporter) -> int:
    """Play until the end or the first Ctrl-C; return the exit status."""

    def interrupted() -> None:
        reporter.note("stopping; once more kills at once")
        tournament.stop()

    # Not uvloop: it starts processes by fork, for which gRPC has handlers; asyncio uses vfork.
    with Interrupts(interrupted), asyncio.Runner() as runner:
        return EXIT_STATUS[runner.run(tournament.play())]


def show(folder: Path, as_json: bool) -> None:
    """Print the tables of a run's folder."""
    print_results(read_results(folder), json=as_json)
