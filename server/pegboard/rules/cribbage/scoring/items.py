"""The parts that a score is made of."""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple

from pegboard.rules.cards import Card, cards_text
from pegboard.rules.game import print_as_text


class ItemKind(IntEnum):
    """What a part of a score is for; numbers as in the contract."""

    FIFTEEN = 1
    PAIR = 2
    RUN = 3
    FLUSH = 4
    NOBS = 5
    HEELS = 6
    THIRTY_ONE = 7


class Item(NamedTuple):
    """One combination within a score; a wild joker is named by the card it stands for."""

    kind: ItemKind
    points: int
    cards: tuple[Card, ...]

    def text(self) -> str:
        """Return e.g. `fifteen 2 (7C 8D)`."""
        return f"{self.kind.name.lower()} {self.points} ({cards_text(self.cards)})"


print_as_text(Item)
