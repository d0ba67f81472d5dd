"""A bot: a subclass of `Bot`, or just a function from turn to move."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from pegboard.client.turn import Choice, MatchInfo, Resign, Turn
from pegboard.errors import InvalidRequest
from pegboard.rules.game import Seat
from pegboard.v1 import match_pb2
from pegboard.wire.codec import CODECS
from pegboard.wire.turns import answer_bytes, move_answer_bytes

PATIENCE_S = 60.0
"""How long a bot tries to come back to a lost server before it gives up."""


class Bot:
    """Override `choose`, or `choose_batch`; the other methods only where they are of use.

    `choose` is called on the event loop, one turn after the other: right for bots that think for
    milliseconds. `choose_batch` gets all turns that are open, in a thread of its own: right for
    neural nets, and for bots that think for seconds.
    """

    max_open_turns: int = 0
    """How many turns the bot takes at once; the others wait, clocks stopped. 0: any number."""

    events: bool = False
    """Whether `event` is called."""

    kit: str = "pegboard-python"

    def choose(self, turn: Turn) -> Choice:
        """Return the index of a listed move, (index, number), a move of the rules, or `RESIGN`."""
        raise NotImplementedError("a bot needs `choose` or `choose_batch`")

    choose_batch: Callable[[Sequence[Turn]], Sequence[Choice]] | None = None
    """Where it is there, called instead of `choose`: a choice for each turn, in order."""

    def match_started(self, info: MatchInfo) -> None:
        """A match is running: once when it starts and again after a reconnect."""

    def match_ended(self, match: str, result: match_pb2.MatchResult) -> None:
        """A match is over."""

    def event(self, match: str, seat: Seat, sequence: int, event: Any) -> None:
        """Something happened, as the seat may see it: an event of `pegboard.rules`."""


class FunctionBot(Bot):
    """A bot made of a function."""

    def __init__(self, function: Callable[[Turn], Choice]) -> None:
        self.__dict__["choose"] = function  # one call less a turn than a method around it


def as_bot(bot: Bot | Callable[[Turn], Choice]) -> Bot:
    """Return the bot itself, or one made of a function. Raises `InvalidRequest` for anything else."""
    if isinstance(bot, Bot):
        return bot
    if isinstance(bot, type) or not callable(bot):
        raise InvalidRequest(
            f"no bot {bot!r}; give a function choose(turn), or a Bot made by calling"
        )
    return FunctionBot(bot)


def encode_choice(turn: Turn, choice: Choice) -> bytes:
    """Return a choice as an element of `PlayRequest.answers`. Raises `InvalidRequest` for none."""
    if isinstance(choice, tuple) and len(choice) == 2:
        index, number = choice
    else:
        index, number = choice, None
    try:
        if isinstance(index, int) or hasattr(index, "__index__"):
            place = index.__index__()
            if 0 <= place < 1 << 32 and (number is None or 0 <= number < 1 << 32):
                return answer_bytes(turn.match, turn.seat, turn.turn_id, place, number)
        elif number is None and not isinstance(choice, Resign):
            move = CODECS[turn.family].move_bytes(choice)
            return move_answer_bytes(turn.match, turn.seat, turn.turn_id, move)
    except (KeyError, TypeError, AttributeError):
        pass
    raise InvalidRequest(
        f"the bot chose {choice!r} for {turn!r}; choose the index of a listed move, (index, number),"
        " a move of pegboard.rules, or RESIGN"
    )
