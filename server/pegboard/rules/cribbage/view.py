"""What a seat of a cribbage match can see. Fields are those of `CribbageView` in the contract."""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple

from pegboard.rules.cards import NO_CARD, Card, card_text, cards_text
from pegboard.rules.cribbage.events import Reason
from pegboard.rules.game import Seat, print_as_text


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

    def text(self) -> str:
        """Return `0 5C`, or `0 JK=5C`."""
        stands_for = "" if self.declared == NO_CARD else f"={card_text(self.declared)}"
        return f"{self.seat} {card_text(self.card)}{stands_for}"


class Counting(NamedTuple):
    """A claim that is due (`claim` None) or that may be called.

    `cards` are a hand's or crib's; in the play those of a count that is over, else none.
    """

    subject: Reason
    seat: Seat
    cards: tuple[Card, ...]
    claim: int | None


class CribbageView(NamedTuple):
    """All that one seat, or a spectator, can see.

    `scores`, `rear_pegs`, `games_won`, `match_points` are by side. `crib_owner` is None during the
    auction and in squares, which has no crib; `bid` and `bidder` are None without a bid. `passed` are
    the seats that are out of the auction. `count_over`: the running count has ended and its last claim
    or calls are awaited. `shown` has the hands laid open so far in a manual show, in the order of
    counting. `seen` has what only this seat knows and holds no more: the cards that it gave to its
    partner (Canadian doubles), what the others had laid into the crib (the lone seat of lone-crib), the
    cards of earlier deals from this pack (solitaire).
    """

    phase: Phase
    game: int
    deal: int
    dealer: Seat
    crib_owner: Seat | None
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
    count: int  # type: ignore[assignment]  # hides tuple.count, which has no use here
    said_go: tuple[Seat, ...]
    bid: int | None
    bidder: Seat | None
    counting: Counting | None
    grid: tuple[Card, ...]
    next_card: Card
    seats_to_act: tuple[Seat, ...]
    passed: tuple[Seat, ...]
    count_over: bool
    shown: tuple[tuple[Card, ...], ...]
    seen: tuple[Card, ...]
    match_points: tuple[int, ...]

    def text(self) -> str:
        """Return what people want to see of it, a line a subject; what is empty is left out."""
        lines = [
            f"{self.phase.name} in deal {self.deal} of game {self.game}, dealer {self.dealer},"
            f" scores {' '.join(map(str, self.scores))}"
        ]
        named = (
            ("hand", cards_text(self.hand)),
            ("discards", cards_text(self.discards)),
            ("second hand", cards_text(self.second_hand)),
            ("starter", "" if self.starter == NO_CARD else card_text(self.starter)),
            ("played", ", ".join(card.text() for card in self.played)),
            (f"count {self.count}", ", ".join(card.text() for card in self.count_cards)),
        )
        lines += [f"{name}: {text}" for name, text in named if text]
        lines += [cards_text(self.grid[row : row + 4]) for row in range(0, len(self.grid), 4)]
        if self.next_card != NO_CARD:
            lines.append(f"next card: {card_text(self.next_card)}")
        return "\n".join(lines)


print_as_text(PlayedCard, CribbageView)
