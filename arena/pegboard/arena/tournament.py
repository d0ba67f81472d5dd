"""A tournament, from its file to its table.

`run_tournament` locks the folder, reads what an earlier session left there, and plays the rest:

    venue      the server, kept alive                    feed -> create matches
    entrants   the bots' processes, kept alive           watch -> records.jsonl, scoreboard, feed

It knows the server by its public API alone. What has finished is in `records.jsonl` before anything
else is done with it; the rest can be lost at any moment, and the same command goes on from there.
"""

from __future__ import annotations

import asyncio
import os
import secrets
import signal
import time
from collections.abc import Coroutine, Iterable, Sequence
from pathlib import Path
from typing import Any, TypeVar

from pegboard.arena.arbiter import Arbiter, ids_of
from pegboard.arena.config import Config, parse, read_text
from pegboard.arena.entrant import Entrant, entrants_of, environment
from pegboard.arena.feed import Entry, Feed
from pegboard.arena.folder import RunFolder, read_results
from pegboard.arena.launcher import Launcher
from pegboard.arena.ratings import Table
from pegboard.arena.records import finished_of
from pegboard.arena.report import Plan, Reporter, Snapshot, make_reporter, print_results
from pegboard.arena.results import UNRATED, Finished, Results, Scoreboard
from pegboard.arena.schedule import Schedule
from pegboard.arena.venue import LocalVenue, RemoteVenue, Venue
from pegboard.client import Organiser
from pegboard.v1 import match_pb2
from pegboard.wire.records import read_record

EXIT_DONE = 0
EXIT_INTERRUPTED = 130

CREATE_BATCH = 500
PROGRESS_S = 0.5
RESULTS_S = 15.0
BOT_GRACE_S = 1.0
CRASH_PAUSE_S = 0.3
HANGS = 16
"""A bot that lets this many matches in a row (or all it may hold at once) be lost by silence hangs."""

T = TypeVar("T")


def default_folder(config_path: Path) -> Path:
    """Return where results go if nobody says: `runs/NAME OF THE FILE`."""
    return Path("runs") / config_path.stem


def run_tournament(
    config_path: Path,
    out_dir: Path | None = None,
    *,
    reporter: Reporter | None = None,
    json: bool = False,
) -> int:
    """Play a tournament to its end, or continue a stopped one; return the exit status.

    Raises `ConfigError`, `FolderError` or `VenueError` with sentences for a person; `UnknownVariant`
    and the like where a remote server knows less than this program.
    """
    config, text = _read(config_path)
    path = out_dir or default_folder(config_path)
    shown = reporter or make_reporter(json=json)
    with RunFolder(path, text) as folder:
        tournament = Tournament(config, config_path.resolve().parent, folder, shown)
        # Not uvloop: it starts processes by fork, which gRPC takes note of; asyncio uses vfork.
        with asyncio.Runner() as runner:
            return runner.run(tournament.play())


def show_tournament(out_dir: Path, *, json: bool = False) -> None:
    """Print the tables of a run's folder. Raises `FolderError`."""
    print_results(read_results(out_dir), json=json)


def _read(path: Path) -> tuple[Config, str]:
    text = read_text(path)
    return parse(text, path), text


class Tournament:
    """One session of a run."""

    def __init__(self, config: Config, home: Path, folder: RunFolder, reporter: Reporter) -> None:
        """Take the folder of the tournament file, where commands are resolved, and the run's."""
        self._config = config
        self._home = home
        self._folder = folder
        self._reporter = reporter
        self._schedule = Schedule(config, folder.secret)
        self._board = Scoreboard(self._schedule)
        self._entrants = {
            name: Entrant(bot, name, config.restarts)
            for bot in config.bots
            for name in entrants_of(bot)
        }
        self._feed: Feed
        self._venue: Venue
        self._arbiter: Arbiter
        self._over = asyncio.Event()
        self._wake = asyncio.Event()
        self._caught_up = asyncio.Event()
        self._interrupts = 0
        self._errands: set[asyncio.Task[None]] = set()
        self._trouble: list[BaseException] = []

    async def play(self) -> int:
        """Play what is left; return the exit status."""
        for ended in self._folder.read_records():
            self._board.add(ended)
        self._listen_for_signals()
        begun = time.monotonic()
        self._reporter.started(self._plan())
        try:
            if not self._is_done():
                with Launcher(secrets.token_hex(8), lock=self._folder.lock) as launcher:
                    await self._session(launcher, begun)
        finally:
            self._reporter.stopped()
        results = self._results()
        self._folder.write_results(results)
        if self._is_done():
            self._folder.remove_store()
            self._reporter.finished(results)
            return EXIT_DONE
        self._reporter.interrupted(results, self._folder.path)
        return EXIT_INTERRUPTED

    def _plan(self) -> Plan:
        return Plan(
            name=self._config.name,
            folder=self._folder.path,
            bots=self._schedule.bots,
            events=tuple(contest.name for contest in self._config.events),
            total=self._schedule.total(),
            finished=self._board.finished,
        )

    def _is_done(self) -> bool:
        return self._board.finished == self._schedule.total()

    def _results(self) -> Results:
        return self._board.results(self._config.name, self._folder.digest)

    # A session: everything that runs at the same time, and its end in good order.

    async def _session(self, launcher: Launcher, begun: float) -> None:
        self._venue = self._make_venue(launcher)
        tasks = [asyncio.create_task(self._venue.run(), name="server")]
        try:
            await self._unless_over(self._venue.ready(), tasks)
            if self._interrupts:
                return
            async with Organiser(self._venue.address, self._venue.organiser_token) as organiser:
                self._arbiter = Arbiter(self._config, self._folder.label, self._venue, organiser)
                jobs = (self._watch(), self._feed_matches(), self._show(begun), self._save())
                tasks += map(asyncio.create_task, (*jobs, self._folder.sync_now_and_then()))
                for entrant in self._entrants.values():
                    tasks.append(asyncio.create_task(self._look_after(entrant, launcher)))
                await self._unless_over(self._over.wait(), tasks)
                if self._trouble:
                    raise self._trouble[0]
                await _cancel([*tasks[1:], *self._errands])
                await self._stop_processes()
        finally:
            await _cancel([*tasks, *self._errands])
            await self._venue.stop()

    def _make_venue(self, launcher: Launcher) -> Venue:
        if self._config.server.address:
            return RemoteVenue(self._config)
        return LocalVenue(
            launcher,
            tuple(self._entrants),
            store=self._folder.store,
            log=self._folder.path / "server.log",
            note=self._reporter.note,
        )

    async def _unless_over(
        self, wanted: Coroutine[Any, Any, T], tasks: Sequence[asyncio.Task[None]]
    ) -> None:
        """Wait for `wanted`, an interrupt, or the first of the tasks that fails (and raise that)."""
        first = asyncio.create_task(wanted)
        over = asyncio.create_task(self._over.wait())
        waiting: set[asyncio.Task[Any]] = {first, over, *tasks}
        try:
            while not (first.done() or over.done()):
                done, waiting = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
                for task in done:
                    task.result()
        finally:
            await _cancel([first, over])

    async def _stop_processes(self) -> None:
        """When all is played bots go first; otherwise the server: it must not see them leave."""
        if not self._is_done():
            await self._venue.stop()
        await asyncio.gather(*(e.stop(BOT_GRACE_S) for e in self._entrants.values()))

    def _listen_for_signals(self) -> None:
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, self._interrupt)

    def _interrupt(self) -> None:
        self._interrupts += 1
        if self._interrupts > 1:
            self._reporter.stopped()
            os._exit(EXIT_INTERRUPTED)  # the warden kills what runs, nothing written is lost
        self._reporter.note("stopping; once more kills at once")
        self._over.set()

    # Matches: created as others finish, written down, rated.

    async def _feed_matches(self) -> None:
        await self._caught_up.wait()
        self._feed = Feed(
            self._schedule.pairings,
            self._config.concurrency,
            self._board.is_done,
            self._board.attempts(),
        )
        while True:
            self._wake.clear()
            entries = self._feed.take(CREATE_BATCH)
            if entries:
                over = await self._arbiter.create(entries)
                self._check_created(over)
                self._forfeit_for_the_gone(ids_of(entries))
            else:
                await self._wake.wait()

    def _check_created(self, over: Iterable[str]) -> None:
        """A match of an earlier session can be over already: then nothing will tell us again."""
        for name in over:
            if self._board.has_seen(name) and name in self._arbiter.running:
                self._give_back(self._arbiter.running.pop(name))

    def _give_back(self, entry: Entry) -> None:
        fixture = entry.fixture
        done = self._board.is_done(fixture.pairing.number, fixture.place)
        self._feed.give_back(entry, again=not done)
        self._wake.set()

    async def _watch(self) -> None:
        async for batch in self._arbiter.finished():
            self._take(batch.finished)
            if batch.caught_up:
                self._caught_up.set()

    def _take(self, messages: Iterable[match_pb2.FinishedMatch]) -> None:
        """Write down what is new, then act on it."""
        fresh = []
        for message in messages:
            record = read_record(message.record)
            ended = finished_of(record)
            if not self._board.has_seen(ended.match) and self._board.add(ended):
                fresh.append((record, ended))
        self._folder.append(record for record, _ in fresh)
        for _, ended in fresh:
            entry = self._arbiter.running.pop(ended.match, None)
            if entry is not None:
                self._give_back(entry)
            self._heed(ended)
        if self._is_done():
            self._over.set()

    # Bots: what their results and their processes say about them.

    def _heed(self, ended: Finished) -> None:
        if ended.termination in UNRATED:
            self._reporter.note(f"match {ended.match} is played again: {ended.detail}")
            return
        if ended.seat_at_fault is None:
            for name in ended.bots:
                self._entrants[name].heard()
            return
        entrant = self._entrants[ended.bots[ended.seat_at_fault]]
        if ended.termination == "DISCONNECT" and not entrant.met:
            self._spawn(entrant.leave(f"has not played: {ended.detail}"))
        elif ended.termination in {"DISCONNECT", "TIMEOUT"}:
            entrant.met = True
            if entrant.silent(max(HANGS, self._config.concurrency)):
                self._spawn(entrant.restart())
        elif ended.termination != "CRASH":
            entrant.met = True

    async def _look_after(self, entrant: Entrant, launcher: Launcher) -> None:
        config = self._config
        secret = {config.server.organiser_token_env, *(bot.token_env for bot in config.bots)}
        env = environment(
            entrant.bot,
            name=entrant.name,
            address=self._venue.address,
            token=self._venue.tokens[entrant.name],
            secret_variables=frozenset(secret),
        )
        log = self._folder.log(entrant.name)
        await entrant.run(launcher, env, self._home, log, self._crashed)
        self._reporter.note(
            f"{entrant.name} {entrant.gone}; it is out, the rest of its matches is forfeited"
        )
        await self._arbiter.forfeit(entrant.name, f"{entrant.name} {entrant.gone}")

    async def _crashed(self, entrant: Entrant, ending: str) -> bool:
        """A process has ended: forfeit what it was playing, unless the server was away."""
        # A bot that ends because the server does may be noticed first.
        await asyncio.sleep(CRASH_PAUSE_S)
        if self._venue.in_outage():
            return False
        if not entrant.gone:
            self._reporter.note(f"{entrant.name} {ending}")
            await self._arbiter.forfeit(entrant.name, f"{entrant.name} {ending}")
        return True

    def _forfeit_for_the_gone(self, created: Sequence[str]) -> None:
        for entrant in self._entrants.values():
            if entrant.gone:
                detail = f"{entrant.name} {entrant.gone}"
                self._spawn(self._arbiter.forfeit(entrant.name, detail, among=created))

    def _spawn(self, errand: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(errand)
        self._errands.add(task)
        task.add_done_callback(self._errand_done)

    def _errand_done(self, task: asyncio.Task[None]) -> None:
        self._errands.discard(task)
        error = None if task.cancelled() else task.exception()
        if error is not None:
            self._trouble.append(error)
            self._over.set()

    # What people see meanwhile.

    async def _show(self, begun: float) -> None:
        before = self._board.finished
        table: Table | None = None
        next_table = 0.0
        while True:
            now = time.monotonic()
            if now >= next_table:
                table = self._board.live()
                # Rating many bots takes its time; at most a tenth of ours.
                next_table = now + max(PROGRESS_S, 10 * (time.monotonic() - now))
            self._reporter.progress(
                Snapshot(
                    finished=self._board.finished,
                    total=self._schedule.total(),
                    running=len(self._arbiter.running),
                    session=self._board.finished - before,
                    elapsed_s=now - begun,
                    table=table,
                    faults=self._faults(),
                )
            )
            await asyncio.sleep(PROGRESS_S)

    def _faults(self) -> dict[str, int]:
        faults = dict.fromkeys(self._schedule.bots, 0)
        for (_, bot, _), count in self._board.faults.items():
            faults[bot] += count
        return faults

    async def _save(self) -> None:
        pause_s = RESULTS_S
        while True:
            await asyncio.sleep(pause_s)
            begun = time.monotonic()
            results = self._board.results(self._config.name, self._folder.digest)
            pause_s = max(RESULTS_S, 20 * (time.monotonic() - begun))
            await asyncio.to_thread(self._folder.write_results, results)


async def _cancel(tasks: Iterable[asyncio.Task[Any]]) -> None:
    alive = [task for task in tasks if not task.done()]
    for task in alive:
        task.cancel()
    await asyncio.gather(*alive, return_exceptions=True)
