"""The host of all matches: whoever may create, play, watch and end them comes through here.

One event loop, no lock, no task a match. An answer is checked (seat, turn), applied by the rules and
logged; the turns that follow wait in the bots' mailboxes. Everything else is a cursor on the log: bots,
watchers, the store (`commits`). With durability `strict`, and while the store is in trouble, turns and
events are published only when what they follow from is stored; results always. When the store is lost
nothing is published any more, and the process is to end.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Sequence
from traceback import format_exc
from typing import Any

import structlog

from pegboard.errors import InvalidRequest, StoreError, UnknownSeat
from pegboard.matches.clock import MILLISECOND, SECOND, TICK_NS, Deadlines, SeatClock
from pegboard.matches.commits import Commit, Committer
from pegboard.matches.creation import Batch, CreateRequest, Creation
from pegboard.matches.log import Log, lines_of
from pegboard.matches.mailbox import Mailbox
from pegboard.matches.match import FindGame, Match, OpenTurn, Player
from pegboard.matches.presence import Attendance
from pegboard.matches.registry import Matches, Registry, match_of
from pegboard.matches.rejection import Rejection, RejectionReason
from pegboard.matches.settings import HostSettings
from pegboard.matches.store.rows import Row
from pegboard.matches.store.sqlite import Store, StoreState
from pegboard.matches.subscriptions import Numbered, Watching
from pegboard.rules import catalog
from pegboard.rules.errors import (
    ClaimTooHigh,
    IllegalMove,
    MatchOver,
    MustGoOut,
    NotYourTurn,
    PegboardError,
)
from pegboard.rules.game import Outcome, Seat
from pegboard.rules.plain import quoted
from pegboard.rules.results import Result, Termination, forfeit_points

__all__ = ["CreateRequest", "HostSettings", "MatchHost"]

log = structlog.get_logger(__name__)

_DEFAULTS = HostSettings()
_RECOVERIES_AT_ONCE = 32


class MatchHost:
    """Hosts matches in one store. All methods belong to the thread of the event loop."""

    def __init__(
        self,
        store: Store,
        *,
        find_game: FindGame = catalog.game,
        now_ns: Callable[[], int] = time.monotonic_ns,
        settings: HostSettings = _DEFAULTS,
        ticking: bool = True,
    ) -> None:
        """Take the store, open. `ticking` False: a test calls `deadlines.tick`."""
        self._ticking = ticking
        self.now_ns = now_ns
        self.settings = settings
        self.deadlines = Deadlines()
        self._store = store
        self._registry = Registry(store, find_game, settings)
        self._running = self._registry.running
        self._creation = Creation(self._registry, settings)
        self._attendance = Attendance(
            self, self.deadlines, now_ns, settings.reconnect_s, settings.polls_max
        )
        self.wait_ns = int(settings.wait_s * SECOND)
        self._tasks: set[asyncio.Task[None]] = set()
        self._watching = Watching(self._registry)
        self._commits: Committer
        self._store_waiters: set[asyncio.Future[None]] = set()
        self._timer: asyncio.TimerHandle | None = None
        self._open = False
        self._spare_ns = settings.lag_ms * MILLISECOND
        self._refill_ns = settings.lag_refill_ms * MILLISECOND

    # Opening and closing

    async def open(self) -> None:
        """Recover the running matches of the store and begin. Raises `StoreError`."""
        try:
            rows = self._store.running()
        except StoreError:
            self._store.close()
            raise
        patience_s = self.settings.store_patience_s
        self._commits = Committer(self._store, self, self._registry.last_finish, patience_s)
        self._open = True
        for number, row in enumerate(rows, 1):
            self._recover(row)
            if number % _RECOVERIES_AT_ONCE == 0:
                await asyncio.sleep(0)
        self._commits.complete = True
        if rows:
            log.info("recovered running matches", count=len(rows))
        self._ensure_ticking()

    async def close(self) -> None:
        """Store everything, close all mailboxes and leave running matches to be recovered."""
        if not self._open:
            self._store.close()
            return
        self._open = False
        self._watching.closed = True
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self._attendance.close()
        await self._commits.close()
        for match in self._running.values():
            match.log.wake()
        self._watching.matches_finished()
        self._store.close()

    def _recover(self, row: Row) -> None:
        """Play the stored moves again and go on from there."""
        match = match_of(row)
        try:
            if row.damaged:
                raise StoreError("it is damaged in the store")
            match.game = self._registry.game(match.spec)
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
        now_ns = match.created_ns
        self._proceed(match, False, now_ns)
        for line in lines_of(row.moves):
            text, _, move = line.partition(" ")
            player = match.players[int(text)]
            turn = player.turn
            if turn is None or match.ending is not None:
                raise InvalidRequest(f"seat {text} is not asked for {move!r}")
            match.play(player, turn, match.game.parse_move(move))
            self._proceed(match, False, now_ns)
        match.log.visible = match.log.count
        for seat, bank_ms in row.banks_ms.items():
            match.players[seat].clock.bank_ns = bank_ms * MILLISECOND

    # Creating and finding

    async def create(self, requests: Sequence[CreateRequest]) -> Matches:
        """Create all of the matches or none, and return them once they are stored and running.

        A request id that was there before gives the match of then. Raises `UnknownVariant`,
        `OptionError`, `SeatsError`, `InvalidRequest`, `AlreadyExists`, `StoreError`.
        """
        batch = await self._creation.prepare(requests)
        if batch.rows:
            # A caller that goes away must not leave matches behind that are stored and never start.
            task = asyncio.create_task(self._store_and_start(batch))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
            await asyncio.shield(task)
        return await batch.result()

    async def _store_and_start(self, batch: Batch) -> None:
        try:
            await self._commits.create(batch.rows, batch.begun)
        except BaseException as error:
            self._creation.settle(batch, error)
            raise
        for match in batch.matches:
            self._seat(match)
            try:
                self._proceed(match, False, self.now_ns())
            except Exception:
                self.fault(match)
        self._creation.settle(batch)

    def get(self, match_id: str) -> Match:
        """Return the match. Raises `UnknownMatch`."""
        return self._registry.get(match_id)

    def list(
        self,
        *,
        label: str = "",
        finished: bool | None = None,
        sealed: bool = True,
        page_size: int = 50,
        page_token: str = "",
    ) -> tuple[Matches, str]:
        """Return a page, newest first, and the token of the next one, "" on the last.

        `sealed` False: without those that only organisers may read. Raises `InvalidRequest` for a token
        that is not ours.
        """
        return self._registry.page(label, finished, sealed, page_size, page_token)

    # Starting, going on, ending

    def _seat(self, match: Match) -> None:
        """Register a match that has been dealt, and tell its bots."""
        now_ns = self.now_ns()
        match.referee = self
        match.created_ns = now_ns
        match.created_lag_ns = self.deadlines.lag_ns
        match.log.visible = match.log.count
        self._running[match.id] = match
        for seat, name in enumerate(match.spec.bots):
            clock = SeatClock(match.spec.time_control, self._spare_ns)
            match.players.append(Player(match, seat, self._attendance.bot(name), clock))
        for bot in match.bots():
            bot.matches[match] = None
            if bot.mailbox is not None:
                bot.mailbox.match_started(match)
        self._attendance.expect(match, now_ns)
        self._ensure_ticking()

    def _proceed(self, match: Match, holding: bool, now_ns: int) -> None:
        """After the deal or a move: open the turns that follow, or end the match."""
        state = match.state
        assert state is not None
        acting = state.to_act()
        for turn in match.ask(acting):
            if holding:
                self._commits.hold(turn)
            else:
                turn.player.bot.opened(turn, now_ns)
        if not acting:
            outcome = state.outcome()
            assert outcome is not None, "nobody is to act and there is no outcome"
            self._end(match, Result(Termination.NORMAL, None, *outcome))

    def _end(self, match: Match, result: Result) -> None:
        """The match is over; its result is published once it is stored."""
        assert match.ending is None
        match.ending = result
        match.end_time = round(time.time(), 3)  # the store keeps milliseconds
        for player in match.players:
            player.close_turn()
            player.bot.matches.pop(match, None)
        self._commits.ended(match)

    def forfeit_seat(self, player: Player, termination: Termination, detail: str) -> None:
        """End the match by the fault of a seat."""
        match = player.match
        name = match.spec.bots[player.seat]
        detail = f"{name} (seat {player.seat}) in match {match.id}: {detail}"
        try:
            assert match.state is not None
            standing = match.state.standing()
            points = forfeit_points(match.game, len(match.players), standing, player.seat)
        except Exception:
            self.fault(match)
            return
        scores, games_won = standing.scores, standing.games_won
        self._end(match, Result(termination, player.seat, points, scores, games_won, detail))

    def abandon(self, match: Match, termination: Termination, detail: str) -> None:
        """End the match without a result."""
        try:
            assert match.state is not None
            standing = match.state.standing()
        except Exception:
            standing = Outcome((), (), ())
        scores, games_won = standing.scores, standing.games_won
        self._end(match, Result(termination, None, (), scores, games_won, detail))

    def fault(self, match: Match) -> Rejection:
        """An error of ours, being handled: it ends this match alone."""
        log.error(
            "match ended by a server fault",
            match=match.id,
            variant=match.spec.variant,
            traceback=format_exc(),  # as text: a log of locals would tell the seed
        )
        if match.ending is None:
            detail = f"match {match.id}: the server made an error; the match does not count"
            self.abandon(match, Termination.SERVER_FAULT, detail)
        return Rejection(RejectionReason.MATCH_OVER, f"match {match.id} is over", 0)

    async def cancel(self, match_id: str) -> Match:
        """End a running match without a result; a finished one stays as it is.

        Returns once that is stored. Raises `UnknownMatch`, `StoreError`.
        """
        match = self.get(match_id)
        if match.ending is None:
            self.abandon(match, Termination.CANCELLED, f"match {match.id} was cancelled")
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
            detail = detail or "its process ended"
            self.forfeit_seat(match.players[seat], Termination.CRASH, detail)
        if match.result is None:
            await self.stored()
        return match

    async def stored(self) -> None:
        """Wait until everything that has been applied so far is stored. Raises `StoreError`."""
        await self._commits.stored()

    # The store

    @property
    def store_state(self) -> StoreState:
        """How the store does. When it is lost nothing more is published: the process is to end."""
        return self._commits.state

    @property
    def store_failure(self) -> StoreError | None:
        """Why the store cannot be written now, None while it can."""
        return self._commits.failure

    async def store_left(self, state: StoreState) -> StoreState:
        """Wait until the store is in another state, and return that."""
        while self._commits.state is state:
            waiter = asyncio.get_running_loop().create_future()
            self._store_waiters.add(waiter)
            try:
                await waiter
            finally:
                self._store_waiters.discard(waiter)
        return self._commits.state

    def is_sealed(self, match: Match) -> bool:
        """Whether only organisers may read the match: its block is not over."""
        return self._registry.is_sealed(match)

    # Publishing (commits.Ledger)

    def running(self) -> Matches:
        """Return the matches whose moves a snapshot of the journal holds."""
        return [match for match in self._running.values() if match.ending is None]

    def committed(self, commit: Commit) -> None:
        """Publish what waited for the store: events, turns, results."""
        for match, count in commit.shown:
            if match.log.visible < count:
                self._show_events(match, count)
        for turn in commit.turns:
            turn.held = False
            if turn.player.turn is turn:
                turn.player.bot.opened(turn, self.now_ns())
        for match in commit.ended:
            self._publish_result(match)
        if commit.ended:
            self._watching.matches_finished()

    def store_changed(self) -> None:
        """The store fails, can be written again, or is lost."""
        waiters, self._store_waiters = self._store_waiters, set()
        for waiter in waiters:
            if not waiter.done():
                waiter.set_result(None)

    def _show_events(self, match: Match, count: int) -> None:
        """Let the first `count` events be seen."""
        events = match.log
        events.visible = count
        if events.waiters:
            events.wake()
        if not self._attendance.listening:
            return
        for player in match.players:
            mailbox = player.bot.mailbox
            if mailbox is not None and mailbox.with_events:
                mailbox.events_grew(match)

    def _publish_result(self, match: Match) -> None:
        match.result = match.ending
        match.log.visible = match.log.count
        match.log.wake()
        bots = match.bots()
        self.deadlines.spend(len(match.players) + 2)
        self._registry.finish(match)
        for bot in bots:
            if bot.mailbox is not None:
                bot.mailbox.match_ended(match)
            if bot.pollers:
                bot.wake()
            self._attendance.forget(bot)

    # Bots and time

    def connect(self, bot: str, *, max_open_turns: int = 0, events: bool = False) -> Mailbox:
        """Return a new mailbox for the bot, replacing an older one; its open turns come (again)."""
        return self._attendance.connect(bot, max_open_turns, events)

    def running_of(self, bot: str) -> int:
        """Return in how many running matches the bot sits."""
        known = self._attendance.bots.get(bot)
        return 0 if known is None else len(known.matches)

    def is_asked(self, match_id: str, seat: Seat, turn_id: int) -> bool:
        """Return whether this turn is open."""
        match = self._running.get(match_id)
        if match is None or not 0 <= seat < len(match.players):
            return False
        turn = match.players[seat].turn
        return turn is not None and turn.turn_id == turn_id

    async def next_turn(self, bot: str, match_id: str, wait_s: float) -> OpenTurn | None:
        """Return an open turn of the bot (in this match, or "" for any), waiting for one.

        One that has not been taken yet comes first; one that was taken comes again until it is
        answered. Raises `UnknownMatch`, `UnknownSeat`, `MatchOver` where the match is over or ends
        meanwhile, `TooManyRequests`.
        """
        match = self.get(match_id) if match_id else None
        if match is not None and not match.seats_of(bot):
            raise UnknownSeat(f"{bot} does not sit in match {match_id!r}")
        return await self._attendance.next_turn(bot, match, wait_s)

    def called(self, bot: str) -> None:
        """A bot has called without a stream: it is there."""
        self._attendance.called(bot)

    def startup_over(self, match: Match, now_ns: int) -> int:
        """The time to connect may be over (match.Referee)."""
        return self._attendance.startup_over(match, now_ns)

    def turn_over(self, player: Player, now_ns: int) -> int:
        """The player's time is certainly up (match.Referee)."""
        limit_s = player.clock.limit_ns / SECOND
        if player.bot.present or player.bot.unary:
            detail = f"no answer within {limit_s:g} s"
            self.forfeit_seat(player, Termination.TIMEOUT, detail)
            return 0
        ends_ns = player.clock.ends_ns(self.deadlines.lag_ns)
        detail = f"away, and no answer within {limit_s:g} s"
        return self._attendance.absent(player, ends_ns, now_ns, detail)

    def limit_over(self, match: Match) -> None:
        """The match has lasted as long as it may (match.Referee): who has used the most time loses."""
        now_ns, lag_ns = self.now_ns(), self.deadlines.lag_ns
        spent = [player.clock.spent_ns(now_ns, lag_ns) for player in match.players]
        most = max(spent)
        limit_s = match.spec.time_control.match_ms / 1000
        if spent.count(most) > 1:
            detail = (
                f"match {match.id}: not over within {limit_s:g} s, by no seat more than another"
            )
            self.abandon(match, Termination.VOID, detail)
            return
        detail = (
            f"the match was not over within {limit_s:g} s, and this seat had used the most time,"
            f" {most / SECOND:.1f} s"
        )
        self.forfeit_seat(match.players[spent.index(most)], Termination.TIMEOUT, detail)

    def _ensure_ticking(self) -> None:
        if self._ticking and self._timer is None and self._open and self._running:
            self.deadlines.pause()
            self._timer = asyncio.get_running_loop().call_later(TICK_NS / SECOND, self._tick)

    def _tick(self) -> None:
        """The one timer of all matches. It rests while none runs."""
        self._timer = None
        try:
            self.deadlines.tick(self.now_ns())
        except Exception:
            log.error("a deadline failed", traceback=format_exc())
        if self._open and self._running:
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
            match.play(player, turn, _chosen(turn, index, move, number))
        except (NotYourTurn, MatchOver):  # the turn was open: our error, not the bot's
            return self.fault(match)
        except PegboardError as error:
            return self._refuse(player, turn, error)
        except Exception:
            return self.fault(match)
        clock = player.clock
        now_ns = self.now_ns()
        if clock.started_ns:
            clock.stop(now_ns, self.deadlines.lag_ns, self._refill_ns, self._spare_ns)
        else:
            clock.withdraw()
        commits = self._commits
        if commits.journaled:
            commits.moved(player, turn.answer)
        holding = commits.holding
        if not holding:
            self._show_events(match, match.log.count)
        try:
            self._proceed(match, holding, now_ns)
        except Exception:
            return self.fault(match)
        return None

    def _refuse(self, player: Player, turn: OpenTurn, error: PegboardError) -> Rejection:
        """Count an answer that is not legal, and forfeit when there were too many.

        Whether a claim is too high, or too low to go out, is all that a bot cannot know (R-C8.6,
        X-05): such a claim costs no attempt, unless one as high, or as low, was refused in this turn
        before. It tells nothing that can be searched for: a second one that is too high stands as 0
        (`Match.play`), or the points reach the target, and that is known by then.
        """
        limit = player.match.spec.illegal_move_limit
        reason = RejectionReason.ILLEGAL_MOVE
        free = False
        if isinstance(error, ClaimTooHigh):
            reason = RejectionReason.CLAIM_TOO_HIGH
            free = error.claim < turn.too_high
            turn.too_high = min(turn.too_high, error.claim)
        elif isinstance(error, MustGoOut):
            reason = RejectionReason.MUST_GO_OUT
            free = error.claim > turn.too_low
            turn.too_low = max(turn.too_low, error.claim)
        if free:
            return Rejection(reason, str(error), limit - turn.faults)
        turn.faults += 1
        if turn.faults >= limit:
            detail = f"{error} (illegal answer {turn.faults} of turn {turn.turn_id})"
            self.forfeit_seat(player, Termination.ILLEGAL_MOVE, detail)
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
        match = self._registry.find(match_id)
        if match is None or seat not in match.seats_of(bot):
            return _unknown_seat(bot, match_id, seat)
        player = match.players[seat] if match.players else None
        last = None if player is None else player.last
        if last is not None and last.turn_id == turn_id and _same(last, index, move, number):
            return None
        if match.ending is not None:
            return Rejection(RejectionReason.MATCH_OVER, f"match {match_id} is over", 0)
        assert player is not None
        turn = player.turn
        now = "it is not your turn" if turn is None else f"turn {turn.turn_id} is open"
        detail = f"turn {turn_id} of match {match_id} is over; {now}"
        return Rejection(RejectionReason.STALE_TURN, detail, 0)

    def resign(self, bot: str, match_id: str, seat: Seat) -> Rejection | None:
        """Give a match up. None: it is over by that."""
        match = self._registry.find(match_id)
        if match is None or seat not in match.seats_of(bot):
            return _unknown_seat(bot, match_id, seat)
        ending = match.ending
        if ending is None:
            self.forfeit_seat(match.players[seat], Termination.RESIGN, "resigned")
            return None
        if (ending.termination, ending.seat_at_fault) == (Termination.RESIGN, seat):
            return None
        return Rejection(RejectionReason.MATCH_OVER, f"match {match_id} is over", 0)

    # Watching

    def watch(self, match_id: str, after: int) -> AsyncIterator[Numbered]:
        """Yield the events after sequence number `after` as they come; end after the last one.

        Raises `UnknownMatch`.
        """
        return self._watching.events(self.get(match_id), after)

    def finished(self, label: str = "", include_earlier: bool = False) -> AsyncIterator[Matches]:
        """Yield matches as they finish, in that order, until the host closes.

        An empty list comes once, when all earlier ones have been yielded.
        """
        return self._watching.finished(label, include_earlier)


def _chosen(turn: OpenTurn, index: int | None, move: Any, number: int | None) -> Any:
    """Return the move that an answer names. Raises `PegboardError`."""
    choices = turn.choices
    if move is None and number is None and choices.number is None:
        # What nearly all answers are: the index of a listed move.
        moves = choices.moves
        if index is not None and 0 <= index < len(moves):
            return moves[index]
    if move is not None:
        if type(move) not in map(type, choices.moves):  # of another phase, or of another game
            raise IllegalMove(f"{move.text()} is not among the {len(choices.moves)} legal moves")
        return move.with_number(number) if number is not None and move.is_open else move
    if index is None:
        raise IllegalMove("an answer needs the index of a listed move, or a move")
    try:
        return choices.complete(index, number)
    except IndexError:
        count = len(choices.moves)
        raise IllegalMove(f"no move has index {index}; there are {count}, from 0") from None
    except ValueError:
        assert choices.number is not None
        low, high = choices.number
        raise IllegalMove(f"{number} is not from {low} to {high}") from None


def _same(turn: OpenTurn, index: int | None, move: Any, number: int | None) -> bool:
    """Whether an answer names the move that the turn was answered with."""
    made = turn.answer if turn.given is None else turn.given
    try:
        return bool(_chosen(turn, index, move, number) == made)
    except PegboardError:
        return False


def _unknown_seat(bot: str, match_id: str, seat: Seat) -> Rejection:
    detail = f"{bot} does not sit at seat {seat} of match {quoted(match_id)}"
    return Rejection(RejectionReason.UNKNOWN_SEAT, detail, 0)
