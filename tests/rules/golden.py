"""Golden files of every variant: perft counts and a playthrough each.

`python -m tests.rules.golden` writes them.

Write them again only when the rules are meant to change; then `catalog.RULES_VERSION` changes as well,
since old records would replay differently.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from pegboard.rules import catalog
from pegboard.rules.perft import count, perft
from pegboard.rules.playthrough import make_turn, story
from pegboard.rules.shuffle import SeededChance

VECTORS = Path(__file__).resolve().parent.parent / "vectors"
SEED = bytes(range(32))
SEQUENCES_MAX = 1_500
DEPTH_MAX = 6
PREFIXES = (0, 3, 9, 16, 31, 64)
"""After how many moves by the rule of choice the trees start, so that they meet every phase."""


def perft_path(variant: str) -> Path:
    """Return where the counts of a variant are."""
    return VECTORS / "perft" / f"{variant}.json"


def playthrough_path(variant: str) -> Path:
    """Return where the playthrough of a variant is."""
    return VECTORS / "playthroughs" / f"{variant}.txt"


def perft_cases(variant: str) -> list[dict[str, Any]]:
    """Return the cases of a variant: for every number of seats, trees from several points."""
    return [
        case
        for seats in catalog.find(variant).game.seats
        for prefix in PREFIXES
        if (case := _perft_case(variant, seats, prefix)) is not None
    ]


def _perft_case(variant: str, seats: int, prefix: int) -> dict[str, Any] | None:
    """Return the tree after so many moves, as deep as the limit allows; None where it is over."""
    nonce = f"perft/{seats}"
    state, events = catalog.game(variant).start(seats, SeededChance(SEED, nonce))
    moves: list[str] = []
    while len(moves) < prefix:
        if not state.to_act():
            return None
        turn = make_turn(state, SEED, len(moves) + 1)
        moves.append(turn.text())
        events += turn.events
    depth = 1
    while depth < DEPTH_MAX and count(state, depth + 1, SEQUENCES_MAX) <= SEQUENCES_MAX:
        depth += 1
    found = perft(state, depth, events)
    return {
        "id": f"{variant}/{seats}/{prefix}",
        "kind": "perft",
        "variant": variant,
        "options": {},
        "seats": seats,
        "seed": SEED.hex(),
        "nonce": nonce,
        "moves": moves,
        "depth": depth,
        "sequences": found.sequences,
        "events_digest": found.events_digest,
    }


def playthrough(variant: str) -> str:
    """Return the text of a variant's playthrough, with its most seats."""
    seats = max(catalog.find(variant).game.seats)
    return "\n".join([*story(variant, {}, seats, SEED, "playthrough"), ""])


def write(variants: list[str]) -> None:
    """Write the golden files of these variants."""
    for variant in variants:
        perft_path(variant).parent.mkdir(parents=True, exist_ok=True)
        playthrough_path(variant).parent.mkdir(parents=True, exist_ok=True)
        cases = ",\n".join(json.dumps(case) for case in perft_cases(variant))
        perft_path(variant).write_text(f"[\n{cases}\n]\n", encoding="utf-8")
        playthrough_path(variant).write_text(playthrough(variant), encoding="utf-8")
        print(variant)


if __name__ == "__main__":
    write(sys.argv[1:] or list(catalog.CATALOG))
