"""What people see: progress with live standings, notes, and the tables at the end.

At a terminal this is a progress bar above a table that changes; elsewhere it is plain lines, few and
far between. Notes and progress go to standard error, tables to standard output, so that `--json` and
pipes get the tables alone.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import NamedTuple, Protocol

import msgspec
from rich import box
from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.measure import Measurement
from rich.progress_bar import ProgressBar
from rich.table import Table as RichTable
from rich.text import Text

from pegboard.arena.ratings import Table
from pegboard.arena.results import EventTable, Line, Results
from pegboard.arena.terminal import json_text, say, symbol
from pegboard.rules.printable import printable

PLAIN_EVERY_S = 10.0
CROSSTABLE_BOTS = 12
"""With more bots than this the crosstable is left to `results.json`."""
PLAIN_WIDTH = 120


class Plan(NamedTuple):
    """What is going to be played. `finished` was played by earlier sessions."""

    name: str
    folder: Path
    bots: tuple[str, ...]
    events: tuple[str, ...]
    total: int
    finished: int


class Snapshot(NamedTuple):
    """Where a run stands. `session`: finished since this session began; `faults` by bot."""

    finished: int
    total: int
    running: int
    session: int
    elapsed_s: float
    table: Table | None
    faults: dict[str, int]

    @property
    def rate(self) -> float:
        """Matches a second in this session."""
        return self.session / self.elapsed_s if self.elapsed_s > 0 else 0.0


class Reporter(Protocol):
    """Is told what happens. `stopped` comes once, after the last `progress`."""

    def started(self, plan: Plan) -> None:
        """The run begins, or goes on."""
        ...

    def progress(self, snapshot: Snapshot) -> None:
        """Some time has passed."""
        ...

    def note(self, sentence: str) -> None:
        """Something happened that the organiser should know."""
        ...

    def stopped(self) -> None:
        """No more progress will come."""
        ...

    def finished(self, results: Results) -> None:
        """Everything has been played."""
        ...

    def interrupted(self, results: Results, folder: Path) -> None:
        """The run was stopped before its end."""
        ...


def make_reporter(*, json: bool = False) -> Reporter:
    """Return what suits the place: a live display at a terminal, plain lines elsewhere."""
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
        """Say where it stands, now and then."""
        if snapshot.elapsed_s >= self._next:
            self._next = snapshot.elapsed_s + PLAIN_EVERY_S
            if snapshot.session:
                self.note(f"{progress_words(snapshot)}{leaders(snapshot)}")

    def note(self, sentence: str) -> None:
        """Print a line."""
        say(printable(sentence))

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
        self._console.print(Text(printable(headline(plan)), style="bold"))
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
            self._live.update(live_view(snapshot))

    def note(self, sentence: str) -> None:
        """Print a line above the display."""
        stamp = time.strftime("%H:%M:%S")
        self._console.print(Text.assemble((f"{stamp} ", "dim"), (printable(sentence), "yellow")))

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
        self._console.print(Text(printable(continuation(results, folder)), style="bold"))


# Sentences


def headline(plan: Plan) -> str:
    """Return what is played, in a line."""
    events = ", ".join(plan.events) if len(plan.events) <= 4 else f"{len(plan.events)} events"
    start = f"{plan.name}: {len(plan.bots)} bots, {events}, {plan.total:,} matches"
    if plan.finished:
        start += f", {plan.finished:,} of them played before"
    return f"{start}; results in {plan.folder}"


def continuation(results: Results, folder: Path) -> str:
    """Return how a stopped run goes on."""
    return (
        f"stopped after {results.finished:,} of {results.total:,} matches; "
        f"the same command continues it from {folder}"
    )


def progress_words(snapshot: Snapshot) -> str:
    """Return numbers of progress, e.g. `120 of 400 matches, 52/s, 5 s left`."""
    words = f"{snapshot.finished:,} of {snapshot.total:,} matches"
    if snapshot.session and snapshot.rate > 0:
        left = (snapshot.total - snapshot.finished) / snapshot.rate
        words += f", {snapshot.rate:,.0f}/s, {duration(left)} left"
    return words


def leaders(snapshot: Snapshot) -> str:
    """Return the first three of the standings, in a few words."""
    if snapshot.table is None:
        return ""
    best = [line for line in snapshot.table.standings if line.games][:3]
    return "".join(f"; {line.rank}. {line.bot} {line.score:.1%}" for line in best)


def duration(seconds: float) -> str:
    """Return a time for people: `12 s`, `3 min`, `2 h 05 min`."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 90 else f"{minutes // 60} h {minutes % 60:02} min"


# Tables


def live_view(snapshot: Snapshot) -> RenderableType:
    """Return the display of a run under way."""
    bar = RichTable.grid(padding=(0, 2))
    bar.add_row(
        ProgressBar(total=max(snapshot.total, 1), completed=snapshot.finished, width=40),
        Text(f"{snapshot.finished / max(snapshot.total, 1):.0%}", style="bold"),
        Text(f"{progress_words(snapshot)}, {snapshot.running} under way"),
    )
    if snapshot.table is None or not any(line.games for line in snapshot.table.standings):
        return bar
    table = _frame()
    for name, side in (("#", "right"), ("bot", "left"), ("score", "right"), ("Elo", "right")):
        table.add_column(name, justify=side)  # type: ignore[arg-type]
    table.add_column("games", justify="right")
    faulty = any(snapshot.faults.values())
    if faulty:
        table.add_column("faults", justify="right")
    for line in snapshot.table.standings:
        faults = snapshot.faults.get(line.bot, 0)
        table.add_row(
            str(line.rank),
            Text(printable(line.bot), style="bold" if line.rank == 1 else ""),
            with_error(line.score, line.error),
            f"{round(line.elo):+}",
            f"{line.games:,}",
            *([Text(str(faults or ""), style="red")] if faulty else []),
        )
    return Group(bar, table)


def print_results(results: Results, *, json: bool = False, console: Console | None = None) -> None:
    """Print all tables on standard output, or the results as JSON."""
    if json:
        text = msgspec.json.format(msgspec.json.encode(results), indent=2).decode()
        print(json_text(text))  # noqa: T201
        return
    if console is None:
        width = None if sys.stdout.isatty() else PLAIN_WIDTH
        console = Console(width=width, highlight=False)
    console.print()
    for part in results_view(results, console):
        console.print(part, soft_wrap=isinstance(part, Text))


def results_view(results: Results, console: Console) -> list[RenderableType]:
    """Return the tables of a run: the whole, then its events where there are several."""
    whole = (results.lines, results.bots, results.cross, results.cross_games)
    title = f"{results.name}: {results.finished:,} matches"
    if not results.complete:
        title += f" of {results.total:,}"
    parts: list[RenderableType] = [
        Text(printable(title), style="bold"),
        _fitting(console, *whole),
    ]
    for event in results.events if len(results.events) > 1 else ():
        lines = tuple(line for line in event.lines if line.games)
        parts.append(Text(printable(event_title(event)), style="bold"))
        parts.append(_fitting(console, lines, results.bots, event.cross, event.cross_games))
    parts += [
        Text.assemble((f"{printable(bot)}: ", "bold"), printable(detail), style="yellow")
        for bot, detail in results.last_faults.items()
    ]
    if results.unrated:
        parts.append(Text(f"{results.unrated} matches had no result and are not rated"))
    parts.append(Text(_FOOTNOTE, style="dim"))
    return parts


_FOOTNOTE = (
    "score and Elo with 95 % intervals over duplicate blocks; a cell is the score against that bot"
)


def event_title(event: EventTable) -> str:
    """Return an event in a line."""
    seats = "1 seat" if event.seats == 1 else f"{event.seats} seats"
    return f"{event.name}: {seats}, {event.matches:,} matches"


def _fitting(
    console: Console,
    lines: tuple[Line, ...],
    bots: tuple[str, ...],
    cross: tuple[tuple[float, ...], ...],
    games: tuple[tuple[float, ...], ...],
) -> RichTable:
    """The table with its crosstable, or without where that is too wide."""
    if 1 < len(lines) <= CROSSTABLE_BOTS:
        table = standings(lines, bots, cross, games)
        # Measured without the bound of the console, which would hide that it is too wide.
        unbounded = console.options.update(max_width=1_000)
        if Measurement.get(console, unbounded, table).maximum <= console.width:
            return table
    return standings(lines, bots, (), ())


def standings(
    lines: tuple[Line, ...],
    bots: tuple[str, ...],
    cross: tuple[tuple[float, ...], ...],
    games: tuple[tuple[float, ...], ...],
) -> RichTable:
    """Return a table of standings, with the crosstable beside it where one is given."""
    table = _frame()
    table.add_column("#", justify="right")
    table.add_column("bot", no_wrap=True)
    for name in ("Elo", "95 %", "score", "points", "games"):
        table.add_column(name, justify="right", no_wrap=True)
    for line in lines if cross else ():
        table.add_column(f"v {line.rank}", justify="right", no_wrap=True)
    faulty = any(line.faults for line in lines)
    if faulty:
        table.add_column("faults")
    order = [bots.index(line.bot) for line in lines]
    for own, line in zip(order, lines, strict=True):
        cells = [cell(cross[own][other], games[own][other]) for other in order] if cross else []
        table.add_row(
            str(line.rank),
            Text(printable(line.bot), style="bold" if line.rank == 1 else ""),
            f"{round(line.elo):+}",
            interval(line),
            with_error(line.score, line.error),
            f"{line.points:,.1f}",
            f"{line.games:,}",
            *cells,
            *([Text(printable(fault_words(line.faults)), style="red")] if faulty else []),
        )
    return table


def interval(line: Line) -> str:
    """Return the Elo interval, where there is one."""
    if line.elo_low is None or line.elo_high is None:
        return ""
    return f"{round(line.elo_low):+} to {round(line.elo_high):+}"


def with_error(score: float, error: float | None) -> str:
    """Return a score in per cent with its error bar."""
    return f"{score:.1%}" if error is None else f"{score:.1%} {symbol('±')} {error:.1%}"


def cell(taken: float, games: float) -> str:
    """Return a cell of the crosstable: the score in per cent."""
    return f"{taken / games:.0%}" if games else symbol("·")


def fault_words(faults: dict[str, int]) -> str:
    """Return faults by kind, e.g. `3 timeout, 1 crash`."""
    kinds = sorted(faults.items(), key=lambda item: (-item[1], item[0]))
    return ", ".join(f"{count:,} {kind.lower().replace('_', ' ')}" for kind, count in kinds)


def _frame() -> RichTable:
    return RichTable(box=box.SIMPLE_HEAD, header_style="dim", pad_edge=False)
