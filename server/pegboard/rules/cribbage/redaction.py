"""What a seat may know of an event: hidden cards become HIDDEN, their number always shows."""

from __future__ import annotations

from typing import Any

from pegboard.rules.cards import HIDDEN, Card
from pegboard.rules.cribbage.events import (
    CribTaken,
    Dealt,
    Discarded,
    Exchanged,
    Gifted,
    SplitMade,
)
from pegboard.rules.game import Seat


def redact(event: Any, seat: Seat | None) -> Any:
    """Return the event as the seat (None: a spectator) may see it."""
    kind = type(event)
    if kind is Dealt:
        return _dealt(event, seat)
    if kind in _OWN and seat != event.seat:
        return event._replace(cards=_hidden(event.cards))
    if kind is Gifted and seat not in (event.seat, event.to):
        return event._replace(cards=_hidden(event.cards))
    if kind is SplitMade and seat != event.seat:
        return event._replace(hand=_hidden(event.hand), second_hand=_hidden(event.second_hand))
    return event


_OWN = frozenset({Discarded, CribTaken, Exchanged})
"""Events of cards that only their seat knows (R-C1.7, R-C5.3T2)."""


def _dealt(event: Dealt, seat: Seat | None) -> Dealt:
    """Show the own hand; nobody sees what is dealt to the crib."""
    hands = tuple(
        hand if owner == seat else _hidden(hand) for owner, hand in enumerate(event.hands)
    )
    return event._replace(hands=hands, crib=_hidden(event.crib))


def _hidden(cards: tuple[Card, ...]) -> tuple[Card, ...]:
    return (HIDDEN,) * len(cards)
