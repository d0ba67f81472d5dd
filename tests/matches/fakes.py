"""A tiny game, a clock that stands still, and a host on both: what the tests of matches play with."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from pegboard.matches.answers import Answer
from pegboard.matches.clock import MILLISECOND
from pegboard.matches.deadlines import TICK_NS
from pegboard.matches.host import CreateRequest, HostSettings, MatchHost
from pegboard.matches.mailbox import Mailbox
from pegboard.matches.running import RunningMatch
from pegboard.matches.spec import MatchSpec, TimeControl
from pegboard.matches.store.opening import open_store
from pegboard.matches.store.protocol import Durability
from pegboard.rules.errors import (
    ClaimTooHigh,
    IllegalMove,
    MatchOver,
    MustGoOut,
    NotationError,
    NotYourTurn,
    OptionError,
    UnknownVariant,
)
from pegboard.rules.game import Chance, Choices, Option, Outcome
from pegboard.rules.versions import EDITION, Edition

# Heap: all seats secretly guard a number at once, then the seats take 1 to 3 stones in turn and the
# last to take wins. A claim is open: it must be the stones left, not less when one could finish (3 or
# fewer). `Boom` is an error of the rules; `Stranger` is a move of another game.


@dataclass(frozen=True, slots=True)
class Take:
    """Takes stones."""

    stones: int
    is_open = False

    def text(self) -> str:
        """Return the notation."""
        return f"TAKE {self.stones}"


@dataclass(frozen=True, slots=True)
class Guard:
    """Guards a number."""

    number: int
    is_open = False

    def text(self) -> str:
        """Return the notation."""
        return f"GUARD {self.number}"


@dataclass(frozen=True, slots=True)
class Claim:
    """Claims to take so many; open without the number."""

    points: int = -1
    LEAST = 0

    @property
    def is_open(self) -> bool:
        """Whether the number is missing."""
        return self.points < 0

    def with_number(self, number: int) -> Claim:
        """Return the move with its number."""
        return replace(self, points=number)

    def text(self) -> str:
        """Return the notation."""
        return f"CLAIM {self.points}"


@dataclass(frozen=True, slots=True)
class Boom:
    """Is an error of the rules."""

    is_open = False

    def text(self) -> str:
        """Return the notation."""
        return "BOOM"


@dataclass(frozen=True, slots=True)
class Stranger:
    """Is a move of another game."""

    is_open = False

    def text(self) -> str:
        """Return the notation."""
        return "STRANGE"


class Happened(NamedTuple):
    """An event."""

    what: str

    def text(self) -> str:
        """Return the notation."""
        return self.what


class HeapState:
    """`to_act`: all at once while guarding, then one. Choices are one object a question."""

    def __init__(self, seats: int, stones: int, scores: tuple[int, ...]) -> None:
        self.seats = seats
        self.stones = stones
        self.scores = scores
        self.guarded: set[int] = set()
        self.turn = 0
        self._choices: dict[int, Choices] = {}

    def to_act(self) -> tuple[int, ...]:
        """All who have not guarded, then one."""
        if not self.stones:
            return ()
        if len(self.guarded) < self.seats:
            return tuple(seat for seat in range(self.seats) if seat not in self.guarded)
        return (self.turn,)

    def choices(self, seat: int) -> Choices:
        """One object a question."""
        if seat not in self.to_act():
            return Choices(())
        if seat not in self._choices:
            self._choices[seat] = self._list()
        return self._choices[seat]

    def _list(self) -> Choices:
        if len(self.guarded) < self.seats:
            return Choices(tuple(map(Guard, range(3))))
        takes = tuple(map(Take, range(1, min(3, self.stones) + 1)))
        return Choices((*takes, Claim(), Boom()), (0, 40))

    def apply(self, seat: int, move: Any) -> list[Any]:
        """Check, then change."""
        if not self.stones:
            raise MatchOver("the match is over")
        if seat not in self.to_act():
            raise NotYourTurn(f"seat {seat} is not asked")
        listed = self.choices(seat)
        if isinstance(move, Boom):
            raise ZeroDivisionError("boom")
        if isinstance(move, Claim):
            return self._claim(seat, move)
        if move not in listed.moves:
            raise IllegalMove(f"{move.text()} is not legal")
        self._choices.pop(seat)
        if isinstance(move, Guard):
            self.guarded.add(seat)
            return [Happened(f"GUARDED {seat}")]
        return self._take(seat, move.stones)

    def _claim(self, seat: int, move: Claim) -> list[Any]:
        if move not in (self.choices(seat).expand()):
            raise IllegalMove(f"{move.text()} is not legal")
        if move.points > self.stones:
            raise ClaimTooHigh("too many", move.points, Claim(0))
        if self.stones <= 3 and move.points < self.stones:
            raise MustGoOut("take them all", move.points)
        self._choices.pop(seat)
        return self._take(seat, min(move.points, 3) or 1)

    def _take(self, seat: int, stones: int) -> list[Any]:
        self.stones -= stones
        self.scores = tuple(
            score + stones * (seat == other) for other, score in enumerate(self.scores)
        )
        self.turn = (seat + 1) % self.seats
        taken = Happened(f"TOOK {seat} {stones}")
        return [taken] if self.stones else [taken, Happened(f"WON {seat}")]

    def view(self, seat: int | None) -> Any:
        """Everything: nothing is hidden."""
        return (seat, self.stones, self.scores)

    def outcome(self) -> Outcome | None:
        """The last to take wins."""
        if self.stones:
            return None
        winner = (self.turn - 1) % self.seats
        points = tuple(float(seat == winner) for seat in range(self.seats))
        return Outcome(points, self.scores, (0,) * self.seats)

    def standing(self) -> Outcome:
        """Rank by stones."""
        best = max(self.scores)
        points = tuple(float(score == best) for score in self.scores)
        return Outcome(points, self.scores, (0,) * self.seats)

    def copy(self) -> HeapState:
        """Refuse: a host does not copy states."""
        raise NotImplementedError


@dataclass(frozen=True)
class Heap:
    """The game."""

    stones: int = 10
    broken: bool = False

    family = "fake"
    seats = (1, 2, 3)

    def start(
        self, seats: int, chance: Chance, edition: Edition = EDITION
    ) -> tuple[HeapState, list[Any]]:
        """Deal: who begins is luck."""
        assert not self.broken
        first = chance.order("first", seats, 1)[0]
        state = HeapState(seats, self.stones, (0,) * seats)
        state.turn = first
        return state, [Happened(f"HEAP {self.stones} FIRST {first}")]

    def redact(self, event: Any, seat: int | None) -> Any:
        """Nothing is hidden."""
        return event

    def sides(self, seats: int) -> tuple[int, ...]:
        """Each seat is a side."""
        return tuple(range(seats))

    def parse_move(self, text: str) -> Any:
        """Read a move."""
        word, _, number = text.partition(" ")
        kinds = {"TAKE": Take, "GUARD": Guard, "CLAIM": Claim}
        if word not in kinds:
            raise NotationError(text)
        return kinds[word](int(number))

    def options(self) -> tuple[Option, ...]:
        """None to list."""
        return ()

    def with_options(self, options: Mapping[str, str]) -> Heap:
        """Only `stones`."""
        unknown = set(options) - {"stones"}
        if unknown:
            raise OptionError(f"no option {unknown.pop()}")
        return replace(self, stones=int(options["stones"]))


DEFAULTS = HostSettings()
GAMES = {"heap": Heap()}


def find_game(variant: str, options: Mapping[str, str]) -> Any:
    """The catalog of the tests; take a game out of GAMES to make a variant disappear."""
    if variant not in GAMES:
        raise UnknownVariant(variant)
    game = GAMES[variant]
    return game.with_options(options) if options else game


class FakeTime:
    """Monotonic nanoseconds that move only when told."""

    def __init__(self) -> None:
        self.ns = 1_000_000_000

    def __call__(self) -> int:
        """Return the time."""
        return self.ns


class Hosted:
    """A host whose time stands still between `pass_s`; a wrapper, since compiled classes are final."""

    def __init__(self, path: Path | None, durability: Durability, settings: HostSettings) -> None:
        self.time = FakeTime()
        store = open_store(path, durability)
        self.host = MatchHost(
            store, find_game=find_game, now_ns=self.time, settings=settings, ticking=False
        )

    def __getattr__(self, name: str) -> Any:
        """Everything else is the host's."""
        return getattr(self.host, name)

    async def pass_s(self, seconds: float, late_s: float = 0.0) -> None:
        """Let time pass in punctual ticks, after one that is late by `late_s`."""
        self.time.ns += int(late_s * 1e9)
        for _ in range(int(seconds * 1e9) // TICK_NS):
            self.time.ns += TICK_NS
            self.deadlines.tick(self.time.ns)
        await self.stored()

    async def begin(self, *bots: str, id: str = "m", **spec: Any) -> RunningMatch:
        """Create one match of the bots."""
        (match,) = await self.host.create([request(*bots, id=id, **spec)])
        assert isinstance(match, RunningMatch)
        return match


def request(*bots: str, id: str = "", request_id: str = "", **spec: Any) -> CreateRequest:
    """A request for a match of heap: move cap 10 s, start-up 60 s if not said otherwise."""
    spec.setdefault("seed", bytes(32))
    spec.setdefault("time_control", TimeControl())
    return CreateRequest(MatchSpec("heap", bots, **spec), id, request_id)


async def opened(
    path: Path | None = None,
    durability: Durability = Durability.MEMORY,
    settings: HostSettings = DEFAULTS,
) -> Hosted:
    """An open host."""
    host = Hosted(path, durability, settings)
    await host.open()
    return host


def play(
    host: Hosted, match: RunningMatch, mailboxes: Mapping[str, Mailbox], moves: int = 1000
) -> int:
    """Let all seats answer with the first listed move, up to so many times. Returns how many."""
    made = 0
    while made < moves:
        turns = [turn for box in mailboxes.values() for turn in box.take().turns]
        if not turns:
            break
        for turn in turns:
            bot = match.spec.bots[turn.seat]
            assert (
                host.answer(bot, Answer(turn.match.id, turn.seat, turn.turn_id, move_index=0))
                is None
            )
            made += 1
    return made


async def settle() -> None:
    """Let everything that is ready run."""
    for _ in range(5):
        await asyncio.sleep(0)


MS = MILLISECOND
