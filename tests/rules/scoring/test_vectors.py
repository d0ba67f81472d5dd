"""Every vector file holds, and the runner fails where it should."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from pegboard.rules.catalog import CATALOG
from pegboard.rules.vectors import KINDS, run_vectors, told_in_prose

VECTORS = Path(__file__).parents[2] / "vectors"
FILES = sorted([*VECTORS.glob("*.json"), *VECTORS.glob("games/*.json")])


def load(path: Path) -> list[dict[str, Any]]:
    """Return the cases of a file."""
    cases: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))
    return cases


CASES = [
    pytest.param(case, id=f"{path.stem}-{case['id']}") for path in FILES for case in load(path)
]


@pytest.mark.parametrize("case", CASES)
def test_vector(case: dict[str, Any]) -> None:
    """What came out is what the case says."""
    assert run_vectors([case]) == []


def test_the_documented_script_holds() -> None:
    """The example of docs/vectors.md runs."""
    page = (VECTORS.parents[1] / "docs" / "vectors.md").read_text(encoding="utf-8")
    (example,) = re.findall(r"```json\n(.*?)```", page, re.DOTALL)
    assert run_vectors([json.loads(example)]) == []


def test_every_kind_is_documented() -> None:
    """docs/vectors.md names each kind."""
    page = (VECTORS.parents[1] / "docs" / "vectors.md").read_text(encoding="utf-8")
    assert [kind for kind in KINDS if f"`{kind}`" not in page] == []


def test_every_variant_has_a_scripted_game() -> None:
    """A variant without vectors is not done."""
    played = {case["variant"] for path in FILES for case in load(path) if case["kind"] == "game"}
    assert set(CATALOG) - played == set()


def test_ids_are_unique() -> None:
    """An id names one case over all files."""
    ids = [case["id"] for path in FILES for case in load(path)]
    assert sorted(set(ids)) == sorted(ids)


def test_every_kind_has_a_case() -> None:
    """A kind that nothing uses would be dead; prose is only in others' files, trees in perft/."""
    kinds = {case["kind"] for path in FILES for case in load(path)}
    assert kinds | {"game_flow", "perft"} == set(KINDS)


def test_prose_stands_for_the_scripted_game_of_its_id() -> None:
    """A situation that is told runs as the game that is scripted, and is counted as such."""
    prose = {"id": "E-01", "kind": "game_flow", "situation": "dealer 119, starter is a Jack"}
    assert run_vectors([prose]) == []
    assert told_in_prose([prose, SHOW]) == 1


def changed(case: dict[str, Any], key: str, value: object) -> dict[str, Any]:
    """Return the case with one field changed."""
    return {**case, key: value}


SHOW = {
    "id": "x",
    "kind": "show",
    "hand": ["5C", "5D", "5H", "JS"],
    "starter": "5S",
    "expect": {"fifteens": 16, "pairs": 12, "runs": 0, "flush": 0, "nobs": 1, "total": 29},
}


@pytest.mark.parametrize(
    ("case", "reason"),
    [
        (changed(SHOW, "expect", {"total": 28}), "total is 29, not 28"),
        (changed(SHOW, "expect", {"pairs": 6, "total": 29}), "pairs is 12, not 6"),
        (changed(SHOW, "kind", "shaw"), "unknown kind 'shaw'"),
        (changed(SHOW, "kind", ["show"]), "unknown kind ['show']"),
        (changed(SHOW, "hand", ["5X"]), "'5X' is not a card"),
        (changed(SHOW, "hand", "5C"), "'hand' has to be a list of texts"),
        (changed(SHOW, "expect", None), "see docs/vectors.md for its shape"),
        (changed(SHOW, "jokers", "tame"), "no jokers 'tame'"),
        ({"id": "x", "kind": "show"}, "the case has no 'hand'"),
        ({"id": "x"}, "unknown kind None"),
        ({"id": "x", "kind": "game_flow", "situation": "anything"}, "no scripted game"),
        ({"id": "x", "kind": "game", "variant": "cribage", "moves": []}, "did you mean cribbage"),
        (
            {"id": "x", "kind": "domino_block", "hands": [3, 8, 10], "winner": 1, "award": 15},
            "winner is 0, not 1",
        ),
        (
            {"id": "x", "kind": "peg_run", "cards": ["5", "T"], "counts": [5, 15], "points": [0]},
            "equally long",
        ),
    ],
)
def test_a_wrong_case_fails_with_one_sentence(case: dict[str, Any], reason: str) -> None:
    """The failing case is named, with what is wrong about it."""
    (failure,) = run_vectors([case])
    assert failure.id == "x"
    assert reason in failure.reason
    assert "\n" not in failure.reason


DRAW_GAME = {
    "id": "x",
    "kind": "game",
    "variant": "draw",
    "options": {"first_opener": "0"},
    "orders": {"round/1/1": ["0|0", "0|1"]},
    "moves": ["0 PLACE 0|0"],
    "expect": {"contains": ["PLACED 0 0|0 / 0|0:A:0 0|0:B:0"], "to_act": [1]},
}


@pytest.mark.parametrize(
    ("key", "value", "reason"),
    [
        ("moves", ["1 PLACE 0|0"], "is refused"),
        ("moves", ["0 PLACE 6|6"], "you do not hold"),
        ("expect", {"contains": ["PASSED 0"]}, "event 'PASSED 0' is missing"),
        ("expect", {"absent": ["PLACED"]}, "should not be there"),
        ("expect", {"events": []}, "number of events is 3, not 0"),
        ("expect", {"events": ["GAME 2 OPENER 0 SCORES 0 0"]}, "event 1 is"),
        ("expect", {"scores": [1, 0]}, "scores is [0, 0], not [1, 0]"),
        ("expect", {"outcome": {"points": [1.0, 0.0]}}, "outcome is None"),
        ("expect", {}, "'expect'"),
        ("expect", {"score": [0, 0]}, "'expect' does not take ['score']"),
        ("checks", [{"after": 1, "to_act": [0]}], "to_act after move 1 is [1], not [0]"),
        ("checks", [{"after": 0, "legal": {"0": ["DRAW"]}}], "legal moves of seat 0 after move 0"),
        ("checks", [{"after": 0, "view": {"stock": 13}}], "stock after move 0 is 14, not 13"),
        ("checks", [{"after": 9, "to_act": [0]}], "is not a number of moves made"),
        ("checks", [{"after": 0, "too": [0]}], "a check does not take ['too']"),
        (
            "refused",
            [{"after": 0, "seat": 0, "move": "PLACE 0|0", "error": "IllegalMove"}],
            "is accepted, not refused",
        ),
        (
            "refused",
            [{"after": 0, "seat": 1, "move": "DRAW", "error": "IllegalMove"}],
            "is NotYourTurn, not IllegalMove",
        ),
        ("orders", {"round/1/1": ["0|7"]}, "'0|7' is not a tile"),
    ],
)
def test_a_wrong_script_fails_with_one_sentence(key: str, value: object, reason: str) -> None:
    """Each kind of expectation can fail."""
    assert run_vectors([DRAW_GAME]) == []
    (failure,) = run_vectors([changed(DRAW_GAME, key, value)])
    assert reason in failure.reason
    assert "\n" not in failure.reason
