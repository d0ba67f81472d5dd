"""What a seat may know of an event: hidden cards become HIDDEN, their number always shows."""

from __future__ import annotations

from typing import TypeVar, cast

from pegboard.rules.cards import HIDDEN, Card
from pegboard.rules.cribbage.events import (
    CribbageEvent,
    CribTaken,
    Dealt,
    Discarded,
    Exchanged,
    Gifted,
    SplitMade,
)
from pegboard.rules.game import Seat

Some = TypeVar("Some", bound=CribbageEvent)


def redact(event: Some, seat: Seat | None) -> Some:
    """Return the event as the seat (None: a spectator) may see it."""
    return cast("Some", _redacted(event, seat))


def _redacted(event: CribbageEvent, seat: Seat | None) -> CribbageEvent:
    if isinstance(event, Dealt):
        return _dealt(event, seat)
    # Cards that only their seat knows (R-C1.7, R-C5.3T2).
    if isinstance(event, Discarded | CribTaken | Exchanged) and seat != event.seat:
        return event._replace(cards=_hidden(event.cards))
    if isinstance(event, Gifted) and seat not in (event.seat, event.to):
        return event._replace(cards=_hidden(event.cards))
    if isinstance(event, SplitMade) and seat != event.seat:
        return event._replace(hand=_hidden(event.hand), second_hand=_hidden(event.second_hand))
    return event


def _dealt(event: Dealt, seat: Seat | None) -> Dealt:
    """Show the own hand; no seat sees what is dealt to the crib."""
    hands = tuple(
        hand if owner == seat else _hidden(hand) for owner, hand in enumerate(event.hands)
    )
    return event._replace(hands=hands, crib=_hidden(event.crib))


def _hidden(cards: tuple[Card, ...]) -> tuple[Card, ...]:
    return (HIDDEN,) * len(cards)
