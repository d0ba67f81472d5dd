"""The events of cribbage: named tuples, so that the inner loop makes them cheaply.

Every event has `text()`, one line in canonical notation; the events of a match, one text a line, are
what perft files and `events_digest` hash. Fields are those of protos/pegboard/v1/cribbage.proto.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import IntEnum
from functools import lru_cache
from typing import Final, NamedTuple, TypeAlias, TypeVar, cast, get_args

from pegboard.rules.cards import NO_CARD, Card, card_text, cards_text
from pegboard.rules.cribbage.scoring.items import Item, ItemKind
from pegboard.rules.cribbage.scoring.pegging import peg_items
from pegboard.rules.cribbage.scoring.show import ShowRules, show_items
from pegboard.rules.game import Seat, from_row, print_as_text


class Reason(IntEnum):
    """Why a score changed; numbers as in the contract."""

    HEELS = 1
    PLAY = 2
    GO = 3
    LAST = 4
    THIRTY_ONE = 5
    HAND = 6
    CRIB = 7
    MUGGINS = 8
    BID = 9
    ZERO_PENALTY = 10
    BACK_UP = 11


_REASON_NAMES = ("", *(reason.name for reason in Reason))

Text = TypeVar("Text", bound=Callable[..., str])


def remembered(text: Text) -> Text:
    """Keep the texts of events of few values: a match asks for the same ones again and again."""
    return cast("Text", lru_cache(maxsize=1 << 13)(text))


class CutForDeal(NamedTuple):
    """The cut for the first deal: a card a seat, NO_CARD for seats no longer cutting (R-C1.2)."""

    cards: tuple[Card, ...]

    def text(self) -> str:
        """Return `CUT 5C -- TD`."""
        return f"CUT {cards_text(self.cards)}"


class GameStarted(NamedTuple):
    """A game begins; `scores` by side."""

    game: int
    dealer: Seat
    scores: tuple[int, ...]

    def text(self) -> str:
        """Return `GAME 1 DEALER 0 SCORES 0 0`."""
        return f"GAME {self.game} DEALER {self.dealer} SCORES {_numbers(self.scores)}"


class Dealt(NamedTuple):
    """Cards are dealt: a hand by seat, and the cards dealt to the crib."""

    deal: int
    dealer: Seat
    hands: tuple[tuple[Card, ...], ...]
    crib: tuple[Card, ...]

    def text(self) -> str:
        """Return `DEAL 1 DEALER 0 / 5C .. / .. / CRIB 2D`."""
        hands = "".join(f" / {cards_text(hand)}" for hand in self.hands)
        crib = f" / CRIB {cards_text(self.crib)}" if self.crib else ""
        return f"DEAL {self.deal} DEALER {self.dealer}{hands}{crib}"


class BidMade(NamedTuple):
    """A bid for the crib; 0 points is a pass."""

    seat: Seat
    points: int

    def text(self) -> str:
        """Return `BID 0 3`."""
        return f"BID {self.seat} {self.points}"


class CribSold(NamedTuple):
    """The auction is over; with no bid the dealer keeps the crib for 0."""

    seat: Seat
    points: int

    def text(self) -> str:
        """Return `SOLD 0 3`."""
        return f"SOLD {self.seat} {self.points}"


class Discarded(NamedTuple):
    """Cards laid away to the crib."""

    seat: Seat
    cards: tuple[Card, ...]

    def text(self) -> str:
        """Return `DISCARDED 0 5C TD`."""
        return f"DISCARDED {self.seat} {cards_text(self.cards)}"


class SplitMade(NamedTuple):
    """Ten-card: the hand for the play and the second hand."""

    seat: Seat
    hand: tuple[Card, ...]
    second_hand: tuple[Card, ...]

    def text(self) -> str:
        """Return `SPLIT 0 .. / ..`."""
        return f"SPLIT {self.seat} {cards_text(self.hand)} / {cards_text(self.second_hand)}"


class Gifted(NamedTuple):
    """Canadian doubles: cards given to the partner."""

    seat: Seat
    to: Seat
    cards: tuple[Card, ...]

    def text(self) -> str:
        """Return `GIFTED 0 2 ..`."""
        return f"GIFTED {self.seat} {self.to} {cards_text(self.cards)}"


class CribTaken(NamedTuple):
    """The lone seat picks up the crib."""

    seat: Seat
    cards: tuple[Card, ...]

    def text(self) -> str:
        """Return `TOOK 0 ..`."""
        return f"TOOK {self.seat} {cards_text(self.cards)}"


class Exchanged(NamedTuple):
    """The lone seat puts cards back into the crib."""

    seat: Seat
    cards: tuple[Card, ...]

    def text(self) -> str:
        """Return `EXCHANGED 0 ..`."""
        return f"EXCHANGED {self.seat} {cards_text(self.cards)}"


class StarterTurned(NamedTuple):
    """The starter is turned."""

    card: Card

    def text(self) -> str:
        """Return `STARTER 5C`."""
        return f"STARTER {card_text(self.card)}"


class CardPlayed(NamedTuple):
    """A card is played; `count` includes it."""

    seat: Seat
    card: Card
    declared: Card
    count: int  # type: ignore[assignment]  # hides tuple.count, which has no use here

    @remembered
    def text(self) -> str:
        """Return `PLAYED 0 5C 15` or `PLAYED 0 JK=5C 15`."""
        declared = "" if self.declared == NO_CARD else f"={card_text(self.declared)}"
        return f"PLAYED {self.seat} {card_text(self.card)}{declared} {self.count}"


class WentGo(NamedTuple):
    """A go is said, by the seat or for it (X-02)."""

    seat: Seat

    @remembered
    def text(self) -> str:
        """Return `WENT_GO 0`."""
        return f"WENT_GO {self.seat}"


class CountEnded(NamedTuple):
    """The count is over; `seat` played its last card."""

    seat: Seat
    count: int  # type: ignore[assignment]

    @remembered
    def text(self) -> str:
        """Return `COUNT_ENDED 0 31`."""
        return f"COUNT_ENDED {self.seat} {self.count}"


class HandShown(NamedTuple):
    """A hand is laid open; `hand`: 0, 1 the ten-card second hand, 0 to 7 the lines of squares."""

    seat: Seat
    cards: tuple[Card, ...]
    hand: int

    def text(self) -> str:
        """Return `HAND 0 0 ..`."""
        return f"HAND {self.seat} {self.hand} {cards_text(self.cards)}"


class CribShown(NamedTuple):
    """The crib is laid open; `seat` owns it."""

    seat: Seat
    cards: tuple[Card, ...]

    def text(self) -> str:
        """Return `CRIB 0 ..`."""
        return f"CRIB {self.seat} {cards_text(self.cards)}"


class Claimed(NamedTuple):
    """Points claimed in manual counting."""

    seat: Seat
    subject: Reason
    points: int

    def text(self) -> str:
        """Return `CLAIMED 0 HAND 8`."""
        return f"CLAIMED {self.seat} {self.subject.name} {self.points}"


class Called(NamedTuple):
    """Muggins called for so many points."""

    seat: Seat
    points: int

    def text(self) -> str:
        """Return `CALLED 0 2`."""
        return f"CALLED {self.seat} {self.points}"


class Counted(NamedTuple):
    """What was counted. A wild joker that was played is the card that it was declared to be.

    In the show `cards` are those of the hand or crib, `starter` is NO_CARD if it did not count. In the
    play they are those of the running count, which is `running`. For heels they are the starter alone.
    """

    cards: tuple[Card, ...]
    starter: Card
    running: int
    rules: ShowRules


class Scored(NamedTuple):
    """Points pegged: the real ones, negative for a payment; `score` is capped at the target (R-C2.9).

    `counted` is what was counted, from which `explain` finds the combinations: most matches have no
    reader, so they are not found while a match is played. It is None if nothing was counted (a bid, a
    penalty) or counting is manual, since the true combinations are then never told. An event that was
    read from a message has the combinations that the server found.
    """

    seat: Seat
    side: int
    points: int
    reason: Reason
    counted: Counted | tuple[Item, ...] | None
    score: int

    def text(self) -> str:
        """Return `SCORED 0 2 PLAY SCORE 14`; `game.explained` adds the items."""
        seat, _, points, reason, _, score = self
        return f"SCORED {seat} {points} {_REASON_NAMES[reason]} SCORE {score}"

    def explain(self) -> tuple[Item, ...]:
        """Return the combinations that make the points, () if nothing was counted."""
        counted = self.counted
        if counted is None:
            return ()
        if not isinstance(counted, Counted):
            return counted
        cards, starter, running, rules = counted
        if self.reason in (Reason.HAND, Reason.CRIB):
            return show_items(cards, starter, self.reason == Reason.CRIB, rules)
        if self.reason == Reason.PLAY:
            return peg_items(cards, running, rules)
        kind = ItemKind.HEELS if self.reason == Reason.HEELS else ItemKind.THIRTY_ONE
        return (Item(kind, self.points, cards),)


class CardTurned(NamedTuple):
    """Squares: the next card."""

    card: Card

    def text(self) -> str:
        """Return `TURNED 5C`."""
        return f"TURNED {card_text(self.card)}"


class CardPlaced(NamedTuple):
    """Squares: a card put into a cell."""

    seat: Seat
    row: int
    column: int
    card: Card

    def text(self) -> str:
        """Return `PLACED 0 1 2 5C`."""
        return f"PLACED {self.seat} {self.row} {self.column} {card_text(self.card)}"


class GameEnded(NamedTuple):
    """A game is over; `winners` are sides, `match_points` what each of them gets."""

    game: int
    scores: tuple[int, ...]
    winners: tuple[int, ...]
    match_points: int

    def text(self) -> str:
        """Return `GAME_ENDED 1 SCORES 121 98 WINNERS 0 POINTS 1`."""
        return (
            f"GAME_ENDED {self.game} SCORES {_numbers(self.scores)}"
            f" WINNERS {_numbers(self.winners)} POINTS {self.match_points}"
        )


CribbageEvent: TypeAlias = (
    CutForDeal
    | GameStarted
    | Dealt
    | BidMade
    | CribSold
    | Discarded
    | SplitMade
    | Gifted
    | CribTaken
    | Exchanged
    | StarterTurned
    | CardPlayed
    | WentGo
    | CountEnded
    | HandShown
    | CribShown
    | Claimed
    | Called
    | Scored
    | CardTurned
    | CardPlaced
    | GameEnded
)


print_as_text(*get_args(CribbageEvent))

# What every deal makes several times is made from its row (see `from_row`).
dealt_of: Final[
    Callable[[tuple[int, Seat, tuple[tuple[Card, ...], ...], tuple[Card, ...]]], Dealt]
] = from_row(Dealt)
discarded_of: Final[Callable[[tuple[Seat, tuple[Card, ...]]], Discarded]] = from_row(Discarded)
hand_shown_of: Final[Callable[[tuple[Seat, tuple[Card, ...], int]], HandShown]] = from_row(
    HandShown
)
crib_shown_of: Final[Callable[[tuple[Seat, tuple[Card, ...]]], CribShown]] = from_row(CribShown)
counted_of: Final[Callable[[tuple[tuple[Card, ...], Card, int, ShowRules]], Counted]] = from_row(
    Counted
)
scored_of: Final[Callable[[tuple[Seat, int, int, Reason, Counted | None, int]], Scored]] = from_row(
    Scored
)


def explain(event: CribbageEvent) -> tuple[Item, ...]:
    """Return the combinations that make the points of a score; () for every other event."""
    return event.explain() if isinstance(event, Scored) else ()


def _numbers(numbers: tuple[int, ...]) -> str:
    return " ".join(map(str, numbers))
