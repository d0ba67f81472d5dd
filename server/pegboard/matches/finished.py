"""A match that is over: its result, its record, and its events, which follow from its moves."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from pegboard.matches.log import lines_of
from pegboard.matches.match import Match
from pegboard.matches.spec import MatchSpec
from pegboard.rules.errors import UnknownVariant
from pegboard.rules.game import Choices, Game
from pegboard.rules.record import Record
from pegboard.rules.results import Result

GameOf = Callable[[MatchSpec], Game]
"""Returns the game of a match. Raises `UnknownVariant` for one that this server does not have."""


class MatchEnding(NamedTuple):
    """How a match ended, and when, in seconds since 1970 as the store keeps them."""

    result: Result
    time: float


class Archive(NamedTuple):
    """What is stored of the moves and events of a finished match."""

    moves: str
    event_count: int
    events_digest: str


class AnsweredTurn(NamedTuple):
    """The last turn of a seat: the bot may send its answer again, and that answer still counts."""

    turn_id: int
    question: Choices
    choices: Choices
    made: Any


class FinishedMatch(Match):
    """A match with a stored result. `finish` orders matches by their ends.

    `recent` are the last events, by which a match that has just ended is told without a replay.
    `answered` are the last turns by seat, () for a match that was read from the store.
    """

    __slots__ = ("_game_of", "_recent", "answered", "archive", "end_time", "finish", "result")

    def __init__(
        self,
        match: Match,
        ending: MatchEnding,
        archive: Archive,
        finish: int,
        game_of: GameOf,
        recent: Sequence[Any] = (),
        answered: Sequence[AnsweredTurn | None] = (),
    ) -> None:
        super().__init__(match.identity)
        self.result = ending.result
        self.end_time = ending.time
        self.archive = archive
        self.finish = finish
        self.answered = answered
        self._game_of = game_of
        self._recent = recent

    @property
    def finished(self) -> FinishedMatch:
        """The match itself; see `RunningMatch.finished`."""
        return self

    @property
    def game(self) -> Game:
        """The game. Raises `UnknownVariant` if this server no longer has it."""
        return self._game_of(self.spec)

    @property
    def family(self) -> str:
        """The family of the game; empty if this server no longer has the variant."""
        try:
            return self.game.family
        except UnknownVariant:
            return ""

    @property
    def event_count(self) -> int:
        """How many events there are: one more than the game's, which is the result."""
        return self.archive.event_count + 1

    def events(self, after: int) -> list[tuple[int, Any]]:
        """Return (sequence, event) of all events after sequence number `after`, unredacted.

        The last event is the `Result`.
        """
        after = max(after, 0)
        total = self.archive.event_count
        if after > total:
            return []
        first = total - len(self._recent) + 1
        if first <= after + 1:
            found = list(self._recent[after + 1 - first :])
        else:
            found = self.replay(self.game, self.archive.moves)[after:]
        return list(enumerate([*found, self.result], after + 1))

    def record(self, reveal_seed: bool) -> Record:
        """Return the record."""
        return Record(
            match=self.id,
            variant=self.spec.variant,
            family=self.family,
            options=self.spec.options,
            bots=self.spec.bots,
            nonce=self.spec.nonce,
            seed=self.seed if reveal_seed else None,
            commitment=self.commitment,
            moves=tuple(lines_of(self.archive.moves)),
            result=self.result,
            events_digest=self.archive.events_digest,
            rules_version=self.rules_version,
        )

    def release(self) -> None:
        """Drop the recent events; they are derived again on demand."""
        self._recent = ()
