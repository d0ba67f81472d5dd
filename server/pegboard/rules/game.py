"""The contract between a game and its host.

A `Game` is a set of options; a variant is a named instance in `catalog`. It starts a `State`, which
changes only by `apply`. A host knows no game by name: it asks the state who is to act, offers each such
seat its choices, applies what comes back, and passes on the events, redacted.

`Game`, `State` and `Choices` are generic: `Cribbage` is a `Game[CribbageState, CribbageMove,
CribbageEvent]`, its state a `State[CribbageMove, CribbageEvent, CribbageView]`. A host writes `Game`
alone, since it only hands moves, events and views on.

States are mutable for speed and cheap to copy, so that a search bot can do
`later = state.copy(); later.apply(seat, move)`. Moves, events and views are immutable values.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MethodType
from typing import (
    TYPE_CHECKING,
    Any,
    Final,
    Generic,
    NamedTuple,
    Protocol,
    Self,
    cast,
    runtime_checkable,
)

from pegboard.rules.errors import ClaimTooHigh, MustGoOut
from pegboard.rules.versions import EDITION, Edition

if TYPE_CHECKING:
    # Defaults came with Python 3.13; only type checkers need them.
    from typing_extensions import TypeVar

    M = TypeVar("M", default=Any)
    M_co = TypeVar("M_co", covariant=True, default=Any)
    E = TypeVar("E", default=Any)
    V_co = TypeVar("V_co", covariant=True, default=Any)
    S_co = TypeVar("S_co", covariant=True, default="State")
else:
    from typing import TypeVar

    M, M_co, E = TypeVar("M"), TypeVar("M_co", covariant=True), TypeVar("E")
    V_co, S_co = TypeVar("V_co", covariant=True), TypeVar("S_co", covariant=True)

Seat = int
"""0 to n-1, clockwise; the seat to the left of seat s is (s + 1) % n."""


class Move(Protocol):
    """Something a seat does: immutable, hashable, equal to moves of its own kind only."""

    @property
    def is_open(self) -> bool:
        """Whether the move still lacks its number; then it also has `with_number` and `LEAST`."""
        ...

    def text(self) -> str:
        """Return the canonical notation, e.g. `DISCARD 5C TD` or `PLACE 3|5@L`."""
        ...


class Event(Protocol):
    """Something that happened: immutable."""

    def text(self) -> str:
        """Return the canonical notation, e.g. `PLAYED 0 5C 15`; hidden cards are `??`."""
        ...


def explained(event: Event) -> str:
    """Return the event's text and, after ` / ` each, the items that explain a score.

    For people and vectors. Digests are over `text` alone: what makes a score follows from the cards,
    and working it out would cost a match more than playing it.
    """
    items = event.explain() if isinstance(event, _Explained) else ()
    return event.text() + "".join(f" / {item.text()}" for item in items)


@runtime_checkable
class _Explained(Protocol):
    """An event that can name its parts."""

    def explain(self) -> Sequence[Event]: ...


class _Text(Protocol):
    def text(self) -> str: ...


def print_as_text(*kinds: Any) -> None:
    """Let the values of these classes print as their `text()`.

    Named tuples cannot inherit a `repr`, so it is set.
    """
    for kind in kinds:
        kind.__repr__ = _text_of


def _text_of(value: _Text) -> str:
    return value.text()


class Choices(NamedTuple, Generic[M]):
    """What a seat may do now.

    `moves` are in the documented order, at most 128 (X-15). If `number` is set, the listed moves
    that are open (`move.is_open`: a bid, claim or call without its points) are completed by one from
    `number[0]` to `number[1]`, both included. A call names at least 1 also where the range begins with
    the claims of 0 of the plays beside it: such a move has a `LEAST` of its own (X-04).
    """

    moves: tuple[M, ...]
    number: tuple[int, int] | None = None

    def __repr__(self) -> str:
        moves = ", ".join(map(str, self.moves))
        return (
            moves if self.number is None else f"{moves}; from {self.number[0]} to {self.number[1]}"
        )

    def complete(self, index: int, number: int | None, asked: Choices | None = None) -> Any:
        """Return the move at `index`, its open number filled in (None: the least).

        `asked` are the choices before refused claims narrowed the range (`without`): all their numbers
        are taken, also one that has been refused, since the rules decide about that (X-19). Refused
        claims change nothing for a call, which has a `LEAST` of its own. Raises `IndexError` for an
        index that is not listed and `ValueError` for a number outside the range.
        """
        if not 0 <= index < len(self.moves):
            raise IndexError(index)
        move: Any = self.moves[index]
        if self.number is None or not move.is_open:
            return move
        low, high = self.number if asked is None or asked.number is None else asked.number
        chosen = number
        if chosen is None:
            chosen = max(low, move.LEAST) if move.LEAST else self.number[0]
        if not low <= chosen <= high:
            raise ValueError(chosen)
        return cast("M", move.with_number(chosen))

    def without(self, refused: ClaimTooHigh | MustGoOut, asked: Choices) -> Choices:
        """Return these choices, the range narrowed by a refused claim; `asked` has the whole range.

        A claim too high lowers the maximum, one too low to go out raises the minimum (R-C8.6, X-05).
        Where several cards may be played, refusals of different cards can contradict each other: then
        the claim that was too low counts, because the points that win are there. So a seat that claims
        within the range, whatever it claims, is refused only as often as the range has numbers.
        """
        assert self.number is not None
        assert asked.number is not None
        low, high = self.number
        most = asked.number[1]
        if isinstance(refused, ClaimTooHigh):
            if refused.claim > low:
                high = min(high, refused.claim - 1)
        elif refused.claim < most:
            low = max(low, refused.claim + 1)
            high = high if low <= high else most
        return self._replace(number=(low, high))

    def expand(self) -> tuple[M, ...]:
        """Return all moves with all their numbers, in order."""
        if self.number is None:
            return self.moves
        low, high = self.number
        moves: tuple[Any, ...] = self.moves
        return tuple(
            full
            for move in moves
            for full in (
                (move.with_number(n) for n in range(max(low, move.LEAST), high + 1))
                if move.is_open
                else (move,)
            )
        )


Row = TypeVar("Row", bound=tuple[Any, ...])


def from_row(kind: type[Row]) -> Callable[[tuple[Any, ...]], Row]:
    """Return what makes a named tuple of `kind` from the row of all its fields, unchecked.

    The constructor of a named tuple is Python code that takes the fields one by one and packs them
    again. Without it a random game of cribbage, which makes some 250 named tuples, takes a tenth fewer
    instructions, pure or compiled. A bound method of `tuple.__new__` costs less than a `partial`, which
    joins two tuples at every call.
    """
    return cast("Callable[[tuple[Any, ...]], Row]", MethodType(tuple.__new__, kind))


choices_of: Final[Callable[[tuple[Any, ...]], Choices[Any]]] = from_row(Choices)
"""Makes `Choices` from (moves, number)."""


class Outcome(NamedTuple):
    """How a match came out, by seat.

    `points` are 1.0 for first place down to 0.0 for last, (n - place) / (n - 1) among n sides, ties
    sharing the mean of their places; seats of a side have the side's points. `scores` are those of
    the last game, `games_won` counts games.
    """

    points: tuple[float, ...]
    scores: tuple[int, ...]
    games_won: tuple[int, ...]


class Chance(Protocol):
    """The source of all luck: a pure function of the label."""

    def order(self, label: str, size: int, count: int) -> Sequence[int]:
        """Return the first `count` of a random order of 0 to `size` - 1.

        Labels are those of docs/deals.md: `cut/1`, `deal/1/7`, `round/1/3`, `draw/1/3/0`.
        """
        ...


class Option(NamedTuple):
    """Something a match may set for itself; values travel as text.

    `values` are words that it may be; where `high` is above `low` it may also, or only, be a number
    from `low` to `high`, and with neither it is text that `help` explains.
    """

    key: str
    help: str
    default: str
    values: tuple[str, ...] = ()
    low: int = 0
    high: int = 0


class State(Protocol[M, E, V_co]):
    """A match in progress."""

    def to_act(self) -> tuple[Seat, ...]:
        """Return the seats that are asked for a move, ascending; () when the match is over."""
        ...

    def choices(self, seat: Seat) -> Choices[M]:
        """Return what `seat` may do; no moves if it is not asked.

        As long as the question to the seat is the same, so is the object, also while others move
        in a phase of several seats; a new question is a new object, even with equal moves (another
        claim that may be called). A host tells by that whether an open turn still stands.
        """
        ...

    def apply(self, seat: Seat, move: M) -> list[E]:
        """Make the move and return the events it caused, in order.

        Raises `NotYourTurn`, `MatchOver` or `IllegalMove` (and its kinds) and then changes nothing.
        """
        ...

    def view(self, seat: Seat | None) -> V_co:
        """Return all that the seat can see; None is a spectator, who sees least."""
        ...

    def outcome(self) -> Outcome | None:
        """Return how the match came out, or None while it runs."""
        ...

    def standing(self) -> Outcome:
        """Return how the match would come out by the scores as they are (for forfeits)."""
        ...

    def copy(self) -> Self:
        """Return an independent state."""
        ...


class Game(Protocol[S_co, M_co, E]):
    """A set of options of one family of games."""

    @property
    def family(self) -> str:
        """The name of the family in the contract: `cribbage`, `dominoes`."""
        ...

    @property
    def seats(self) -> tuple[int, ...]:
        """The numbers of seats it can have, ascending."""
        ...

    def start(self, seats: int, chance: Chance, edition: Edition = EDITION) -> tuple[S_co, list[E]]:
        """Start a match and return it with its first events. Raises `SeatsError`.

        `edition` other than the present one is for matches that were begun under older rules.
        """
        ...

    def sample(self, view: Any, seat: Seat | None, chance: Chance) -> S_co:
        """Return a full state whose `view(seat)` is `view`: for bots that search.

        The hidden cards or tiles are laid by `chance` so that they agree with all that the seat has
        seen; the package of the game says how likely each way is. The state is played by the present
        rules, and all later deals and draws come from `chance` too: those of the match are unknown.
        Raises `ViewError` for a view that no state of this game shows.
        """
        ...

    def redact(self, event: E, seat: Seat | None) -> E:
        """Return the event as `seat` (None: a spectator) may see it. Hiding is never opt-in."""
        ...

    def sides(self, seats: int) -> tuple[int, ...]:
        """Return the side of each seat, e.g. (0, 1, 0, 1) for partners; sides count from 0."""
        ...

    def parse_move(self, text: str) -> M_co:
        """Read a move in canonical notation. Raises `NotationError`."""
        ...

    def places(self, words: Sequence[str]) -> list[int]:
        """Return the places of cards or tiles in the pack or set, as `Chance` orders them.

        Raises `NotationError`.
        """
        ...

    def options(self) -> tuple[Option, ...]:
        """Return what a match may set, with this game's values as defaults."""
        ...

    def with_options(self, options: Mapping[str, str]) -> Self:
        """Return the game with options changed. Raises `OptionError`."""
        ...
