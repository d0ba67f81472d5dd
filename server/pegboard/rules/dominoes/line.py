"""The line of tiles: two ends, no branches (R-D15), joins and open ports by name (R-D16 to R-D18).

A normal tile has a low and a high end, a double a side A, used first, and a side B. The opening tile
lies with its low end to the left (X-18). On a lone double both sides are open: A is listed at the
left, but whichever end is used first becomes A (R-D17).
"""

from __future__ import annotations

from functools import cache

from pegboard.rules.dominoes.events import Connection, Continuation, Port
from pegboard.rules.dominoes.moves import End
from pegboard.rules.tiles import HALVES, SET, Tile

_Ports = tuple[Port, Continuation]


def _ports(tile: Tile, pips: int) -> _Ports:
    """Return the port that joins at `pips`, and the one that stays open."""
    low, high = HALVES[tile]
    if low == high:
        return Port.A, Continuation(tile, Port.B, low)
    if pips == low:
        return Port.LOW, Continuation(tile, Port.HIGH, high)
    return Port.HIGH, Continuation(tile, Port.LOW, low)


_JOINED: dict[tuple[Tile, int], _Ports] = {
    (tile, pips): _ports(tile, pips) for tile, halves in HALVES.items() for pips in halves
}


def _opened(tile: Tile) -> tuple[Continuation, Continuation]:
    low, high = HALVES[tile]
    if low == high:
        return Continuation(tile, Port.A, low), Continuation(tile, Port.B, low)
    return Continuation(tile, Port.LOW, low), Continuation(tile, Port.HIGH, high)


_OPENED: dict[Tile, tuple[Continuation, Continuation]] = {tile: _opened(tile) for tile in SET}


@cache  # one entry a pair of ports that can touch: a few hundred
def _connection(tile: Tile, port: Port, joined_tile: Tile, joined_port: Port) -> Connection:
    return Connection(tile, port, joined_tile, joined_port)


class Line:
    """The tiles on the table, from left to right. `ends` is None on the empty line."""

    __slots__ = ("connections", "ends", "tiles")

    def __init__(self) -> None:
        self.tiles: list[Tile] = []
        self.connections: list[Connection] = []
        self.ends: tuple[Continuation, Continuation] | None = None

    def copy(self) -> Line:
        """Return an independent line."""
        line = Line()
        line.tiles = self.tiles.copy()
        line.connections = self.connections.copy()
        line.ends = self.ends
        return line

    def place(self, tile: Tile, end: End) -> Connection | None:
        """Place a tile that fits at `end` (not checked); return its join, None if it opens."""
        if self.ends is None:
            self.tiles.append(tile)
            self.ends = _OPENED[tile]
            return None
        left, right = self.ends
        if len(self.tiles) == 1 and left.port == Port.A and end == End.RIGHT:
            # R-D17: the side of a lone double that is used first is A, so the other becomes B.
            left, right = right, left
        if end == End.LEFT:
            used = left
            port, left = _JOINED[tile, used.pips]
            self.tiles.insert(0, tile)
        else:
            used = right
            port, right = _JOINED[tile, used.pips]
            self.tiles.append(tile)
        self.ends = left, right
        connection = _connection(used.tile, used.port, tile, port)
        self.connections.append(connection)
        return connection
