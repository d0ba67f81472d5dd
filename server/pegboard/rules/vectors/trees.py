"""Cases of all ways in which a match can go on (kind perft)."""

from __future__ import annotations

from pegboard.rules import catalog
from pegboard.rules.errors import NotationError
from pegboard.rules.perft import perft
from pegboard.rules.record import parse_turn
from pegboard.rules.shuffle import SeededChance
from pegboard.rules.vectors.case import Case, expect, field, texts

DEPTH_MAX = 12


def run_perft(case: Case) -> None:
    """Count the sequences after the case's moves and compare the digest of their events."""
    depth = field(case, "depth")
    if not isinstance(depth, int) or not 0 <= depth <= DEPTH_MAX:
        raise NotationError(f"'depth' has to be a whole number from 0 to {DEPTH_MAX}")
    game = catalog.game(field(case, "variant"), case.get("options", {}))
    chance = SeededChance(bytes.fromhex(field(case, "seed")), field(case, "nonce"))
    state, events = game.start(field(case, "seats"), chance)
    for text in texts(case, "moves"):
        seat, move = parse_turn(game, text)
        events += state.apply(seat, move)
    found = perft(state, depth, events)
    expect("sequences", found.sequences, field(case, "sequences"))
    expect("events_digest", found.events_digest, field(case, "events_digest"))
