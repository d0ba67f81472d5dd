"""The versions of the rules.

The version changes when the same options, seed and moves would give other events. Records carry it, and
every version stays playable for ever. Version 1 differed from the present one, 2, in this:

- orders of the pack and of the tiles were labelled by their number in the match, `deal/N` and `round/N`
  (X-20);
- all seats of Draw drew by one order, that of the deal (X-21);
- a call of muggins might name 0 (X-04).
"""

from __future__ import annotations

from typing import NamedTuple

from pegboard.rules.errors import RecordError

RULES_VERSION = "2"
"""What new matches are played under."""


class Edition(NamedTuple):
    """What the rules of a version do differently.

    `labels_by_game`: labels of orders name the game within the match, then the deal (round) within the
    game (X-20). `own_orders`: each seat of Draw draws by an order of its own (X-21). `call_least`: the
    least that a call of muggins names (X-04).
    """

    labels_by_game: bool
    own_orders: bool
    call_least: int


EDITION = Edition(labels_by_game=True, own_orders=True, call_least=1)
"""The present rules."""

_EDITIONS = {
    "1": Edition(labels_by_game=False, own_orders=False, call_least=0),
    RULES_VERSION: EDITION,
}
RULES_VERSIONS = tuple(_EDITIONS)
"""All that this program plays, the oldest first."""


def edition_of(rules_version: str) -> Edition:
    """Return what a version does. Raises `RecordError` for one that this program does not know."""
    found = _EDITIONS.get(rules_version)
    if found is None:
        raise RecordError(
            f"rules version {rules_version[:40]!r} is unknown here; this program knows"
            f" {', '.join(RULES_VERSIONS)}, so update it"
        )
    return found
