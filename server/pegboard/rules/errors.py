"""Errors of the rules, as a tree; `pegboard.errors` has those of matches and calls, with the same base.

    PegboardError                 base; str(error) is one sentence that says what to do
    ├── NotationError             text that is not a card, tile, move, record or vector
    ├── UnknownVariant            no such catalog id; `nearest` names come with it
    ├── OptionError               unknown option, value out of range, options that do not combine
    ├── SeatsError                a number of seats that the variant does not have
    ├── RecordError               a record that does not replay to what it says
    ├── ViewError                 a view that no state of the game shows
    ├── IllegalMove               readable, but not legal here; nothing has changed
    │   ├── ClaimTooHigh          a claim above the true points (R-C8.6)
    │   └── MustGoOut             a claim short of the target that the points reach (X-05)
    ├── NotYourTurn               the seat is not asked
    └── MatchOver                 the match has ended

Our own bugs are assertions, never one of these.
"""

from __future__ import annotations

from typing import Any

from pegboard.rules.plain import quoted


class PegboardError(ValueError):
    """Base of all errors that a caller can cause."""


class NotationError(PegboardError):
    """Text that cannot be read."""


class UnknownVariant(PegboardError):
    """No variant has this id."""

    def __init__(self, variant: str, nearest: tuple[str, ...] = ()) -> None:
        hint = f"; did you mean {' or '.join(nearest)}?" if nearest else ""
        super().__init__(
            f"no variant {quoted(variant)}{hint or '; `pegboard variants` lists them'}"
        )
        self.variant = variant
        self.nearest = nearest


class OptionError(PegboardError):
    """An option that is unknown, out of range, or does not go with the others."""


class SeatsError(PegboardError):
    """A number of seats that the variant does not have."""


class RecordError(PegboardError):
    """A record that does not replay to what it says."""


class ViewError(PegboardError):
    """A view that no state of the game shows."""


class IllegalMove(PegboardError):
    """A move that is not legal here; the state has not changed."""


class ClaimTooHigh(IllegalMove):
    """A claim above the true points; how far above is not told (R-C8.6).

    `instead` is the move that stands if the same question is answered so for the second time: the
    same move with a claim of 0 (X-19).
    """

    def __init__(self, message: str, claim: int = 0, instead: Any = None) -> None:
        super().__init__(message)
        self.claim = claim
        self.instead = instead


class MustGoOut(IllegalMove):
    """A claim short of the target although the true points reach it (R-C8.2, X-05)."""

    def __init__(self, message: str, claim: int = 0) -> None:
        super().__init__(message)
        self.claim = claim


class NotYourTurn(PegboardError):
    """The seat is not asked for a move."""


class MatchOver(PegboardError):
    """The match has ended."""
