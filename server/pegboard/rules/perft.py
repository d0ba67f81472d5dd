"""Perft: how many ways a match can go on, and a digest of all of them.

Two implementations of the rules that agree on these numbers agree on every choice and every event on
the way. From a state, all moves are made to a depth, as a tree:

- if several seats are to act, the lowest moves: their order changes nothing;
- moves are taken in the listed order, open numbers filled in from low to high; refused claims are left
  out;
- a sequence ends at the depth, or earlier with the match.

The digest is SHA-256 over the events of each move, one text a line, when the move is made, depth first.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import Any, NamedTuple, Protocol

from pegboard.rules.errors import IllegalMove
from pegboard.rules.game import State


class _Digest(Protocol):
    def update(self, data: bytes, /) -> None: ...

    def hexdigest(self) -> str: ...


class Perft(NamedTuple):
    """The number of sequences and the digest of their events, in hexadecimal."""

    sequences: int
    events_digest: str


def perft(state: State, depth: int, events: Iterable[Any] = ()) -> Perft:
    """Count the sequences from `state`; `events` are what led there, digested first."""
    digest = hashlib.sha256()
    _note(digest, events)
    return Perft(_count(state, depth, digest), digest.hexdigest())


def count(state: State, depth: int, most: int) -> int:
    """Return the number of sequences, or more than `most` as soon as there are more."""
    return _count(state, depth, None, most)


def _count(state: State, depth: int, digest: _Digest | None, most: int | None = None) -> int:
    """Walk the tree, digesting events if a digest is given, until more than `most` are found."""
    if depth == 0 or not state.to_act():
        return 1
    found = 0
    seat = state.to_act()[0]
    for move in state.choices(seat).expand():
        after = state.copy()
        try:
            events = after.apply(seat, move)
        except IllegalMove:
            continue
        if digest is not None:
            _note(digest, events)
        found += _count(after, depth - 1, digest, None if most is None else most - found)
        if most is not None and found > most:
            break
    return found


def _note(digest: _Digest, events: Iterable[Any]) -> None:
    digest.update("".join([f"{event.text()}\n" for event in events]).encode())
