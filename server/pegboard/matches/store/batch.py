"""What one transaction of a store writes, and what it says of duplicate blocks."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from pegboard.matches.store.rows import Row


class Standing(NamedTuple):
    """A block: how many matches it has, how many of them have a result, how many run.

    `damaged`: the numbers are not those that were written, so the block stays sealed.
    """

    matches: int
    rated: int
    running: int
    damaged: bool = False

    @property
    def is_over(self) -> bool:
        """Whether its matches may be read: then none that runs has deals that can be known."""
        return self.rated >= self.matches and not self.running and not self.damaged


class BlockChange(NamedTuple):
    """What a created or finished match changes in its block of `matches`."""

    block: str
    matches: int
    rated: int
    running: int


@dataclass(slots=True)
class Batch:
    """What one transaction writes; `journal` are its lines."""

    created: list[Row] = field(default_factory=list)
    journal: list[str] = field(default_factory=list)
    finished: list[Row] = field(default_factory=list)
    begun: list[BlockChange] = field(default_factory=list)
    ended: list[BlockChange] = field(default_factory=list)

    @property
    def changes(self) -> list[BlockChange]:
        """All that the batch changes in blocks."""
        return [*self.begun, *self.ended]
