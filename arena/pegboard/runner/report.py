"""What people see: progress with live standings, notes, and the tables at the end.

At a terminal this is a progress bar above a table that changes; elsewhere it is plain lines, few and
far between. Notes and progress go to standard error, tables to standard output, so that `--json` and
pipes get the tables alone.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple, Protocol

import msgspec
from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table as RichTable
from rich.text import Text

from pegboard.arena.ratings import Standing, Table
from pegboard.arena.results import EventTable, Line, Results
from pegboard.runner.columns import LUXURY, Column, fitted
from pegboard.runner.terminal import json_text, say, shown, symbol

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


def live_view(snapshot: Snapshot, width: int, height: int) -> RenderableType:
    """Return the display of a run under way, for a terminal of this size."""
    bar = _bar(snapshot, width)
    if snapshot.table is None or not any(line.games for line in snapshot.table.standings):
        return bar
    return Group(bar, *_live_table(snapshot.table, snapshot.faults, width, height - _LIVE_FRAME))


_LIVE_FRAME = 7
"""Lines of the display besides the standings: bar, frame, what is left out, the cursor's."""


def _bar(snapshot: Snapshot, width: int) -> RenderableType:
    """Return the progress: a bar with the words beside it, or below where they do not fit."""
    total = max(snapshot.total, 1)
    words = f"{progress_words(snapshot)}, {snapshot.running} under way"
    beside = width - len(words) - 10
    grid = RichTable.grid(padding=(0, 2))
    own = min(40, beside if beside >= 10 else max(width - 8, 1))
    cells: list[RenderableType] = [
        ProgressBar(total=total, completed=snapshot.finished, width=own),
        Text(f"{snapshot.finished / total:.0%}", style="bold"),
    ]
    if beside >= 10:
        grid.add_row(*cells, Text(words))
        return grid
    grid.add_row(*cells)
    return Group(grid, Text(words))


def _live_table(
    table: Table, faults: dict[str, int], width: int, room: int
) -> Iterator[RenderableType]:
    """Yield the first lines of the standings, as many as there is room for."""
    lines = table.standings[: max(room, 1)]
    counts = [faults.get(line.bot, 0) for line in lines]
    columns = [
        *_names([line.rank for line in lines], [line.bot for line in lines]),
        _score(lines, rank=1),
        Column("Elo", _plain(f"{round(line.elo):+}" for line in lines)),
        Column("games", _plain(f"{line.games:,}" for line in lines), rank=3),
    ]
    if any(faults.values()):
        columns.append(
            Column("faults", [Text(str(count or ""), style="red") for count in counts], rank=2)
        )
    yield fitted(columns, width)
    if len(lines) < len(table.standings):
        yield Text(f"and {len(table.standings) - len(lines)} more", style="dim")


def print_results(results: Results, *, json: bool = False, console: Console | None = None) -> None:
    """Print all tables on standard output, or the results as JSON."""
    if json:
        text = msgspec.json.format(msgspec.json.encode(results), indent=2).decode()
        print(json_text(text))  # noqa: T201
        return
    if console is None:
        known = sys.stdout.isatty() or os.environ.get("COLUMNS", "").isdigit()
        width = None if known else PLAIN_WIDTH
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
        Text(shown(title), style="bold"),
        standings(*whole, console.width),
    ]
    for event in results.events if len(results.events) > 1 else ():
        lines = tuple(line for line in event.lines if line.games)
        parts.append(Text(shown(event_title(event)), style="bold"))
        parts.append(standings(lines, results.bots, event.cross, event.cross_games, console.width))
    parts += [
        Text.assemble((f"{shown(bot)}: ", "bold"), shown(detail), style="yellow")
        for bot, detail in results.last_faults.items()
    ]
    if results.unrated:
        parts.append(Text(f"{results.unrated} matches had no result and are not rated"))
    parts.append(Text(_footnote(parts), style="dim"))
    return parts


def _footnote(parts: Iterable[RenderableType]) -> str:
    """Return what the columns mean, those of a crosstable only where one was wide enough to print."""
    tables = [part for part in parts if isinstance(part, RichTable)]
    words = "score and Elo with 95 % intervals over duplicate blocks"
    if any(column.header == "v 1" for table in tables for column in table.columns):
        words += "; a cell is the score against that bot"
    return words


def event_title(event: EventTable) -> str:
    """Return an event in a line."""
    seats = "1 seat" if event.seats == 1 else f"{event.seats} seats"
    return f"{event.name}: {seats}, {event.matches:,} matches"


def standings(
    lines: tuple[Line, ...],
    bots: tuple[str, ...],
    cross: tuple[tuple[float, ...], ...],
    games: tuple[tuple[float, ...], ...],
    width: int,
) -> RichTable:
    """Return the table of standings with its crosstable, or as many columns as fit.

    What is left out is in `results.json`.
    """
    columns = [
        *_names([line.rank for line in lines], [line.bot for line in lines]),
        Column("Elo", _plain(f"{round(line.elo):+}" for line in lines)),
        Column("95 %", _plain(map(interval, lines)), rank=3),
        _score(lines, rank=2),
        Column("points", _plain(f"{line.points:,.1f}" for line in lines), rank=6),
        Column("games", _plain(f"{line.games:,}" for line in lines), rank=5),
    ]
    if 1 < len(lines) <= CROSSTABLE_BOTS:
        order = [bots.index(line.bot) for line in lines]
        columns += [
            Column(
                f"v {line.rank}",
                _plain(cell(cross[own][other], games[own][other]) for own in order),
                rank=LUXURY,
            )
            for other, line in zip(order, lines, strict=True)
        ]
    if any(line.faults for line in lines):
        cells = [Text(shown(fault_words(line.faults)), style="red") for line in lines]
        columns.append(Column("faults", cells, rank=4, kind="lists"))
    return fitted(columns, width)


def _names(ranks: Sequence[int], bots: Sequence[str]) -> tuple[Column, Column]:
    names = [
        Text(shown(bot), style="bold" if rank == 1 else "")
        for rank, bot in zip(ranks, bots, strict=True)
    ]
    return Column("#", _plain(map(str, ranks))), Column("bot", names, kind="names")


def _score(lines: Sequence[Line] | Sequence[Standing], rank: int) -> Column:
    """The score with its error bar, where there is width for both."""
    alone = Column("score", _plain(f"{line.score:.1%}" for line in lines))
    cells = _plain(with_error(line.score, line.error) for line in lines)
    return Column("score", cells, rank=rank, instead=alone)


def _plain(cells: Iterable[str]) -> list[Text]:
    return [Text(text) for text in cells]


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
