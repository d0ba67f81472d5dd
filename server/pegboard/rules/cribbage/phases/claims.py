"""Manual counting (R-C8): claims, and the window in which opponents may call muggins.

A window opens after every claim, short or not, so that it tells nothing (X-04).
"""

from __future__ import annotations

from typing import Any, NamedTuple

from pegboard.rules.cards import Card
from pegboard.rules.cribbage.events import Called, Claimed, CribbageEvent, Reason
from pegboard.rules.cribbage.moves import PASS, Call, Claim
from pegboard.rules.cribbage.phases.phase import illegal
from pegboard.rules.cribbage.table import Table
from pegboard.rules.cribbage.view import Counting
from pegboard.rules.errors import ClaimTooHigh, IllegalMove, MustGoOut
from pegboard.rules.game import Choices, Seat

CALL = Call()
CLAIM = Claim()
GO_MOST = 2
"""The bound of a claim for a go, the last card or a late 31."""


class Window(NamedTuple):
    """A claim that may be called. `missing` is what it left out, `callers` who may still call.

    `cards` are those counted, in the play only once a new count has begun. `question` is what callers
    are asked, the same object as long as the window is open: a host tells by it that a turn stands.
    """

    subject: Reason
    seat: Seat
    cards: tuple[Card, ...]
    claim: int
    missing: int
    callers: tuple[Seat, ...]
    question: Choices

    def without(self, seat: Seat) -> Window | None:
        """Return the window after a pass; None if no caller is left."""
        callers = tuple(caller for caller in self.callers if caller != seat)
        return self._replace(callers=callers) if callers else None

    def counting(self) -> Counting:
        """Return what the view shows: never what is missing."""
        return Counting(self.subject, self.seat, self.cards, self.claim)


def open_window(table: Table, claimed: Claimed, cards: tuple[Card, ...], points: int) -> Window:
    """Return the window on a claim worth `points`; only opponents may call (R-C8.6)."""
    seat, subject, claim = claimed
    callers = tuple(sorted(table.setup.opponents(seat)))
    most = call_most(table, subject)
    question = Choices((PASS, CALL), (table.setup.call_least, most))
    return Window(subject, seat, cards, claim, points - claim, callers, question)


def call_most(table: Table, subject: Reason) -> int:
    """Return the bound of a call: of the show for a hand or crib, else of the play."""
    shown = subject in (Reason.HAND, Reason.CRIB)
    return table.setup.claim_show if shown else table.setup.claim_play


def check_claim(table: Table, seat: Seat, claim: int | None, points: int, move: Any) -> int:
    """Return the claimed points.

    Raises `ClaimTooHigh` above the true points, with the same move claiming 0 for a seat that claims
    too much twice (X-19), `MustGoOut` if they reach the target and the claim does not (R-C8.2, X-05),
    `IllegalMove` without a number.
    """
    if claim is None or claim < 0:
        raise illegal(move, "say how many points you claim, 0 or more")
    if claim > points:
        text = f"{move.text()} claims too much; count again, for a second such claim stands as 0"
        raise ClaimTooHigh(text, claim, move.with_number(0))
    setup = table.setup
    side = setup.sides[seat]
    score, target = table.scores[side], setup.targets[side]
    if score + claim < target <= score + points:
        text = f"{move.text()} is short of the points that win; going out is compulsory"
        raise MustGoOut(text, claim)
    return claim


def call(table: Table, window: Window, seat: Seat, move: Call, events: list[CribbageEvent]) -> bool:
    """Settle a call: the lesser of called and missing to the caller, or all to the scorer (R-C8.5).

    Returns whether the game is over. Raises `IllegalMove` for a number out of range.
    """
    points = move.points
    most = call_most(table, window.subject)
    least = table.setup.call_least
    if points is None or not least <= points <= most:
        span = f"{least} to {most}"
        raise IllegalMove(f"{move.text()} is out of range; call from {span} points, or do not call")
    events.append(Called(seat, points))
    if window.missing:
        winner, gained = seat, min(points, window.missing)
    else:
        winner, gained = window.seat, points
    return gained > 0 and table.peg(winner, gained, Reason.MUGGINS, None, events)
