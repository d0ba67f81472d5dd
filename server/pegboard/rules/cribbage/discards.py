"""The discards (R-C1.6, R-C1.7): all seats at once, final, unseen by the others."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any

from pegboard.rules.cards import JOKER, Card
from pegboard.rules.cribbage.events import Discarded
from pegboard.rules.cribbage.forms import LONE_CRIB
from pegboard.rules.cribbage.moves import CardsMove, CribbageMove, Discard, discard
from pegboard.rules.cribbage.phase import NO_CHOICES, PhaseState, illegal, not_your_turn
from pegboard.rules.cribbage.table import Table
from pegboard.rules.cribbage.view import Phase
from pegboard.rules.errors import IllegalMove
from pegboard.rules.game import Choices, Seat

_FIVE = 4


class Discarding(PhaseState):
    """`sizes` is by seat: how many cards it lays away; `pending` are the seats still to do so."""

    __slots__ = ("pending", "sizes")

    name = Phase.DISCARD

    def __init__(self, table: Table) -> None:
        super().__init__(table)
        setup = table.setup
        discards, dealer, seats = setup.deal.discards, table.dealer, setup.seats
        self.sizes = [discards[(seat - dealer) % seats] for seat in range(seats)]
        self.pending = [seat for seat in range(seats) if self.sizes[seat]]

    def copy(self, table: Table) -> Discarding:
        """Return an independent phase at the copied table."""
        phase = type(self).__new__(type(self))
        phase.table = table
        phase.sizes = self.sizes
        phase.pending = self.pending.copy()
        return phase

    def to_act(self) -> tuple[Seat, ...]:
        """Return the seats that have not laid away yet."""
        return tuple(self.pending)

    def choices(self, seat: Seat) -> Choices:
        """Return the sets of cards that the seat may lay away."""
        if seat not in self.pending:
            return NO_CHOICES
        hand, size = self.table.hands[seat], self.sizes[seat]
        if self.binds_fives(seat):
            return Choices(tuple(map(discard, with_fives(hand, size))))
        return Choices(tuple(map(discard, sets_of(hand, size))))

    def binds_fives(self, seat: Seat) -> bool:
        """Whether fives have to go (R-C9.6); the lone seat decides that with the crib (X-09)."""
        setup = self.table.setup
        lone = setup.form.name == LONE_CRIB and seat == setup.lone
        return setup.game.discard_fives and not lone

    def apply(self, seat: Seat, move: Any, events: list[Any]) -> bool:
        """Lay cards away."""
        if seat not in self.pending:
            raise not_your_turn(seat, self.to_act())
        table = self.table
        hand = table.hands[seat]
        size = self.sizes[seat]
        cards, rest = take(hand, move, Discard, size)
        if self.binds_fives(seat):
            check_fives(hand, cards, move)
        table.hands[seat] = rest
        table.discards[seat] += cards
        events.append(Discarded(seat, cards))
        return self.finish(seat, events)

    def finish(self, seat: Seat, events: list[Any]) -> bool:
        """Note that the seat has chosen; with the last one the crib is complete."""
        self.pending.remove(seat)
        if self.pending:
            return False
        table = self.table
        crib = [card for cards in table.discards for card in cards]
        table.crib = tuple(sorted(crib + list(table.crib)))
        return True


def sets_of(hand: Sequence[Card], size: int) -> Sequence[tuple[Card, ...]]:
    """Return all sets of so many cards in documented order; two jokers are the same card."""
    sets = tuple(combinations(hand, size))
    return tuple(dict.fromkeys(sets)) if hand[-1] == JOKER else sets


def with_fives(hand: Sequence[Card], size: int) -> Sequence[tuple[Card, ...]]:
    """Return the sets with as many fives as can be (R-C9.6, R-C9.7)."""
    needed = min(fives_in(hand), size)
    return tuple(cards for cards in sets_of(hand, size) if fives_in(cards) == needed)


def fives_in(cards: Sequence[Card]) -> int:
    """Return how many fives there are; a joker is none (R-C9.7)."""
    return sum(card >> 2 == _FIVE for card in cards)


def check_fives(hand: Sequence[Card], cards: Sequence[Card], move: CribbageMove) -> None:
    """Raise `IllegalMove` where a five that has to go stays (R-C9.6)."""
    if fives_in(cards) < min(fives_in(hand), len(cards)):
        raise illegal(move, "fives go to the crib first")


def take(
    hand: list[Card], move: Any, kind: type[CardsMove], size: int
) -> tuple[tuple[Card, ...], list[Card]]:
    """Return the cards of the move, ascending, and the hand without them. Raises `IllegalMove`."""
    if type(move) is not kind:
        raise illegal(move, f"{kind.WORD} {size} of your cards")
    cards = move.cards
    rest = hand.copy()
    try:
        for card in cards:
            rest.remove(card)
    except ValueError:
        raise illegal(move, f"{kind.WORD} {size} cards that you hold") from None
    if len(cards) != size:
        raise IllegalMove(f"{move.text()} has {len(cards)} cards; {kind.WORD} {size}")
    return tuple(sorted(cards)), rest
