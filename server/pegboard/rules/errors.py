"""Everything that can go wrong through somebody else's fault, as one tree.

    PegboardError                 base; str(error) is one sentence that says what to do
    ├── NotationError             text that is no card, tile, move, record or vector
    ├── UnknownVariant            no such catalog id; `nearest` names come with it
    ├── OptionError               unknown option, value out of range, options that do not combine
    ├── SeatsError                a number of seats that the variant does not have
    ├── RecordError               a record that does not replay to what it says
    ├── IllegalMove               readable, but not legal here; nothing has changed
    │   ├── ClaimTooHigh          a claim above the true points (R-C8.6)
    │   └── MustGoOut             a claim short of the target that the points reach (X-05)
    ├── NotYourTurn               the seat is not asked
    ├── StaleTurn                 the turn is over or answered
    ├── MatchOver                 the match has ended
    ├── MatchRunning              the match has not ended yet
    ├── UnknownMatch              no such match
    ├── UnknownSeat               no such seat, or another bot's
    ├── AlreadyExists             the id is taken by another match
    ├── Unauthenticated           no token, or one that nobody has
    ├── PermissionDenied          the token does not allow it
    ├── InvalidRequest            a request that makes no sense
    ├── Replaced                  a newer connection of the same bot took over
    ├── TooManyRequests           more than the server takes from one caller
    ├── Silent                    a peer that no longer answers
    ├── StoreError                the store cannot be opened, read or written
    ├── Unavailable               the server cannot be reached, or is stopping
    └── ServerFault               the server's own error; its log has the reference

Our own bugs are assertions, never one of these.
"""

from __future__ import annotations

from typing import Any

from pegboard.rules.plain import quoted


class PegboardError(ValueError):
    """Base of all errors that somebody outside can cause."""


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


class IllegalMove(PegboardError):
    """A move that is not legal here; the state has not changed."""


class ClaimTooHigh(IllegalMove):
    """A claim above the true points; how far above is not told (R-C8.6).

    `instead` is the move that stands where the same question is answered so for the second time: the
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


class StaleTurn(PegboardError):
    """The turn is over, or another answer to it has been accepted."""


class MatchOver(PegboardError):
    """The match has ended."""


class MatchRunning(PegboardError):
    """The match has not ended yet."""


class UnknownMatch(PegboardError):
    """No match has this name."""


class UnknownSeat(PegboardError):
    """The match has no such seat, or another bot sits there."""


class AlreadyExists(PegboardError):
    """The id is taken by another match."""


class Unauthenticated(PegboardError):
    """The caller has no token, or one that nobody has."""


class PermissionDenied(PegboardError):
    """The caller's token does not allow this."""


class InvalidRequest(PegboardError):
    """A request that makes no sense; the sentence says what would."""


class Replaced(PegboardError):
    """A newer connection of the same bot took over."""


class TooManyRequests(PegboardError):
    """More than the server takes from one caller."""


class Silent(PegboardError):
    """A peer that no longer reads or answers."""


class StoreError(PegboardError):
    """The store cannot be opened, read or written."""


class Unavailable(PegboardError):
    """The server cannot be reached, or is stopping; trying again may help."""


class ServerFault(PegboardError):
    """The server's own error; the sentence has the reference of its log entry."""
