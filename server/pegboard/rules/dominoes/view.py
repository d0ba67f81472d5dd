"""What a seat of a Draw match can see. Fields are those of `DominoesView` in the contract."""

from __future__ import annotations

from typing import NamedTuple

from pegboard.rules.dominoes.events import Connection, Continuation
from pegboard.rules.dominoes.moves import End
from pegboard.rules.game import Seat
from pegboard.rules.tiles import Tile


class Act(NamedTuple):
    """What a seat did in this round: placed `tile`, passed, or (neither) drew."""

    seat: Seat
    tile: Tile | None
    end: End
    passed: bool


class DominoesView(NamedTuple):
    """All that one seat, or a spectator, can see; scores, games and hand sizes by seat."""

    game: int
    round: int
    opener: Seat
    scores: tuple[int, ...]
    games_won: tuple[int, ...]
    hand: tuple[Tile, ...]
    hand_sizes: tuple[int, ...]
    stock: int
    line: tuple[Tile, ...]
    connections: tuple[Connection, ...]
    continuations: tuple[Continuation, ...]
    passes: int
    seat_to_act: Seat
    acts: tuple[Act, ...]
