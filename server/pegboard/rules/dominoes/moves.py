"""The moves of Draw.

Order of the listed moves: placements by tile, ascending, left before right; then draw or pass.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

from pegboard.rules.tiles import SET, Tile, tile_text


class End(IntEnum):
    """An end of the line; numbers as in the contract. NONE: the empty line."""

    NONE = 0
    LEFT = 1
    RIGHT = 2


END_TEXT = {End.NONE: "", End.LEFT: "@L", End.RIGHT: "@R"}


@dataclass(frozen=True, slots=True, repr=False)
class DominoesMove:
    """Base of all moves; none has an open number."""

    @property
    def is_open(self) -> bool:
        """Whether the move still lacks its number: never."""
        return False

    def text(self) -> str:
        """Return the canonical notation."""
        raise NotImplementedError

    def __repr__(self) -> str:
        return self.text()


@dataclass(frozen=True, slots=True, repr=False)
class Place(DominoesMove):
    """Places a tile at an end of the line (R-D8)."""

    tile: Tile
    end: End

    def text(self) -> str:
        """Return `PLACE 3|5@L`, or `PLACE 3|5` on the empty line."""
        return f"PLACE {tile_text(self.tile)}{END_TEXT[self.end]}"


@dataclass(frozen=True, slots=True, repr=False)
class Draw(DominoesMove):
    """Draws a tile; the turn goes on (R-D9)."""

    def text(self) -> str:
        """Return `DRAW`."""
        return "DRAW"


@dataclass(frozen=True, slots=True, repr=False)
class Pass(DominoesMove):
    """Passes (R-D12)."""

    def text(self) -> str:
        """Return `PASS`."""
        return "PASS"


DRAW = Draw()
PASS = Pass()
PLACES: dict[tuple[Tile, End], Place] = {
    (tile, end): Place(tile, end) for tile in SET for end in End
}
