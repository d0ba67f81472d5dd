"""Reporters for people and pipes: a live display at a terminal, plain lines or JSON elsewhere.

Notes and progress go to standard error, tables to standard output, so that `--json` and pipes get the
tables alone.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

from rich.console import Console
from rich.live import Live
from rich.text import Text

from pegboard.arena.results import Results
from pegboard.runner.progress import (
    Plan,
    Reporter,
    Snapshot,
    continuation,
    headline,
    leaders,
    progress_words,
)
from pegboard.runner.tables import live_view, print_results
from pegboard.runner.terminal import say, shown

PLAIN_EVERY_S = 10.0


def make_reporter(*, json: bool = False) -> Reporter:
    """Return a live display if standard error is a terminal, else plain lines; or JSON."""
    if json:
        return JsonReporter()
    if sys.stderr is not None and sys.stderr.isatty():
        return LiveReporter()
    return PlainReporter()


class PlainReporter:
    """Plain lines on standard error; tables on standard output."""

    def __init__(self) -> None:
        self._next = 0.0

    def started(self, plan: Plan) -> None:
        """Say what is played and where it goes."""
        self.note(headline(plan))

    def progress(self, snapshot: Snapshot) -> None:
        """Print the progress, every `PLAIN_EVERY_S`."""
        if snapshot.elapsed_s >= self._next:
            self._next = snapshot.elapsed_s + PLAIN_EVERY_S
            if snapshot.session:
                self.note(f"{progress_words(snapshot)}{leaders(snapshot)}")

    def note(self, sentence: str) -> None:
        """Print a line."""
        say(shown(sentence))

    def stopped(self) -> None:
        """Do nothing."""

    def finished(self, results: Results) -> None:
        """Print the tables."""
        print_results(results)

    def interrupted(self, results: Results, folder: Path) -> None:
        """Print how to go on."""
        if results.finished:
            print_results(results)
        self.note(continuation(results, folder))


class JsonReporter(PlainReporter):
    """Notes on standard error, the tables as JSON on standard output."""

    def finished(self, results: Results) -> None:
        """Print the results as JSON."""
        print_results(results, json=True)

    def interrupted(self, results: Results, folder: Path) -> None:
        """Print the results as JSON and how to go on."""
        print_results(results, json=True)
        self.note(continuation(results, folder))


class LiveReporter:
    """A bar and standings that change in place."""

    def __init__(self, console: Console | None = None) -> None:
        """Take the terminal, standard error if not given."""
        self._console = console or Console(stderr=True, highlight=False)
        self._live: Live | None = None

    def started(self, plan: Plan) -> None:
        """Print the headline and open the display."""
        self._console.print(Text(shown(headline(plan)), style="bold"))
        self._live = Live(
            Text("starting server and bots", style="dim"),
            console=self._console,
            refresh_per_second=4,
            transient=True,
        )
        self._live.start()

    def progress(self, snapshot: Snapshot) -> None:
        """Draw it anew."""
        if self._live is not None:
            size = self._console.size
            self._live.update(live_view(snapshot, size.width, size.height))

    def note(self, sentence: str) -> None:
        """Print a line above the display."""
        stamp = time.strftime("%H:%M:%S")
        self._console.print(Text.assemble((f"{stamp} ", "dim"), (shown(sentence), "yellow")))

    def stopped(self) -> None:
        """Close the display."""
        if self._live is not None:
            self._live.stop()
            self._live = None

    def finished(self, results: Results) -> None:
        """Print the tables."""
        print_results(results)

    def interrupted(self, results: Results, folder: Path) -> None:
        """Print the tables as they are and how to go on."""
        if results.finished:
            print_results(results)
        self._console.print(Text(shown(continuation(results, folder)), style="bold"))
