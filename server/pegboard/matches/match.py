"""What a match is from its creation to its record: its names, what was asked for, its deal.

`Match` alone is a match as it was asked for. One that is played is a `running.RunningMatch`, one that
is over a `finished.FinishedMatch`; both know their game only by the contract of `rules.game`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from pegboard.matches.log import lines_of
from pegboard.matches.spec import MatchSpec
from pegboard.rules.game import Game, Seat, State
from pegboard.rules.shuffle import SeededChance, commitment
from pegboard.rules.versions import edition_of


class MatchIdentity(NamedTuple):
    """All of a match that never changes.

    `spec` never holds the seed; `seed` goes into records only. `key` orders matches by creation.
    """

    id: str
    key: int
    spec: MatchSpec
    seed: bytes
    create_time: float
    rules_version: str


class Match:
    """A match as it was asked for. The fields are those of its identity."""

    __slots__ = ("create_time", "id", "identity", "key", "rules_version", "seed", "spec")

    def __init__(self, identity: MatchIdentity) -> None:
        self.identity = identity
        self.id = identity.id
        self.key = identity.key
        self.spec = identity.spec
        self.seed = identity.seed
        self.create_time = identity.create_time
        self.rules_version = identity.rules_version

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.id} {self.spec.variant} {'/'.join(self.spec.bots)}>"

    @property
    def commitment(self) -> bytes:
        """SHA-256 over seed and nonce (`rules.shuffle`)."""
        return commitment(self.seed, self.spec.nonce)

    def seats_of(self, bot: str) -> tuple[Seat, ...]:
        """Return the seats at which the bot sits."""
        return tuple([seat for seat, name in enumerate(self.spec.bots) if name == bot])

    def deal(self, game: Game) -> tuple[State, list[Any]]:
        """Return the match as it stands before the first move, and its first events.

        A match goes on, and is told again, under the rules that it was begun with. Raises `SeatsError`,
        and `RecordError` for rules that are not known here.
        """
        chance = SeededChance(self.seed, self.spec.nonce)
        return game.start(len(self.spec.bots), chance, edition_of(self.rules_version))

    def replay(self, game: Game, moves: str) -> list[Any]:
        """Play the match again and return all its events."""
        state, events = self.deal(game)
        for line in lines_of(moves):
            seat, _, move = line.partition(" ")
            events += state.apply(int(seat), game.parse_move(move))
        return events
