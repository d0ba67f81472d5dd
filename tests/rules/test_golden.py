"""Golden files: the rules give today what they gave when the files were written."""

from __future__ import annotations

import difflib
import json

import pytest
from tests.rules import golden

from pegboard.rules import catalog
from pegboard.rules.vectors import run_vectors

VARIANTS = tuple(catalog.CATALOG)
WRITE = "write it with `python -m tests.rules.golden`"


@pytest.mark.parametrize("variant", VARIANTS)
def test_perft(variant: str) -> None:
    """The number of move sequences and the digest of their events, from several points of a match."""
    path = golden.perft_path(variant)
    assert path.exists(), f"{variant} has no perft file; {WRITE}"
    cases = json.loads(path.read_text(encoding="utf-8"))
    assert {case["seats"] for case in cases} == set(catalog.find(variant).game.seats)
    assert run_vectors(cases) == []


@pytest.mark.parametrize("variant", VARIANTS)
def test_playthrough(variant: str) -> None:
    """A whole match, line by line."""
    path = golden.playthrough_path(variant)
    assert path.exists(), f"{variant} has no playthrough; {WRITE}"
    stored = path.read_text(encoding="utf-8").splitlines()
    told = golden.playthrough(variant).splitlines()
    difference = list(difflib.unified_diff(stored, told, "stored", "now", lineterm="", n=2))
    assert not difference, "\n".join(difference[:20])


def test_no_file_of_a_variant_that_is_gone() -> None:
    """A renamed variant takes its files along."""
    names = {
        path.stem
        for folder in ("perft", "playthroughs")
        for path in (golden.VECTORS / folder).iterdir()
    }
    assert names <= set(VARIANTS)


@pytest.mark.parametrize("variant", VARIANTS)
def test_a_variant_is_whole(variant: str) -> None:
    """A line of the catalog is not enough: it needs scripted games and a page of its rules."""
    written = ("perft", "turns")  # by a program, not by hand
    files = [path for path in golden.VECTORS.rglob("*.json") if path.parent.name not in written]
    cases = [case for path in files for case in json.loads(path.read_text(encoding="utf-8"))]
    found = [case["id"] for case in cases if case.get("variant") == variant]
    assert found, f"{variant} has no scripted game in tests/vectors/games"
    page = golden.VECTORS.parents[1] / "docs" / "rules" / f"{variant}.md"
    assert page.exists(), f"{variant} has no page docs/rules/{variant}.md"


def test_a_wrong_tree_is_noticed() -> None:
    """A count or a digest that is not what the rules give is named."""
    path = golden.perft_path("draw")
    case = json.loads(path.read_text(encoding="utf-8"))[0]
    wrong = [
        {**case, "id": "count", "sequences": case["sequences"] + 1},
        {**case, "id": "digest", "events_digest": "00"},
        {**case, "id": "depth", "depth": 99},
        {**case, "id": "move", "moves": ["0 PASS"]},
    ]
    reasons = {failure.id: failure.reason for failure in run_vectors(wrong)}
    assert set(reasons) == {"count", "digest", "depth", "move"}
    assert "sequences is" in reasons["count"]
    assert "events_digest is" in reasons["digest"]
    assert "from 0 to 12" in reasons["depth"]
    assert "cannot be run" in reasons["move"]
