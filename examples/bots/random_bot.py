"""A bot that plays at random, every variant of every game.

It answers by the index of a listed move (and a number where one is asked for), so it need not know
the rules. The same seed gives the same moves whatever the order in which turns arrive: each choice
depends only on PEGBOARD_BOT_SEED, the match, the seat and the turn. The random bots of all languages
choose alike (clients/README.md, "A random bot, exactly").
"""

from __future__ import annotations

import os
from hashlib import sha256

from pegboard.client import Turn, run

SEED = os.environ.get("PEGBOARD_BOT_SEED", "1")


def choose(turn: Turn) -> tuple[int, int | None]:
    """Choose at random, anew after each refused claim, which narrows the range."""
    low, high = turn.number or (0, 0)
    key = f"{SEED}/{turn.match}/{turn.seat}/{turn.turn_id}/{low}/{high}"
    # A real hash: a checksum of keys so alike would prefer some moves to others.
    digest = sha256(key.encode()).digest()
    # Six bytes are exact in a floating-point number, the only kind that JavaScript has.
    index = int.from_bytes(digest[:6], "big") % turn.move_count
    bounds = turn.number_of(index)
    if bounds is None:
        return index, None
    # 4 on average and 15 at most: bids spread over their range would cost more than cribbage can earn.
    return index, min(bounds[1], bounds[0] + digest[6] * digest[7] // 4096)


if __name__ == "__main__":
    run(choose)
