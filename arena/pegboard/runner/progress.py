"""What a run reports while it plays: its plan, its progress, and sentences about both.

A tournament prints nothing. It is handed a `Reporter` and calls that.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple, Protocol

from pegboard.arena.ratings import RatingTable
from pegboard.arena.results import Results


class Plan(NamedTuple):
    """What is going to be played. `finished` was played by earlier sessions."""

    name: str
    folder: Path
    bots: tuple[str, ...]
    events: tuple[str, ...]
    total: int
    finished: int


class Snapshot(NamedTuple):
    """The progress of a run. `session`: finished since this session began."""

    finished: int
    total: int
    running: int
    session: int
    elapsed_s: float
    table: RatingTable | None

    @property
    def rate(self) -> float:
        """Matches a second in this session."""
        return self.session / self.elapsed_s if self.elapsed_s > 0 else 0.0


class Reporter(Protocol):
    """What a tournament calls to report. `stopped` comes once, after the last `progress`."""

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
    best = [line for line in snapshot.table.lines if line.games][:3]
    return "".join(f"; {line.rank}. {line.bot} {line.score:.1%}" for line in best)


def duration(seconds: float) -> str:
    """Return a time for people: `12 s`, `3 min`, `2 h 05 min`."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 90 else f"{minutes // 60} h {minutes % 60:02} min"
