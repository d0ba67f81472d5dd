"""What a seat of a cribbage match can see. Fields are those of `CribbageView` in the contract."""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple

from pegboard.rules.cards import Card
from pegboard.rules.cribbage.events import Reason
from pegboard.rules.game import Seat


class Phase(IntEnum):
    """What the table waits for; numbers as in the contract."""

    BID = 1
    DISCARD = 2
    EXCHANGE = 3
    PLAY = 4
    SHOW = 5
    GRID = 6
    OVER = 7


class PlayedCard(NamedTuple):
    """A card on the table; `declared` is NO_CARD but for a wild joker."""

    seat: Seat
    card: Card
    declared: Card


class Counting(NamedTuple):
    """A claim that is due (`claim` None) or that may be called.

    `cards` are a hand's or crib's; in the play those of a count that is over, else none.
    """

    subject: Reason
    seat: Seat
    cards: tuple[Card, ...]
    claim: int | None


class CribbageView(NamedTuple):
    """All that one seat, or a spectator, can see. `scores`, `rear_pegs`, `games_won` are by side."""

    phase: Phase
    game: int
    deal: int
    dealer: Seat
    crib_owner: Seat
    scores: tuple[int, ...]
    rear_pegs: tuple[int, ...]
    games_won: tuple[int, ...]
    hand: tuple[Card, ...]
    discards: tuple[Card, ...]
    second_hand: tuple[Card, ...]
    hand_sizes: tuple[int, ...]
    starter: Card
    played: tuple[PlayedCard, ...]
    count_cards: tuple[PlayedCard, ...]
    count: int  # type: ignore[assignment]  # hides tuple.count, which nobody needs
    said_go: tuple[Seat, ...]
    bid: int
    bidder: Seat
    counting: Counting | None
    grid: tuple[Card, ...]
    next_card: Card
