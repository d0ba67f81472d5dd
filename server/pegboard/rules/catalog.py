"""The catalog: every variant by its id. A new variant is one line here, vectors and a docs page."""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from types import MappingProxyType
from typing import NamedTuple, TypeAlias

from pegboard.rules.cribbage.events import CribbageEvent
from pegboard.rules.cribbage.game import Cribbage
from pegboard.rules.cribbage.moves import CribbageMove
from pegboard.rules.cribbage.view import CribbageView
from pegboard.rules.dominoes.events import DominoesEvent
from pegboard.rules.dominoes.game import Dominoes
from pegboard.rules.dominoes.moves import DominoesMove
from pegboard.rules.dominoes.view import DominoesView
from pegboard.rules.errors import UnknownVariant
from pegboard.rules.game import Game
from pegboard.rules.versions import RULES_VERSION, RULES_VERSIONS

__all__ = [
    "CATALOG",
    "RULES_VERSION",
    "RULES_VERSIONS",
    "Event",
    "Move",
    "Variant",
    "View",
    "find",
    "game",
]

Move: TypeAlias = CribbageMove | DominoesMove
"""A move of any game."""
View: TypeAlias = CribbageView | DominoesView
"""What a seat of any game can see."""
Event: TypeAlias = CribbageEvent | DominoesEvent
"""An event of any game."""

NO_OPTIONS: Mapping[str, str] = MappingProxyType({})


class Variant(NamedTuple):
    """A named game: a set of options."""

    id: str
    title: str
    summary: str
    game: Game


# One line a variant, read as a table.
# ruff: noqa: E501
# fmt: off
_VARIANTS = (
    Variant("cribbage", "Cribbage", "six cards, two to the crib, to 121", Cribbage(players=2)),
    Variant("cribbage-3p", "Three-handed cribbage", "each for itself, to 121", Cribbage(players=3)),
    Variant("cribbage-4p", "Four-handed cribbage", "each for itself, to 121", Cribbage(players=4)),
    Variant("cribbage-partners", "Cribbage partners", "seats 0 and 2 against 1 and 3, to 121", Cribbage(form="partners")),
    Variant("cribbage-two-on-one", "Two on one", "a team to 121 against one to 61", Cribbage(form="two-on-one")),
    Variant("cribbage-lone-crib", "Lone crib", "one against two, seeing the crib", Cribbage(form="lone-crib")),
    Variant("cribbage-dealer-six", "Dealer gets six", "three players, nothing dealt to the crib", Cribbage(form="dealer-six")),
    Variant("cribbage-five-card", "Five-card cribbage", "the old game to 61", Cribbage(form="five-card")),
    Variant("cribbage-5p-short-dealer", "Short dealer", "five players, the dealer with four cards", Cribbage(form="short-dealer")),
    Variant("cribbage-5p-five-crib", "Five-card crib", "five players, a crib of five", Cribbage(form="five-crib")),
    Variant("cribbage-ten-card", "Ten-card cribbage", "two hands each, one of them played", Cribbage(form="ten-card")),
    Variant("cribbage-nine-card", "Nine-card cribbage", "hands and crib of six, to 181", Cribbage(form="nine-card")),
    Variant("cribbage-canadian-doubles", "Canadian doubles", "two partners get ten cards and share", Cribbage(form="canadian-doubles")),
    Variant("cribbage-muggins", "Muggins", "count yourself, or the opponents take it", Cribbage(muggins=True)),
    Variant("cribbage-lowball", "Lowball", "who reaches 121 loses", Cribbage(lowball=True)),
    Variant("cribbage-jokers-wild", "Jokers wild", "two jokers stand for any card", Cribbage(jokers="wild")),
    Variant("cribbage-jokers-zero", "Jokers zero", "two jokers are worth nothing", Cribbage(jokers="zero")),
    Variant("cribbage-discard-fives", "Discard fives", "every five goes to the crib", Cribbage(discard_fives=True)),
    Variant("cribbage-three-runs", "Three-runs", "only runs of three, each of them", Cribbage(three_runs=True)),
    Variant("cribbage-auction", "Auction cribbage", "bid points for the crib", Cribbage(auction=True)),
    Variant("cribbage-zero-penalty", "Zero-point penalty", "a hand of 0 gives opponents 1", Cribbage(zero_penalty=True)),
    Variant("cribbage-back-up-10", "Back-up 10", "a hand of 0 moves you back 10", Cribbage(back_up_10=True)),
    Variant("cribbage-solitaire", "Cribbage solitaire", "four deals through one pack", Cribbage(form="solitaire")),
    Variant("cribbage-squares", "Cribbage squares", "a grid of sixteen cards, 61 wins", Cribbage(form="squares")),
    Variant("draw", "Draw", "draw dominoes to 100, or 61 with three or four seats", Dominoes()),
)
# fmt: on

CATALOG: dict[str, Variant] = {variant.id: variant for variant in _VARIANTS}
"""All variants by id, in the order in which they are listed."""


def find(variant_id: str) -> Variant:
    """Return the variant. Raises `UnknownVariant`, which names the nearest ids."""
    variant = CATALOG.get(variant_id)
    if variant is None:
        nearest = get_close_matches(variant_id.strip().lower(), CATALOG, n=3, cutoff=0.5)
        raise UnknownVariant(variant_id, tuple(nearest))
    return variant


def game(variant_id: str, options: Mapping[str, str] = NO_OPTIONS) -> Game:
    """Return the variant's game with options changed.

    Raises `UnknownVariant` and `OptionError`.
    """
    found = find(variant_id).game
    return found.with_options(options) if options else found
