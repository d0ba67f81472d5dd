"""A match whose pack and moves are written down, for all tests of the cribbage engine."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from pegboard.rules import catalog
from pegboard.rules.cards import parse_cards, places_of
from pegboard.rules.game import explained
from pegboard.rules.shuffle import ScriptedChance


class Script:
    """A match at work: `do` makes moves, `log` holds the texts of all events."""

    def __init__(self, variant: str, seats: int, options: dict[str, str], **orders: str) -> None:
        self.game: Any = catalog.game(variant, options)
        chance = ScriptedChance({_label(key): _cards(text) for key, text in orders.items()})
        self.state, events = self.game.start(seats, chance)
        self.events: list[Any] = list(events)

    @property
    def log(self) -> list[str]:
        """All events so far, as text."""
        return [explained(event) for event in self.events]

    @property
    def scores(self) -> list[int]:
        """The scores by side."""
        return list(self.state.view(None).scores)

    def do(self, *moves: str) -> list[str]:
        """Make moves like `0 PLAY 5C`; return the texts of the last one's events."""
        last: list[Any] = []
        for move in moves:
            seat, _, text = move.partition(" ")
            last = self.state.apply(int(seat), self.game.parse_move(text))
            self.events += last
        return [explained(event) for event in last]

    def legal(self, seat: int) -> list[str]:
        """Return the listed moves of a seat, as text."""
        return [move.text() for move in self.state.choices(seat).moves]


def _label(key: str) -> str:
    return key.replace("_", "/")


def _cards(text: str) -> list[int]:
    """Read the places of cards in the pack."""
    return places_of(parse_cards(text))


@pytest.fixture
def script() -> Callable[..., Script]:
    """Return what starts a scripted match: `script(variant, seats, options, deal_1_1="..")`."""

    def start(
        variant: str = "cribbage",
        seats: int = 2,
        options: dict[str, str] | None = None,
        **orders: str,
    ) -> Script:
        orders.setdefault("cut_1", "2C AC 3C 4C 5C"[: 3 * seats])
        return Script(variant, seats, options or {}, **orders)

    return start
