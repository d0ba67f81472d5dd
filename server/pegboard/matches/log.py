"""The log of one match: its moves, and the events they caused, densely numbered from 1.

The moves are the truth; events follow from the seed and the moves. So only the last few events stay in
memory, and older ones are derived again for a reader that asks for them (`RunningMatch.events`). The
digest of all events is updated as they leave.

Moves become text when a snapshot, a record or a reader needs it, mostly at the end of the match: made
one by one, their texts would cost every move, and most are not read before the end.
"""

from __future__ import annotations

import hashlib
from asyncio import Future
from typing import Any

KEPT = 32
"""Events kept in memory: at least so many of a long match, and at most twice as many."""


def lines_of(text: str) -> list[str]:
    """Return the lines of stored moves or of a journal; only a line feed ends a line."""
    return text.removesuffix("\n").split("\n") if text else []


class Log:
    """Appending is the commit point of a move. `visible` is how many events may be published."""

    __slots__ = (
        "_digest",
        "_pending",
        "_text",
        "count",
        "events",
        "visible",
        "waiters",
    )

    def __init__(self) -> None:
        self.count = 0
        self.visible = 0
        self.events: list[Any] = []
        self.waiters: set[Future[None]] = set()
        self._digest = hashlib.sha256()
        self._pending: list[Any] = []
        self._text = ""

    @classmethod
    def of(cls, moves: str) -> Log:
        """Return a log of moves that cannot be replayed: for the record."""
        log = cls()
        log._text = moves
        return log

    def append(self, seat: int, move: Any, events: list[Any]) -> None:
        """Add a move and its events."""
        self._pending += (seat, move)
        self.add_events(events)

    def add_events(self, events: list[Any]) -> None:
        """Add events without a move: the first ones."""
        kept = self.events
        kept += events
        self.count += len(events)
        if len(kept) > 2 * KEPT:
            self._forget(len(kept) - KEPT)

    @property
    def move_count(self) -> int:
        """How many moves there are."""
        return len(lines_of(self._text)) + len(self._pending) // 2

    @property
    def first(self) -> int:
        """The sequence number of the oldest event in memory."""
        return self.count - len(self.events) + 1

    def _forget(self, number: int) -> None:
        self._digest.update(
            "".join([event.text() + "\n" for event in self.events[:number]]).encode()
        )
        del self.events[:number]

    def digest(self) -> str:
        """Return SHA-256 in hexadecimal over the texts of all events, each with a line feed."""
        digest = self._digest.copy()
        digest.update("".join([event.text() + "\n" for event in self.events]).encode())
        return digest.hexdigest()

    def moves(self) -> str:
        """Return all moves, one a line, `SEAT MOVE`."""
        pending = self._pending
        if pending:
            self._pending = []
            places = range(0, len(pending), 2)
            lines = [f"{pending[place]} {pending[place + 1].text()}" for place in places]
            self._text = "\n".join([self._text, *lines] if self._text else lines)
        return self._text

    def wake(self) -> None:
        """End the waits of watchers: `visible` has grown, or no event will come any more."""
        waiters, self.waiters = self.waiters, set()
        for waiter in waiters:
            if not waiter.done():
                waiter.set_result(None)
