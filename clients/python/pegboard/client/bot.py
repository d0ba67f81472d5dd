"""A bot: a subclass of `Bot`, or just a function from turn to move."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from pegboard.client.turn import Choice, MatchInfo, Turn
from pegboard.errors import InvalidRequest
from pegboard.rules.catalog import Event, Move
from pegboard.rules.game import Seat
from pegboard.rules.results import Result
from pegboard.wire.codec import CODECS
from pegboard.wire.turns import answer_bytes, move_answer_bytes

PATIENCE_S = 60.0
"""How long a bot tries to come back to a lost server before it gives up."""


class Bot:
    """Override `choose`, or `choose_batch`; the other methods only if the bot needs them.

    `choose` is called on the event loop, one turn after the other: right for bots that think for
    milliseconds. `choose_batch` gets all turns that are open, in a thread of its own: right for
    neural nets, and for bots that think for seconds.
    """

    max_open_turns: int = 0
    """How many turns the bot takes at once; the others wait, clocks stopped. 0: any number."""

    events: bool = False
    """Whether `event` is called."""

    resign_on_error: bool = False
    """Whether an exception in `choose`, or a choice of a wrong kind, costs the match of that turn only.

    The kit then resigns the match and prints the traceback; other matches go on. If False, the
    process ends with status 1. If `choose_batch` raises, the kit calls it again with each turn alone.
    """

    kit: str = "pegboard-python"

    def choose(self, turn: Turn) -> Choice:
        """Return the index of a listed move, (index, number), a move of the rules, or `RESIGN`."""
        raise NotImplementedError("a bot needs `choose` or `choose_batch`")

    choose_batch: Callable[[Sequence[Turn]], Sequence[Choice]] | None = None
    """If set, the kit calls it instead of `choose`: a choice for each turn, in order."""

    def match_started(self, info: MatchInfo) -> None:
        """A match is running: once when it starts and again after a reconnect."""

    def match_ended(self, match: str, result: Result) -> None:
        """A match is over."""

    def event(self, match: str, seat: Seat, sequence: int, event: Event) -> None:
        """Something happened, as the seat may see it: an event of `pegboard.rules`."""


class FunctionBot(Bot):
    """A bot made of a function."""

    def __init__(self, function: Callable[[Turn], Choice]) -> None:
        self.__dict__["choose"] = function  # a method around it would cost a call more each turn


def as_bot(bot: Bot | Callable[[Turn], Choice]) -> Bot:
    """Return the bot itself, or one made of a function. Raises `InvalidRequest` for anything else."""
    if isinstance(bot, Bot):
        return bot
    if isinstance(bot, type) or not callable(bot):
        raise InvalidRequest(
            f"no bot {bot!r}; give a function choose(turn), or a Bot made by calling"
        )
    return FunctionBot(bot)


def is_move_of(turn: Turn, value: object) -> bool:
    """Say whether a value is a move of the turn's game: each game has its moves in one module."""
    return isinstance(value, Move) and type(value).__module__ == type(turn.moves[0]).__module__


def encode_choice(turn: Turn, choice: Choice) -> bytes:
    """Return a choice as an element of `PlayRequest.answers`. Raises `InvalidRequest` if it is none."""
    index: object = choice
    number: int | None = None
    if isinstance(choice, tuple) and len(choice) == 2:
        index, number = choice
    try:
        if isinstance(index, int) or hasattr(index, "__index__"):
            place = index.__index__()
            if 0 <= place < 1 << 32 and (number is None or 0 <= number < 1 << 32):
                return answer_bytes(turn.match, turn.seat, turn.turn_id, place, number)
        elif number is None and is_move_of(turn, index):
            move = CODECS[turn.family].move_bytes(index)
            return move_answer_bytes(turn.match, turn.seat, turn.turn_id, move)
    except (KeyError, TypeError, AttributeError):
        pass
    raise InvalidRequest(
        f"the bot chose {choice!r} for {turn.title}; choose the index of a listed move,"
        " (index, number), a move of pegboard.rules, or RESIGN"
    )
