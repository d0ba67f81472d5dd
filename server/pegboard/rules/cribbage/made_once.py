"""Values that matches make again and again, made once: events of few values, cards on the table, seats.

All are immutable, so matches share them: making one would cost an allocation at every play, and a log
that keeps them needs no memory of its own for them.
"""

from __future__ import annotations

from functools import partial
from typing import Final

from pegboard.rules.cards import NO_CARD, Card, by_card
from pegboard.rules.cribbage.events import CardPlayed, CountEnded, StarterTurned, WentGo
from pegboard.rules.cribbage.joker_rules import LIMIT
from pegboard.rules.cribbage.moves import PLAYS, Play
from pegboard.rules.cribbage.view import PlayedCard
from pegboard.rules.game import Seat

_SEATS = range(5)
_COUNTS = range(LIMIT + 1)

PLAIN_PLAYS: Final[tuple[Play, ...]] = PLAYS
"""The plain play of each card, by card: here too, as compiled code reads its own constants faster."""

ALONE: Final[tuple[tuple[Seat, ...], ...]] = tuple((seat,) for seat in _SEATS)
"""The seats to act if it is only one."""

PLAYED: Final[tuple[tuple[PlayedCard, ...], ...]] = tuple(
    by_card(partial(PlayedCard, seat, declared=NO_CARD)) for seat in _SEATS
)
"""Plain cards on the table, by seat and card."""


def _played_by(seat: Seat, card: Card) -> tuple[CardPlayed, ...]:
    return tuple(CardPlayed(seat, card, NO_CARD, count) for count in _COUNTS)


CARD_PLAYED: Final[tuple[tuple[tuple[CardPlayed, ...], ...], ...]] = tuple(
    by_card(partial(_played_by, seat)) for seat in _SEATS
)
"""Plain cards played, by seat, card and count."""

WENT_GO: Final[tuple[WentGo, ...]] = tuple(WentGo(seat) for seat in _SEATS)
"""Gos, by seat."""

COUNT_ENDED: Final[tuple[tuple[CountEnded, ...], ...]] = tuple(
    tuple(CountEnded(seat, count) for count in _COUNTS) for seat in _SEATS
)
"""Ends of a count, by seat and count."""

STARTER_TURNED: Final[tuple[StarterTurned, ...]] = by_card(StarterTurned)
"""Starters, by card."""
