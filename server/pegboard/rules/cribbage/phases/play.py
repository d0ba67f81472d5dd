"""The play (R-C3): one card at a time up to 31, gos, and the point for the last card."""

from __future__ import annotations

from typing import Any

from pegboard.rules.cards import NO_CARD, VALUE, Card
from pegboard.rules.cribbage.events import (
    CardPlayed,
    Counted,
    CribbageEvent,
    Reason,
)
from pegboard.rules.cribbage.joker_rules import LIMIT
from pegboard.rules.cribbage.made_once import (
    ALONE,
    COUNT_ENDED,
    WENT_GO,
)
from pegboard.rules.cribbage.moves import GO, CribbageMove, Go, Play
from pegboard.rules.cribbage.phases.phase import NO_CHOICES, PhaseState, illegal, not_your_turn
from pegboard.rules.cribbage.scoring.pegging import peg_points
from pegboard.rules.cribbage.table import Table
from pegboard.rules.cribbage.view import Phase, PlayedCard
from pegboard.rules.game import Choices, Seat


class Playing(PhaseState):
    """The play in every variant; `plain_play.PlainPlaying` does the ordinary one faster.

    `cards` are the effective cards of the running count (a wild joker is what it was declared), `last`
    the seat of the last of them, `gone` a bit for each seat that said go in this count.
    """

    __slots__ = ("cards", "gone", "last", "running", "turn")

    name = Phase.PLAY

    def __init__(self, table: Table) -> None:
        super().__init__(table)
        self.cards: list[Card] = []
        self.running = 0
        self.gone = 0
        self.last: Seat = table.dealer
        self.turn: Seat = table.dealer

    def begin(self) -> None:
        """Find who leads (R-C3.2)."""
        self.turn = self._leader(self.last)

    def copy(self, table: Table) -> Playing:
        """Return an independent phase at the copied table."""
        phase = type(self)(table)
        phase.question = self.question
        phase.cards = self.cards.copy()
        phase.running = self.running
        phase.gone = self.gone
        phase.last = self.last
        phase.turn = self.turn
        return phase

    def to_act(self) -> tuple[Seat, ...]:
        """Return the one seat on turn."""
        return ALONE[self.turn]

    def choices(self, seat: Seat) -> Choices[CribbageMove]:
        """Return the playable cards, or the go if the seat says it itself."""
        if seat != self.turn:
            return NO_CHOICES
        question = self.question
        if question is None:
            question = self.question = self.ask(seat)
        return question

    def ask(self, seat: Seat) -> Choices[CribbageMove]:
        """Return the playable cards, or the go."""
        plays = self.table.setup.joker_rules.plays(self.table.hands[seat], self.running)
        return Choices(tuple(plays) or (GO,))

    def apply(self, seat: Seat, move: Any, events: list[CribbageEvent]) -> bool:
        """Play a card or say go."""
        if seat != self.turn:
            raise not_your_turn(seat, self.to_act())
        if type(move) is Go:
            return self._go(seat, move, events)
        card = self._read(seat, move)
        self.question = None
        self._lay(seat, move, card, events)
        if self._peg_card(seat, move, events):
            return True
        return self._pass_on(seat, events)

    def _go(self, seat: Seat, move: Go, events: list[CribbageEvent]) -> bool:
        """Say go, which only a seat may that cannot play (R-C3.3)."""
        if self.table.setup.joker_rules.can_play(self.table.hands[seat], self.running):
            raise illegal(move, "you can play a card, so you must")
        self.question = None
        self.gone |= 1 << seat
        events.append(WENT_GO[seat])
        return self._pass_on(seat, events)

    def _read(self, seat: Seat, move: Any) -> Card:
        """Return the card that counts. Raises `IllegalMove`."""
        if type(move) is not Play:
            table = self.table
            able = table.setup.joker_rules.can_play(table.hands[seat], self.running)
            raise illegal(move, "PLAY a card" if able else "no card of yours fits, so say GO")
        if move.card not in self.table.hands[seat]:
            raise illegal(move, "PLAY a card that you hold")
        if (move.claim is not None) != self.table.setup.game.muggins:
            raise illegal(
                move,
                "the table counts; PLAY without a claim"
                if move.claim is not None
                else "you count; PLAY 5C CLAIM 0 with the points it makes",
            )
        card = self.table.setup.joker_rules.effective(move)
        if self._count_with(card) > LIMIT:
            raise illegal(move, f"the count would pass {LIMIT}")
        return card

    def _count_with(self, card: Card) -> int:
        return self.running + VALUE[card]

    def _lay(self, seat: Seat, move: Play, card: Card, events: list[CribbageEvent]) -> None:
        """Put the card on the table."""
        table = self.table
        table.hands[seat].remove(move.card)
        table.played.append(PlayedCard(seat, move.card, move.declared))
        if move.declared != NO_CARD and table.setup.bound_jokers():
            table.bound[seat] += (card,)
        self.cards.append(card)
        self.running += VALUE[card]
        self.last = seat
        events.append(CardPlayed(seat, move.card, move.declared, self.running))

    def _peg_card(self, seat: Seat, move: Play, events: list[CribbageEvent]) -> bool:
        """Peg what the last card scored; return whether the game is over."""
        rules = self.table.setup.rules
        points = peg_points(self.cards, self.running, rules)
        if not points:
            return False
        counted = Counted(tuple(self.cards), NO_CARD, self.running, rules)
        return self.table.peg(seat, points, Reason.PLAY, counted, events)

    def _pass_on(self, seat: Seat, events: list[CribbageEvent]) -> bool:
        """Find who plays next, saying forced gos on the way; return whether the play is over.

        The count ends when the search comes back to the seat of the last card and that cannot play
        either: that seat says no go (X-02), and at 31 no seat does.
        """
        setup, hands, running = self.table.setup, self.table.hands, self.running
        lefts, can_play = setup.lefts, setup.joker_rules.can_play
        while True:
            seat = lefts[seat]
            hand = hands[seat]
            if hand and not self.gone >> seat & 1:
                if can_play(hand, running):
                    self.turn = seat
                    return False
                if seat != self.last and running < LIMIT:
                    if not setup.auto_go:
                        self.turn = seat
                        return False
                    self.gone |= 1 << seat
                    events.append(WENT_GO[seat])
            if seat == self.last:
                return self._end_count(events)

    def _end_count(self, events: list[CribbageEvent]) -> bool:
        """Give the point for the last card and begin the next count, if any."""
        events.append(COUNT_ENDED[self.last][self.running])
        reason, points = self._settlement()
        if points:
            late = Counted(tuple(self.cards), NO_CARD, self.running, self.table.setup.rules)
            counted = late if reason == Reason.THIRTY_ONE else None
            if self.table.peg(self.last, points, reason, counted, events):
                return True
        return self._next_count()

    def _settlement(self) -> tuple[Reason, int]:
        """Return what the last card of a count scores when it is over (R-C3.5, R-C9.4).

        At 31 that is nothing, as the card has scored the two; with zero jokers they come now.
        """
        if self.running == LIMIT:
            return Reason.THIRTY_ONE, 2 if self.table.setup.joker_rules.late_31 else 0
        return Reason.GO if any(self.table.hands) else Reason.LAST, 1

    def _next_count(self) -> bool:
        """Begin a count left of the last card (R-C3.6); return whether the play is over instead."""
        table = self.table
        if table.setup.play_once or not any(table.hands):
            return True
        self.cards = []
        self.running = 0
        self.gone = 0
        self.turn = self._leader(self.last)
        return False

    def _leader(self, seat: Seat) -> Seat:
        """Return the next seat clockwise that has cards."""
        lefts, hands = self.table.setup.lefts, self.table.hands
        seat = lefts[seat]
        while not hands[seat]:
            seat = lefts[seat]
        return seat

    def count(self) -> int:
        """Return the running count."""
        return self.running

    def count_cards(self) -> tuple[PlayedCard, ...]:
        """Return the cards of the running count."""
        played = self.table.played
        return tuple(played[len(played) - len(self.cards) :])

    def said_go(self) -> tuple[Seat, ...]:
        """Return the seats that said go in this count."""
        if not self.gone:  # mostly
            return ()
        return tuple([seat for seat in range(self.table.setup.seats) if self.gone >> seat & 1])
