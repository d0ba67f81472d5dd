"""The Python kit: write a bot as a function, or organise matches.

    from pegboard.client import Turn, run

    def choose(turn: Turn) -> int:
        return 0                                    # the first legal move

    run(choose)

`run` finds the server in `PEGBOARD_ADDRESS` and the bot's token in `PEGBOARD_TOKEN`.
"""

from pegboard.client.bot import Bot
from pegboard.client.organiser import Finished, Organiser, new_match
from pegboard.client.run import run
from pegboard.client.session import Player
from pegboard.client.turn import RESIGN, Choice, MatchInfo, Refused, Turn

__all__ = [
    "RESIGN",
    "Bot",
    "Choice",
    "Finished",
    "MatchInfo",
    "Organiser",
    "Player",
    "Refused",
    "Turn",
    "new_match",
    "run",
]
