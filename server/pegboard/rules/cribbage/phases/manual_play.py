"""The play if players count (R-C8, X-03, X-04): a claim travels with each card."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import Any

from pegboard.rules.cards import Card
from pegboard.rules.cribbage.events import Claimed, CountEnded, CribbageEvent, Reason
from pegboard.rules.cribbage.moves import GO, Call, Claim, CribbageMove, Pass, Play
from pegboard.rules.cribbage.phases.claims import (
    CALL,
    CLAIM,
    GO_MOST,
    Window,
    call,
    check_claim,
    open_window,
)
from pegboard.rules.cribbage.phases.phase import PhaseState, illegal, not_your_turn
from pegboard.rules.cribbage.phases.play import Playing
from pegboard.rules.cribbage.scoring.pegging import peg_points
from pegboard.rules.cribbage.table import Table
from pegboard.rules.cribbage.view import Counting
from pegboard.rules.errors import IllegalMove
from pegboard.rules.game import Choices, Seat


class ManualPlaying(Playing):
    """`window` may be called; `due` is the claim for an ended count: its reason and true points.

    An opponent on turn closes the window by its next card or go. If the scorer's own side would
    come next, a claim is due, or the play is over (`ended`), the opponents call or pass before that:
    no seat can shut a window by being quick.
    """

    __slots__ = ("due", "ended", "window")

    def __init__(self, table: Table) -> None:
        super().__init__(table)
        self.window: Window | None = None
        self.due: tuple[Reason, int] | None = None
        self.ended = False

    def copy(self, table: Table) -> ManualPlaying:
        """Return an independent phase at the copied table."""
        phase = super().copy(table)
        assert isinstance(phase, ManualPlaying)
        phase.window = self.window
        phase.due = self.due
        phase.ended = self.ended
        return phase

    def _waits(self) -> bool:
        """Whether the window has to be closed before anything else."""
        sides = self.table.setup.sides
        return self.window is not None and (
            self.due is not None or self.ended or sides[self.turn] == sides[self.window.seat]
        )

    def to_act(self) -> tuple[Seat, ...]:
        """Return who may call, and who plays or claims."""
        if self.window is None:
            return (self.turn if self.due is None else self.last,)
        callers = self.window.callers
        return callers if self._waits() else tuple(sorted({self.turn, *callers}))

    def choices(self, seat: Seat) -> Choices[CribbageMove]:
        """Return the plays, then the call, with a number for both; or pass and call; or the claim."""
        window = self.window
        if window is not None and seat in window.callers and (self._waits() or seat != self.turn):
            return window.question
        return PhaseState.choices(self, seat)

    def ask(self, seat: Seat) -> Choices[CribbageMove]:
        """Return what the seat on turn is asked; it stays the same while others pass."""
        if self.due is not None:
            return Choices((CLAIM,), (0, GO_MOST))
        most = self.table.setup.claim_play
        plays = self.table.setup.joker_rules.plays(self.table.hands[seat], self.running)
        moves = tuple(map(_with_claim, plays)) or (GO,)
        if self.window is not None and seat in self.window.callers:
            return Choices((*moves, CALL), (0, most))
        return Choices(moves, (0, most)) if plays else Choices(moves)

    def apply(self, seat: Seat, move: Any, events: list[CribbageEvent]) -> bool:
        """Play with a claim, say go, claim, call or pass."""
        if seat not in self.to_act():
            raise not_your_turn(seat, self.to_act())
        window = self.window
        if window is not None and seat in window.callers:
            if type(move) is Call:
                return self._call(window, seat, move, events)
            if self._waits() or seat != self.turn:
                return self._pass(window, seat, move)
        if self.due is not None:
            return self._claim(self.due, seat, move, events)
        self.window = None
        try:
            over = super().apply(seat, move, events)
        except IllegalMove:
            self.window = window
            raise
        self.question = None
        return over

    def _call(self, window: Window, seat: Seat, move: Call, events: list[CribbageEvent]) -> bool:
        """Let the first call of any kind close the window."""
        over = call(self.table, window, seat, move, events)
        self.window = self.question = None
        return over or self.ended

    def _pass(self, window: Window, seat: Seat, move: Any) -> bool:
        if type(move) is not Pass:
            raise illegal(move, "CALL muggins or PASS")
        self.window = window.without(seat)
        return self.ended and self.window is None

    def _claim(
        self, due: tuple[Reason, int], seat: Seat, move: Any, events: list[CribbageEvent]
    ) -> bool:
        """Claim the point for a go or the last card."""
        if type(move) is not Claim:
            raise illegal(move, f"CLAIM 0 to {GO_MOST} for the last card")
        reason, points = due
        claim = check_claim(self.table, seat, move.points, points, move)
        self.due = self.question = None
        if self._take_claim(seat, reason, claim, points, events):
            return True
        return self._finish_count()

    def _read(self, seat: Seat, move: Any) -> Card:
        """Return the card that counts, its claim checked."""
        card = super()._read(seat, move)
        rules = self.table.setup.rules
        cards = [*self.cards, card]
        points = peg_points(cards, self._count_with(card), rules)
        check_claim(self.table, seat, move.claim, points, move)
        return card

    def _peg_card(self, seat: Seat, move: Play, events: list[CribbageEvent]) -> bool:
        """Peg what was claimed."""
        points = peg_points(self.cards, self.running, self.table.setup.rules)
        assert move.claim is not None
        return self._take_claim(seat, Reason.PLAY, move.claim, points, events)

    def _take_claim(
        self, seat: Seat, reason: Reason, claim: int, points: int, events: list[CribbageEvent]
    ) -> bool:
        """Peg a claim and open its window; return whether the game is over."""
        claimed = Claimed(seat, reason, claim)
        events.append(claimed)
        if claim and self.table.peg(seat, claim, reason, None, events):
            return True
        self.window = open_window(self.table, claimed, (), points)
        return False

    def _end_count(self, events: list[CribbageEvent]) -> bool:
        """Ask for the claim of the last card, if it gets anything."""
        events.append(CountEnded(self.last, self.running))
        reason, points = self._settlement()
        if points:
            self.due = (reason, points)
            return False
        return self._finish_count()

    def _finish_count(self) -> bool:
        """Begin the next count; the window keeps the cards of this one in sight."""
        counted = tuple(played.card for played in self.count_cards())
        self.ended = self._next_count()
        if not self.ended and self.window is not None:
            self.window = self.window._replace(cards=counted)
        return self.ended and self.window is None

    def count_over(self) -> bool:
        """Return whether a claim for the count or the last calls of the play are awaited."""
        return self.ended or self.due is not None

    def counting(self) -> Counting | None:
        """Return the claim that may be called, or that is due."""
        if self.window is not None:
            return self.window.counting()
        if self.due is not None:
            return Counting(self.due[0], self.last, (), None)
        return None


@lru_cache(maxsize=256)
def _with_claim(play: Play) -> Play:
    """Return the play with its claim open."""
    return replace(play, claim=-1)
