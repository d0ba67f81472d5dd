"""What a seat of a Draw match can see. Fields are those of `DominoesView` in the contract."""

from __future__ import annotations

from typing import NamedTuple

from pegboard.rules.dominoes.events import Connection, Continuation
from pegboard.rules.dominoes.moves import End
from pegboard.rules.game import Seat, print_as_text
from pegboard.rules.tiles import Tile, tiles_text


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

    def text(self) -> str:
        """Return what people want to see of it, a line a subject; what is empty is left out."""
        lines = [
            f"seat {self.seat_to_act} to act in round {self.round} of game {self.game},"
            f" scores {' '.join(map(str, self.scores))}"
        ]
        if self.hand:
            lines.append(f"hand: {tiles_text(self.hand)}")
        lines.append(f"hands of {' '.join(map(str, self.hand_sizes))}, stock of {self.stock}")
        if self.line:
            left, right = self.continuations
            # The line lists tiles with the lower half first; the ends tell how the first and last lie.
            lines.append(f"line: {tiles_text(self.line)}, open for {left.pips} and {right.pips}")
        return "\n".join(lines)


print_as_text(DominoesView)
