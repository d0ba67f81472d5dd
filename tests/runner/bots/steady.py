"""A bot whose every choice follows from the question alone: a stopped run ends like any other.

`STRENGTH` n: it takes the best of n lots, so that bots of different strength differ. `MISDEED` names
what it does wrong and `AT` when: at the turn of that number (of this process). `ONCE` names a file:
where it is there, nothing is done wrong any more.
"""

from __future__ import annotations

import hashlib
import os
import sys
import time
from pathlib import Path

from pegboard.client import RESIGN, Bot, Choice, Turn, run

STRENGTH = int(os.environ.get("STRENGTH", "1"))
MISDEED = os.environ.get("MISDEED", "")
AT = int(os.environ.get("AT", "0"))
ONCE = os.environ.get("ONCE", "")
SEED = os.environ.get("SEED", "")


class Steady(Bot):
    """Chooses by a digest of match, seat and turn."""

    turns = 0

    def choose(self, turn: Turn) -> Choice:
        """Return a choice; now and then a misdeed."""
        self.turns += 1
        if MISDEED == "chat":
            print("word " * 10_000, flush=True)
        elif MISDEED and self.turns > AT and not (ONCE and os.path.exists(ONCE)):
            return misbehave(turn)
        question = f"{SEED}/{turn.match}/{turn.seat}/{turn.turn_id}/{turn.number}"
        digest = hashlib.sha256(question.encode()).digest()
        index = max(byte % turn.move_count for byte in digest[:STRENGTH])
        bounds = turn.number_of(index)
        return index, None if bounds is None else bounds[0] + digest[-1] % (
            bounds[1] - bounds[0] + 1
        )


def misbehave(turn: Turn) -> Choice:
    """Do what the environment asks for."""
    if ONCE:
        Path(ONCE).touch()
    match MISDEED:
        case "crash":
            print("Traceback: the bot lost its mind", file=sys.stderr, flush=True)
            os._exit(3)
        case "resign":
            return RESIGN
        case "illegal":
            return 1_000_000
        case "sleep":
            time.sleep(3600)
        case "stall":
            time.sleep(0.2)
    return 0


if __name__ == "__main__":
    if MISDEED == "hang":
        time.sleep(3600)
    run(Steady())
