"""The auction of the crib (R-C9.9 to R-C9.11, X-13): bids clockwise until all others have passed."""

from __future__ import annotations

from typing import Any

from pegboard.rules.cribbage.events import BidMade, CribbageEvent, CribSold, Reason
from pegboard.rules.cribbage.moves import PASS, Bid, CribbageMove, Pass
from pegboard.rules.cribbage.phases.phase import PhaseState, illegal, not_your_turn
from pegboard.rules.cribbage.table import Table
from pegboard.rules.cribbage.view import Phase
from pegboard.rules.game import Choices, Seat

_BID = Bid()
_PASS_ONLY: Choices[CribbageMove] = Choices((PASS,))


class Bidding(PhaseState):
    """`turn` is asked; `bidding` are the seats that have not passed, ascending."""

    __slots__ = ("bidding", "turn")

    name = Phase.BID

    def __init__(self, table: Table) -> None:
        super().__init__(table)
        self.turn: Seat = table.setup.lefts[table.dealer]
        self.bidding = tuple(range(table.setup.seats))

    def copy(self, table: Table) -> Bidding:
        """Return an independent phase at the copied table."""
        phase = Bidding(table)
        phase.question = self.question
        phase.turn = self.turn
        phase.bidding = self.bidding
        return phase

    def to_act(self) -> tuple[Seat, ...]:
        """Return the one seat that is asked."""
        return (self.turn,)

    def passed(self) -> tuple[Seat, ...]:
        """Return the seats that have passed."""
        return tuple(seat for seat in range(self.table.setup.seats) if seat not in self.bidding)

    def ask(self, seat: Seat) -> Choices[CribbageMove]:
        """Return the pass and the open bid; at the maximum only the pass is left."""
        low, high = self._range()
        return Choices((PASS, _BID), (low, high)) if low <= high else _PASS_ONLY

    def _range(self) -> tuple[int, int]:
        """One more than the highest bid, up to the target of the bidder's side (X-13)."""
        setup = self.table.setup
        return self.table.bid + 1, setup.targets[setup.sides[self.turn]]

    def apply(self, seat: Seat, move: Any, events: list[CribbageEvent]) -> bool:
        """Bid or pass."""
        if seat != self.turn:
            raise not_your_turn(seat, self.to_act())
        low, high = self._range()
        if type(move) is Bid and move.points is not None and low <= move.points <= high:
            self.table.bid = move.points
            self.table.bidder = seat
            events.append(BidMade(seat, move.points))
        elif type(move) is Pass:
            self.bidding = tuple(other for other in self.bidding if other != seat)
            events.append(BidMade(seat, 0))
        else:
            hint = f"PASS or BID {low} to {high}" if low <= high else "PASS: a bid cannot be higher"
            raise illegal(move, hint)
        self.question = None
        return self._pass_on(seat, events)

    def _pass_on(self, seat: Seat, events: list[CribbageEvent]) -> bool:
        """Ask the next seat that has not passed; sell the crib when only its bidder is left."""
        table = self.table
        if not self.bidding:
            events.append(CribSold(table.dealer, 0))
            return True
        following = [other for other in self.bidding if other > seat] or list(self.bidding)
        self.turn = following[0]
        if not table.bid or self.bidding != (table.bidder,):
            return False
        table.crib_owner = table.bidder
        events.append(CribSold(table.bidder, table.bid))
        table.peg(table.bidder, -table.bid, Reason.BID, None, events)
        return True
