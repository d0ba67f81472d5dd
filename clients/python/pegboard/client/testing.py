"""Try a bot without a server: scripted matches, and whole matches between bots in one process.

    match = ScriptedMatch("cribbage", seats=2, orders={"deal/1/1": ["5C", "5D", ...]})
    match.play("0 DISCARD 5C TD", "1 DISCARD 2H 3H")
    assert choose(match.turn(1)) == 0

    played = play_match("draw", [MyBot(), random_choice], seed=7)
    assert played.outcome.points[0] == 1.0

The turns are those that a server would send, byte for byte.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from random import Random
from typing import Any, NamedTuple, SupportsIndex, cast

from pegboard.client.bot import Bot, as_bot
from pegboard.client.turn import (
    CLAIM_TOO_HIGH,
    MUST_GO_OUT,
    Choice,
    MatchInfo,
    Refused,
    Resign,
    Turn,
)
from pegboard.errors import InvalidRequest
from pegboard.rules import catalog
from pegboard.rules.catalog import Event, Move, View
from pegboard.rules.errors import ClaimTooHigh, IllegalMove, MustGoOut, PegboardError, RecordError
from pegboard.rules.game import Choices, Game, Outcome, Seat, State
from pegboard.rules.names import MATCHES
from pegboard.rules.record import Record, parse_turn, seats_of, start
from pegboard.rules.shuffle import ScriptedChance, SeededChance
from pegboard.v1 import play_pb2
from pegboard.wire.codec import CODECS
from pegboard.wire.turns import seat_bytes, turn_bytes

NAME = "matches/scripted"
MOVE_MS = 10_000
LIMIT_MOVES = 1_000_000

NO_OPTIONS: Mapping[str, str] = {}


class ScriptedMatch:
    """A match that whose deals and moves the test gives.

    `orders` gives the first cards or tiles of a deal by its label (docs/deals.md), as text; what
    is not given comes from `seed`. Raises `PegboardError` for an unknown variant,
    option, card or tile.
    """

    def __init__(
        self,
        variant: str,
        seats: int,
        orders: Mapping[str, Sequence[str]] | None = None,
        options: Mapping[str, str] = NO_OPTIONS,
        seed: int = 0,
    ) -> None:
        self.variant = variant
        self.game: Game = catalog.game(variant, options)
        scripted = {label: self.game.places(order) for label, order in (orders or {}).items()}
        chance = ScriptedChance(scripted, SeededChance(seed.to_bytes(32, "big"), "scripted"))
        self.name = NAME
        self.seats = seats
        self.options = dict(options)
        self._begin(*self.game.start(seats, chance))

    @classmethod
    def from_record(cls, record: Record, moves: int | None = None) -> ScriptedMatch:
        """Return the match of a record after its first `moves` moves; None: after all of them.

        So a bot can be asked again: `choose(ScriptedMatch.from_record(record, 41).turn(0))`. Records
        hold neither clocks nor refused claims. Raises `RecordError`.
        """
        match = cls.__new__(cls)
        match.variant, match.options = record.variant, dict(record.options)
        match.name, match.seats = MATCHES + record.match, seats_of(record)
        match.game, state, events = start(record)
        match._begin(state, events)
        try:
            for text in record.moves[:moves]:
                match.apply(*parse_turn(match.game, text))
        except PegboardError as error:
            number = len(match.moves) + 1
            raise RecordError(f"match {record.match}: move {number}, {text!r}: {error}") from error
        return match

    def _begin(self, state: State, events: Sequence[Any]) -> None:
        self.state: State[Move, Event, View] = state
        self.events: list[Event] = list(events)
        self.moves: list[tuple[Seat, Move]] = []
        self._questions: dict[
            Seat, tuple[int, Choices]
        ] = {}  # their number so far, and the last one
        self._narrowed: dict[Seat, Choices] = {}  # choices whose range refused claims have narrowed
        self._ask()

    def play(self, *moves: str) -> list[Event]:
        """Make moves, each `SEAT MOVE` in canonical notation, and return their events.

        Raises `NotationError`, `IllegalMove`, `NotYourTurn`, `MatchOver`.
        """
        events: list[Event] = []
        for text in moves:
            seat, _, move = text.partition(" ")
            events += self.apply(int(seat), self.game.parse_move(move))
        return events

    def apply(self, seat: Seat, move: Move) -> list[Event]:
        """Make one move and return its events."""
        events = self.state.apply(seat, move)
        self.moves.append((seat, move))
        self.events += events
        self._ask()
        return events

    def _ask(self) -> None:
        """Count the questions to each seat, as a server numbers its turns."""
        for seat in self.state.to_act():
            choices = self.state.choices(seat)
            count, last = self._questions.get(seat, (0, None))
            if choices is not last:
                self._questions[seat] = (count + 1, choices)
                self._narrowed[seat] = choices

    def turn(self, seat: Seat, turn_ms: int = MOVE_MS) -> Turn:
        """Return what the seat is asked now. Raises `InvalidRequest` if it is not asked."""
        if seat not in self.state.to_act():
            raise InvalidRequest(f"seat {seat} is not asked; {self.state.to_act()} are")
        data = turn_bytes(
            seat_bytes(self.name, seat),
            self._questions[seat][0],
            (turn_ms, None),
            self._narrowed[seat],
            self.state.choices(seat),
            self.state.view(seat),
            CODECS[self.game.family],
        )
        return Turn(play_pb2.Turn.FromString(data), self.info((seat,)))

    def info(self, seats: tuple[Seat, ...]) -> MatchInfo:
        """Return what a bot at these seats is told of the match."""
        return MatchInfo(self.name, self.variant, seats, self.seats, self.options, 0, 0, MOVE_MS)

    def narrow(self, seat: Seat, refused: ClaimTooHigh | MustGoOut) -> None:
        """Let the seat be asked again, the range of its number narrowed by a refused claim."""
        self._narrowed[seat] = self._narrowed[seat].without(refused, self.state.choices(seat))

    def resolve(self, turn: Turn, choice: Choice) -> Move:
        """Return the move that a choice names. Raises `IllegalMove` for one that is not listed."""
        choices = self._narrowed[turn.seat]
        index: object = choice
        number: int | None = None
        if isinstance(choice, tuple) and len(choice) == 2:
            index, number = choice
        if not isinstance(index, SupportsIndex):
            return cast("Move", choice)
        try:
            asked = self.state.choices(turn.seat)
            return cast("Move", choices.complete(index.__index__(), number, asked))
        except (IndexError, ValueError):
            raise IllegalMove(f"{choice!r} is not among the choices of {turn!r}") from None


class PlayedMatch(NamedTuple):
    """A whole match: how it came out (None: resigned), its moves, its events."""

    outcome: Outcome | None
    moves: list[tuple[Seat, Move]]
    events: list[Event]


def play_match(
    variant: str,
    bots: Sequence[Bot | Callable[[Turn], Choice]],
    options: Mapping[str, str] = NO_OPTIONS,
    seed: int = 0,
) -> PlayedMatch:
    """Play a match to its end, a bot at each seat.

    Raises `IllegalMove`, which names the turn, if a choice is not legal; claims are refused, asked for
    again and taken as 0 as a server does it (X-19).
    """
    match = ScriptedMatch(variant, len(bots), options=options, seed=seed)
    players = [as_bot(bot) for bot in bots]
    for seat, player in enumerate(players):
        player.match_started(match.info((seat,)))
    while seats := match.state.to_act():
        if len(match.moves) > LIMIT_MOVES:
            raise PegboardError(f"no end after {LIMIT_MOVES} moves")
        if not _ask(match, match.turn(seats[0]), players[seats[0]]):
            return PlayedMatch(None, match.moves, match.events)
    return PlayedMatch(match.state.outcome(), match.moves, match.events)


def _ask(match: ScriptedMatch, turn: Turn, player: Bot) -> bool:
    """Let a bot answer a turn; return False if it resigns."""
    overclaimed = False
    while True:
        choice = player.choose_batch([turn])[0] if player.choose_batch else player.choose(turn)
        if isinstance(choice, Resign):
            return False
        try:
            match.apply(turn.seat, match.resolve(turn, choice))
            return True
        except (ClaimTooHigh, MustGoOut) as error:
            if overclaimed and _stands(match, turn, error):
                return True
            low, high = turn.number or (0, 0)
            if not low <= error.claim <= high:
                raise
            overclaimed = overclaimed or isinstance(error, ClaimTooHigh)
            reason = CLAIM_TOO_HIGH if isinstance(error, ClaimTooHigh) else MUST_GO_OUT
            match.narrow(turn.seat, error)
            turn = match.turn(turn.seat)
            turn.refused = Refused(reason, str(error), 3)


def _stands(match: ScriptedMatch, turn: Turn, error: ClaimTooHigh | MustGoOut) -> bool:
    """Let a second claim that is too high stand as a claim of 0, if 0 is not too low (X-05)."""
    if not isinstance(error, ClaimTooHigh):
        return False
    try:
        match.apply(turn.seat, error.instead)
    except MustGoOut:
        return False
    return True


def random_choice(turn: Turn) -> tuple[int, int | None]:
    """Choose at random, the same way in the same turn: an opponent for tests."""
    key = f"{turn.seat}/{turn.turn_id}/{turn.number}"
    return turn.random(Random(key))  # noqa: S311 - repeatable, not secret
