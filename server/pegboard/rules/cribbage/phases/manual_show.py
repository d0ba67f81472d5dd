"""The show if players count (R-C8): a claim for each hand and the crib, then calls or passes."""

from __future__ import annotations

from typing import Any

from pegboard.rules.cards import Card
from pegboard.rules.cribbage.events import Claimed, CribbageEvent
from pegboard.rules.cribbage.moves import Call, Claim, CribbageMove, Pass
from pegboard.rules.cribbage.phases.claims import CLAIM, Window, call, check_claim, open_window
from pegboard.rules.cribbage.phases.phase import PhaseState, illegal, not_your_turn
from pegboard.rules.cribbage.phases.show import Count, charge_zero, counts
from pegboard.rules.cribbage.table import Table
from pegboard.rules.cribbage.view import Counting, Phase
from pegboard.rules.game import Choices, Seat


class Showing(PhaseState):
    """`counts` is what is to be counted, `place` the current index, `points` what that is worth."""

    __slots__ = ("counts", "place", "points", "window")

    name = Phase.SHOW

    def __init__(self, table: Table) -> None:
        super().__init__(table)
        self.counts: tuple[Count, ...] = ()
        self.place = -1
        self.points = 0
        self.window: Window | None = None

    def begin(self) -> None:
        """Find what is to be counted."""
        self.counts = tuple(counts(self.table))

    def copy(self, table: Table) -> Showing:
        """Return an independent phase at the copied table."""
        phase = Showing(table)
        phase.question = self.question
        phase.counts = self.counts
        phase.place = self.place
        phase.points = self.points
        phase.window = self.window
        return phase

    @property
    def current(self) -> Count:
        """What is being counted."""
        return self.counts[self.place]

    def lay_open(self, events: list[CribbageEvent]) -> None:
        """Show the next hand or the crib."""
        self.place += 1
        self.current.lay_open(events)
        self.points = self.current.points(self.table)

    def to_act(self) -> tuple[Seat, ...]:
        """Return the seat that counts, then all who may call."""
        return (self.current.seat,) if self.window is None else self.window.callers

    def choices(self, seat: Seat) -> Choices[CribbageMove]:
        """Return the open claim, or pass and the open call."""
        if self.window is not None and seat in self.window.callers:
            return self.window.question
        return super().choices(seat)

    def ask(self, seat: Seat) -> Choices[CribbageMove]:
        """Return the open claim."""
        return Choices((CLAIM,), (0, self.table.setup.claim_show))

    def apply(self, seat: Seat, move: Any, events: list[CribbageEvent]) -> bool:
        """Claim, call or pass."""
        if seat not in self.to_act():
            raise not_your_turn(seat, self.to_act())
        window = self.window
        if window is None:
            return self._claim(seat, move, events)
        if type(move) is Call:
            if call(self.table, window, seat, move, events):
                return True
            self.window = None
        elif type(move) is Pass:
            self.window = window.without(seat)
        else:
            raise illegal(move, "CALL muggins or PASS")
        return self.window is None and self._go_on(events)

    def _claim(self, seat: Seat, move: Any, events: list[CribbageEvent]) -> bool:
        if type(move) is not Claim:
            raise illegal(move, "CLAIM the points of the cards shown")
        table, current = self.table, self.current
        claim = check_claim(table, seat, move.points, self.points, move)
        claimed = Claimed(seat, current.reason, claim)
        events.append(claimed)
        if table.peg(seat, claim, current.reason, None, events):
            return True
        self.question = None
        self.window = open_window(table, claimed, current.cards, self.points)
        return False

    def _go_on(self, events: list[CribbageEvent]) -> bool:
        """Charge a true zero, once the calls are over so that it tells nothing; show the next."""
        if not self.points and charge_zero(self.table, self.current.seat, events):
            return True
        if self.place + 1 == len(self.counts):
            return True
        self.lay_open(events)
        return False

    def shown(self) -> tuple[tuple[Card, ...], ...]:
        """Return the hands laid open so far."""
        return tuple(count.cards for count in self.counts[: self.place + 1])

    def counting(self) -> Counting | None:
        """Return what is being counted."""
        if self.window is not None:
            return self.window.counting()
        return Counting(self.current.reason, self.current.seat, self.current.cards, None)


def begin_show(table: Table, events: list[CribbageEvent]) -> Showing:
    """Lay the first hand open."""
    phase = Showing(table)
    phase.begin()
    phase.lay_open(events)
    return phase
