"""The moves of cribbage.

Moves are frozen dataclasses, equal only to moves of their own kind. Those with few values are made
once and shared (`discard`, `play`), since a match makes a hundred of them.

Order of the listed moves (documented in clients/README.md): pass before bid and call; cards ascending;
sets of cards in the order of `itertools.combinations` over the ascending hand; a joker's declared
cards ascending; cells by rows.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import ClassVar, Final

from pegboard.rules.cards import NO_CARD, Card, by_card, card_text, cards_text


@dataclass(frozen=True, slots=True, repr=False)
class CribbageMove:
    """Base of all moves. `LEAST` is the least number of a move that is listed without it."""

    LEAST: ClassVar[int] = 0

    @property
    def is_open(self) -> bool:
        """Whether the move still lacks its number."""
        return False

    def text(self) -> str:
        """Return the canonical notation."""
        raise NotImplementedError

    def __repr__(self) -> str:
        return f"{self.text()} ?" if self.is_open else self.text()


@dataclass(frozen=True, slots=True, repr=False)
class CardsMove(CribbageMove):
    """A move of a set of cards, ascending."""

    WORD: ClassVar[str]
    cards: tuple[Card, ...]

    def text(self) -> str:
        """Return e.g. `DISCARD 5C TD`."""
        return f"{self.WORD} {cards_text(self.cards)}"


@dataclass(frozen=True, slots=True, repr=False)
class Discard(CardsMove):
    """Lays cards away to the crib (R-C1.6)."""

    WORD = "DISCARD"


@dataclass(frozen=True, slots=True, repr=False)
class Split(CardsMove):
    """Ten-card: chooses the four cards for the play (R-C5.10)."""

    WORD = "SPLIT"


@dataclass(frozen=True, slots=True, repr=False)
class Gift(CardsMove):
    """Canadian doubles: gives four cards to the partner (R-C5.CD)."""

    WORD = "GIFT"


@dataclass(frozen=True, slots=True, repr=False)
class Exchange(CardsMove):
    """Lone crib: puts four of eight cards back (R-C5.3T2)."""

    WORD = "EXCHANGE"


@dataclass(frozen=True, slots=True, repr=False)
class Play(CribbageMove):
    """Plays a card; a wild joker declares one (R-C9.3); with muggins a claim comes along (X-03).

    `claim` is None if the table counts, -1 in a listed move that lacks it.
    """

    card: Card
    declared: Card = NO_CARD
    claim: int | None = None

    @property
    def is_open(self) -> bool:
        """Whether the claim is still to be given."""
        return self.claim == -1

    def with_number(self, number: int) -> Play:
        """Return the move with its claim."""
        return replace(self, claim=number)

    def text(self) -> str:
        """Return `PLAY 5C`, `PLAY JK=5C` or `PLAY 5C CLAIM 2`."""
        declared = "" if self.declared == NO_CARD else f"={card_text(self.declared)}"
        claim = "" if self.claim is None or self.claim < 0 else f" CLAIM {self.claim}"
        return f"PLAY {card_text(self.card)}{declared}{claim}"


@dataclass(frozen=True, slots=True, repr=False)
class Go(CribbageMove):
    """Says go (R-C3.3)."""

    def text(self) -> str:
        """Return `GO`."""
        return "GO"


@dataclass(frozen=True, slots=True, repr=False)
class Pass(CribbageMove):
    """Declines to bid (R-C9.10) or to call (R-C8.6)."""

    def text(self) -> str:
        """Return `PASS`."""
        return "PASS"


@dataclass(frozen=True, slots=True, repr=False)
class NumberMove(CribbageMove):
    """A move that is a number; None in a listed move, whose number is open."""

    WORD: ClassVar[str]
    points: int | None = None

    @property
    def is_open(self) -> bool:
        """Whether the number is still to be given."""
        return self.points is None

    def text(self) -> str:
        """Return e.g. `BID 3`."""
        return self.WORD if self.points is None else f"{self.WORD} {self.points}"


@dataclass(frozen=True, slots=True, repr=False)
class Bid(NumberMove):
    """Bids points for the crib (R-C9.9)."""

    WORD = "BID"

    def with_number(self, number: int) -> Bid:
        """Return the bid of that many points."""
        return Bid(number)


@dataclass(frozen=True, slots=True, repr=False)
class Claim(NumberMove):
    """Claims points for a hand, a crib, a go or the last card (X-03)."""

    WORD = "CLAIM"

    def with_number(self, number: int) -> Claim:
        """Return the claim of that many points."""
        return Claim(number)


@dataclass(frozen=True, slots=True, repr=False)
class Call(NumberMove):
    """Calls muggins for points left out (R-C8.5), at least 1 (X-04)."""

    WORD = "CALL"
    LEAST = 1

    def with_number(self, number: int) -> Call:
        """Return the call of that many points."""
        return Call(number)


@dataclass(frozen=True, slots=True, repr=False)
class Place(CribbageMove):
    """Squares: puts the next card into a cell, rows and columns from 0 (R-C7.2)."""

    row: int
    column: int

    def text(self) -> str:
        """Return e.g. `PLACE 0 3`."""
        return f"PLACE {self.row} {self.column}"


GO: Final = Go()
PASS: Final = Pass()
PLAYS: Final[tuple[Play, ...]] = by_card(Play)
"""The plain play of each card, by card."""


@lru_cache(maxsize=1 << 14)
def discard(cards: tuple[Card, ...]) -> Discard:
    """Return the shared discard of these ascending cards."""
    return Discard(cards)
