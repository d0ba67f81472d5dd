"""The events of Draw: named tuples with `text()`, one line in canonical notation.

Fields are those of protos/pegboard/v1/dominoes.proto.
"""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple, get_args

from pegboard.rules.dominoes.moves import END_TEXT, End
from pegboard.rules.game import Seat, print_as_text
from pegboard.rules.tiles import Tile, tile_text, tiles_text


class Port(IntEnum):
    """A place on a tile at which another joins (R-D16); numbers as in the contract."""

    LOW = 1
    HIGH = 2
    A = 3
    B = 4


PORT_TEXT = {Port.LOW: "low", Port.HIGH: "high", Port.A: "A", Port.B: "B"}


class Connection(NamedTuple):
    """Two tiles that touch, the older one first."""

    tile: Tile
    port: Port
    joined_tile: Tile
    joined_port: Port

    def text(self) -> str:
        """Return `1|4:low-1|1:A`."""
        return (
            f"{tile_text(self.tile)}:{PORT_TEXT[self.port]}"
            f"-{tile_text(self.joined_tile)}:{PORT_TEXT[self.joined_port]}"
        )


class Continuation(NamedTuple):
    """An open port and the pips that fit it."""

    tile: Tile
    port: Port
    pips: int

    def text(self) -> str:
        """Return `1|4:high:4`."""
        return f"{tile_text(self.tile)}:{PORT_TEXT[self.port]}:{self.pips}"


class OpenerDrawn(NamedTuple):
    """The draw for the first opener (R-D6): the heaviest tile opens; None for seats not drawing."""

    tiles: tuple[Tile | None, ...]

    def text(self) -> str:
        """Return `OPENER 3|5 --`."""
        return "OPENER " + " ".join(
            "--" if tile is None else tile_text(tile) for tile in self.tiles
        )


class GameStarted(NamedTuple):
    """A game begins."""

    game: int
    opener: Seat
    scores: tuple[int, ...]

    def text(self) -> str:
        """Return `GAME 1 OPENER 0 SCORES 0 0`."""
        return f"GAME {self.game} OPENER {self.opener} SCORES {_numbers(self.scores)}"


class Dealt(NamedTuple):
    """Tiles are dealt."""

    round: int
    opener: Seat
    hands: tuple[tuple[Tile, ...], ...]
    stock: int

    def text(self) -> str:
        """Return `DEAL 1 OPENER 0 / .. / .. / STOCK 14`."""
        hands = "".join(f" / {tiles_text(hand)}" for hand in self.hands)
        return f"DEAL {self.round} OPENER {self.opener}{hands} / STOCK {self.stock}"


class Placed(NamedTuple):
    """A tile is placed; `connection` is None for the opening tile; continuations left, right."""

    seat: Seat
    tile: Tile
    end: End
    connection: Connection | None
    continuations: tuple[Continuation, Continuation]

    def text(self) -> str:
        """Return `PLACED 0 1|1@L 1|4:low-1|1:A / 1|1:B:1 1|4:high:4`."""
        joined = f" {self.connection.text()}" if self.connection else ""
        left, right = self.continuations
        return (
            f"PLACED {self.seat} {tile_text(self.tile)}{END_TEXT[self.end]}{joined}"
            f" / {left.text()} {right.text()}"
        )


class Drawn(NamedTuple):
    """A tile is drawn; `stock` is what is left."""

    seat: Seat
    tile: Tile
    stock: int

    def text(self) -> str:
        """Return `DRAWN 0 3|5 13`."""
        return f"DRAWN {self.seat} {tile_text(self.tile)} {self.stock}"


class Passed(NamedTuple):
    """A seat passed."""

    seat: Seat

    def text(self) -> str:
        """Return `PASSED 0`."""
        return f"PASSED {self.seat}"


class RoundEnded(NamedTuple):
    """A round is over: hands are revealed and settled; `winner` is None if no seat won it."""

    round: int
    blocked: bool
    hands: tuple[tuple[Tile, ...], ...]
    pips: tuple[int, ...]
    winner: Seat | None
    points: int
    scores: tuple[int, ...]

    def text(self) -> str:
        """Return `ROUND_ENDED 1 OUT WINNER 0 POINTS 15 SCORES 15 0 / .. / ..`."""
        how = "BLOCKED" if self.blocked else "OUT"
        winner = "-" if self.winner is None else str(self.winner)
        hands = "".join(f" / {tiles_text(hand)}" for hand in self.hands)
        return (
            f"ROUND_ENDED {self.round} {how} WINNER {winner} POINTS {self.points}"
            f" SCORES {_numbers(self.scores)}{hands}"
        )


class GameEnded(NamedTuple):
    """A game is over; more than one winner is a tie (R-D28)."""

    game: int
    scores: tuple[int, ...]
    winners: tuple[Seat, ...]

    def text(self) -> str:
        """Return `GAME_ENDED 1 SCORES 100 64 WINNERS 0`."""
        return (
            f"GAME_ENDED {self.game} SCORES {_numbers(self.scores)}"
            f" WINNERS {_numbers(self.winners)}"
        )


DominoesEvent = OpenerDrawn | GameStarted | Dealt | Placed | Drawn | Passed | RoundEnded | GameEnded

print_as_text(Connection, Continuation, *get_args(DominoesEvent))


def _numbers(numbers: tuple[int, ...]) -> str:
    return " ".join(map(str, numbers))
