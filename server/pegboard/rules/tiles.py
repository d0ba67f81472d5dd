"""Dominoes of the double-six set (R-D2) as the contract numbers them: 100 + 10 x low + high half.

So 100 is [0|0], 114 is [1|4], 166 is [6|6]: the numbers ascend by lower half, then higher half, and
are those of the enum `Tile` in protos/pegboard/v1/dominoes.proto. `HIDDEN` stands for a tile that the
reader may not see, and is 0 as on the wire. `Tile` is a `NewType`: a plain int at run time.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, NewType

from pegboard.rules.errors import NotationError

Tile = NewType("Tile", int)

SET: Final[tuple[Tile, ...]] = tuple(
    Tile(100 + 10 * low + high) for low in range(7) for high in range(low, 7)
)
"""The 28 tiles, ascending: the places of the set that `shuffle` orders (docs/deals.md)."""

HALVES: Final[dict[Tile, tuple[int, int]]] = {tile: (tile // 10 % 10, tile % 10) for tile in SET}
"""(low, high) by tile."""

PIPS: Final[dict[Tile, int]] = {tile: low + high for tile, (low, high) in HALVES.items()}
TILE_OF: Final[dict[tuple[int, int], Tile]] = {
    halves: tile for tile, (low, high) in HALVES.items() for halves in ((low, high), (high, low))
}
HIDDEN: Final = Tile(0)
_HALF = {str(pips): pips for pips in range(7)}
TEXT: Final[dict[Tile, str]] = {tile: f"{low}|{high}" for tile, (low, high) in HALVES.items()}


def tile_text(tile: Tile) -> str:
    """Return `1|4`, or `?|?` for a hidden tile."""
    return TEXT[tile] if tile else "?|?"


def tiles_text(tiles: Iterable[Tile]) -> str:
    """Return the tiles separated by blanks."""
    return " ".join(map(tile_text, tiles))


def parse_tile(text: str) -> Tile:
    """Read a tile, its halves in either order. Raises `NotationError`."""
    halves = text.strip().removeprefix("[").removesuffix("]").split("|")
    if len(halves) == 2 and all(half in _HALF for half in halves):
        return TILE_OF[_HALF[halves[0]], _HALF[halves[1]]]
    raise NotationError(f"{text!r} is not a tile; write two halves from 0 to 6, like 1|4")


def parse_tiles(text: str) -> tuple[Tile, ...]:
    """Read tiles separated by blanks, in their order. Raises `NotationError`."""
    return tuple(map(parse_tile, text.split()))


def places_of(tiles: Iterable[Tile]) -> list[int]:
    """Return the places of tiles in the set, as `shuffle` numbers them."""
    return [SET.index(tile) for tile in tiles]
