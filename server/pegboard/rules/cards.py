"""Cards as small integers: 4 * rank + suit, rank 0 (ace) to 12 (king), suit 0 to 3 (C D H S).

So 0 is AC, 51 is KS, ascending by rank, then suit. Both jokers of a pack are the same card, `JOKER`:
nothing tells them apart. `HIDDEN` stands for a card that the reader may not see.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from pegboard.rules.errors import NotationError

Card = int

RANKS = "A23456789TJQK"
SUITS = "CDHS"
JOKER: Final = 52
HIDDEN: Final = -1
NO_CARD: Final = -2
"""No card at all: a starter not yet turned, an empty cell, a card that declares nothing."""

TEXT: Final[tuple[str, ...]] = (*(rank + suit for rank in RANKS for suit in SUITS), "JK")
"""Canonical text by card."""

VALUE: Final[tuple[int, ...]] = (*(min(card // 4 + 1, 10) for card in range(52)), 0)
"""What a card counts (R-C1.1); 0 for a joker."""

_WORDS: Final[tuple[str, ...]] = (*TEXT, "--", "??")
"""By card, `NO_CARD` and `HIDDEN` among them: they are negative, so they count from the end."""

_BY_TEXT = {text: card for card, text in enumerate(TEXT)}


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
            f"no card {text!r}; write rank A23456789TJQK and suit CDHS, like 5C, or JK for a joker"
        )
    return card


def parse_rank(text: str) -> int:
    """Read a rank with or without a suit, 0 (ace) to 12 (king). Raises `NotationError`."""
    normal = text.strip().upper().replace("10", "T")
    if len(normal) == 1 and normal in RANKS:
        return RANKS.index(normal)
    return parse_card(text) // 4
