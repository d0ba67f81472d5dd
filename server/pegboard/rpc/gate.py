"""Admits calls: by the access of the caller, and by what its allowance has left."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from enum import Enum
from typing import Any, NamedTuple

from pegboard.errors import StoreError, TooManyRequests, Unavailable
from pegboard.rpc.allowance import Allowance, Allowances
from pegboard.rpc.limits import Limits
from pegboard.rpc.tokens import Caller, Tokens, bearer_token
from pegboard.rules.errors import PegboardError

STOPPING = "the server is stopping; connect again"


class Access(Enum):
    """Who may call a method. An unknown token is refused by all of them."""

    EVERYBODY = "everybody"
    READER = "reader"
    """Every bot and organiser; everybody at a public server."""
    BOT = "bot"
    ORGANISER = "organiser"


class Call(NamedTuple):
    """What a method asks of its callers: who they are, and what units a call costs them."""

    access: Access
    cost: int = 1


class Gate:
    """Knows callers by their tokens and keeps what each may still cause unasked.

    Organisers are trusted: their calls cost nothing. All without a token from one host share one
    allowance, and those on Unix sockets have no host: they share one, too.
    """

    def __init__(self, tokens: Tokens, limits: Limits, public: bool = False) -> None:
        """Take the tokens; `public`: matches and records can be read without one."""
        self.tokens = tokens
        self.limits = limits
        self._public = public
        self._allowances = Allowances(limits.excess_burst, limits.excess_per_s)
        self._closed = False

    def close(self) -> None:
        """Refuse all calls from now on: the server is stopping."""
        self._closed = True

    def told(self, error: Exception) -> Exception:
        """Return the error that a caller is told for the one that ended its call.

        While the server stops, calls under way lose host and store beneath them: that is not a fault.
        """
        ours = isinstance(error, StoreError) or not isinstance(error, PegboardError)
        return Unavailable(STOPPING) if self._closed and ours else error

    def caller(self, context: Any) -> Caller:
        """Return who calls. Raises `Unauthenticated` for an unknown token."""
        return self.tokens.caller(bearer_token(context.invocation_metadata()))

    def allowance(self, bot: str) -> Allowance:
        """Return what a bot may still cause, by whatever streams and calls."""
        return self._allowances.of(f"bot {bot}")

    def size(self, call: Call) -> int:
        """Return how many bytes a request may have."""
        organising = call.access is Access.ORGANISER
        return self.limits.message_bytes if organising else self.limits.request_bytes

    def admit(self, context: Any, call: Call) -> Allowance | None:
        """Let a call in, and charge it. Return the allowance of the caller, None for organisers.

        Raises `Unavailable`, `Unauthenticated`, `PermissionDenied` or `TooManyRequests`.
        """
        if self._closed:
            raise Unavailable(STOPPING)
        caller = self.caller(context)
        match call.access:
            case Access.BOT:
                bot = caller.require_bot()
                caller = Caller(bot=bot)  # in development mode an organiser as well
            case Access.ORGANISER:
                caller.require_organiser()
            case Access.READER if not self._public:
                caller.require_token()
        return self._charge(caller, context, call.cost)

    def charge(self, context: Any, units: int) -> None:
        """Charge a call for more than it costs at least. Raises `TooManyRequests`."""
        self._charge(self.caller(context), context, units)

    def _charge(self, caller: Caller, context: Any, units: int) -> Allowance | None:
        if caller.organiser is not None:
            return None
        if caller.bot is not None:
            allowance = self.allowance(caller.bot)
        else:
            allowance = self._allowances.of(f"host {context.peer().rpartition(':')[0]}")
        allowance.spend(units)
        return allowance

    @contextmanager
    def open_call(self, allowance: Allowance | None) -> Iterator[None]:
        """Count a call as open. Raises `TooManyRequests` if too many of its caller are."""
        if allowance is None:
            yield
            return
        most = self.limits.calls_at_once
        if allowance.open_calls >= most:
            raise TooManyRequests(f"more than {most} calls are open; wait until some have ended")
        allowance.open_calls += 1
        try:
            yield
        finally:
            allowance.open_calls -= 1


def check_size(name: str, size: int, most: int) -> None:
    """Raise `TooManyRequests` for a message that is too large."""
    if size > most:
        raise TooManyRequests(f"{name} has {size} bytes; at most {most} are taken")
