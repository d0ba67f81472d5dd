"""What several commands read from their arguments."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from pegboard.errors import InvalidRequest
from pegboard.rules import catalog
from pegboard.rules.cards import Card, parse_card
from pegboard.rules.cribbage.game import Cribbage

STANDARD_INPUT = Path("-")


def cribbage_rules(variant: str) -> Cribbage:
    """Return the cribbage variant of that id. Raises `UnknownVariant` or `InvalidRequest`."""
    game = catalog.game(variant)
    if not isinstance(game, Cribbage):
        raise InvalidRequest(
            f"{variant} is not cribbage; hands and pegging are scored in cribbage only"
        )
    return game


def parse_cards(words: Sequence[str]) -> tuple[Card, ...]:
    """Read cards, given in one argument or in several. Raises `NotationError`."""
    return tuple(parse_card(word) for text in words for word in text.replace(",", " ").split())


def read_text(path: Path) -> str:
    """Read a text file, with or without a byte order mark; `-` is standard input.

    Raises `InvalidRequest` if it cannot.
    """
    try:
        if path == STANDARD_INPUT:
            return sys.stdin.buffer.read().decode("utf-8-sig")
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise InvalidRequest(f"{path} is not a text file in UTF-8") from None
    except OSError as error:
        raise InvalidRequest(f"cannot read {path}: {error.strerror}") from None
