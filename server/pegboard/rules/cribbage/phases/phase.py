"""What every phase that asks seats for moves has in common."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, Final

from pegboard.rules.cards import NO_CARD, Card
from pegboard.rules.cribbage.events import CribbageEvent
from pegboard.rules.cribbage.moves import CribbageMove
from pegboard.rules.cribbage.table import Table
from pegboard.rules.cribbage.view import Counting, Phase, PlayedCard
from pegboard.rules.errors import IllegalMove, MatchOver, NotYourTurn
from pegboard.rules.game import Choices, Seat

NO_CHOICES: Final = Choices(())


class PhaseState:
    """A phase in progress. `apply` returns whether it is done (or the game over).

    A new phase is at its table and no more, so that copies start from it too; `begin` takes it up.

    `question` is what the seat on turn is asked, made when it is first asked for and the same object
    until the turn is over; phases that ask several seats keep one for each.
    """

    __slots__ = ("question", "table")

    name: ClassVar[Phase]

    def __init__(self, table: Table) -> None:
        self.table = table
        self.question: Choices[CribbageMove] | None = None

    def begin(self) -> None:
        """Take the phase up: work out what it starts with."""

    def copy(self, table: Table) -> PhaseState:
        """Return an independent phase at the copied table."""
        raise NotImplementedError

    def to_act(self) -> tuple[Seat, ...]:
        """Return the seats that are asked, ascending."""
        raise NotImplementedError

    def choices(self, seat: Seat) -> Choices[CribbageMove]:
        """Return what a seat may do; NO_CHOICES if it is not asked."""
        if seat not in self.to_act():
            return NO_CHOICES
        question = self.question
        if question is None:
            question = self.question = self.ask(seat)
        return question

    def ask(self, seat: Seat) -> Choices[CribbageMove]:
        """Return what the seat on turn may do."""
        raise NotImplementedError

    def apply(self, seat: Seat, move: Any, events: list[CribbageEvent]) -> bool:
        """Make a move. Raises `NotYourTurn` or `IllegalMove` and then changes nothing."""
        raise NotImplementedError

    # What the view shows of the phase.

    def count(self) -> int:
        """Return the running count."""
        return 0

    def count_cards(self) -> tuple[PlayedCard, ...]:
        """Return the cards of the running count: the last ones played."""
        return ()

    def said_go(self) -> tuple[Seat, ...]:
        """Return the seats that said go in this count, ascending."""
        return ()

    def counting(self) -> Counting | None:
        """Return the claim that is due or may be called (R-C8)."""
        return None

    def passed(self) -> tuple[Seat, ...]:
        """Return the seats that are out of the auction, ascending."""
        return ()

    def count_over(self) -> bool:
        """Return whether the running count has ended and a claim or calls are still awaited."""
        return False

    def shown(self) -> tuple[tuple[Card, ...], ...]:
        """Return the hands laid open so far, in the order of counting."""
        return ()

    def next_card(self) -> Card:
        """Return the card to place (R-C7.2)."""
        return NO_CARD


class Over(PhaseState):
    """The match has ended."""

    __slots__ = ()

    name = Phase.OVER

    def copy(self, table: Table) -> Over:
        """Return the phase at the copied table."""
        return Over(table)

    def to_act(self) -> tuple[Seat, ...]:
        """Return no seats."""
        return ()

    def choices(self, seat: Seat) -> Choices[CribbageMove]:
        """Nothing may be done."""
        return NO_CHOICES

    def apply(self, seat: Seat, move: Any, events: list[CribbageEvent]) -> bool:
        """Raise `MatchOver`."""
        raise MatchOver("the match is over")


Step = Callable[[Table, list[CribbageEvent]], PhaseState | None]
"""Begins a phase. Returns it, or None if it is over already because no seat had to be asked."""


def not_your_turn(seat: Seat, asked: tuple[Seat, ...]) -> NotYourTurn:
    """Return the error of a seat that is not asked."""
    waited = " and ".join(map(str, asked))
    return NotYourTurn(f"seat {seat} is not asked for a move; the table waits for seat {waited}")


def illegal(move: CribbageMove, hint: str) -> IllegalMove:
    """Return the error of a move that is not legal here."""
    return IllegalMove(f"{move.text()} is not legal here; {hint}")
