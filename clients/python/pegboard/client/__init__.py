"""The Python kit: write a bot as a function, or organise matches.

    from pegboard.client import Turn, run

    def choose(turn: Turn) -> int:
        return 0                                    # the first legal move

    run(choose)

`run` finds the server in `PEGBOARD_ADDRESS` and the bot's token in `PEGBOARD_TOKEN`.
"""

from typing import TYPE_CHECKING, Any

from pegboard.client.bot import Bot
from pegboard.client.run import run
from pegboard.client.turn import RESIGN, Choice, MatchInfo, Refused, Turn

if TYPE_CHECKING:
    from pegboard.client.organiser import FinishedMatches, Organiser, new_match
    from pegboard.client.session import BotClient

__all__ = [
    "RESIGN",
    "Bot",
    "BotClient",
    "Choice",
    "FinishedMatches",
    "MatchInfo",
    "Organiser",
    "Refused",
    "Turn",
    "new_match",
    "run",
]


def __getattr__(name: str) -> Any:
    """Import what needs grpc only for those who use it: `run` has a word to say to grpc before."""
    if name in {"FinishedMatches", "Organiser", "new_match"}:
        from pegboard.client import organiser

        return getattr(organiser, name)
    if name == "BotClient":
        from pegboard.client.session import BotClient

        return BotClient
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
