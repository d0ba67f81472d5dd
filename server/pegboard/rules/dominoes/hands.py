"""Hands as bit masks: bit p is set while the hand holds the tile at place p of the set (`tiles.SET`).

One int is cheap to copy and to ask. Masks are read seven bits at a time from tables, so that no loop
runs over the tiles of a hand.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from pegboard.rules.tiles import HALVES, PIPS, SET, Tile

Hand = int

BIT: Final[dict[Tile, Hand]] = {tile: 1 << place for place, tile in enumerate(SET)}
"""By tile: the hand that holds only that tile."""

WHOLE_SET: Final[Hand] = sum(BIT.values())


def _unpacked(first: int, part: int) -> tuple[Tile, ...]:
    return tuple(SET[first + bit] for bit in range(7) if part >> bit & 1)


_TILES_0, _TILES_1, _TILES_2, _TILES_3 = (
    tuple(_unpacked(first, part) for part in range(128)) for first in (0, 7, 14, 21)
)

FITS: tuple[Hand, ...] = tuple(
    sum(BIT[tile] for tile, halves in HALVES.items() if pips in halves) for pips in range(7)
)
"""By pips: the tiles with that value on a half (R-D8)."""

DOUBLES: Hand = sum(BIT[tile] for tile, (low, high) in HALVES.items() if low == high)


def hand_of(tiles: Iterable[Tile]) -> Hand:
    """Return the hand that holds these tiles."""
    hand = 0
    for tile in tiles:
        hand |= BIT[tile]
    return hand


def hand_of_places(places: Iterable[int]) -> Hand:
    """Return the hand that holds the tiles at these places of the set, as `shuffle` orders them."""
    hand = 0
    for place in places:
        hand |= 1 << place
    return hand


def tiles_of(hand: Hand) -> tuple[Tile, ...]:
    """Return the tiles of a hand, ascending."""
    return (
        _TILES_0[hand & 127]
        + _TILES_1[hand >> 7 & 127]
        + _TILES_2[hand >> 14 & 127]
        + _TILES_3[hand >> 21]
    )


def pips_of(hand: Hand) -> int:
    """Return the pips of all halves of a hand: what it is worth (R-D21)."""
    return sum(PIPS[tile] for tile in tiles_of(hand))
