"""One worked case, read with care: whatever is missing or odd is the file's fault and is said so."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from pegboard.rules.cards import NO_CARD, RANKS, Card, parse_card
from pegboard.rules.errors import NotationError

Case = Mapping[str, Any]


class Failure(NamedTuple):
    """A case that does not hold, and why in one sentence."""

    id: str
    reason: str


class Mismatch(Exception):
    """What came out is not what the case says."""


def expect(what: str, got: object, wanted: object) -> None:
    """Raise `Mismatch` unless `got` equals `wanted`."""
    if got != wanted:
        raise Mismatch(f"{what} is {got}, not {wanted}")


def field(case: Case, key: str) -> Any:
    """Return a field that has to be there. Raises `NotationError`."""
    if key not in case:
        raise NotationError(f"the case has no {key!r}; see docs/vectors.md")
    return case[key]


def texts(case: Case, key: str) -> list[str]:
    """Return a list of texts. Raises `NotationError`."""
    value = field(case, key)
    if not isinstance(value, list) or not all(isinstance(text, str) for text in value):
        raise NotationError(f"{key!r} has to be a list of texts")
    return value


def numbers(case: Case, key: str) -> list[int]:
    """Return a list of whole numbers. Raises `NotationError`."""
    value = field(case, key)
    if not isinstance(value, list) or not all(isinstance(number, int) for number in value):
        raise NotationError(f"{key!r} has to be a list of whole numbers")
    return value


def cards_of(words: Sequence[str]) -> tuple[Card, ...]:
    """Read cards. Raises `NotationError`."""
    return tuple(map(parse_card, words))


def card_of(case: Case, key: str) -> Card:
    """Read a card, NO_CARD if the case does not have the field. Raises `NotationError`."""
    return parse_card(case[key]) if key in case else NO_CARD


def played_card(text: str) -> Card:
    """Read a card of the play, for which a rank alone is enough. Raises `NotationError`."""
    word = text.strip().upper()
    return parse_card(f"{word}C" if word in (*RANKS, "10") else word)
