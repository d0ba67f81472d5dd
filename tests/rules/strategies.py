"""What the property tests play: every variant, number of seats and combination of options.

Everything is drawn from the catalog and from what a game says of itself, so that a new variant is
played with no edit here.
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import Any

from hypothesis import assume
from hypothesis import strategies as st

from pegboard.rules import catalog
from pegboard.rules.errors import OptionError, PegboardError, SeatsError
from pegboard.rules.game import Chance, Choices, Game, Option, Seat, State
from pegboard.rules.shuffle import SeededChance

VARIANTS = tuple(catalog.CATALOG)
OPTIONS_MAX = 3
NUMBER_MAX = 61
"""Numbers are drawn no higher, so that games are short enough to play many."""
EXPANDED_MAX = 40
"""Of one seat's moves with all their numbers no more are tried at a time."""


@dataclass(frozen=True)
class Case:
    """One match to play: what and with which luck. `seed` also chooses the moves."""

    variant: str
    options: dict[str, str]
    seats: int
    seed: int

    @property
    def game(self) -> Game:
        """The game with its options."""
        return catalog.game(self.variant, self.options)

    @property
    def chance(self) -> SeededChance:
        """The luck of the match."""
        return SeededChance(self.seed.to_bytes(32, "big"), "property")

    @property
    def rng(self) -> Random:
        """What chooses the moves."""
        return Random(self.seed)


@st.composite
def option_values(draw: st.DrawFn, option: Option, sides: int) -> str:
    """Draw a text that the option may take."""
    if option.key == "start_scores":
        scores = draw(st.lists(st.integers(0, 20), min_size=sides, max_size=sides))
        return ",".join(map(str, scores))
    if option.key == "match_games":
        return draw(st.sampled_from(("1", "2", "3")))
    words = st.sampled_from(option.values or (option.default,))
    if option.high > option.low:
        numbers = st.integers(option.low, min(option.high, NUMBER_MAX)).map(str)
        return draw(st.one_of(words, numbers))
    return draw(words)


@st.composite
def cases(draw: st.DrawFn, variant: str) -> Case:
    """Draw a match of the variant, with up to three options changed to values that combine."""
    game = catalog.find(variant).game
    seats = draw(st.sampled_from(game.seats))
    sides = max(game.sides(seats)) + 1
    changed = draw(st.lists(st.sampled_from(game.options()), max_size=OPTIONS_MAX, unique=True))
    options = {option.key: draw(option_values(option, sides)) for option in changed}
    if any(option.key == "target" for option in game.options()) and draw(st.booleans()):
        options.setdefault("target", str(draw(st.integers(25, 45))))
    case = Case(variant, options, seats, draw(st.integers(0, 2**32)))
    assume(is_playable(case))
    return case


def is_playable(case: Case) -> bool:
    """Whether the options combine, with each other and with the number of seats."""
    try:
        case.game.start(case.seats, case.chance)
    except (OptionError, SeatsError):
        return False
    return True


def sampled(choices: Choices, rng: Random, most: int = EXPANDED_MAX) -> list[Any]:
    """Return the seat's moves with all their numbers, or a sample of them in order."""
    moves = choices.expand()
    if len(moves) <= most:
        return list(moves)
    return [moves[index] for index in sorted(rng.sample(range(len(moves)), most))]


def try_move(state: State, seat: Seat, move: Any) -> list[Any] | None:
    """Make the move and return its events, or None where it is refused."""
    try:
        return state.apply(seat, move)
    except PegboardError:
        return None


def random_turn(state: State, rng: Random) -> tuple[Seat, Any, list[Any]]:
    """Make a move of a random seat that is asked; return (seat, move, events).

    A claim may be above the true points or below what has to be claimed: another is tried then.
    """
    seat = rng.choice(state.to_act())
    choices = state.choices(seat)
    while True:
        move = rng.choice(choices.moves)
        if choices.number is not None and move.is_open:
            low, high = choices.number
            move = move.with_number(rng.randint(low, min(high, low + rng.choice((0, 2, 6, 30)))))
        events = try_move(state, seat, move)
        if events is not None:
            return seat, move, events


def snapshot(state: State, seats: int) -> tuple[Any, ...]:
    """Return all that the contract tells of a state."""
    return (
        state.to_act(),
        state.outcome(),
        state.standing(),
        state.view(None),
        *(state.view(seat) for seat in range(seats)),
        *(state.choices(seat) for seat in range(seats)),
    )


def started(case: Case, chance: Chance | None = None) -> tuple[Game, State, list[Any]]:
    """Start the match; with another luck than its own where one is given."""
    game = case.game
    state, events = game.start(case.seats, chance or case.chance)
    return game, state, events
