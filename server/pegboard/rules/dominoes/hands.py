"""Hands as bit masks: bit t is set while the hand holds tile t. One int is cheap to copy and to ask.

Masks are read seven bits at a time from tables, so that no loop runs over the tiles of a hand.
"""

from __future__ import annotations

from collections.abc import Iterable

from pegboard.rules.tiles import HALVES, PIPS, Tile

Hand = int


def _unpacked(low: int, part: int) -> tuple[Tile, ...]:
    return tuple(low + bit for bit in range(7) if part >> bit & 1)


_TILES_0, _TILES_1, _TILES_2, _TILES_3 = (
    tuple(_unpacked(low, part) for part in range(128)) for low in (0, 7, 14, 21)
)

FITS: tuple[Hand, ...] = tuple(
    sum(1 << tile for tile, halves in enumerate(HALVES) if pips in halves) for pips in range(7)
)
"""By pips: the tiles with that value on a half (R-D8)."""

DOUBLES: Hand = sum(1 << tile for tile, (low, high) in enumerate(HALVES) if low == high)


def hand_of(tiles: Iterable[Tile]) -> Hand:
    """Return the hand that holds these tiles."""
    hand = 0
    for tile in tiles:
        hand |= 1 << tile
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
