"""The tables of a run, for a terminal or a pipe: standings with a crosstable, live standings."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import msgspec
from rich.console import Console, Group, RenderableType
from rich.progress_bar import ProgressBar
from rich.table import Table as RichTable
from rich.text import Text

from pegboard.arena.ratings import RatingTable, TableLine
from pegboard.arena.results import EventTable, Results
from pegboard.runner.columns import LUXURY, Column, fitted
from pegboard.runner.progress import Snapshot, progress_words
from pegboard.runner.terminal import json_text, shown, symbol, table_width

CROSSTABLE_BOTS = 12
"""With more bots than this the crosstable is left to `results.json`."""


def live_view(snapshot: Snapshot, width: int, height: int) -> RenderableType:
    """Return the display of a run under way, for a terminal of this size."""
    bar = _bar(snapshot, width)
    if snapshot.table is None or not any(line.games for line in snapshot.table.lines):
        return bar
    return Group(bar, *_live_table(snapshot.table, width, height - _LIVE_FRAME))


_LIVE_FRAME = 7
"""Lines of the display besides the standings: bar, frame, what is left out, the cursor's."""


def _bar(snapshot: Snapshot, width: int) -> RenderableType:
    """Return the progress: a bar with the words beside it, or below if they do not fit."""
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


def _live_table(table: RatingTable, width: int, room: int) -> Iterator[RenderableType]:
    """Yield the first lines of the standings, as many as there is room for."""
    lines = table.lines[: max(room, 1)]
    counts = [sum(line.faults.values()) for line in lines]
    columns = [
        *_names([line.rank for line in lines], [line.bot for line in lines]),
        _score(lines, rank=1),
        Column("Elo", _plain(f"{round(line.elo):+}" for line in lines)),
        Column("games", _plain(f"{line.games:,}" for line in lines), rank=3),
    ]
    if any(line.faults for line in table.lines):
        columns.append(
            Column("faults", [Text(str(count or ""), style="red") for count in counts], rank=2)
        )
    yield fitted(columns, width)
    if len(lines) < len(table.lines):
        yield Text(f"and {len(table.lines) - len(lines)} more", style="dim")


def print_results(results: Results, *, json: bool = False, console: Console | None = None) -> None:
    """Print all tables on standard output, or the results as JSON."""
    if json:
        text = msgspec.json.format(msgspec.json.encode(results), indent=2).decode()
        print(json_text(text))  # noqa: T201
        return
    if console is None:
        console = Console(width=table_width(), highlight=False)
    console.print()
    for part in results_view(results, console):
        console.print(part, soft_wrap=isinstance(part, Text))


def results_view(results: Results, console: Console) -> list[RenderableType]:
    """Return the tables of a run: the whole, then its events if there are several."""
    whole = (results.lines, results.bots, results.cross, results.cross_games)
    title = f"{results.name}: {results.finished:,} matches"
    if not results.complete:
        title += f" of {results.total:,}"
    parts: list[RenderableType] = [
        Text(shown(title), style="bold"),
        standings_table(*whole, console.width),
    ]
    for event in results.events if len(results.events) > 1 else ():
        lines = tuple(line for line in event.lines if line.games)
        parts.append(Text(shown(event_title(event)), style="bold"))
        parts.append(
            standings_table(lines, results.bots, event.cross, event.cross_games, console.width)
        )
    parts += [
        Text.assemble((f"{shown(bot)}: ", "bold"), shown(detail), style="yellow")
        for bot, detail in results.last_faults.items()
    ]
    if results.unrated:
        parts.append(Text(f"{results.unrated} matches had no result and are not rated"))
    parts.append(Text(_footnote(parts), style="dim"))
    return parts


def _footnote(parts: Iterable[RenderableType]) -> str:
    """Return what the columns mean, those of a crosstable only if one is printed."""
    tables = [part for part in parts if isinstance(part, RichTable)]
    words = "score and Elo with 95 % intervals over duplicate blocks"
    if any(column.header == "v 1" for table in tables for column in table.columns):
        words += "; a cell is the score against that bot"
    return words


def event_title(event: EventTable) -> str:
    """Return an event in a line."""
    seats = "1 seat" if event.seats == 1 else f"{event.seats} seats"
    return f"{event.name}: {seats}, {event.matches:,} matches"


def standings_table(
    lines: tuple[TableLine, ...],
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


def _score(lines: Sequence[TableLine], rank: int) -> Column:
    """Return the score with its error bar, or alone if the width is short."""
    alone = Column("score", _plain(f"{line.score:.1%}" for line in lines))
    cells = _plain(with_error(line.score, line.error) for line in lines)
    return Column("score", cells, rank=rank, instead=alone)


def _plain(cells: Iterable[str]) -> list[Text]:
    return [Text(text) for text in cells]


def interval(line: TableLine) -> str:
    """Return the Elo interval, "" if there is none."""
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
