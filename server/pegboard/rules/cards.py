"""Cards as the contract numbers them: 10 x rank (ace 1 to king 13) + suit (C D H S, 1 to 4).

So 11 is AC, 51 is 5C, 134 is KS: the numbers ascend by rank, then suit, and are those of the enum
`Card` in protos/pegboard/v1/cribbage.proto. Both jokers of a pack are the same card, `JOKER`: nothing
tells them apart. `HIDDEN` stands for a card that the reader may not see, and is 0 as on the wire.

`Card` is a `NewType`: a plain int at run time, so that tables are indexed by cards without a
conversion. A subclass of int with a `repr` of its own would make each such lookup slower, and mypyc
would turn it back into an int.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final, NewType, TypeVar, cast

from pegboard.rules.errors import NotationError

Card = NewType("Card", int)

T = TypeVar("T")

RANKS: Final = "A23456789TJQK"
"""The letter of rank r is `RANKS[r - 1]`."""
SUITS: Final = "CDHS"
"""The letter of suit s is `SUITS[s - 1]`."""

PACK: Final[tuple[Card, ...]] = tuple(
    Card(10 * rank + suit) for rank in range(1, 14) for suit in range(1, 5)
)
"""The 52 cards, ascending: the places of the pack that `shuffle` orders (docs/deals.md)."""

JOKER: Final = Card(141)
PACK_WITH_JOKERS: Final[tuple[Card, ...]] = (*PACK, JOKER, JOKER)
"""The pack of 54; its last two places are both `JOKER`."""

ALL_CARDS: Final = frozenset(PACK_WITH_JOKERS)
"""Every number that is a card."""

HIDDEN: Final = Card(0)
NO_CARD: Final = Card(-1)
"""No card at all: a starter not yet turned, an empty cell, a card that declares nothing.

It differs from `HIDDEN`, since a hidden card is there. In tables by card it is the last entry.
"""


def by_card(make: Callable[[Card], T], none: T | None = None) -> tuple[T, ...]:
    """Return a table of `make(card)` that a card indexes; `none` is the entry of `NO_CARD`.

    The entries of numbers between cards are None: to read one is a bug.
    """
    made = [make(Card(number)) if number in ALL_CARDS else None for number in range(JOKER + 1)]
    return cast("tuple[T, ...]", (*made, none))


RANK: Final[tuple[int, ...]] = by_card(lambda card: card // 10 if card != JOKER else 0)
"""Rank by card, 1 (ace) to 13 (king); 0 for a joker, which lies below the ace if it is worth zero."""

SUIT: Final[tuple[int, ...]] = by_card(lambda card: card % 10 if card != JOKER else 0)
"""Suit by card, 1 to 4; 0 for a joker."""

VALUE: Final[tuple[int, ...]] = by_card(lambda card: min(RANK[card], 10))
"""What a card counts (R-C1.1); 0 for a joker."""

_WORDS: Final[tuple[str, ...]] = (
    "??",
    *by_card(
        lambda card: "JK" if card == JOKER else RANKS[RANK[card] - 1] + SUITS[SUIT[card] - 1], "--"
    )[1:],
)
"""Canonical text by card, by `HIDDEN` and by `NO_CARD`."""

_BY_TEXT: Final = {_WORDS[card]: card for card in (*PACK, JOKER)}


def card_text(card: Card) -> str:
    """Return `5C`, `JK`, `??` for a hidden card or `--` for none."""
    return _WORDS[card]


def cards_text(cards: Iterable[Card]) -> str:
    """Return the cards separated by blanks."""
    return " ".join([_WORDS[card] for card in cards])


def parse_card(text: str) -> Card:
    """Read one card, in either case; `10` is `T`. Raises `NotationError`."""
    normal = text.strip().upper().replace("10", "T")
    card = _BY_TEXT.get(normal)
    if card is None:
        raise NotationError(
            f"{text!r} is not a card; write rank A23456789TJQK and suit CDHS, like 5C, or JK for a"
            " joker"
        )
    return card


def parse_cards(text: str) -> tuple[Card, ...]:
    """Read cards separated by blanks, in their order. Raises `NotationError`."""
    return tuple(map(parse_card, text.split()))


def parse_rank(text: str) -> int:
    """Read a rank with or without a suit, 1 (ace) to 13 (king). Raises `NotationError`."""
    normal = text.strip().upper().replace("10", "T")
    if len(normal) == 1 and normal in RANKS:
        return RANKS.index(normal) + 1
    return RANK[parse_card(text)]


def places_of(cards: Iterable[Card]) -> list[int]:
    """Return the places of cards in the pack, as `shuffle` numbers them: the jokers are 52 and 53."""
    places: list[int] = []
    for card in cards:
        place = PACK_WITH_JOKERS.index(card)
        places.append(place + 1 if place in places and card == JOKER else place)
    return places
