"""A match that is played: its state, its log, its seats and their open turns.

This module keeps a match consistent: a move is applied, logged, and then the next turns are opened.
When clocks run and who is told is decided above, in `turns`, `timeouts` and `publishing`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from pegboard.matches.clock import SeatClock
from pegboard.matches.finished import AnsweredTurn, Archive, FinishedMatch, GameOf, MatchEnding
from pegboard.matches.log import Log
from pegboard.matches.match import Match
from pegboard.rules.errors import ClaimTooHigh, MustGoOut
from pegboard.rules.game import Choices, Game, Seat


class OpenTurn:
    """A question to one seat. `turn_id` counts the questions to the seat from 1.

    By seat, so that a number does not depend on who answers first if several seats are asked at once.
    `question` is what the rules ask, `choices` what the bot is told: the same, the range of its number
    narrowed by refused claims. `answer` is the move that was made; `given` what was answered, if
    another move stands for it (X-19). `overclaimed`: a claim was refused as too high.
    `held`: the turn is published when its cause is stored; `sent`: the bot has taken it.
    """

    __slots__ = (
        "answer",
        "choices",
        "faults",
        "given",
        "held",
        "overclaimed",
        "question",
        "seated",
        "sent",
        "turn_id",
    )

    def __init__(self, seated: SeatedBot, turn_id: int, choices: Choices) -> None:
        self.seated = seated
        self.turn_id = turn_id
        self.question = choices
        self.choices = choices
        self.answer: Any = None
        self.given: Any = None
        self.faults = 0
        self.overclaimed = False
        self.held = False
        self.sent = False

    @property
    def match(self) -> RunningMatch:
        """The match."""
        return self.seated.match

    @property
    def seat(self) -> Seat:
        """The seat that is asked."""
        return self.seated.seat

    def time_ms(self, now_ns: int, lag_ns: int) -> tuple[int, int | None]:
        """Return the milliseconds left for this turn and those in the bank (None: no bank)."""
        seated = self.seated
        clock = seated.clock
        if seated.turn is not self:
            return 0, clock.bank_ms
        return clock.left_ms(now_ns, lag_ns), clock.bank_ms

    def narrow(self, refused: ClaimTooHigh | MustGoOut) -> bool:
        """Narrow the range by a refused claim. Return whether the claim was within it."""
        bounds = self.choices.number
        if bounds is None:
            return False
        self.choices = self.choices.without(refused, self.question)
        return bounds[0] <= refused.claim <= bounds[1]

    def answered(self) -> AnsweredTurn:
        """Return what is kept of an answered turn."""
        made = self.answer if self.given is None else self.given
        return AnsweredTurn(self.turn_id, self.question, self.choices, made)


class SeatedBot:
    """A bot at a seat of one running match, by its name.

    `turn` is open, `last` was answered last; `asked` counts turns. `overdue` and `absence` are what
    `timeouts` and `presence` have found, until it is confirmed.
    """

    __slots__ = ("absence", "asked", "clock", "last", "match", "name", "overdue", "seat", "turn")

    def __init__(self, match: RunningMatch, seat: Seat, name: str, clock: SeatClock) -> None:
        self.match = match
        self.seat = seat
        self.name = name
        self.clock = clock
        self.asked = 0
        self.turn: OpenTurn | None = None
        self.last: OpenTurn | None = None
        self.overdue: Overdue | None = None
        self.absence: Absence | None = None


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


class RunningMatch(Match):
    """A match in play, dealt, with its first turns open.

    From `ending` on no answer counts. `finished` is the match as it was stored, None until its end is
    stored. `created_ns` and `created_lag_ns` are the time and the lag when play began.
    """

    __slots__ = (
        "created_lag_ns",
        "created_ns",
        "ending",
        "finished",
        "game",
        "log",
        "seats",
        "state",
    )

    def __init__(self, match: Match, game: Game, spare_ns: int) -> None:
        """Deal. Raises `SeatsError`, and `RecordError` for rules that are not known here."""
        super().__init__(match.identity)
        self.game = game
        self.created_ns = 0
        self.created_lag_ns = 0
        self.ending: MatchEnding | None = None
        self.finished: FinishedMatch | None = None
        self.log = Log()
        self.state, events = self.deal(game)
        self.log.add_events(events)
        control = self.spec.time_control
        self.seats = [
            SeatedBot(self, seat, name, SeatClock(control, spare_ns))
            for seat, name in enumerate(self.spec.bots)
        ]
        self.ask(self.state.to_act())

    def begin(self, now_ns: int, lag_ns: int) -> None:
        """Start play: what has happened so far may be seen, and the time to connect runs."""
        self.created_ns = now_ns
        self.created_lag_ns = lag_ns
        self.log.visible = self.log.count

    @property
    def bots(self) -> list[str]:
        """The names of the bots that sit here, each once."""
        return list(dict.fromkeys(self.spec.bots))

    # What others ask

    @property
    def family(self) -> str:
        """The family of the game."""
        return self.game.family

    @property
    def event_count(self) -> int:
        """How many events may be seen."""
        return self.log.visible

    def events(self, after: int) -> list[tuple[int, Any]]:
        """Return (sequence, event) of all visible events after sequence number `after`, unredacted."""
        log = self.log
        last = log.visible
        after = max(after, 0)
        if after >= last:
            return []
        start = after + 1 - log.first
        if start >= 0:
            found = log.events[start : start + last - after]
        else:
            found = self.replay(self.game, log.moves())[after:last]
        return list(enumerate(found, after + 1))

    def view(self, seat: Seat | None) -> Any:
        """Return all that the seat can see."""
        return self.state.view(seat)

    def open_turns(self, bot: str) -> list[OpenTurn]:
        """Return the turns that the bot can be told of."""
        return [
            seated.turn
            for seated in self.seats
            if seated.name == bot and seated.turn is not None and not seated.turn.held
        ]

    # What happens

    def play(self, seated: SeatedBot, turn: OpenTurn, move: Any) -> Any:
        """Apply an answer, log it and return the move that was made.

        Raises what `State.apply` raises and then changes nothing. A claim that is too high for the
        second time is applied and logged as a claim of 0 (X-19), so that a record needs no memory of
        what was refused; but not if that is too low to go out.
        """
        state = self.state
        try:
            events = state.apply(seated.seat, move)
        except ClaimTooHigh as error:
            if not turn.overclaimed:
                raise
            try:
                events = state.apply(seated.seat, error.instead)
            except MustGoOut:
                raise error from None
            turn.given, move = move, error.instead
        self.log.append(seated.seat, move, events)
        turn.answer = move
        seated.turn = None
        seated.last = turn
        return move

    def ask(self, acting: tuple[Seat, ...]) -> tuple[list[OpenTurn], Sequence[OpenTurn]]:
        """Open the turns of the seats that are to act; return the new turns and the withdrawn ones.

        A turn stands as long as its `Choices` are the same object (`rules.game.State.choices`).
        """
        opened: list[OpenTurn] = []
        withdrawn: tuple[OpenTurn, ...] = ()  # nearly always: no list for it
        for seated in self.seats:
            turn = seated.turn
            if seated.seat not in acting:
                if turn is not None:
                    withdrawn += (turn,)
                    seated.turn = None
                continue
            choices = self.state.choices(seated.seat)
            if turn is not None:
                if turn.question is choices:
                    continue
                withdrawn += (turn,)
            seated.asked += 1
            seated.turn = turn = OpenTurn(seated, seated.asked, choices)
            opened.append(turn)
        return opened, withdrawn

    def withdraw(self) -> list[OpenTurn]:
        """Close all open turns without an answer and return them."""
        withdrawn = []
        for seated in self.seats:
            if seated.turn is not None:
                withdrawn.append(seated.turn)
                seated.turn = None
        return withdrawn

    def finish(self, finish: int, game_of: GameOf) -> FinishedMatch:
        """Return what is kept of the match now that it has ended."""
        assert self.ending is not None
        log = self.log
        archive = Archive(log.moves(), log.count, log.digest())
        answered = tuple(
            [None if seated.last is None else seated.last.answered() for seated in self.seats]
        )
        return FinishedMatch(
            self, self.ending, archive, finish, game_of, recent=log.events, answered=answered
        )

    def disband(self) -> None:
        """Part with the seats of a match that is over, so that it is freed with its last reference.

        Match, seat and turn refer to each other, and the collector of such cycles rarely runs. A turn
        that was taken and is not written yet still knows its match.
        """
        for seated in self.seats:
            seated.turn = seated.last = seated.overdue = None
        self.seats = []


class LostMatch(Match):
    """A match of the store that cannot go on: of a running match only its moves are left."""

    __slots__ = ("_ending", "_moves")

    def __init__(self, match: Match, ending: MatchEnding, moves: str) -> None:
        super().__init__(match.identity)
        self._ending = ending
        self._moves = moves

    @property
    def ending(self) -> MatchEnding:
        """How it ended."""
        return self._ending

    def finish(self, finish: int, game_of: GameOf) -> FinishedMatch:
        """Return what is kept of it: no event can be derived."""
        return FinishedMatch(
            self, self._ending, Archive(self._moves, 0, _NO_EVENTS), finish, game_of
        )


AnyMatch = RunningMatch | FinishedMatch
"""A match as callers find it: `finished` says which of the two it is."""

_NO_EVENTS = Log().digest()
