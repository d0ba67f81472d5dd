"""One match: its seats, its state, its log, its open turns, its result.

A match knows its game only by the contract of `rules.game`. What happens to it is decided in `host`;
this module keeps it consistent: a move is applied, logged, and then the next turns are opened.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from pegboard.matches.clock import CONFIRM_NS, MILLISECOND, Deadlines, SeatClock
from pegboard.matches.log import Log
from pegboard.matches.spec import MatchSpec, Result
from pegboard.rules.errors import InvalidRequest
from pegboard.rules.game import Choices, Game, Seat, State
from pegboard.rules.record import Record, RecordResult
from pegboard.rules.shuffle import SeededChance, commitment

if TYPE_CHECKING:
    from pegboard.matches.mailbox import Bot

FindGame = Callable[[str, Mapping[str, str]], Game]
"""The catalog: variant and options to a game."""

CONFIRMATIONS_MAX = 10
"""How often a busy loop may put off the end of an overdue turn."""


class Referee(Protocol):
    """Who decides what becomes of a match: the host."""

    @property
    def deadlines(self) -> Deadlines:
        """The heap that all clocks share."""
        ...

    def startup_over(self, match: Match, now_ns: int) -> int:
        """Forfeit a bot that has never come. Return when to ask again, or 0."""
        ...

    def turn_over(self, player: Player) -> None:
        """The player's time is up."""
        ...


class OpenTurn:
    """A question to one seat. `turn_id` counts the questions to the seat from 1.

    By seat, so that where several are asked at once a number does not depend on who answers first.
    """

    __slots__ = ("answer", "choices", "faults", "held", "player", "refusals", "sent", "turn_id")

    def __init__(self, player: Player, turn_id: int, choices: Choices) -> None:
        self.player = player
        self.turn_id = turn_id
        self.choices = choices
        self.answer: Any = None
        self.faults = 0
        self.refusals = 0
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

    def start(self, now_ns: int) -> tuple[int, int]:
        """The turn goes to the bot now: its clock starts, unless it runs already.

        Returns the milliseconds left for this turn and those in the bank (0: no bank).
        """
        player = self.player
        clock = player.clock
        deadlines = player.match.referee.deadlines
        lag_ns = deadlines.lag_ns
        if player.turn is not self:
            return 0, clock.bank_ms
        if clock.started_ns:
            return clock.left_ms(now_ns, lag_ns), clock.bank_ms
        clock.start(now_ns, lag_ns)
        ends_ns = now_ns + clock.limit_ns + clock.spare_ns
        if not clock.armed_ns or ends_ns < clock.armed_ns:
            clock.armed_ns = ends_ns
            deadlines.push(ends_ns, player)
        return clock.limit_ns // MILLISECOND, clock.bank_ms

    def close(self) -> None:
        """Nobody waits for an answer any more."""
        bot = self.player.bot
        if not self.sent:
            bot.ready.pop(self, None)
        else:
            bot.out -= 1
            if bot.limited and bot.ready:
                bot.wake()


class Player:
    """A bot at a seat of one match. `turn` is open, `last` was answered last; `asked` counts turns."""

    __slots__ = ("asked", "bot", "clock", "last", "match", "overdue", "seat", "turn")

    def __init__(self, match: Match, seat: Seat, bot: Bot, clock: SeatClock) -> None:
        self.match = match
        self.seat = seat
        self.bot = bot
        self.clock = clock
        self.asked = 0
        self.turn: OpenTurn | None = None
        self.last: OpenTurn | None = None
        self.overdue: Overdue | None = None

    def due(self, when_ns: int, now_ns: int) -> int:
        """End the turn if its time is up, and certainly so (see `clock`)."""
        clock = self.clock
        if when_ns != clock.armed_ns:
            return 0  # another entry took over
        clock.armed_ns = 0
        if self.turn is None or not clock.started_ns:
            return 0
        lag_ns = self.match.referee.deadlines.lag_ns
        ends_ns = clock.ends_ns(lag_ns)
        if ends_ns <= now_ns:
            if self._confirmed(self.turn, lag_ns):
                self.match.referee.turn_over(self)
                return 0
            ends_ns = now_ns + CONFIRM_NS
        clock.armed_ns = ends_ns
        return ends_ns

    def is_spent(self) -> bool:
        """Whether its match is over (see `Deadline`)."""
        return self.match.ending is not None

    def _confirmed(self, turn: OpenTurn, lag_ns: int) -> bool:
        """Whether the turn was overdue before and the loop has been punctual since."""
        before = self.overdue
        times = 0
        if before is not None and before.turn is turn:
            if before.lag_ns == lag_ns or before.times == CONFIRMATIONS_MAX:
                return True
            times = before.times
        self.overdue = Overdue(turn, lag_ns, times + 1)
        return False

    def close_turn(self) -> None:
        """Withdraw the open turn, if any."""
        if self.turn is not None:
            turn, self.turn = self.turn, None
            self.clock.withdraw()
            turn.close()


class Overdue(NamedTuple):
    """A turn found overdue, at which lag, for which time."""

    turn: OpenTurn
    lag_ns: int
    times: int


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
        for line in moves.splitlines():
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
            moves=tuple(archive.moves.splitlines()),
            result=RecordResult(
                result.termination.name,
                result.seat_at_fault,
                result.points,
                result.scores,
                result.games_won,
                result.detail,
            ),
            events_digest=archive.events_digest,
            rules_version=self.rules_version,
        )

    def bots(self) -> list[Bot]:
        """Return the bots that sit here, each once."""
        return list(dict.fromkeys([player.bot for player in self.players]))

    # What the host does

    def deal(self) -> tuple[State, list[Any]]:
        """Return the match as it stands before the first move, and its first events."""
        chance = SeededChance(self.seed, self.spec.nonce)
        state, events = self.game.start(len(self.spec.bots), chance)
        return state, events

    def begin(self) -> None:
        """Deal and log the first events. Raises `SeatsError`."""
        self.state, events = self.deal()
        self.log.add_events(events)

    def play(self, player: Player, turn: OpenTurn, move: Any) -> None:
        """Apply an answer and log it. Raises what `State.apply` raises and then changes nothing."""
        assert self.state is not None
        events = self.state.apply(player.seat, move)
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
        """Part with the players of a match that is over, so that it is freed when nobody has it.

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

    def startup_over(self, match: Match, now_ns: int) -> int:
        """Do nothing."""
        return 0

    def turn_over(self, player: Player) -> None:
        """Do nothing."""


NOBODY = _Nobody()
