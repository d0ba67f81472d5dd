"""A tournament, from its file to its table.

`run_tournament` locks the folder, reads what an earlier session left there, and plays the rest:

    venue      the server, kept alive                    feed -> create matches
    entrants   the bots' processes, kept alive           watch -> records.jsonl, scoreboard, feed

It knows the server by its public API alone. What has finished is in `records.jsonl` before anything
else is done with it; the rest can be lost at any moment, and the same command goes on from there.
"""

from __future__ import annotations

import asyncio
import contextlib
import secrets
import time
from collections.abc import Coroutine, Iterable, Sequence
from pathlib import Path
from typing import Any, TypeVar

from pegboard.arena.ages import Ages
from pegboard.arena.config import Config, parse, read_text
from pegboard.arena.match_queue import Entry, Feed
from pegboard.arena.ratings import Table
from pegboard.arena.records import finished_of
from pegboard.arena.results import Finished, Results, Scoreboard
from pegboard.arena.schedule import Schedule
from pegboard.client import Organiser
from pegboard.errors import PermissionDenied, Unauthenticated, UnknownMatch
from pegboard.rules.results import UNRATED
from pegboard.runner.bot_process import Entrant, entrants_of
from pegboard.runner.environment import bot_environment
from pegboard.runner.interrupts import EXIT_INTERRUPTED, Interrupts
from pegboard.runner.launcher import Launcher
from pegboard.runner.limits import bot_limits, many_processes, raise_open_files
from pegboard.runner.match_runner import Arbiter, ids_of
from pegboard.runner.patience import Patience
from pegboard.runner.report import Plan, Reporter, Snapshot, make_reporter, print_results
from pegboard.runner.run_folder import RunFolder, motionless, read_results
from pegboard.runner.server_handle import LocalVenue, RemoteVenue, Venue, VenueError
from pegboard.runner.start_check import Rollcall
from pegboard.v1 import match_pb2
from pegboard.wire.records import read_record

EXIT_DONE = 0
EXIT_ABSENT = 1
"""A bot did not come, so that nothing was played, or never made a move in any match."""

CREATE_BATCH = 500
PROGRESS_S = 0.5
RESULTS_S = 15.0
BOT_GRACE_S = 1.0
CRASH_PAUSE_S = 0.3
AGE_STEP_S = 5.0
STILL_S = 300.0
OVERDUE_SLACK_S = 60.0
"""What a match may take beyond its limit before the arena ends it where the server does not."""

HANGS = 16
"""A bot that lets this many matches in a row (or all it may hold at once) be lost by silence hangs."""

T = TypeVar("T")


def default_folder(config_path: Path) -> Path:
    """Return where results go if nothing is said: `runs/NAME OF THE FILE`, links followed."""
    return Path("runs") / config_path.resolve().stem


def run_tournament(
    config_path: Path,
    out_dir: Path | None = None,
    *,
    reporter: Reporter | None = None,
    json: bool = False,
    fresh: bool = False,
) -> int:
    """Play a tournament to its end, or continue a stopped one; return the exit status.

    With `fresh` what an earlier run has left in the folder is set aside, and all is played anew.
    Raises `ConfigError`, `FolderError`, `VenueError` or `Exhausted` with sentences for a person;
    `UnknownVariant` and the like where a remote server knows less than this program.
    """
    config, text = _read(config_path)
    path = out_dir or default_folder(config_path)
    shown = reporter or make_reporter(json=json)
    with RunFolder(path, text, fresh=fresh) as folder:
        if folder.set_aside is not None:
            shown.note(f"what an earlier run left here is now in {folder.set_aside}")
        tournament = Tournament(config, config_path.resolve().parent, folder, shown)
        # Not uvloop: it starts processes by fork, which gRPC takes note of; asyncio uses vfork.
        with Interrupts(tournament.interrupted) as interrupts, asyncio.Runner() as runner:
            return runner.run(tournament.play(interrupts))


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
        self._limits = bot_limits(len(self._entrants))
        self._feed: Feed
        self._venue: Venue
        self._patience: Patience
        self._arbiter: Arbiter
        self._interrupts: Interrupts
        self._loop: asyncio.AbstractEventLoop | None = None
        self._all_here = False
        self._absent: dict[str, str] = {}
        self._cancelled: set[str] = set()
        self._over = asyncio.Event()
        self._wake = asyncio.Event()
        self._caught_up = asyncio.Event()
        self._errands: set[asyncio.Task[None]] = set()
        self._trouble: list[BaseException] = []

    async def play(self, interrupts: Interrupts) -> int:
        """Play what is left; return the exit status."""
        self._interrupts = interrupts
        self._loop = asyncio.get_running_loop()
        if interrupts.count:
            self._over.set()
        for ended in self._folder.read_records():
            self._board.add(ended)
        begun = time.monotonic()
        self._reporter.started(self._plan())
        try:
            if not self._is_done():
                self._look_around()
                with Launcher(secrets.token_hex(8), lock=self._folder.lock) as launcher:
                    await self._session(launcher, begun)
            elif self._folder.continued:
                self._reporter.note("all of it was played before; --fresh plays it anew")
        finally:
            self._reporter.stopped()
        if self._absent:
            return self._say_who_is_absent()
        results = self._results()
        self._folder.write_results(results)
        if not self._is_done():
            self._reporter.interrupted(results, self._folder.path)
            return EXIT_INTERRUPTED
        self._folder.remove_store()
        self._reporter.finished(results)
        return self._say_who_never_moved(results)

    def _look_around(self) -> None:
        """Warn of a very large run. Raises `VenueError` where it cannot work here."""
        processes = sum(bool(entrant.bot.command) for entrant in self._entrants.values())
        warning = many_processes(processes, self._schedule.total() - self._board.finished)
        if warning:
            self._reporter.note(warning)
        problem = raise_open_files(processes)
        if problem:
            raise VenueError(problem)

    def _say_who_is_absent(self) -> int:
        for name, why in self._absent.items():
            log = (
                f"; its log is {self._folder.log(name)}" if self._entrants[name].bot.command else ""
            )
            self._reporter.note(f"{name} {why}{log}")
        few = f"{len(self._absent)} of {len(self._entrants)}"
        self._reporter.note(
            f"nothing was played, since {few} bots' processes did not make a first move; mend that "
            "and give the same command again"
        )
        return EXIT_ABSENT

    def _say_who_never_moved(self, results: Results) -> int:
        """Say which bots' results mean nothing, since they never moved in any match."""
        found = motionless(self._folder.path / "records.jsonl", results.bots)
        for bot in sorted(found):
            self._reporter.note(f"{bot} never made a move in any match; its results mean nothing")
        return EXIT_ABSENT if found else EXIT_DONE

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
        server = self._config.server
        self._patience = Patience(
            self._venue,
            self._venue.address,
            server.patience_s if server.address else 0,
            self._reporter.note,
        )
        tasks = [asyncio.create_task(self._venue.run(), name="server")]
        tasks.append(asyncio.create_task(self._patience.run(), name="patience"))
        try:
            await self._unless_over(self._venue.ready(), tasks)
            if self._over.is_set():
                return
            async with Organiser(self._venue.address, self._venue.organiser_token) as organiser:
                self._arbiter = Arbiter(self._config, self._folder.label, self._patience, organiser)
                await self._unless_over(self._be_let_in(organiser), tasks)
                bots = (self._look_after(entrant, launcher) for entrant in self._entrants.values())
                tasks.extend(map(asyncio.create_task, bots))
                await self._unless_over(self._call_all(organiser), tasks)
                if self._all_here:
                    jobs = (self._watch(), self._feed_matches(), self._show(begun), self._save())
                    tasks += map(asyncio.create_task, (*jobs, self._watch_ages()))
                    tasks.append(asyncio.create_task(self._folder.sync_now_and_then()))
                    await self._unless_over(self._over.wait(), tasks)
                if self._trouble:
                    raise self._trouble[0]
                await _cancel([*tasks[1:], *self._errands])
                await self._stop_processes()
        finally:
            await _cancel([*tasks, *self._errands])
            await self._venue.stop()

    async def _be_let_in(self, organiser: Organiser) -> None:
        """Find out before bots are started whether the server lets us in. Raises `VenueError`."""
        name = f"matches/none-{secrets.token_hex(8)}"
        try:
            await self._patience.insist(lambda: organiser.cancel(name))
        except UnknownMatch:
            pass  # as it should be: only an organiser is told so
        except (Unauthenticated, PermissionDenied) as error:
            raise VenueError(
                f"the server at {self._venue.address} does not take the organiser's token: {error}"
            ) from None

    async def _call_all(self, organiser: Organiser) -> None:
        """Check that every process has come before anything is rated."""
        rollcall = Rollcall(
            self._config,
            self._folder.label,
            organiser,
            self._patience,
            self._reporter.note,
            partner=self._venue.partner,
        )
        self._absent = await rollcall.call(self._entrants.values())
        self._all_here = not self._absent

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

    def interrupted(self) -> None:
        """Stop in good order; called by the thread that listens for signals."""
        self._reporter.note("stopping; once more kills at once")
        if self._loop is not None:
            with contextlib.suppress(RuntimeError):  # the loop is closed: it is over anyway
                self._loop.call_soon_threadsafe(self._over.set)

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
            if ended.match not in self._cancelled:
                found = self._schedule.find(ended.match)
                final = found is not None and self._board.is_done(found.pairing.number, found.place)
                what = "is left out of the table" if final else "is played again"
                self._reporter.note(f"match {ended.match} {what}: {ended.detail}")
            self._cancelled.discard(ended.match)
            return
        if ended.seat_at_fault is None:
            for name in ended.bots:
                self._entrants[name].heard()
            return
        entrant = self._entrants[ended.bots[ended.seat_at_fault]]
        silent = ended.termination in {"DISCONNECT", "TIMEOUT"}
        if silent and entrant.silent(max(HANGS, self._config.concurrency)):
            self._spawn(entrant.restart())

    async def _look_after(self, entrant: Entrant, launcher: Launcher) -> None:
        env = bot_environment(
            entrant.bot,
            name=entrant.name,
            address=self._venue.address,
            token=self._venue.tokens[entrant.name],
        )
        log = self._folder.log(entrant.name)
        await entrant.run(launcher, env, self._home, log, self._limits, self._ended)
        if self._all_here:
            self._reporter.note(
                f"{entrant.name} {entrant.gone}; it is out, the rest of its matches is forfeited"
            )
            await self._arbiter.forfeit(entrant.name, f"{entrant.name} {entrant.gone}")

    async def _ended(self, entrant: Entrant, ending: str) -> bool:
        """A process has ended; return whether the bot is to blame.

        Then what it was playing is forfeited. A process that was killed since it seemed to hang has
        lost matches already: what else it was playing is played again.
        """
        if entrant.hung:
            await self._replay(entrant)
            return True
        # A bot that ends because the server does may be noticed first.
        await asyncio.sleep(CRASH_PAUSE_S)
        if self._venue.in_outage() or self._patience.is_tried():
            return False
        if not entrant.gone:
            self._reporter.note(f"{entrant.name} {ending}")
            await self._arbiter.forfeit(entrant.name, f"{entrant.name} {ending}")
        return True

    async def _replay(self, entrant: Entrant) -> None:
        running = self._arbiter.matches_of(entrant.name)
        self._reporter.note(
            f"{entrant.name} seems to hang; its process is started again, and the {len(running)} "
            "matches that it was playing are played again"
        )
        await self._cancel_matches(running)

    async def _cancel_matches(self, names: Sequence[str]) -> None:
        self._cancelled.update(names)
        for name in await self._arbiter.cancel(names):
            if name in self._arbiter.running:  # the server has lost it
                self._give_back(self._arbiter.running.pop(name))

    async def _watch_ages(self) -> None:
        """End matches that the server should have ended long ago; say so."""
        limit_ms = self._config.time.match_ms
        ages = Ages(limit_ms / 1000 + OVERDUE_SLACK_S if limit_ms else float("inf"))
        before = time.monotonic()
        finished, still_s = 0, 0.0
        while True:
            await asyncio.sleep(AGE_STEP_S)
            now = time.monotonic()
            # A runner that was suspended has not been waiting for the server.
            step_s = min(now - before, 2 * AGE_STEP_S)
            before = now
            still_s = still_s + step_s if self._board.finished == finished else 0.0
            finished = self._board.finished
            if still_s >= STILL_S:
                still_s = 0.0
                self._reporter.note(
                    f"no match has ended for {STILL_S / 60:g} minutes; "
                    f"{len(self._arbiter.running)} are under way"
                )
            overdue = ages.step(self._arbiter.running, step_s)
            if overdue:
                self._reporter.note(
                    f"the server has not ended {len(overdue)} matches within `match_ms`, e.g. "
                    f"{overdue[0]}; they are cancelled and played again"
                )
                await self._cancel_matches(overdue)

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
