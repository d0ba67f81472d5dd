"""Draw dominoes: `from pegboard.rules import dominoes`.

`Dominoes(...)` is a variant, `start` gives a `DominoesState`; moves are `Place`, `Draw` and `Pass`,
events `Placed`, `Drawn` and so on, and a seat sees a `DominoesView`. All of them print as people write
them.
"""

from pegboard.rules.dominoes.events import (
    Connection,
    Continuation,
    Dealt,
    DominoesEvent,
    Drawn,
    GameEnded,
    GameStarted,
    OpenerDrawn,
    Passed,
    Placed,
    Port,
    RoundEnded,
)
from pegboard.rules.dominoes.game import Dominoes
from pegboard.rules.dominoes.moves import DominoesMove, Draw, End, Pass, Place
from pegboard.rules.dominoes.state import DominoesState
from pegboard.rules.dominoes.view import Act, DominoesView

__all__ = [
    "Act",
    "Connection",
    "Continuation",
    "Dealt",
    "Dominoes",
    "DominoesEvent",
    "DominoesMove",
    "DominoesState",
    "DominoesView",
    "Draw",
    "Drawn",
    "End",
    "GameEnded",
    "GameStarted",
    "OpenerDrawn",
    "Pass",
    "Passed",
    "Place",
    "Placed",
    "Port",
    "RoundEnded",
]
