"""The catalog: every variant by its id. A new variant is one line here, vectors and a docs page."""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from types import MappingProxyType
from typing import NamedTuple

from pegboard.rules.cribbage.game import Cribbage
from pegboard.rules.dominoes.game import Draw
from pegboard.rules.errors import UnknownVariant
from pegboard.rules.game import Game

RULES_VERSION = "1"
"""Changes when the same options, seed and moves would give other events; records carry it."""

NO_OPTIONS: Mapping[str, str] = MappingProxyType({})


class Variant(NamedTuple):
    """A named game: a set of options."""

    id: str
    title: str
    summary: str
    game: Game


_VARIANTS = (
    Variant("cribbage", "Cribbage", "six cards, two players, 121", Cribbage(players=2)),
    Variant("cribbage-3p", "Three-handed cribbage", "each for itself, 121", Cribbage(players=3)),
    Variant("cribbage-4p", "Four-handed cribbage", "each for itself, 121", Cribbage(players=4)),
    Variant(
        "cribbage-partners", "Cribbage partners", "0 and 2 against 1 and 3", Cribbage("partners")
    ),
    Variant("draw", "Draw", "draw dominoes to 100, or 61 with three or four seats", Draw()),
)

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
