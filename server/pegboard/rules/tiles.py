"""Dominoes of the double-six set as small integers, 0 to 27 (R-D2).

Ascending by lower half, then higher half: 0 is [0|0], 1 is [0|1], 27 is [6|6]. `HIDDEN` stands for a
tile that the reader may not see.
"""

from __future__ import annotations

from collections.abc import Iterable

from pegboard.rules.errors import NotationError

Tile = int

HALVES: tuple[tuple[int, int], ...] = tuple(
    (low, high) for low in range(7) for high in range(low, 7)
)
"""(low, high) by tile."""

PIPS: tuple[int, ...] = tuple(low + high for low, high in HALVES)
TILE_OF: dict[tuple[int, int], Tile] = {
    halves: tile for tile, (low, high) in enumerate(HALVES) for halves in ((low, high), (high, low))
}
HIDDEN: Tile = -1
_HALF = {str(pips): pips for pips in range(7)}
TEXT: tuple[str, ...] = tuple(f"{low}|{high}" for low, high in HALVES)


def tile_text(tile: Tile) -> str:
    """Return `1|4`, or `?|?` for a hidden tile."""
    return TEXT[tile] if tile >= 0 else "?|?"


def tiles_text(tiles: Iterable[Tile]) -> str:
    """Return the tiles separated by blanks."""
    return " ".join(map(tile_text, tiles))


def parse_tile(text: str) -> Tile:
    """Read a tile, its halves in either order. Raises `NotationError`."""
    halves = text.strip().removeprefix("[").removesuffix("]").split("|")
    if len(halves) == 2 and all(half in _HALF for half in halves):
        return TILE_OF[_HALF[halves[0]], _HALF[halves[1]]]
    raise NotationError(f"no tile {text!r}; write two halves from 0 to 6, like 1|4")
