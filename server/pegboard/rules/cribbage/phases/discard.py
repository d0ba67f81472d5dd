"""The discards (R-C1.6, R-C1.7): all seats at once, final, unseen by the others."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any, Final

from pegboard.rules.cards import JOKER, RANK, Card, by_card
from pegboard.rules.cribbage.events import CribbageEvent, discarded_of
from pegboard.rules.cribbage.forms import LONE_CRIB
from pegboard.rules.cribbage.moves import CardsMove, CribbageMove, Discard, discard
from pegboard.rules.cribbage.phases.phase import NO_CHOICES, PhaseState, illegal, not_your_turn
from pegboard.rules.cribbage.table import Table
from pegboard.rules.cribbage.view import Phase
from pegboard.rules.errors import IllegalMove
from pegboard.rules.game import Choices, Seat, choices_of

_FIVE: Final = 5


class Discarding(PhaseState):
    """`sizes` is by seat: how many cards it lays away; `pending` are the seats still to do so."""

    __slots__ = ("pending", "questions", "sizes")

    name = Phase.DISCARD

    def __init__(self, table: Table) -> None:
        super().__init__(table)
        self.sizes = table.setup.discards[table.dealer]
        self.pending = table.setup.discarding[table.dealer]
        self.questions: dict[Seat, Choices] = {}

    def copy(self, table: Table) -> Discarding:
        """Return an independent phase at the copied table."""
        phase = type(self)(table)
        phase.sizes = self.sizes
        phase.pending = self.pending
        phase.questions = self.questions.copy()
        return phase

    def to_act(self) -> tuple[Seat, ...]:
        """Return the seats that have not laid away yet."""
        return self.pending

    def choices(self, seat: Seat) -> Choices[CribbageMove]:
        """Return the sets of cards that the seat may lay away."""
        if seat not in self.pending:
            return NO_CHOICES
        question = self.questions.get(seat)
        if question is None:
            question = self.questions[seat] = choices_of((self._moves(seat), None))
        return question

    def _moves(self, seat: Seat) -> tuple[CribbageMove, ...]:
        hand, size = self.table.hands[seat], self.sizes[seat]
        if self.table.setup.fives and self.binds_fives(seat):
            return tuple(map(discard, with_fives(hand, size)))
        if size == 2 and len(hand) == _SIX and hand[-1] != JOKER:
            return pairs_of_six(hand)
        return tuple(map(discard, sets_of(hand, size)))

    def binds_fives(self, seat: Seat) -> bool:
        """Whether discard-fives binds the seat (R-C9.6): the lone one only with the crib (X-09)."""
        setup = self.table.setup
        return setup.form.name != LONE_CRIB or seat != setup.lone

    def apply(self, seat: Seat, move: Any, events: list[CribbageEvent]) -> bool:
        """Lay cards away."""
        if seat not in self.pending:
            raise not_your_turn(seat, self.to_act())
        table = self.table
        hand = table.hands[seat]
        size = self.sizes[seat]
        cards, rest = take(hand, move, Discard, size)
        if table.setup.fives and self.binds_fives(seat):
            check_fives(hand, cards, move)
        table.hands[seat] = rest
        table.discards[seat] += cards
        self.questions.pop(seat, None)
        events.append(discarded_of((seat, cards)))
        return self.finish(seat, events)

    def finish(self, seat: Seat, events: list[CribbageEvent]) -> bool:
        """Note that the seat has chosen; with the last one the crib is complete."""
        self.pending = tuple([other for other in self.pending if other != seat])
        if self.pending:
            return False
        table = self.table
        crib = [*table.crib]
        for cards in table.discards:
            crib += cards
        crib.sort()
        table.crib = tuple(crib)
        return True


_SIX: Final = 6


def _pairs_with(low: Card) -> tuple[Discard, ...]:
    return by_card(lambda high: discard((low, high)))


_PAIRS: Final = by_card(_pairs_with)
"""Every discard of two cards, by the lower card and the higher."""


def pairs_of_six(hand: list[Card]) -> tuple[Discard, ...]:
    """Return the fifteen pairs of six different cards in documented order.

    This is the most common discard: shared moves, looked up by both cards, instead of
    `itertools.combinations` and a cache. A test compares the two.
    """
    a, b, c, d, e, f = hand
    with_a, with_b, with_c, with_d, with_e = _PAIRS[a], _PAIRS[b], _PAIRS[c], _PAIRS[d], _PAIRS[e]
    return (
        with_a[b],
        with_a[c],
        with_a[d],
        with_a[e],
        with_a[f],
        with_b[c],
        with_b[d],
        with_b[e],
        with_b[f],
        with_c[d],
        with_c[e],
        with_c[f],
        with_d[e],
        with_d[f],
        with_e[f],
    )


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
    return sum(RANK[card] == _FIVE for card in cards)


def check_fives(hand: Sequence[Card], cards: Sequence[Card], move: CribbageMove) -> None:
    """Raise `IllegalMove` if a five that has to go stays (R-C9.6)."""
    if fives_in(cards) < min(fives_in(hand), len(cards)):
        raise illegal(move, "fives go to the crib first")


def take(
    hand: list[Card], move: Any, kind: type[CardsMove], size: int
) -> tuple[tuple[Card, ...], list[Card]]:
    """Return the cards of the move, ascending, and the hand without them. Raises `IllegalMove`."""
    if type(move) is not kind:
        raise illegal(move, f"{kind.WORD} {size} of your cards")
    cards: tuple[Card, ...] = move.cards
    rest = hand.copy()
    try:
        for card in cards:
            rest.remove(card)
    except ValueError:
        raise illegal(move, f"{kind.WORD} {size} cards that you hold") from None
    if len(cards) != size:
        raise IllegalMove(f"{move.text()} has {len(cards)} cards; {kind.WORD} {size}")
    ordered = size == 2 and cards[0] <= cards[1]  # as listed, so mostly
    return cards if ordered else tuple(sorted(cards)), rest
