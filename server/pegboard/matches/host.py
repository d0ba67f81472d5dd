"""The host of all matches: whoever may create, play, watch and end them comes through here.

One event loop, no lock, no task a match. An answer is checked (seat, turn), applied by the rules and
logged; the turns that follow wait in the bots' mailboxes. Everything else is a cursor on the log: bots,
watchers, the store (`commits`). With durability `strict`, and while the store is in trouble, turns and
events are published only when what they follow from is stored; results always.
"""

from __future__ import annotations

import asyncio
import re
import secrets
import time
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections import OrderedDict, deque
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from traceback import format_exc
from typing import Any, NamedTuple

import structlog

from pegboard.matches.clock import MILLISECOND, SECOND, TICK_NS, Deadlines, SeatClock
from pegboard.matches.commits import Commit, Committer
from pegboard.matches.log import Log
from pegboard.matches.mailbox import Bot, Mailbox
from pegboard.matches.match import Archive, FindGame, Match, OpenTurn, Player
from pegboard.matches.rejection import Rejection, RejectionReason
from pegboard.matches.rows import Row, read_result, read_spec, shared, spec_text
from pegboard.matches.spec import MatchSpec, Result, Termination
from pegboard.matches.store import Store
from pegboard.rules import catalog
from pegboard.rules.errors import (
    AlreadyExists,
    ClaimTooHigh,
    IllegalMove,
    InvalidRequest,
    MatchOver,
    MustGoOut,
    NotYourTurn,
    PegboardError,
    SeatsError,
    StoreError,
    UnknownMatch,
    UnknownSeat,
)
from pegboard.rules.game import Game, Outcome, Seat
from pegboard.rules.results import forfeit_points
from pegboard.rules.shuffle import SEED_BYTES

log = structlog.get_logger(__name__)

Matches = list[Match]
Numbered = list[tuple[int, Any]]
"""(sequence, event), ascending."""

_ID = re.compile(r"[a-z0-9][a-z0-9-]{0,62}")
_STALE = RejectionReason.STALE_TURN


@dataclass(frozen=True, slots=True)
class HostSettings:
    """What a host does where a match says nothing, and how much it keeps.

    `reconnect_s`: how long a bot may be away. `move_ms`, `startup_ms`, `illegal_move_limit`: the
    defaults of a match. `lag_ms`: what a seat may overrun, refilled by `lag_refill_ms` with each
    answer. `claims_max`: refused claims in one turn, each without cost but the last (R-C8.6).
    `finished_kept`: finished matches kept in memory, of which `events_kept` with their events.
    `store_patience_s`: how long to go on trying when the store cannot be written.
    """

    reconnect_s: float = 30.0
    move_ms: int = 10_000
    startup_ms: int = 60_000
    illegal_move_limit: int = 3
    lag_ms: int = 100
    lag_refill_ms: int = 10
    claims_max: int = 64
    finished_kept: int = 1024
    events_kept: int = 64
    batch_max: int = 1000
    store_patience_s: float = 30.0


class CreateRequest(NamedTuple):
    """A match to create; ids "" for none."""

    spec: MatchSpec
    match_id: str = ""
    request_id: str = ""


class _Plan(NamedTuple):
    """A match to be created, checked."""

    row: Row
    spec: MatchSpec
    game: Game


class MatchHost:
    """Hosts matches in one store. All methods belong to the thread of the event loop."""

    def __init__(
        self,
        store: Store,
        *,
        find_game: FindGame = catalog.game,
        now_ns: Callable[[], int] = time.monotonic_ns,
        settings: HostSettings = HostSettings(),
    ) -> None:
        self.now_ns = now_ns
        self.settings = settings
        self.deadlines = Deadlines()
        self._store = store
        self._find_game = find_game
        self._running: dict[str, Match] = {}
        self._finished: OrderedDict[str, Match] = OrderedDict()
        self._warm: deque[Match] = deque()
        self._bots: dict[str, Bot] = {}
        self._creating: dict[str, asyncio.Future[Match]] = {}
        self._requests: dict[str, asyncio.Future[Match]] = {}
        self._last_key = 0
        self._last_finish = 0
        self._finish_watchers: list[asyncio.Future[None]] = []
        self._commits: Committer
        self._timer: asyncio.TimerHandle | None = None
        self._open = False
        self._spare_ns = settings.lag_ms * MILLISECOND
        self._refill_ns = settings.lag_refill_ms * MILLISECOND
        self._reconnect_ns = int(settings.reconnect_s * SECOND)

    # Opening and closing

    async def open(self) -> None:
        """Recover the running matches of the store and begin. Raises `StoreError`."""
        self._last_key, self._last_finish = self._store.last()
        rows = self._store.running()
        self._commits = Committer(
            self._store, self, self._last_finish, self.settings.store_patience_s
        )
        self._open = True
        for number, row in enumerate(rows):
            if number % 64 == 63:
                await asyncio.sleep(0)
            self._recover(row)
        if rows:
            log.info("recovered running matches", count=len(rows))

    async def close(self) -> None:
        """Store everything, close all mailboxes and leave running matches to be recovered."""
        self._open = False
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        for bot in self._bots.values():
            if bot.mailbox is not None:
                bot.mailbox.closed = True
            bot.wake()
        await self._commits.close()
        for match in self._running.values():
            match.log.wake()
        self._wake_finish_watchers()
        self._store.close()

    def _recover(self, row: Row) -> None:
        """Play the stored moves again and go on from there."""
        spec = read_spec(row.spec, row.label)
        match = Match(row.id, row.key, spec, row.seed, None, row.create_time, row.rules_version)
        try:
            match.game = self._game(spec)
            match.begin()
            self._seat(match)
            self._replay(match, row)
        except Exception as error:
            log.error("match cannot be recovered", match=row.id, traceback=format_exc())
            match.log = Log.of(row.moves)
            self._running[match.id] = match
            detail = f"match {row.id} cannot be recovered: {error}"
            self._end(match, Result(Termination.SERVER_FAULT, None, (), (), (), detail))

    def _replay(self, match: Match, row: Row) -> None:
        self._proceed(match, holding=False)
        for line in row.moves.splitlines():
            text, _, move = line.partition(" ")
            player = match.players[int(text)]
            turn = player.turn
            if turn is None or match.ending is not None:
                raise InvalidRequest(f"seat {text} is not asked for {move!r}")
            match.play(player, turn, match.game.parse_move(move))
            self._proceed(match, holding=False)
        match.log.saved_moves = match.log.move_count
        for player, bank_ms in zip(match.players, row.banks_ms, strict=False):
            player.clock.bank_ns = bank_ms * MILLISECOND

    # Creating and finding

    async def create(self, requests: Sequence[CreateRequest]) -> list[Match]:
        """Create all of the matches or none, and return them once they are stored and running.

        A request id that was there before gives the match of then. Raises `UnknownVariant`,
        `OptionError`, `SeatsError`, `InvalidRequest`, `AlreadyExists`, `StoreError`.
        """
        if len(requests) > self.settings.batch_max:
            raise InvalidRequest(f"at most {self.settings.batch_max} matches at once")
        reserved: dict[str, asyncio.Future[Match]] = {}
        try:
            plans: list[_Plan] = []
            found = [self._reserve(CreateRequest(*each), plans, reserved) for each in requests]
            matches = await self._deal(plans)
            if plans:
                await self._commits.create([plan.row for plan in plans])
        except BaseException as error:
            self._release(reserved, error)
            raise
        self._release(reserved, None)
        for match in matches:
            self._start(match)
            reserved[match.id].set_result(match)
        return [await each if isinstance(each, asyncio.Future) else each for each in found]

    def _reserve(
        self,
        request: CreateRequest,
        plans: list[_Plan],
        reserved: dict[str, asyncio.Future[Match]],
    ) -> Match | asyncio.Future[Match]:
        """Check a request and take its ids, or return the match it has created before."""
        before = self._by_request(request.request_id)
        if before is not None:
            return before
        match_id = request.match_id or secrets.token_hex(8)
        self._check_id(match_id)
        spec = self._spec(request.spec, match_id)
        game = self._game(spec)
        seed = request.spec.seed or secrets.token_bytes(SEED_BYTES)
        if len(seed) != SEED_BYTES:
            raise InvalidRequest(f"a seed has {SEED_BYTES} bytes, not {len(seed)}")
        self._last_key += 1
        row = Row(
            self._last_key,
            match_id,
            request.request_id,
            spec.label,
            spec_text(spec),
            seed,
            catalog.RULES_VERSION,
            time.time(),
        )
        plans.append(_Plan(row, spec, game))
        future = asyncio.get_running_loop().create_future()
        reserved[match_id] = self._creating[match_id] = future
        if request.request_id:
            self._requests[request.request_id] = future
        return future

    def _release(
        self, reserved: dict[str, asyncio.Future[Match]], error: BaseException | None
    ) -> None:
        """Give the ids free: the matches are running, or they are not to be."""
        futures = set(reserved.values())
        for match_id in reserved:
            del self._creating[match_id]
        for request_id in [key for key, future in self._requests.items() if future in futures]:
            del self._requests[request_id]
        if error is not None:
            for future in futures:
                future.set_exception(error)
                future.exception()  # whoever waits for it gets it; nobody need

    def _by_request(self, request_id: str) -> Match | asyncio.Future[Match] | None:
        """Return the match that this request has created, or is creating."""
        if not request_id:
            return None
        if request_id in self._requests:
            return self._requests[request_id]
        row = self._store.find_request(request_id)
        return None if row is None else self._running.get(row.id) or self._load(row)

    async def _deal(self, plans: list[_Plan]) -> list[Match]:
        """Deal the matches; a thousand at once would stop the clocks."""
        matches = []
        for number, (row, spec, game) in enumerate(plans):
            if number % 64 == 63:
                await asyncio.sleep(0)
            match = Match(row.id, row.key, spec, row.seed, game, row.create_time, row.rules_version)
            match.begin()
            matches.append(match)
        return matches

    def _check_id(self, match_id: str) -> None:
        if not _ID.fullmatch(match_id):
            raise InvalidRequest(
                f"no match id {match_id[:80]!r}; use at most 63 lower-case letters, digits and hyphens"
            )
        taken = match_id in self._running or match_id in self._creating
        if taken or self._store.find(match_id) is not None:
            raise AlreadyExists(f"match {match_id} exists; choose another id")

    def _spec(self, spec: MatchSpec, match_id: str) -> MatchSpec:
        """Return the spec with defaults filled in and the seed taken out."""
        settings = self.settings
        if not spec.bots or not all(spec.bots):
            raise InvalidRequest("a match needs a bot at every seat")
        control = spec.time_control
        if min(control.bank_ms, control.increment_ms, control.move_ms, control.startup_ms) < 0:
            raise InvalidRequest("times are milliseconds, 0 or more")
        return shared(
            replace(
                spec,
                time_control=replace(
                    control,
                    move_ms=control.move_ms or settings.move_ms,
                    startup_ms=control.startup_ms or settings.startup_ms,
                ),
                nonce=spec.nonce or match_id,
                seed=None,
                illegal_move_limit=spec.illegal_move_limit or settings.illegal_move_limit,
            )
        )

    def _game(self, spec: MatchSpec) -> Game:
        """Return the game of a match. Raises `UnknownVariant`, `OptionError`, `SeatsError`."""
        game = self._find_game(spec.variant, spec.options)
        if len(spec.bots) not in game.seats:
            seats = " or ".join(map(str, game.seats))
            raise SeatsError(f"{spec.variant} has {seats} seats, not {len(spec.bots)}")
        return game

    def get(self, match_id: str) -> Match:
        """Return the match. Raises `UnknownMatch`."""
        match = self._known(match_id)
        if match is None:
            raise UnknownMatch(f"no match {match_id[:80]!r}")
        return match

    def _known(self, match_id: str) -> Match | None:
        match = self._running.get(match_id) or self._finished.get(match_id)
        if match is None:
            row = self._store.find(match_id)
            if row is not None and row.finish:
                match = self._load(row)
        return match

    def _load(self, row: Row) -> Match:
        """Return a finished match of the store."""
        match = self._finished.get(row.id)
        if match is None:
            spec = read_spec(row.spec, row.label)
            match = Match(row.id, row.key, spec, row.seed, None, row.create_time, row.rules_version)
            with suppress(PegboardError):  # its variant may be no longer there
                match.game = self._game(spec)
            match.end_time = row.end_time
            match.finish = row.finish
            match.result = match.ending = read_result(row.result)
            match.archive = Archive(row.moves, row.event_count, row.events_digest)
            self._keep(match)
        return match

    def _keep(self, match: Match) -> None:
        """Keep a finished match in memory for a while."""
        self._finished[match.id] = match
        if len(self._finished) > self.settings.finished_kept:
            self._finished.popitem(last=False)

    def list(
        self,
        *,
        label: str = "",
        finished: bool | None = None,
        page_size: int = 50,
        page_token: str = "",
    ) -> tuple[Matches, str]:
        """Return a page, newest first, and the token of the next one, "" on the last.

        Raises `InvalidRequest` for a token that is not ours.
        """
        before = _read_token(page_token) if page_token else self._last_key + 1
        rows = self._store.page(label, finished, before, page_size + 1)
        page = rows[:page_size]
        token = _token(page[-1].key) if len(rows) > page_size else ""
        matches = [
            self._running.get(row.id) or self._load(row)
            for row in page
            if row.finish or row.id in self._running
        ]
        return matches, token

    # Starting, going on, ending

    def _start(self, match: Match) -> None:
        """The match is stored: let it be played."""
        self._seat(match)
        self._proceed(match, holding=False)

    def _seat(self, match: Match) -> None:
        """Register a match that has been dealt, and tell its bots."""
        now_ns = self.now_ns()
        match.referee = self
        match.created_ns = now_ns
        match.created_lag_ns = self.deadlines.lag_ns
        match.log.visible = match.log.count
        control = match.spec.time_control
        self._running[match.id] = match
        for seat, name in enumerate(match.spec.bots):
            clock = SeatClock(control, self._spare_ns)
            match.players.append(Player(match, seat, self._bot(name), clock))
        absent = False
        for bot in dict.fromkeys(player.bot for player in match.players):
            bot.matches[match] = None
            if bot.mailbox is not None:
                bot.mailbox.match_started(match)
            absent = absent or not bot.present
        if absent:
            self._arm(now_ns + control.startup_ms * MILLISECOND, match)
        self._ensure_ticking()

    def _proceed(self, match: Match, holding: bool) -> None:
        """After the deal or a move: open the turns that follow, or end the match."""
        opened = match.ask()
        if opened:
            for turn in opened:
                if holding:
                    self._commits.hold(turn)
                else:
                    turn.player.bot.ready[turn] = None
                    turn.player.bot.wake()
        elif not match.state.to_act():  # type: ignore[union-attr]
            outcome = match.state.outcome()  # type: ignore[union-attr]
            assert outcome is not None, "nobody is to act and there is no outcome"
            self._end(match, Result(Termination.NORMAL, None, *outcome))

    def _end(self, match: Match, result: Result) -> None:
        """The match is over; its result is published once it is stored."""
        assert match.ending is None
        match.ending = result
        match.end_time = time.time()
        for player in match.players:
            player.close_turn()
            player.bot.matches.pop(match, None)
        self._commits.ended(match)

    def _forfeit(self, player: Player, termination: Termination, detail: str) -> None:
        """End the match by the fault of a seat."""
        match = player.match
        name = match.spec.bots[player.seat]
        detail = f"{name} (seat {player.seat}) in match {match.id}: {detail}"
        try:
            assert match.state is not None
            standing = match.state.standing()
            points = forfeit_points(match.game, len(match.players), standing, player.seat)
        except Exception:
            self._fault(match)
            return
        result = Result(
            termination, player.seat, points, standing.scores, standing.games_won, detail
        )
        self._end(match, result)

    def _abandon(self, match: Match, termination: Termination, detail: str) -> None:
        """End the match without a result."""
        try:
            assert match.state is not None
            standing = match.state.standing()
        except Exception:
            standing = Outcome((), (), ())
        result = Result(termination, None, (), standing.scores, standing.games_won, detail)
        self._end(match, result)

    def _fault(self, match: Match) -> Rejection:
        """An error of ours, being handled: it ends this match alone."""
        log.error(
            "match ended by a server fault",
            match=match.id,
            variant=match.spec.variant,
            traceback=format_exc(),  # as text: a log of locals would tell the seed
        )
        if match.ending is None:
            detail = f"match {match.id}: the server made an error; the match does not count"
            self._abandon(match, Termination.SERVER_FAULT, detail)
        return Rejection(RejectionReason.MATCH_OVER, f"match {match.id} is over", 0)

    async def cancel(self, match_id: str) -> Match:
        """End a running match without a result; a finished one stays as it is.

        Returns once that is stored. Raises `UnknownMatch`, `StoreError`.
        """
        match = self.get(match_id)
        if match.ending is None:
            self._abandon(match, Termination.CANCELLED, f"match {match.id} was cancelled")
        if match.result is None:
            await self.stored()
        return match

    async def forfeit(self, match_id: str, seat: Seat, detail: str) -> Match:
        """End a running match because the bot at `seat` is gone; a finished one stays as it is.

        Returns once that is stored. Raises `UnknownMatch`, `UnknownSeat`, `StoreError`.
        """
        match = self.get(match_id)
        if not 0 <= seat < len(match.spec.bots):
            raise UnknownSeat(f"match {match_id} has no seat {seat}")
        if match.ending is None:
            self._forfeit(match.players[seat], Termination.CRASH, detail or "its process ended")
        if match.result is None:
            await self.stored()
        return match

    async def stored(self) -> None:
        """Wait until everything that has been applied so far is stored. Raises `StoreError`."""
        await self._commits.stored()

    # Publishing (commits.Ledger)

    def running(self) -> Matches:
        """Return the matches whose moves a snapshot of the journal holds."""
        return [match for match in self._running.values() if match.ending is None]

    def committed(self, commit: Commit) -> None:
        """Publish what waited for the store: events, turns, results."""
        for match, count in commit.moved:
            if match.log.visible < count:
                self._show_events(match, count)
        for turn in commit.turns:
            turn.held = False
            bot = turn.player.bot
            if turn.player.turn is turn and not turn.sent:
                bot.ready[turn] = None
                bot.wake()
        for match in commit.ended:
            self._publish_result(match)
        if commit.ended:
            self._last_finish = commit.ended[-1].finish
            self._wake_finish_watchers()

    def lost(self, error: StoreError) -> None:
        """The store is gone for good: stop all matches, as far as anybody can be told."""
        log.error("giving up: all running matches end", error=str(error))
        for match in list(self._running.values()):
            detail = f"match {match.id}: the server cannot store it; it does not count"
            if match.ending is None:
                self._abandon(match, Termination.SERVER_FAULT, detail)
            match.ending = Result(Termination.SERVER_FAULT, None, (), (), (), detail)
            match.close()
            self._publish_result(match)

    def _show_events(self, match: Match, count: int) -> None:
        match.log.visible = count
        if match.log.waiters:
            match.log.wake()
        for player in match.players:
            mailbox = player.bot.mailbox
            if mailbox is not None and mailbox.with_events:
                mailbox.events_grew(match)

    def _publish_result(self, match: Match) -> None:
        match.result = match.ending
        match.state = None
        match.log.visible = match.log.count
        self._running.pop(match.id, None)
        self._keep(match)
        self._warm.append(match)
        if len(self._warm) > self.settings.events_kept:
            self._warm.popleft().release()
        match.log.wake()
        for bot in dict.fromkeys(player.bot for player in match.players):
            if bot.mailbox is not None:
                bot.mailbox.match_ended(match)
            self._forget(bot)

    # Bots

    def _bot(self, name: str) -> Bot:
        bot = self._bots.get(name)
        if bot is None:
            bot = self._bots[name] = Bot(name, self)
        return bot

    def _forget(self, bot: Bot) -> None:
        """Drop a bot of which nothing is known but its name."""
        if not bot.present and not bot.matches and not bot.armed_ns:
            self._bots.pop(bot.name, None)

    def connect(self, bot: str, *, max_open_turns: int = 0, events: bool = False) -> Mailbox:
        """Return a new mailbox for the bot, replacing an older one; its open turns come (again)."""
        found = self._bot(bot)
        if found.mailbox is not None:
            found.mailbox.replace()
        found.mailbox = Mailbox(found, max_open_turns, events)
        found.unary = False
        found.ready.clear()
        found.out = 0
        for match in found.matches:
            for player in match.players:
                turn = player.turn
                if player.bot is found and turn is not None:
                    turn.sent = False
                    if not turn.held:
                        found.ready[turn] = None
        return found.mailbox

    def left(self, bot: Bot) -> None:
        """The bot's stream or poll has ended: the time to come back runs."""
        bot.left_ns = self.now_ns()
        bot.left_lag_ns = self.deadlines.lag_ns
        if self._open and not bot.present and not bot.armed_ns:
            bot.armed_ns = bot.left_ns + self._reconnect_ns
            self._arm(bot.armed_ns, bot)
            self._ensure_ticking()

    def away(self, bot: Bot, now_ns: int) -> int:
        """Forfeit the matches of a bot that has been away for too long.

        A bot that plays by polls is not away while it thinks about a turn: that turn's clock runs.
        """
        ends_ns = bot.left_ns + self._reconnect_ns + (self.deadlines.lag_ns - bot.left_lag_ns)
        if ends_ns > now_ns:
            return ends_ns
        if bot.unary and any(_thinks(bot, match) for match in bot.matches):
            return now_ns + SECOND
        detail = f"did not come back within {self.settings.reconnect_s:g} s"
        for match in list(bot.matches):
            if match.created_ns <= bot.left_ns:
                player = next(player for player in match.players if player.bot is bot)
                self._forfeit(player, Termination.DISCONNECT, detail)
        return 0

    def startup_over(self, match: Match, now_ns: int) -> int:
        """Forfeit the first bot that has not been there since the match began."""
        startup_ms = match.spec.time_control.startup_ms
        lag_ns = self.deadlines.lag_ns - match.created_lag_ns
        ends_ns = match.created_ns + startup_ms * MILLISECOND + lag_ns
        if ends_ns > now_ns:
            return ends_ns
        for player in match.players:
            if not player.bot.present and player.bot.left_ns < match.created_ns:
                detail = f"did not connect within {startup_ms / 1000:g} s"
                self._forfeit(player, Termination.DISCONNECT, detail)
                break
        return 0

    def turn_over(self, player: Player) -> None:
        """The player's time is certainly up."""
        limit_s = player.clock.limit_ns / SECOND
        if player.bot.present or player.bot.unary:
            detail = f"no answer within {limit_s:g} s"
            self._forfeit(player, Termination.TIMEOUT, detail)
        else:
            detail = f"away, and no answer within {limit_s:g} s"
            self._forfeit(player, Termination.DISCONNECT, detail)

    # Time

    def _arm(self, when_ns: int, deadline: Match | Bot) -> None:
        self.deadlines.push(when_ns, deadline)

    def _ensure_ticking(self) -> None:
        if self._timer is None and self._open:
            self.deadlines.pause()
            self._timer = asyncio.get_running_loop().call_later(TICK_NS / SECOND, self._tick)

    def _tick(self) -> None:
        """The one timer of all matches. It rests while nothing runs."""
        self._timer = None
        try:
            self.deadlines.tick(self.now_ns())
        except Exception:
            log.error("a deadline failed", traceback=format_exc())
        if self._open and (self._running or len(self.deadlines)):
            self._timer = asyncio.get_running_loop().call_later(TICK_NS / SECOND, self._tick)

    # Playing

    def answer(
        self,
        bot: str,
        match_id: str,
        seat: Seat,
        turn_id: int,
        *,
        index: int | None = None,
        move: Any = None,
        number: int | None = None,
    ) -> Rejection | None:
        """Answer a turn with a listed move's index or a move. None: it counts (perhaps again)."""
        match = self._running.get(match_id)
        if match is None or not 0 <= seat < len(match.players):
            return self._no_turn(bot, match_id, seat, turn_id, index, move, number)
        player = match.players[seat]
        turn = player.turn
        if turn is None or turn.turn_id != turn_id or player.bot.name != bot:
            return self._no_turn(bot, match_id, seat, turn_id, index, move, number)
        try:
            chosen = _chosen(turn, index, move, number)
            match.play(player, turn, chosen)
        except (NotYourTurn, MatchOver):  # the turn was open: our error, not the bot's
            return self._fault(match)
        except PegboardError as error:
            return self._refuse(player, turn, error)
        except Exception:
            return self._fault(match)
        self._charge(player)
        commits = self._commits
        if commits.journaled:
            commits.moved(match)
        holding = commits.holding
        if not holding:
            self._show_events(match, match.log.count)
        try:
            self._proceed(match, holding)
        except Exception:
            return self._fault(match)
        return None

    def _charge(self, player: Player) -> None:
        """Stop the seat's clock."""
        clock = player.clock
        if clock.started_ns:
            clock.stop(self.now_ns(), self.deadlines.lag_ns, self._refill_ns, self._spare_ns)
        if player.bot.mailbox is None and player.bot.unary:
            self.left(player.bot)

    def _refuse(self, player: Player, turn: OpenTurn, error: PegboardError) -> Rejection:
        """Count an answer that is not legal, and forfeit when there were too many."""
        limit = player.match.spec.illegal_move_limit
        reason = RejectionReason.ILLEGAL_MOVE
        if isinstance(error, ClaimTooHigh | MustGoOut):
            # The only moves whose legality a bot cannot know (R-C8.6, X-05) cost no attempt.
            high = isinstance(error, ClaimTooHigh)
            reason = RejectionReason.CLAIM_TOO_HIGH if high else RejectionReason.MUST_GO_OUT
            turn.refusals += 1
            over = turn.refusals >= self.settings.claims_max
        else:
            turn.faults += 1
            over = turn.faults >= limit
        if over:
            times = turn.faults if turn.faults >= limit else turn.refusals
            detail = f"{error} (illegal answer {times} of turn {turn.turn_id})"
            self._forfeit(player, Termination.ILLEGAL_MOVE, detail)
            return Rejection(reason, f"{error}; the match is forfeited", 0)
        return Rejection(reason, str(error), limit - turn.faults)

    def _no_turn(
        self,
        bot: str,
        match_id: str,
        seat: Seat,
        turn_id: int,
        index: int | None,
        move: Any,
        number: int | None,
    ) -> Rejection | None:
        """Say why there is no such turn, unless it is the answer that was given before."""
        match = self._known(match_id)
        if match is None or seat not in match.seats_of(bot):
            detail = f"{bot} does not sit at seat {seat} of match {match_id!r}"
            return Rejection(RejectionReason.UNKNOWN_SEAT, detail, 0)
        last = match.players[seat].last if match.players else None
        if last is not None and last.turn_id == turn_id:
            try:
                if _chosen(last, index, move, number) == last.answer:
                    return None
            except PegboardError:
                pass
        if match.ending is not None:
            return Rejection(RejectionReason.MATCH_OVER, f"match {match_id} is over", 0)
        turn = match.players[seat].turn
        now = "it is not your turn" if turn is None else f"turn {turn.turn_id} is open"
        return Rejection(_STALE, f"turn {turn_id} of match {match_id} is over; {now}", 0)

    def resign(self, bot: str, match_id: str, seat: Seat) -> Rejection | None:
        """Give a match up. None: it is over by that."""
        match = self._known(match_id)
        if match is None or seat not in match.seats_of(bot):
            detail = f"{bot} does not sit at seat {seat} of match {match_id!r}"
            return Rejection(RejectionReason.UNKNOWN_SEAT, detail, 0)
        ending = match.ending
        if ending is None:
            self._forfeit(match.players[seat], Termination.RESIGN, "resigned")
            return None
        if (ending.termination, ending.seat_at_fault) == (Termination.RESIGN, seat):
            return None
        return Rejection(RejectionReason.MATCH_OVER, f"match {match_id} is over", 0)

    async def next_turn(self, bot: str, match_id: str, wait_s: float) -> OpenTurn | None:
        """Return an open turn of the bot (in this match, or "" for any), waiting for one.

        One that nobody has taken yet comes first; one that was taken comes again until it is
        answered. Raises `UnknownMatch`, `UnknownSeat`.
        """
        if match_id and not self.get(match_id).seats_of(bot):
            raise UnknownSeat(f"{bot} does not sit in match {match_id!r}")
        found = self._bot(bot)
        found.polls += 1
        found.unary = found.mailbox is None
        try:
            async with asyncio.timeout(wait_s):
                while (turn := _open_turn(found, match_id)) is None and self._open:
                    poller = asyncio.get_running_loop().create_future()
                    found.pollers.append(poller)
                    await poller
        except TimeoutError:
            turn = None
        finally:
            found.polls -= 1
            self.left(found)
        if turn is not None:
            found.hand_out(turn)
        return turn

    # Watching

    async def watch(self, match_id: str, after: int) -> AsyncIterator[Numbered]:
        """Yield the events after sequence number `after` as they come; end after the last one.

        Raises `UnknownMatch`.
        """
        match = self.get(match_id)
        while True:
            over = match.result is not None
            events = match.events(after)
            if events:
                after = events[-1][0]
                yield events
            elif over or not self._open:
                return
            else:
                waiter = asyncio.get_running_loop().create_future()
                match.log.waiters.append(waiter)
                await waiter

    async def finished(
        self, label: str = "", include_earlier: bool = False
    ) -> AsyncIterator[Matches]:
        """Yield matches as they finish, in that order, for ever.

        An empty list comes once, when all earlier ones have been yielded.
        """
        after = 0 if include_earlier else self._last_finish
        caught_up = False
        while self._open:
            rows = self._store.finished(label, after, 256)
            if rows:
                after = rows[-1].finish
                yield [self._load(row) for row in rows]
                continue
            if not caught_up:
                caught_up = True
                yield []
                continue
            waiter = asyncio.get_running_loop().create_future()
            self._finish_watchers.append(waiter)
            await waiter

    def _wake_finish_watchers(self) -> None:
        watchers, self._finish_watchers = self._finish_watchers, []
        for watcher in watchers:
            if not watcher.done():
                watcher.set_result(None)


def _chosen(turn: OpenTurn, index: int | None, move: Any, number: int | None) -> Any:
    """Return the move that an answer names. Raises `PegboardError`."""
    choices = turn.choices
    if move is not None:
        if type(move) not in map(type, choices.moves):
            raise IllegalMove(f"{move.text()} is not among the {len(choices.moves)} legal moves")
        if number is not None and move.is_open:
            return move.with_number(number)
        return move
    if index is None:
        raise InvalidRequest("an answer needs the index of a listed move, or a move")
    try:
        return choices.complete(index, number)
    except IndexError:
        count = len(choices.moves)
        raise InvalidRequest(f"no move has index {index}; there are {count}, from 0") from None
    except ValueError:
        assert choices.number is not None
        low, high = choices.number
        raise InvalidRequest(f"{number} is not from {low} to {high}") from None


def _thinks(bot: Bot, match: Match) -> bool:
    """Whether a turn's clock runs for the bot."""
    return any(player.bot is bot and player.clock.started_ns for player in match.players)


def _open_turn(bot: Bot, match_id: str) -> OpenTurn | None:
    """Return a turn that nobody has taken, else one that is not answered yet."""
    for turn in bot.ready:
        if not match_id or turn.match.id == match_id:
            return turn
    for match in bot.matches:
        if not match_id or match.id == match_id:
            for player in match.players:
                if player.bot is bot and player.turn is not None and not player.turn.held:
                    return player.turn
    return None


def _token(key: int) -> str:
    return urlsafe_b64encode(f"1:{key}".encode()).decode().rstrip("=")


def _read_token(token: str) -> int:
    try:
        version, _, key = urlsafe_b64decode(token + "=" * (-len(token) % 4)).decode().partition(":")
        if version != "1":
            raise ValueError(version)
        return int(key)
    except ValueError:
        raise InvalidRequest(
            "unknown page_token; take the next_page_token of the page before, or none"
        ) from None
