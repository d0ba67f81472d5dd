"""Cribbage squares (R-C7.2): sixteen cards one at a time into a grid, then every line is a hand."""

from __future__ import annotations

from typing import Any

from pegboard.rules.cards import NO_CARD, Card
from pegboard.rules.cribbage.events import (
    CardPlaced,
    CardTurned,
    Counted,
    CribbageEvent,
    HandShown,
    Reason,
)
from pegboard.rules.cribbage.moves import CribbageMove, Place
from pegboard.rules.cribbage.phases.deal import shuffle
from pegboard.rules.cribbage.phases.phase import PhaseState, illegal, not_your_turn
from pegboard.rules.cribbage.scoring.show import show_points
from pegboard.rules.cribbage.table import Table
from pegboard.rules.cribbage.view import Phase
from pegboard.rules.game import Choices, Seat

SIDE = 4
CELLS = SIDE * SIDE
_PLACES = tuple(Place(row, column) for row in range(SIDE) for column in range(SIDE))


class Filling(PhaseState):
    """The grid is at the table, cells by rows; the card to place is the next of the pack."""

    __slots__ = ()

    name = Phase.GRID

    def copy(self, table: Table) -> Filling:
        """Return an independent phase at the copied table."""
        phase = Filling(table)
        phase.question = self.question
        return phase

    def to_act(self) -> tuple[Seat, ...]:
        """Return the only seat."""
        return (0,)

    def ask(self, seat: Seat) -> Choices[CribbageMove]:
        """Return the empty cells."""
        cells = zip(_PLACES, self.table.grid, strict=True)
        return Choices(tuple(place for place, card in cells if card == NO_CARD))

    def apply(self, seat: Seat, move: Any, events: list[CribbageEvent]) -> bool:
        """Put the card into a cell and turn the next."""
        if seat:
            raise not_your_turn(seat, self.to_act())
        table = self.table
        if type(move) is not Place or not (0 <= move.row < SIDE and 0 <= move.column < SIDE):
            raise illegal(move, "PLACE the card, rows and columns from 0 to 3")
        cell = move.row * SIDE + move.column
        if table.grid[cell] != NO_CARD:
            raise illegal(move, "PLACE the card into an empty cell")
        self.question = None
        card = self.next_card()
        table.grid = (*table.grid[:cell], card, *table.grid[cell + 1 :])
        table.place += 1
        events.append(CardPlaced(seat, move.row, move.column, card))
        if table.place == CELLS:
            return True
        events.append(CardTurned(self.next_card()))
        return False

    def next_card(self) -> Card:
        """Return the card to place."""
        return self.table.order[self.table.place]


def lay_out(table: Table, events: list[CribbageEvent]) -> Filling:
    """Shuffle and turn the first card."""
    table.deal += 1
    table.clear()
    shuffle(table, CELLS + 1)
    table.grid = (NO_CARD,) * CELLS
    phase = Filling(table)
    events.append(CardTurned(phase.next_card()))
    return phase


def count_lines(table: Table, events: list[CribbageEvent]) -> None:
    """Count rows 0 to 3, then columns 0 to 3, each as a hand; the game is over with that."""
    grid, rules = table.grid, table.setup.rules
    rows = [grid[SIDE * row : SIDE * row + SIDE] for row in range(SIDE)]
    columns = [grid[column::SIDE] for column in range(SIDE)]
    for line, cards in enumerate(rows + columns):
        events.append(HandShown(0, cards, line))
        points = show_points(cards, table.starter, False, rules)
        counted = Counted(cards, table.starter, 0, rules)
        table.peg(0, points, Reason.HAND, counted, events)
    table.over = True
