"""What the tests know of a family of games, apart from its engine: a module for each, named by it."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any, Protocol, cast

from pegboard.rules.game import Game, Seat

if TYPE_CHECKING:
    from tests.rules.secrecy import Story


class Audit(Protocol):
    """A second book of a match, kept from its events alone, and compared with the state's views.

    It knows the cards or tiles from the deal, moves them as the events say, and so notices whatever is
    lost, doubled or shown to the wrong seat. It shares no code with the engines.
    """

    def moved(self, seat: Seat, move: Any) -> None:
        """Book a move that shows in no event yet."""

    def note(self, event: Any) -> None:
        """Book one event."""

    def check(self) -> None:
        """Compare the book with the state."""


class Book(Protocol):
    """A module of this folder. `hand` and `hand_sizes` of the views and the event `Dealt` are asked
    for by name.
    """

    PIECES: Sequence[str]
    """The texts of the cards or tiles, by their places in the orders of the deal."""
    LAYING: frozenset[str]
    """The events that lay a card or tile of a hand down."""

    def audit(self, game: Game, seats: int, state: Any) -> Audit:
        """Return the audit of a match."""

    def visible(self, event: Any, seat: Seat | None) -> Any:
        """Return the event as `seat` may see it, None for a spectator.

        This is the specification of secrecy, written apart from `redact`, so that the two can be
        compared.
        """

    def orders_of(self, deal: str, seats: int) -> list[str]:
        """Return the labels of the orders of a deal, that of the deal itself first."""

    def past(
        self, story: Story, reader: Seat, sample: Any
    ) -> tuple[dict[str, list[int]], list[tuple[Seat, Any]]]:
        """Return the orders and the moves with which the running deal ends in the sampled state.

        The cards or tiles of the sample are put back to where they were dealt; the moves of the deal
        are those of the story, hidden ones with the cards of the sample.
        """


def book_of(family: str) -> Book:
    """Return the book of a family."""
    return cast("Book", import_module(f"tests.rules.books.{family}"))
