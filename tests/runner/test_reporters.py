"""What people see: tables that fit, numbers that mean something, JSON that can be read."""

from __future__ import annotations

import io
import json
from pathlib import Path

import msgspec
import pytest
from rich.console import Console
from rich.text import Text

from pegboard.arena.config import BotEntry, Config, Contest
from pegboard.arena.results import EndedMatch, Results
from pegboard.arena.schedule import Schedule
from pegboard.arena.scoreboard import Scoreboard
from pegboard.rules.results import Result, Termination
from pegboard.runner import progress, reporters, tables
from pegboard.runner.columns import Column, fitted
from pegboard.runner.progress import Plan, Snapshot

CONFIG = Config(
    name="cup",
    bots=(BotEntry("anna"), BotEntry("bert"), BotEntry("carl")),
    events=(
        Contest(variant="cribbage", seats=2, blocks=4, name="two"),
        Contest(variant="cribbage-3p", seats=3, blocks=2, name="three"),
    ),
)


def board(
    *, faults: bool = False, names: tuple[str, ...] = ("anna", "bert", "carl"), events: int = 2
) -> Scoreboard:
    """Return a finished tournament in which the first name in the alphabet mostly wins."""
    config = msgspec.structs.replace(
        CONFIG, bots=tuple(map(BotEntry, names)), events=CONFIG.events[:events]
    )
    made = Scoreboard(Schedule(config, bytes(32)))
    for fixture in made.schedule:
        order = sorted(fixture.bots, reverse=fixture.block == 1)
        points = tuple(1 - order.index(bot) / (len(order) - 1) for bot in fixture.bots)
        late = faults and points[-1] == 0
        made.add(
            EndedMatch(
                fixture.id,
                fixture.bots,
                Result(
                    Termination.TIMEOUT if late else Termination.NORMAL,
                    len(points) - 1 if late else None,
                    points,
                    (121,) * len(points),
                    (),
                    f"{fixture.bots[-1]} did not answer within 10 s" if late else "",
                ),
            )
        )
    return made


def printed(results: Results, width: int) -> list[str]:
    """Return the lines of the tables at a width."""
    console = Console(file=io.StringIO(), width=width, highlight=False)
    tables.print_results(results, console=console)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue().splitlines()


def test_the_table_reads_as_a_table() -> None:
    """Rank, bot, rating with interval, score with error, points, games, crosstable."""
    text = printed(board().results("cup", "d"), 120)
    assert "cup: 36 matches" in text
    head = next(line for line in text if " bot " in line).split()
    assert head == [
        "#",
        "bot",
        "Elo",
        "95",
        "%",
        "score",
        "points",
        "games",
        "v",
        "1",
        "v",
        "2",
        "v",
        "3",
    ]
    first = next(line for line in text if " anna " in line)
    assert "64.3% ± " in first
    assert first.split()[-3:] == ["·", "64%", "64%"]
    assert "two: 2 seats, 24 matches" in text
    assert "three: 3 seats, 12 matches" in text


def test_cells_are_explained_if_there_are_any() -> None:
    """The last line says what a cell of the crosstable is, if it was wide enough for one."""
    results = board().results("cup", "d")
    assert printed(results, 120)[-1].endswith("; a cell is the score against that bot")
    assert printed(results, 60)[-1].endswith(" over duplicate blocks")


LONG = ("a-rather-long-name-of-a-bot-version-1", "a-rather-long-name-of-a-bot-version-2", "carl")


@pytest.mark.parametrize("faults", [False, True])
@pytest.mark.parametrize("names", [("anna", "bert", "carl"), LONG])
@pytest.mark.parametrize("width", [24, 30, 40, 50, 60, 70, 80, 100, 120, 160])
def test_tables_fit_the_terminal(width: int, names: tuple[str, ...], faults: bool) -> None:
    """A column is there as a whole or not at all: nothing but a name is ever cut."""
    made = board(faults=faults, names=names)
    results = made.results("cup", "d")
    rendered = [*results_lines(results, width), *live_lines(made, width)]
    assert all(len(line.rstrip()) <= width for line in rendered)
    short = {printed.split()[1] for printed in rendered if "…" in printed}
    assert len({name[-2:] for name in short}) == (2 if short else 0), "ends tell names apart"
    figures = " ".join(rendered)
    for name in short:
        figures = figures.replace(name, "")
    assert "…" not in figures
    for line in results.lines:
        assert f"{round(line.elo):+}" in figures


def results_lines(results: Results, width: int) -> list[str]:
    """Return the lines of the tables alone."""
    text = printed(results, width)
    free = ("score and", "cup: ", "two: ", "three: ", *(f"{bot}:" for bot in results.bots))
    return [line for line in text if not line.startswith(free)]


def live_lines(made: Scoreboard, width: int) -> list[str]:
    """Return the lines of the standings in the live display, without the bar."""
    console = Console(file=io.StringIO(), width=width, highlight=False)
    console.print(tables.live_view(snapshot(36, 9.0, made), width, 30))
    assert isinstance(console.file, io.StringIO)
    lines = console.file.getvalue().splitlines()
    return lines[next(i for i, line in enumerate(lines) if " bot " in line) :]


def titles(width: int) -> list[str]:
    """Return the columns of the table at a width."""
    text = printed(board(faults=True).results("cup", "d"), width)
    return next(line for line in text if " bot " in line).replace("95 %", "95%").split()


def test_columns_go_by_their_worth() -> None:
    """The crosstable first, then points, games, faults, the interval, the error of the score."""
    least = ["#", "bot", "Elo", "score"]
    interval = ["#", "bot", "Elo", "95%", "score"]
    assert titles(30) == least
    assert titles(40) == least
    assert titles(46) == interval
    assert titles(56) == [*interval, "faults"]
    assert titles(64) == [*interval, "games", "faults"]
    assert titles(78) == [*interval, "points", "games", "faults"]
    full = ["points", "games", "v", "1", "v", "2", "v", "3", "faults"]
    assert titles(100) == [*interval, *full]


def test_a_narrow_list_has_a_line_for_each_item() -> None:
    """A count is not parted from its kind."""
    cells = [Text("3 illegal move, 12 timeout"), Text("")]
    table = fitted([Column("faults", cells, kind="lists")], 18)
    console = Console(file=io.StringIO(), width=18)
    console.print(table)
    assert isinstance(console.file, io.StringIO)
    lines = [line.strip() for line in console.file.getvalue().splitlines()]
    assert "3 illegal move," in lines
    assert "12 timeout" in lines


def test_many_bots_have_their_lines_and_no_crosstable() -> None:
    """All of them in the tables; as many as the screen holds while it plays."""
    names = tuple(f"bot-{i:02}" for i in range(40))
    made = board(names=names, events=1)
    text = printed(made.results("cup", "d"), 120)
    assert sum("bot-" in line for line in text) == 40
    assert not any("v 1" in line for line in text)
    console = Console(file=io.StringIO(), width=80, height=20)
    console.print(tables.live_view(snapshot(1, 1.0, made), 80, 20))
    assert isinstance(console.file, io.StringIO)
    lines = console.file.getvalue().splitlines()
    assert len(lines) < 20
    assert any("and 27 more" in line for line in lines)


def test_faults_are_counted_and_the_last_reason_given() -> None:
    """By kind; a table without faults has no such column."""
    text = "\n".join(printed(board(faults=True).results("cup", "d"), 120))
    assert "timeout" in text
    assert "carl: carl did not answer within 10 s" in text
    assert "faults" not in "\n".join(printed(board().results("cup", "d"), 120))


def test_json_is_the_results(capsys: pytest.CaptureFixture[str]) -> None:
    """Standard output has the JSON and nothing else."""
    results = board().results("cup", "d")
    reporter = reporters.make_reporter(json=True)
    reporter.started(Plan("cup", Path("out"), ("a", "b"), ("two",), 36, 0))
    reporter.finished(results)
    captured = capsys.readouterr()
    assert msgspec.json.decode(captured.out.encode(), type=Results) == results
    assert json.loads(captured.out)["lines"][0]["bot"] == "anna"
    assert captured.err == "cup: 2 bots, two, 36 matches; results in out\n"


def snapshot(finished: int, elapsed_s: float, made: Scoreboard) -> Snapshot:
    """Return a moment of a run."""
    return Snapshot(finished, 36, 4, finished, elapsed_s, made.live())


def test_away_from_a_terminal_progress_is_a_line_now_and_then(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Ten seconds apart, with the leaders."""
    reporter = reporters.PlainReporter()
    for second in range(25):
        reporter.progress(snapshot(second, float(second), board()))
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 2
    assert lines[0].startswith("10 of 36 matches, 1/s, 26 s left; 1. anna 64.3%; 2. bert ")


def test_at_a_terminal_standings_change_in_place() -> None:
    """A bar, numbers, the table of whole blocks, and notes above."""
    console = Console(file=io.StringIO(), force_terminal=True, width=100, height=30)
    reporter = reporters.LiveReporter(console)
    reporter.started(Plan("cup", Path("out"), ("a", "b"), ("two",), 36, 5))
    reporter.progress(snapshot(18, 9.0, board(faults=True)))
    reporter.note("bert exited with status 1")
    reporter.stopped()
    assert isinstance(console.file, io.StringIO)
    text = console.file.getvalue()
    for part in ("5 of them played before", "bert exited with status 1", "50%", "anna", "faults"):
        assert part in text, part


def test_before_the_first_block_there_is_only_the_bar() -> None:
    """No table of zeros."""
    console = Console(file=io.StringIO(), width=100)
    console.print(
        tables.live_view(snapshot(0, 0.1, Scoreboard(Schedule(CONFIG, bytes(32)))), 100, 30)
    )
    assert isinstance(console.file, io.StringIO)
    assert "anna" not in console.file.getvalue()
    assert "0 of 36 matches" in console.file.getvalue()


@pytest.mark.parametrize(
    ("seconds", "words"), [(0.4, "0 s"), (89, "89 s"), (300, "5 min"), (7500, "2 h 05 min")]
)
def test_durations_are_for_people(seconds: float, words: str) -> None:
    """Seconds, minutes, hours."""
    assert progress.duration(seconds) == words


def test_a_stopped_run_says_how_to_go_on(capsys: pytest.CaptureFixture[str]) -> None:
    """With or without a table."""
    empty = Scoreboard(Schedule(CONFIG, bytes(32))).results("cup", "d")
    reporters.PlainReporter().interrupted(empty, Path("out"))
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err == (
        "stopped after 0 of 36 matches; the same command continues it from out\n"
    )
