"""A bot that plays at random, every variant of every game.

It answers by the index of a listed move (and a number where one is asked for), so it need not know
the rules. The same seed gives the same moves whatever the order in which turns arrive: each choice
depends only on PEGBOARD_BOT_SEED, the match, the seat and the turn.
"""

from __future__ import annotations

import os
from hashlib import sha256
from random import Random

from pegboard.client import Turn, run

SEED = os.environ.get("PEGBOARD_BOT_SEED", "1")


def choose(turn: Turn) -> tuple[int, int | None]:
    """Choose at random, anew after each refused claim, which narrows the range."""
    low, high = turn.number or (0, 0)
    key = f"{SEED}/{turn.match}/{turn.seat}/{turn.turn_id}/{low}/{high}"
    if turn.number is None:
        # A real hash: a checksum of keys so alike would prefer some moves to others.
        return int.from_bytes(sha256(key.encode()).digest()[:8], "big") % turn.move_count, None
    return turn.random(Random(key))


if __name__ == "__main__":
    run(choose)
