"""A tournament, from its configuration to its table.

    ServerHandle   the server, kept alive               MatchFlow      creates matches, writes them down
    BotProcess     a process of a bot, kept alive       BotSupervisor  hangs, crashes, forfeits

A `Tournament` knows the server by its public API alone, prints nothing (a `Reporter` is handed in) and
handles no signals (`stop` is called from outside). It plays what is missing in a run folder; after any
kind of end, another one goes on from there.
"""

from __future__ import annotations

import asyncio
import contextlib
import secrets
import time
from enum import Enum
from pathlib import Path

from pegboard.arena.config import Config
from pegboard.arena.match_queue import bot_limit
from pegboard.arena.ratings import RatingTable
from pegboard.arena.results import Results
from pegboard.arena.schedule import Schedule
from pegboard.arena.scoreboard import Scoreboard
from pegboard.client import Organiser
from pegboard.errors import PermissionDenied, Unauthenticated, UnknownMatch
from pegboard.runner.bot_process import BotProcess, process_names
from pegboard.runner.bot_supervisor import BotSupervisor
from pegboard.runner.environment import bot_environment
from pegboard.runner.errors import Exhausted, NoServer
from pegboard.runner.launcher import Launcher
from pegboard.runner.limits import bot_limits, many_processes, raise_open_files
from pegboard.runner.local_server import LocalServer
from pegboard.runner.match_flow import MatchFlow
from pegboard.runner.match_runner import MatchRunner
from pegboard.runner.patience import Patience
from pegboard.runner.progress import Plan, Reporter, Snapshot
from pegboard.runner.records_file import motionless
from pegboard.runner.run_folder import RunFolder
from pegboard.runner.server_handle import RemoteServer, ServerHandle
from pegboard.runner.start_check import StartCheck
from pegboard.runner.task_groups import task_group
from pegboard.runner.watchdog import Watchdog

PROGRESS_S = 0.5
RESULTS_S = 15.0
BOT_GRACE_S = 1.0


class SessionEnding(Enum):
    """How a session has ended."""

    PLAYED = "all matches have been played"
    STOPPED = "stopped before the end; the next session goes on"
    ABSENT = "a bot did not come to the check before the run; nothing was played"
    MOTIONLESS = "all matches have been played, and a bot never made a move in any of them"


class Tournament:
    """One session of a run."""

    def __init__(
        self,
        config: Config,
        folder: RunFolder,
        reporter: Reporter,
        *,
        home: Path,
        server: ServerHandle | None = None,
    ) -> None:
        """Take the folder in which the bots' commands run.

        Without `server` the matches are hosted as `config.server` says: at its address, or by a server
        process of the run's own.
        """
        self._config = config
        self._folder = folder
        self._reporter = reporter
        self._home = home
        self._given = server
        self._schedule = Schedule(config, folder.secret)
        self._board = Scoreboard(self._schedule)
        self._processes = {
            name: BotProcess(bot, name, config.restarts)
            for bot in config.bots
            for name in process_names(bot)
        }
        self._limits = bot_limits(len(self._processes))
        self._absent: dict[str, str] = {}
        self._over = asyncio.Event()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stopped = False

    def stop(self) -> None:
        """Ask for an end in good order; may be called from any thread, at any time."""
        self._stopped = True
        if self._loop is not None:
            with contextlib.suppress(RuntimeError):  # the loop is closed: the session has ended
                self._loop.call_soon_threadsafe(self._over.set)

    async def play(self) -> SessionEnding:
        """Play what is left.

        Raises `NoServer`, `FolderError` or `Exhausted` with a sentence for a person; `UnknownVariant`
        and the like if a server elsewhere knows less than this program.
        """
        self._loop = asyncio.get_running_loop()
        if self._stopped:
            self._over.set()
        for ended in self._folder.records.read():
            self._board.add(ended)
        begun = time.monotonic()
        self._reporter.started(self._plan())
        try:
            if not self._board.is_complete():
                self._check_limits()
                with Launcher(secrets.token_hex(8), lock=self._folder.lock) as launcher:
                    await self._session(launcher, begun)
            elif self._folder.continued:
                self._reporter.note("all of it was played before; --fresh plays it anew")
        finally:
            self._reporter.stopped()
        return self._finish()

    def _finish(self) -> SessionEnding:
        """Write the tables down and report them."""
        if self._absent:
            self._tell_absent()
            return SessionEnding.ABSENT
        results = self._results()
        self._folder.write_results(results)
        if not results.complete:
            self._reporter.interrupted(results, self._folder.path)
            return SessionEnding.STOPPED
        self._folder.remove_store()
        self._reporter.finished(results)
        found = motionless(self._folder.records.path, results.bots)
        for bot in sorted(found):
            self._reporter.note(f"{bot} never made a move in any match; its results mean nothing")
        return SessionEnding.MOTIONLESS if found else SessionEnding.PLAYED

    def _check_limits(self) -> None:
        """Warn of a very large run. Raises `Exhausted` if it may open too few files."""
        count = sum(bool(process.bot.command) for process in self._processes.values())
        warning = many_processes(count, self._schedule.total() - self._board.finished)
        if warning:
            self._reporter.note(warning)
        problem = raise_open_files(count)
        if problem:
            raise Exhausted(problem)

    def _tell_absent(self) -> None:
        for name, why in self._absent.items():
            own = bool(self._processes[name].bot.command)
            log = f"; its log is {self._folder.log(name)}" if own else ""
            self._reporter.note(f"{name} {why}{log}")
        self._reporter.note(
            f"nothing was played, since {len(self._absent)} of {len(self._processes)} bots' "
            "processes did not make a first move; mend that and give the same command again"
        )

    def _plan(self) -> Plan:
        return Plan(
            name=self._config.name,
            folder=self._folder.path,
            bots=self._schedule.bots,
            events=tuple(contest.name for contest in self._config.events),
            total=self._schedule.total(),
            finished=self._board.finished,
        )

    def _results(self) -> Results:
        return self._board.results(self._config.name, self._folder.digest)

    # A session: everything that runs at the same time, and its end in good order.

    async def _session(self, launcher: Launcher, begun: float) -> None:
        server = self._given or self._open_server(launcher)
        try:
            async with task_group() as outer:
                keeper = outer.create_task(server.run(), name="server")
                async with task_group(self._over) as inner:
                    inner.create_task(self._host(server, launcher, inner, begun), name="session")
                await self._stop_processes(server)
                keeper.cancel()
        finally:
            await server.stop()

    def _open_server(self, launcher: Launcher) -> ServerHandle:
        if self._config.server.address:
            return RemoteServer(self._config)
        return LocalServer(
            launcher,
            tuple(self._processes),
            store=self._folder.store,
            log=self._folder.path / "server.log",
            note=self._reporter.note,
        )

    async def _host(
        self, server: ServerHandle, launcher: Launcher, tasks: asyncio.TaskGroup, begun: float
    ) -> None:
        """Go through a session, from the first call to the server to the last match."""
        remote = self._config.server
        limit_s = remote.patience_s if remote.address else 0
        patience = Patience(server, server.address, limit_s, self._reporter.note)
        tasks.create_task(patience.run(), name="patience")
        await server.ready()
        async with Organiser(server.address, server.organiser_token) as organiser:
            await _be_let_in(organiser, server, patience)
            runner = MatchRunner(self._config, self._folder.label, patience, organiser)
            flow = MatchFlow(
                self._board,
                self._folder.records,
                runner,
                self._config.concurrency,
                self._reporter.note,
            )
            supervisor = BotSupervisor(
                self._processes,
                bot_limit(self._schedule.pairings, self._config.concurrency),
                flow,
                runner,
                server,
                patience,
                self._reporter.note,
                tasks,
            )
            for process in self._processes.values():
                tasks.create_task(self._look_after(process, server, launcher, supervisor))
            self._absent = await self._check(organiser, server, patience)
            if self._absent:
                self._over.set()
                return
            supervisor.rated = True
            tasks.create_task(flow.watch(supervisor.match_ended))
            tasks.create_task(flow.create(supervisor.matches_created))
            watchdog = Watchdog(
                self._config.time.match_ms, self._board, runner, flow, self._reporter.note
            )
            tasks.create_task(watchdog.watch())
            tasks.create_task(self._folder.records.sync_now_and_then())
            tasks.create_task(self._show(runner, begun))
            tasks.create_task(self._save())
            await flow.done.wait()
            self._over.set()
            await (
                asyncio.Event().wait()
            )  # the organiser's channel stays open until tasks are cancelled

    async def _check(
        self, organiser: Organiser, server: ServerHandle, patience: Patience
    ) -> dict[str, str]:
        """Check that every process has come before anything is rated; return why not, by name."""
        check = StartCheck(
            self._config,
            self._folder.label,
            organiser,
            patience,
            self._reporter.note,
            partner=server.partner,
        )
        return await check.call(self._processes.values())

    async def _look_after(
        self,
        process: BotProcess,
        server: ServerHandle,
        launcher: Launcher,
        supervisor: BotSupervisor,
    ) -> None:
        env = bot_environment(
            process.bot,
            name=process.name,
            address=server.address,
            token=server.tokens[process.name],
        )
        log = self._folder.log(process.name)
        await process.run(launcher, env, self._home, log, self._limits, supervisor.process_ended)
        await supervisor.process_out(process)

    async def _stop_processes(self, server: ServerHandle) -> None:
        """Stop the bots first if all is played; otherwise the server, which must not see them leave."""
        if not self._board.is_complete():
            await server.stop()
        async with task_group() as stopping:
            for process in self._processes.values():
                stopping.create_task(process.stop(BOT_GRACE_S))

    # What people see meanwhile.

    async def _show(self, runner: MatchRunner, begun: float) -> None:
        before = self._board.finished
        table: RatingTable | None = None
        next_table = 0.0
        while True:
            now = time.monotonic()
            if now >= next_table:
                table = self._board.live()
                # Rating many bots takes time; at most a tenth of the runner's.
                next_table = now + max(PROGRESS_S, 10 * (time.monotonic() - now))
            self._reporter.progress(
                Snapshot(
                    finished=self._board.finished,
                    total=self._schedule.total(),
                    running=len(runner.running),
                    session=self._board.finished - before,
                    elapsed_s=now - begun,
                    table=table,
                )
            )
            await asyncio.sleep(PROGRESS_S)

    async def _save(self) -> None:
        pause_s = RESULTS_S
        while True:
            await asyncio.sleep(pause_s)
            begun = time.monotonic()
            results = self._results()
            pause_s = max(RESULTS_S, 20 * (time.monotonic() - begun))
            await asyncio.to_thread(self._folder.write_results, results)


async def _be_let_in(organiser: Organiser, server: ServerHandle, patience: Patience) -> None:
    """Find out before bots are started whether the server lets us in. Raises `NoServer`."""
    name = f"matches/none-{secrets.token_hex(8)}"
    try:
        await patience.insist(lambda: organiser.cancel(name))
    except UnknownMatch:
        pass  # as it should be: only an organiser is told so
    except (Unauthenticated, PermissionDenied) as error:
        raise NoServer(
            f"the server at {server.address} does not take the organiser's token: {error}"
        ) from None
