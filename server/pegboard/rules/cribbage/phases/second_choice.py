"""Deals with a second choice after the discard: ten-card splits, Canadian doubles gives (X-15)."""

from __future__ import annotations

from typing import Any, ClassVar

from pegboard.rules.cards import Card
from pegboard.rules.cribbage.events import CribbageEvent, Gifted, SplitMade
from pegboard.rules.cribbage.moves import CardsMove, CribbageMove, Gift, Split
from pegboard.rules.cribbage.phases.discard import Discarding, sets_of, take
from pegboard.rules.cribbage.table import Table
from pegboard.rules.game import Choices, Seat

_FOUR = 4


class TwoChoices(Discarding):
    """After its discard a seat chooses four of its eight cards, while others may still discard.

    `second` are the seats whose discard is done and whose choice is not.
    """

    __slots__ = ("second",)

    kind: ClassVar[type[CardsMove]]

    def __init__(self, table: Table) -> None:
        super().__init__(table)
        self.second: tuple[Seat, ...] = ()

    def copy(self, table: Table) -> TwoChoices:
        """Return an independent phase at the copied table."""
        phase = super().copy(table)
        assert isinstance(phase, TwoChoices)
        phase.second = self.second
        return phase

    def choices(self, seat: Seat) -> Choices[CribbageMove]:
        """Return the discards, then the sets of four."""
        if seat in self.second and seat not in self.questions:
            sets = sets_of(self.table.hands[seat], _FOUR)
            self.questions[seat] = Choices(tuple(map(self.kind, sets)))
        return super().choices(seat)

    def apply(self, seat: Seat, move: Any, events: list[CribbageEvent]) -> bool:
        """Lay cards away, or choose four."""
        if seat not in self.second:
            return super().apply(seat, move, events)
        cards, rest = take(self.table.hands[seat], move, self.kind, _FOUR)
        self.second = tuple(other for other in self.second if other != seat)
        self.choose(seat, cards, rest, events)
        return super().finish(seat, events)

    def finish(self, seat: Seat, events: list[CribbageEvent]) -> bool:
        """Go on to the second choice instead."""
        self.second += (seat,)
        return False

    def choose(
        self, seat: Seat, cards: tuple[Card, ...], rest: list[Card], events: list[CribbageEvent]
    ) -> None:
        """Carry the choice out."""
        raise NotImplementedError


class Splitting(TwoChoices):
    """Ten-card (R-C5.10): the chosen four are played, the others only shown."""

    __slots__ = ()

    kind = Split

    def choose(
        self, seat: Seat, cards: tuple[Card, ...], rest: list[Card], events: list[CribbageEvent]
    ) -> None:
        """Take the hand of the play and put the other aside."""
        self.table.hands[seat] = list(cards)
        self.table.second_hands[seat] = tuple(rest)
        events.append(SplitMade(seat, cards, tuple(rest)))


class Giving(TwoChoices):
    """Canadian doubles (R-C5.CD): the chosen four are the partner's, once both have given."""

    __slots__ = ("gifts",)

    kind = Gift

    def __init__(self, table: Table) -> None:
        super().__init__(table)
        self.gifts: dict[Seat, tuple[Card, ...]] = {}

    def copy(self, table: Table) -> Giving:
        """Return an independent phase at the copied table."""
        phase = super().copy(table)
        assert isinstance(phase, Giving)
        phase.gifts = self.gifts.copy()
        return phase

    def choose(
        self, seat: Seat, cards: tuple[Card, ...], rest: list[Card], events: list[CribbageEvent]
    ) -> None:
        """Keep the rest; the gifts change hands with the last choice, in seat order."""
        table = self.table
        table.hands[seat] = rest
        self.gifts[seat] = table.seen[seat] = cards
        if len(self.pending) > 1:
            return
        for giver in sorted(self.gifts):
            partner = (giver + 2) % table.setup.seats
            table.hands[partner] = list(self.gifts[giver])
            events.append(Gifted(giver, partner, self.gifts[giver]))
