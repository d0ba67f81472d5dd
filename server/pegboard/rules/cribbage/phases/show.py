"""The show (R-C4): which hands are counted in which order, what they are worth, and what a 0 costs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

from pegboard.rules.cards import JOKER, NO_CARD, Card
from pegboard.rules.cribbage.events import (
    CribbageEvent,
    Reason,
    counted_of,
    crib_shown_of,
    hand_shown_of,
)
from pegboard.rules.cribbage.phases.deal import SOLITAIRE_DEALS
from pegboard.rules.cribbage.scoring.show import show_points
from pegboard.rules.cribbage.table import Table
from pegboard.rules.game import Seat, from_row

BACK_UP: Final = 10
_HAND: Final = Reason.HAND
_CRIB: Final = Reason.CRIB


class Count(NamedTuple):
    """A hand or crib to count. `cards` as they lie there, `effective` with bound jokers replaced."""

    seat: Seat
    reason: Reason
    hand: int
    cards: tuple[Card, ...]
    effective: tuple[Card, ...]
    starter: Card

    def points(self, table: Table) -> int:
        """Return the true points."""
        return show_points(self.effective, self.starter, self.reason is _CRIB, table.setup.rules)

    def lay_open(self, events: list[CribbageEvent]) -> None:
        """Show the cards."""
        if self.reason is _CRIB:
            events.append(crib_shown_of((self.seat, self.cards)))
        else:
            events.append(hand_shown_of((self.seat, self.cards, self.hand)))


_count_of: Final = from_row(Count)


def counts(table: Table) -> Iterator[Count]:
    """Yield what is counted: hands from the dealer's left, the dealer's, then the crib (R-C2.3).

    A second hand follows the hand of the play (R-C5.10).
    """
    setup = table.setup
    starter = table.starter
    seat = table.dealer
    for _ in range(setup.seats):
        seat = setup.lefts[seat]
        cards = table.kept[seat]
        bound = table.bound[seat]
        effective = _bind(cards, bound) if bound else cards
        yield _count_of((seat, _HAND, 0, cards, effective, starter))
        second = table.second_hands[seat]
        if second:
            yield _count_of((seat, _HAND, 1, second, second, starter))
    crib_starter = NO_CARD if setup.form.crib_without_starter else starter
    yield _count_of((table.crib_owner, _CRIB, 0, table.crib, table.crib, crib_starter))


def _bind(cards: tuple[Card, ...], bound: tuple[Card, ...]) -> tuple[Card, ...]:
    """Replace as many jokers as were played by what they were declared to be (R-C9.3, X-17)."""
    others = [card for card in cards if card != JOKER]
    free = len(cards) - len(others) - len(bound)
    return (*others, *bound, *(JOKER,) * free)


def count_all(table: Table, events: list[CribbageEvent]) -> None:
    """Count everything, stopping if a side goes out (R-C2.4)."""
    rules = table.setup.rules
    for count in counts(table):
        count.lay_open(events)
        cards, starter = count.effective, count.starter
        points = show_points(cards, starter, count.reason is _CRIB, rules)
        counted = counted_of((cards, starter, 0, rules))
        if table.peg(count.seat, points, count.reason, counted, events):
            return
        if not points and charge_zero(table, count.seat, events):
            return


def charge_zero(table: Table, seat: Seat, events: list[CribbageEvent]) -> bool:
    """Let a hand or crib of 0 cost what the variant says, penalty first (R-C9.12).

    Returns whether the game is over.
    """
    game = table.setup.game
    if game.zero_penalty and _penalty(table, seat, events):
        return True
    if game.back_up_10:
        score = table.scores[table.setup.sides[seat]]
        if score > 0:
            table.peg(seat, -min(BACK_UP, score), Reason.BACK_UP, None, events)
    return False


def _penalty(table: Table, seat: Seat, events: list[CribbageEvent]) -> bool:
    """Give 1 to every opposing side, in seat order left of the zero hand."""
    setup = table.setup
    paid = set()
    for other in setup.opponents(seat):
        side = setup.sides[other]
        if side not in paid:
            paid.add(side)
            if table.peg(other, 1, Reason.ZERO_PENALTY, None, events):
                return True
    return False


def count_solitaire(table: Table, events: list[CribbageEvent]) -> None:
    """Count both hands, in the order in which they were dealt, and the crib (R-C7.1)."""
    table.kept[0], table.second_hands[0] = table.second_hands[0], table.kept[0]
    table.hands[0] = []
    count_all(table, events)
    table.over = table.deal == SOLITAIRE_DEALS
