"""What may be done on a turn (R-D8 to R-D13), as shared tuples in the order of `moves`."""

from __future__ import annotations

from functools import lru_cache

from pegboard.rules.dominoes.hands import FITS, Hand, tiles_of
from pegboard.rules.dominoes.moves import DRAW, PASS, PLACES, DominoesMove, End
from pegboard.rules.tiles import HALVES, SET, Tile

_FITS_EITHER = tuple(tuple(left | right for right in FITS) for left in FITS)


def _places(tile: Tile, left: int, right: int) -> tuple[DominoesMove, ...]:
    at_left = (PLACES[tile, End.LEFT],) if left in HALVES[tile] else ()
    at_right = (PLACES[tile, End.RIGHT],) if right in HALVES[tile] else ()
    return at_left + at_right


_PLACES = tuple(
    tuple({tile: _places(tile, left, right) for tile in SET} for right in range(7))
    for left in range(7)
)
"""By left pips, right pips and tile: the placements of the tile."""

NEVER_DRAWN = 2
"""The last tiles of the stock, which are never drawn (R-D5)."""


def opening_moves(hand: Hand, stock: int) -> tuple[DominoesMove, ...]:
    """Return the moves on the empty line: any tile, or a draw first (R-D7, R-D13)."""
    moves: list[DominoesMove] = [PLACES[tile, End.NONE] for tile in tiles_of(hand)]
    if stock > NEVER_DRAWN:
        moves.append(DRAW)
    return tuple(moves)


def line_moves(left: int, right: int, hand: Hand, stock: int) -> tuple[DominoesMove, ...]:
    """Return the moves on a line that is open for `left` and `right` pips."""
    return _line_moves(left, right, hand & _FITS_EITHER[left][right], stock > NEVER_DRAWN)


@lru_cache(maxsize=1 << 15)  # about 10 MB when full; a few thousand keys make nearly all hits
def _line_moves(left: int, right: int, playable: Hand, drawable: bool) -> tuple[DominoesMove, ...]:
    places = _PLACES[left][right]
    moves: list[DominoesMove] = []
    for tile in tiles_of(playable):
        moves += places[tile]
    if drawable:
        moves.append(DRAW)  # R-D9: also with a playable tile
    elif not moves:
        moves.append(PASS)  # R-D12: never out of unwillingness
    return tuple(moves)
