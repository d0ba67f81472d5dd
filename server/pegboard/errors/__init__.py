"""Every error that a caller can cause, as one tree: those of the rules, of matches and of calls.

    PegboardError                 base; str(error) is one sentence that says what to do
    ├── ...                       the errors of the rules (`rules.errors`)
    ├── StaleTurn                 the turn is over or answered
    ├── MatchRunning              the match has not ended yet
    ├── UnknownMatch              no such match
    ├── UnknownSeat               no such seat, or another bot's
    ├── AlreadyExists             the id is taken by another match
    ├── Unauthenticated           no token, or a token that the server does not know
    ├── PermissionDenied          the token does not allow it
    ├── InvalidRequest            a request that makes no sense
    ├── Replaced                  a newer connection of the same bot took over
    ├── TooManyRequests           more than the server takes from one caller
    ├── Silent                    a peer that no longer answers
    ├── StoreError                the store cannot be opened, read or written
    ├── Unavailable               the server cannot be reached, or is stopping
    └── ServerFault               the server's own error; its log has the reference

The server raises them, `wire.errors` carries them, and the Python client raises the same classes
again. So they stand in a package of their own: the client imports nothing of the server.
"""

from __future__ import annotations

from pegboard.rules.errors import (
    ClaimTooHigh,
    IllegalMove,
    MatchOver,
    MustGoOut,
    NotationError,
    NotYourTurn,
    OptionError,
    PegboardError,
    RecordError,
    SeatsError,
    UnknownVariant,
)

__all__ = [
    "AlreadyExists",
    "ClaimTooHigh",
    "IllegalMove",
    "InvalidRequest",
    "MatchOver",
    "MatchRunning",
    "MustGoOut",
    "NotYourTurn",
    "NotationError",
    "OptionError",
    "PegboardError",
    "PermissionDenied",
    "RecordError",
    "Replaced",
    "SeatsError",
    "ServerFault",
    "Silent",
    "StaleTurn",
    "StoreError",
    "TooManyRequests",
    "Unauthenticated",
    "Unavailable",
    "UnknownMatch",
    "UnknownSeat",
    "UnknownVariant",
]


class StaleTurn(PegboardError):
    """The turn is over, or another answer to it has been accepted."""


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
