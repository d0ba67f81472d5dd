"""The lone seat and the crib (R-C5.3T2): it picks the crib up and puts four of eight cards back."""

from __future__ import annotations

from typing import Any

from pegboard.rules.cribbage.events import CribbageEvent, CribTaken, Exchanged
from pegboard.rules.cribbage.moves import CribbageMove, Exchange
from pegboard.rules.cribbage.phases.discard import check_fives, sets_of, take, with_fives
from pegboard.rules.cribbage.phases.phase import PhaseState, not_your_turn
from pegboard.rules.cribbage.table import Table
from pegboard.rules.cribbage.view import Phase
from pegboard.rules.game import Choices, Seat

_FOUR = 4


class Exchanging(PhaseState):
    """The lone seat holds eight cards; no other seat is asked."""

    __slots__ = ()

    name = Phase.EXCHANGE

    def copy(self, table: Table) -> Exchanging:
        """Return an independent phase at the copied table."""
        phase = Exchanging(table)
        phase.question = self.question
        return phase

    def to_act(self) -> tuple[Seat, ...]:
        """Return the lone seat."""
        return (self.table.setup.lone,)

    def ask(self, seat: Seat) -> Choices[CribbageMove]:
        """Return the sets of four that may go back, fives first if they have to (X-09)."""
        sets = with_fives if self.table.setup.fives else sets_of
        return Choices(tuple(map(Exchange, sets(self.table.hands[seat], _FOUR))))

    def apply(self, seat: Seat, move: Any, events: list[CribbageEvent]) -> bool:
        """Put four cards back."""
        table = self.table
        if seat != table.setup.lone:
            raise not_your_turn(seat, self.to_act())
        hand = table.hands[seat]
        cards, rest = take(hand, move, Exchange, _FOUR)
        if table.setup.fives:
            check_fives(hand, cards, move)
        table.hands[seat] = rest
        table.discards[seat] = table.crib = cards
        events.append(Exchanged(seat, cards))
        return True


def take_crib(table: Table, events: list[CribbageEvent]) -> Exchanging:
    """Let the lone seat pick up the crib, whoever deals."""
    lone = table.setup.lone
    events.append(CribTaken(lone, table.crib))
    table.hands[lone] = sorted([*table.hands[lone], *table.crib])
    others = [*table.crib]
    for card in table.discards[lone]:
        others.remove(card)
    table.seen[lone] = tuple(others)
    table.crib = table.discards[lone] = ()
    return Exchanging(table)
