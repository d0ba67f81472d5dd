"""One match: its seats, its state, its log, its open turns, its result.

A match knows its game only by the contract of `rules.game`. What happens to it is decided in `host`;
this module keeps it consistent: a move is applied, logged, and then the next turns are opened.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from pegboard.errors import InvalidRequest
from pegboard.matches.clock import CONFIRM_NS, MILLISECOND, SECOND, Deadlines, SeatClock
from pegboard.matches.log import Log, lines_of
from pegboard.matches.spec import MatchSpec
from pegboard.rules.errors import ClaimTooHigh, MustGoOut
from pegboard.rules.game import Choices, Game, Seat, State
from pegboard.rules.record import Record
from pegboard.rules.results import Result
from pegboard.rules.shuffle import SeededChance, commitment
from pegboard.rules.versions import edition_of

if TYPE_CHECKING:
    from pegboard.matches.mailbox import Bot

FindGame = Callable[[str, Mapping[str, str]], Game]
"""The catalog: variant and options to a game."""

NO_CLAIM = 1 << 30
"""More than any claim: none was refused as too high."""

CONFIRMATIONS_MAX = 50
"""How often a busy loop, or messages of the bot, may put off the end of an overdue turn."""

WAIT_LOOK_NS = 10 * SECOND
"""How often, at least, a turn that waits is looked at."""


class Referee(Protocol):
    """Who decides what becomes of a match: the host."""

    @property
    def deadlines(self) -> Deadlines:
        """The heap that all clocks share."""
        ...

    @property
    def wait_ns(self) -> int:
        """How long the turns of a seat may wait in one match, in all."""
        ...

    def startup_over(self, match: Match, now_ns: int) -> int:
        """Forfeit a bot that has never come. Return when to ask again, or 0."""
        ...

    def limit_over(self, match: Match) -> None:
        """The match has lasted as long as it may."""
        ...

    def turn_over(self, player: Player, now_ns: int) -> int:
        """The player's time is up. Return when to ask again, or 0."""
        ...


class OpenTurn:
    """A question to one seat. `turn_id` counts the questions to the seat from 1.

    By seat, so that where several are asked at once a number does not depend on who answers first.
    `answer` is the move that was made; `given` what was answered, where another move stands for it
    (X-19). `too_high` is the lowest claim that was refused as too high, `too_low` the highest that was
    refused as too low.
    """

    __slots__ = (
        "answer",
        "choices",
        "faults",
        "given",
        "held",
        "player",
        "sent",
        "too_high",
        "too_low",
        "turn_id",
    )

    def __init__(self, player: Player, turn_id: int, choices: Choices) -> None:
        self.player = player
        self.turn_id = turn_id
        self.choices = choices
        self.answer: Any = None
        self.given: Any = None
        self.faults = 0
        self.too_high = NO_CLAIM
        self.too_low = -1
        self.held = False
        self.sent = False

    @property
    def match(self) -> Match:
        """The match."""
        return self.player.match

    @property
    def seat(self) -> Seat:
        """The seat that is asked."""
        return self.player.seat

    def start(self, now_ns: int) -> None:
        """The turn can go to the bot now: its clock starts."""
        player = self.player
        clock = player.clock
        assert player.turn is self
        assert not clock.started_ns
        deadlines = player.match.referee.deadlines
        clock.start(now_ns, deadlines.lag_ns)
        player.bot.running += 1
        ends_ns = now_ns + clock.limit_ns + clock.spare_ns
        if not clock.armed_ns or ends_ns < clock.armed_ns:
            clock.armed_ns = ends_ns
            deadlines.push(ends_ns, player)

    def wait(self, now_ns: int) -> None:
        """The turn cannot go to the bot yet: its clock stands still, as long as it may."""
        player = self.player
        clock = player.clock
        deadlines = player.match.referee.deadlines
        clock.wait(now_ns, deadlines.lag_ns)
        if not clock.armed_ns:
            ends_ns = clock.wait_ends_ns(player.match.referee.wait_ns, deadlines.lag_ns)
            clock.armed_ns = max(now_ns, min(ends_ns, now_ns + WAIT_LOOK_NS))
            deadlines.push(clock.armed_ns, player)

    def time_ms(self, now_ns: int) -> tuple[int, int]:
        """Return the milliseconds left for this turn and those in the bank (0: no bank)."""
        player = self.player
        clock = player.clock
        if player.turn is not self:
            return 0, clock.bank_ms
        return clock.left_ms(now_ns, player.match.referee.deadlines.lag_ns), clock.bank_ms

    def close(self) -> None:
        """Nobody waits for an answer any more."""
        bot = self.player.bot
        if self.sent:
            bot.out -= 1
        else:
            bot.ready.pop(self, None)
        if self.player.clock.started_ns:
            bot.running -= 1
        if bot.waiting or bot.most:
            bot.waiting.pop(self, None)
            bot.make_room()


class Player:
    """A bot at a seat of one match. `turn` is open, `last` was answered last; `asked` counts turns."""

    __slots__ = ("absence", "asked", "bot", "clock", "last", "match", "overdue", "seat", "turn")

    def __init__(self, match: Match, seat: Seat, bot: Bot, clock: SeatClock) -> None:
        self.match = match
        self.seat = seat
        self.bot = bot
        self.clock = clock
        self.asked = 0
        self.turn: OpenTurn | None = None
        self.last: OpenTurn | None = None
        self.overdue: Overdue | None = None
        self.absence: Absence | None = None

    def due(self, when_ns: int, now_ns: int) -> int:
        """End the turn if its time is up, and certainly so (see `clock`)."""
        clock = self.clock
        if when_ns != clock.armed_ns:
            return 0  # another entry took over
        clock.armed_ns = 0
        turn = self.turn
        if turn is None:
            return 0
        again_ns = 0
        if clock.started_ns:
            again_ns = self._overdue(turn, now_ns)
        elif clock.waiting_ns:
            again_ns = self._waits(turn, now_ns)
        if again_ns:
            clock.armed_ns = again_ns
        return again_ns

    def _overdue(self, turn: OpenTurn, now_ns: int) -> int:
        """End the turn if its time is up. Return when to ask again, or 0."""
        lag_ns = self.match.referee.deadlines.lag_ns
        ends_ns = self.clock.ends_ns(lag_ns)
        if ends_ns > now_ns:
            return ends_ns
        if self._confirmed(turn, lag_ns):
            return self.match.referee.turn_over(self, now_ns)
        return now_ns + CONFIRM_NS

    def _waits(self, turn: OpenTurn, now_ns: int) -> int:
        """Start the clock if the seat has waited for too long. Return when to ask again, or 0.

        A bot that has not come to this match yet has the start-up time instead.
        """
        referee = self.match.referee
        ends_ns = self.clock.wait_ends_ns(referee.wait_ns, referee.deadlines.lag_ns)
        if ends_ns > now_ns:
            return min(ends_ns, now_ns + WAIT_LOOK_NS)
        if not self.bot.came_to(self.match):
            return now_ns + WAIT_LOOK_NS
        self.bot.let_go(turn, now_ns)
        return 0

    def is_spent(self) -> bool:
        """Whether its match is over (see `Deadline`)."""
        return self.match.ending is not None

    def _confirmed(self, turn: OpenTurn, lag_ns: int) -> bool:
        """Whether the turn was overdue before, and whatever had arrived by then has been read since."""
        probe = self.match.referee.deadlines.probe
        heard = self.bot.heard
        before = self.overdue
        times = 0
        if before is not None and before.turn is turn:
            if not probe.passed(before.proof):
                return False
            quiet = before.lag_ns == lag_ns and before.heard == heard
            if quiet or before.times == CONFIRMATIONS_MAX:
                return True
            times = before.times
        self.overdue = Overdue(turn, lag_ns, heard, probe.ask(), times + 1)
        return False

    def close_turn(self) -> None:
        """Withdraw the open turn, if any."""
        if self.turn is not None:
            turn, self.turn = self.turn, None
            turn.close()
            self.clock.withdraw()


class Overdue(NamedTuple):
    """A turn found overdue: at which lag, how many messages the bot had sent, for which time."""

    turn: OpenTurn
    lag_ns: int
    heard: int
    proof: int
    times: int


class Absence(NamedTuple):
    """A bot found to be away for too long: since when, and the proof that nothing of it lies unread."""

    left_ns: int
    proof: int


class MatchLimit:
    """When a match has lasted as long as it may (`TimeControl.match_ms`; see `Deadline`)."""

    __slots__ = ("_match", "_proof")

    def __init__(self, match: Match) -> None:
        self._match = match
        self._proof = -1  # none asked for yet

    def ends_ns(self) -> int:
        """Return when that is, by the lag known now."""
        match = self._match
        lag_ns = match.referee.deadlines.lag_ns - match.created_lag_ns
        return match.created_ns + match.spec.time_control.match_ms * MILLISECOND + lag_ns

    def due(self, when_ns: int, now_ns: int) -> int:
        """End the match if it is time."""
        match = self._match
        if match.ending is not None:
            return 0
        ends_ns = self.ends_ns()
        if ends_ns > now_ns:
            return ends_ns
        probe = match.referee.deadlines.probe
        if self._proof < 0:
            self._proof = probe.ask()
        if not probe.passed(self._proof):
            return now_ns + CONFIRM_NS
        match.referee.limit_over(match)
        return 0

    def is_spent(self) -> bool:
        """Whether the match is over (see `Deadline`)."""
        return self._match.ending is not None


class Archive(NamedTuple):
    """What is kept of a finished match."""

    moves: str
    event_count: int
    events_digest: str


class Match:
    """One match. `result` is set when it has been stored; from `ending` on no answer counts.

    `spec` never holds the seed; `seed` goes into records only. `key` orders matches by creation,
    `finish` (0: not yet) by their end.
    """

    __slots__ = (
        "archive",
        "create_time",
        "created_lag_ns",
        "created_ns",
        "end_time",
        "ending",
        "finish",
        "game",
        "id",
        "key",
        "log",
        "players",
        "referee",
        "result",
        "rules_version",
        "seed",
        "spec",
        "state",
    )

    def __init__(
        self,
        id: str,
        key: int,
        spec: MatchSpec,
        seed: bytes,
        game: Game | None,
        create_time: float,
        rules_version: str,
    ) -> None:
        self.id = id
        self.key = key
        self.spec = spec
        self.seed = seed
        self.game: Any = game  # None: a finished match of a variant that is no longer there
        self.create_time = create_time
        self.rules_version = rules_version
        self.created_ns = 0
        self.created_lag_ns = 0
        self.end_time: float | None = None
        self.finish = 0
        self.log = Log()
        self.state: State | None = None
        self.players: list[Player] = []
        self.ending: Result | None = None
        self.result: Result | None = None
        self.archive: Archive | None = None
        self.referee: Referee = NOBODY

    def __repr__(self) -> str:
        return f"<Match {self.id} {self.spec.variant} {'/'.join(self.spec.bots)}>"

    # What others ask

    @property
    def commitment(self) -> bytes:
        """SHA-256 over seed and nonce (`rules.shuffle`)."""
        return commitment(self.seed, self.spec.nonce)

    @property
    def event_count(self) -> int:
        """How many events may be seen; of a finished match one more than the game's: its result."""
        if self.archive is not None and self.result is not None:
            return self.archive.event_count + 1
        return self.log.visible

    def seats_of(self, bot: str) -> tuple[Seat, ...]:
        """Return the seats at which the bot sits."""
        return tuple([seat for seat, name in enumerate(self.spec.bots) if name == bot])

    def view(self, seat: Seat | None) -> Any:
        """Return all that the seat can see; of a match that has just ended too.

        So a turn that was taken but not yet written can still be written. Raises `InvalidRequest`
        when the match has been over for longer.
        """
        if self.state is None:
            raise InvalidRequest(f"match {self.id} is over; ask for its record or its events")
        return self.state.view(seat)

    def events(self, after: int) -> list[tuple[int, Any]]:
        """Return (sequence, event) of all visible events after sequence number `after`, unredacted.

        The last event of a finished match is its `Result`.
        """
        last = self.event_count
        after = max(after, 0)
        if after >= last:
            return []
        total = self.log.count if self.archive is None else self.archive.event_count
        if self.log.count == total and self.log.first <= after + 1:
            start = after + 1 - self.log.first
            found = self.log.events[start : start + last - after]
        else:
            found = self._derive()[after:last]
        if last > total:
            assert self.result is not None
            found.append(self.result)
        return list(enumerate(found, after + 1))

    def _derive(self) -> list[Any]:
        """Play the match again and return all its events."""
        state, events = self.deal()
        moves = self.log.moves() if self.archive is None else self.archive.moves
        for line in lines_of(moves):
            seat, _, move = line.partition(" ")
            events += state.apply(int(seat), self.game.parse_move(move))
        return events

    def record(self, reveal_seed: bool) -> Record:
        """Return the record of a finished match. Raises `InvalidRequest` while it runs."""
        result, archive = self.result, self.archive
        if result is None or archive is None:
            raise InvalidRequest(f"match {self.id} is still running; its record comes when it ends")
        return Record(
            match=self.id,
            variant=self.spec.variant,
            options=self.spec.options,
            bots=self.spec.bots,
            nonce=self.spec.nonce,
            seed=self.seed if reveal_seed else None,
            commitment=self.commitment,
            moves=tuple(lines_of(archive.moves)),
            result=result,
            events_digest=archive.events_digest,
            rules_version=self.rules_version,
        )

    def open_turns(self, bot: Bot) -> list[OpenTurn]:
        """Return the turns that the bot can be told of."""
        return [
            player.turn
            for player in self.players
            if player.bot is bot and player.turn is not None and not player.turn.held
        ]

    def bots(self) -> list[Bot]:
        """Return the bots that sit here, each once."""
        return list(dict.fromkeys([player.bot for player in self.players]))

    # What the host does

    def deal(self) -> tuple[State, list[Any]]:
        """Return the match as it stands before the first move, and its first events.

        A match goes on, and is told again, under the rules that it was begun with. Raises
        `RecordError` for rules that are not known here.
        """
        chance = SeededChance(self.seed, self.spec.nonce)
        edition = edition_of(self.rules_version)
        state, events = self.game.start(len(self.spec.bots), chance, edition)
        return state, events

    def begin(self) -> None:
        """Deal and log the first events. Raises `SeatsError`."""
        self.state, events = self.deal()
        self.log.add_events(events)

    def play(self, player: Player, turn: OpenTurn, move: Any) -> None:
        """Apply an answer and log it. Raises what `State.apply` raises and then changes nothing.

        A claim that is too high for the second time is applied and logged as a claim of 0 (X-19), so
        that a record needs no memory of what was refused; but not where that is too low to go out.
        """
        state = self.state
        assert state is not None
        try:
            events = state.apply(player.seat, move)
        except ClaimTooHigh as error:
            if turn.too_high == NO_CLAIM:
                raise
            try:
                events = state.apply(player.seat, error.instead)
            except MustGoOut:
                raise error from None
            turn.given, move = move, error.instead
        self.log.append(player.seat, move, events)
        turn.answer = move
        player.turn = None
        player.last = turn
        turn.close()

    def ask(self, acting: tuple[Seat, ...]) -> list[OpenTurn]:
        """Open the turns of those who are to act, withdraw all others. Return the new ones.

        A turn stands as long as its `Choices` are the same object (`rules.game.State.choices`).
        """
        state = self.state
        assert state is not None
        opened = []
        for player in self.players:
            if player.seat not in acting:
                if player.turn is not None:
                    player.close_turn()
                continue
            choices = state.choices(player.seat)
            if player.turn is not None:
                if player.turn.choices is choices:
                    continue
                player.close_turn()
            player.asked += 1
            player.turn = OpenTurn(player, player.asked, choices)
            opened.append(player.turn)
        return opened

    def close(self) -> Archive:
        """Make the archive: what is stored of a match that is over."""
        self.archive = Archive(self.log.moves(), self.log.count, self.log.digest())
        return self.archive

    def release(self) -> None:
        """Drop state and events of a match that is over; events are derived again on demand."""
        self.state = None
        self.log = Log()

    def disband(self) -> None:
        """Part with the players of a match that is over, so that it is freed with its last reference.

        Match, player and turn refer to each other, and the collector of such cycles rarely runs.
        """
        for player in self.players:
            player.turn = player.last = player.overdue = None
        self.players = []

    def due(self, when_ns: int, now_ns: int) -> int:
        """The time to connect is over (see `Deadline`)."""
        return 0 if self.ending is not None else self.referee.startup_over(self, now_ns)

    def is_spent(self) -> bool:
        """Whether it is over (see `Deadline`)."""
        return self.ending is not None


class _Nobody:
    """The referee of a match that is over."""

    deadlines = Deadlines()
    wait_ns = 0

    def startup_over(self, match: Match, now_ns: int) -> int:
        """Do nothing."""
        return 0

    def limit_over(self, match: Match) -> None:
        """Do nothing."""

    def turn_over(self, player: Player, now_ns: int) -> int:
        """Do nothing."""
        return 0


NOBODY = _Nobody()
