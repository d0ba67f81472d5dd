"""What one transaction of the store writes, and how it travels there: as a few texts."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from pegboard.matches.store.rows import Row, Stored


class Texts(NamedTuple):
    """A batch as it travels: lines for the journal, JSON for the others, "" for nothing."""

    created: str = ""
    journal: str = ""
    finished: str = ""
    blocks: str = ""


class Standing(NamedTuple):
    """A block: how many matches it has, how many of them have a result, how many run."""

    matches: int
    rated: int
    running: int

    @property
    def is_over(self) -> bool:
        """Whether its matches may be read: then none that runs has deals that can be known."""
        return self.rated >= self.matches and not self.running


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

    def texts(self) -> Texts:
        """Return it as it travels."""
        return Texts(
            _dumps([Stored.of(row)[:11] for row in self.created]),
            "\n".join(self.journal),
            _dumps([(row.key, *Stored.of(row)[11:]) for row in self.finished]),
            _dumps([*self.begun, *self.ended]),
        )


def _dumps(rows: Sequence[Any]) -> str:
    return json.dumps(rows, separators=(",", ":")) if rows else ""
