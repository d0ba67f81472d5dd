"""The Python kit: write a bot as a function, or organise matches.

    from pegboard.client import Turn, run

    def choose(turn: Turn) -> int:
        return 0                                    # the first legal move

    run(choose)

`run` finds the server in `PEGBOARD_ADDRESS` and the bot's token in `PEGBOARD_TOKEN`. This is the one
import that a bot needs: it also gives the rules (`cribbage`, `dominoes`, `catalog`) and the types of
views, moves, events and results.
"""

from typing import TYPE_CHECKING

from pegboard.client.bot import Bot
from pegboard.client.run import run
from pegboard.client.turn import RESIGN, Choice, MatchInfo, Refused, Resign, Turn
from pegboard.rules import catalog, cribbage, dominoes
from pegboard.rules.catalog import Event, Move, View
from pegboard.rules.cribbage import CribbageView
from pegboard.rules.dominoes import DominoesView
from pegboard.rules.results import Result, Termination

if TYPE_CHECKING:
    from pegboard.client.organiser import FinishedMatches, Organiser, WatchedEvent, new_match
    from pegboard.client.session import BotClient

__all__ = [
    "RESIGN",
    "Bot",
    "BotClient",
    "Choice",
    "CribbageView",
    "DominoesView",
    "Event",
    "FinishedMatches",
    "MatchInfo",
    "Move",
    "Organiser",
    "Refused",
    "Resign",
    "Result",
    "Termination",
    "Turn",
    "View",
    "WatchedEvent",
    "catalog",
    "cribbage",
    "dominoes",
    "new_match",
    "run",
]

if not TYPE_CHECKING:  # a type checker would take any name for one that `__getattr__` returns

    def __getattr__(name: str) -> object:
        """Import grpc only for the names that need it: `run` sets an option that grpc reads before."""
        if name in {"FinishedMatches", "Organiser", "WatchedEvent", "new_match"}:
            from pegboard.client import organiser

            return getattr(organiser, name)
        if name == "BotClient":
            from pegboard.client.session import BotClient

            return BotClient
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
