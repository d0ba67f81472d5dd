"""What may be done on a turn (R-D8 to R-D13), as shared immutable `Choices`."""

from __future__ import annotations

from functools import lru_cache

from pegboard.rules.dominoes.hands import FITS, Hand, tiles_of
from pegboard.rules.dominoes.moves import DRAW, PASS, PLACES, DominoesMove, End
from pegboard.rules.game import Choices

NEVER_DRAWN = 2
"""The last tiles of the stock, which nobody draws (R-D5)."""

NO_CHOICES = Choices(())


def opening_choices(hand: Hand, stock: int) -> Choices:
    """Return the choices on the empty line: any tile, or a draw first (R-D7, R-D13)."""
    moves: list[DominoesMove] = [PLACES[tile, End.NONE] for tile in tiles_of(hand)]
    if stock > NEVER_DRAWN:
        moves.append(DRAW)
    return Choices(tuple(moves))


def line_choices(left: int, right: int, hand: Hand, stock: int) -> Choices:
    """Return the choices on a line that is open for `left` and `right` pips."""
    return _line_choices(left, right, hand & (FITS[left] | FITS[right]), stock > NEVER_DRAWN)


@lru_cache(maxsize=1 << 15)  # about 10 MB when full; a few thousand keys make nearly all hits
def _line_choices(left: int, right: int, playable: Hand, drawable: bool) -> Choices:
    moves: list[DominoesMove] = []
    for tile in tiles_of(playable):
        if FITS[left] >> tile & 1:
            moves.append(PLACES[tile, End.LEFT])
        if FITS[right] >> tile & 1:
            moves.append(PLACES[tile, End.RIGHT])
    if drawable:
        moves.append(DRAW)  # R-D9: also with a playable tile
    elif not moves:
        moves.append(PASS)  # R-D12: never out of unwillingness
    return Choices(tuple(moves))
