"""Runs worked cases with the right answer beside them: those of tests/vectors, or of any other file.

The shape of every kind is in docs/vectors.md.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from importlib.resources import files

from pegboard.rules.errors import NotationError, PegboardError
from pegboard.rules.vectors import dominoes, games, plays, scores, trees
from pegboard.rules.vectors.case import Case, Failure, Mismatch

__all__ = ["KINDS", "Case", "Failure", "run_vectors", "told_in_prose"]

GAME_FLOW = "game_flow.json"
"""Situations told in prose, played out; tests/vectors/games has the same file."""


def run_vectors(cases: Sequence[Case]) -> list[Failure]:
    """Run all cases and return those that fail, in their order."""
    found = [(case, _failure(case)) for case in cases]
    return [Failure(str(case.get("id", "?")), reason) for case, reason in found if reason]


def told_in_prose(cases: Sequence[Case]) -> int:
    """Return how many cases are prose: `run_vectors` runs the scripted games of the same ids."""
    return sum(case.get("kind") == "game_flow" for case in cases)


def _failure(case: Case) -> str | None:
    """Return why the case fails, None if it holds."""
    kind = case.get("kind")
    run = KINDS.get(kind) if isinstance(kind, str) else None
    if run is None:
        return f"unknown kind {kind!r}; docs/vectors.md lists all kinds"
    try:
        run(case)
    except Mismatch as difference:
        return str(difference)
    except PegboardError as error:
        return f"cannot be run: {error}"
    except (TypeError, ValueError, LookupError, AttributeError, ArithmeticError) as error:
        # Data of the wrong shape shows in a hundred ways; none of them is worth a traceback.
        return f"cannot be run, see docs/vectors.md for its shape: {error!r}"
    return None


@cache
def scripted_games() -> Mapping[str, Case]:
    """Return the situations that are told in prose elsewhere as scripted games, by id."""
    text = files(__name__).joinpath(GAME_FLOW).read_text(encoding="utf-8")
    return {case["id"]: case for case in json.loads(text)}


def run_game_flow(case: Case) -> None:
    """Play the scripted games of a situation told in prose: kind game_flow.

    Prose cannot be run: the case stands for the scripted game of the same id. Raises `NotationError`
    where there is none.
    """
    script = scripted_games().get(str(case.get("id")))
    if script is None:
        raise NotationError("this is prose, and no scripted game of the same id is known")
    games.run_game(script)


KINDS: dict[str, Callable[[Case], None]] = {
    "show": scores.run_show,
    "show5": scores.run_show,
    "show9card": scores.run_show,
    "crib5_no_starter": scores.run_crib_without_starter,
    "jokers_zero": scores.run_show,
    "jokers_wild_unbound": scores.run_jokers_wild,
    "peg_run": scores.run_count,
    "peg_game": plays.run_play,
    "domino_layout": dominoes.run_layout,
    "domino_legal": dominoes.run_legal,
    "domino_block": dominoes.run_block,
    "domino_out": dominoes.run_out,
    "domino_match": dominoes.run_match,
    "domino_rotation": dominoes.run_rotation,
    "domino_deal": dominoes.run_deal,
    "game": games.run_game,
    "game_flow": run_game_flow,
    "perft": trees.run_perft,
}
