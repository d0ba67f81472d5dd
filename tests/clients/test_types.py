"""What `mypy --strict` says of bots: it accepts good ones and refuses slips."""

from __future__ import annotations

import inspect
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from pegboard import client

ROOT = Path(__file__).resolve().parents[2]
GOOD = """
from pegboard.client import Bot, Choice, CribbageView, Event, Result, Turn, cribbage, run


def choose(turn: Turn) -> Choice:
    view = turn.view
    if isinstance(view, CribbageView) and view.hand:
        plays = [move for move in turn.moves if isinstance(move, cribbage.Play)]
        return max(plays, key=lambda move: move.card) if plays else 0
    return 0, None if turn.number is None else turn.number[0]


class Mine(Bot):
    def choose(self, turn: Turn) -> int:
        return len(turn.view.hand) % turn.move_count

    def event(self, match: str, seat: int, sequence: int, event: Event) -> None:
        print(event.text())

    def match_ended(self, match: str, result: Result) -> None:
        print(result.points)


run(choose, resign_on_error=True)
run(Mine())
"""
HEAD = "from pegboard.client import Bot, Turn, run\n\n\n"
SLIPS = {
    "field": (
        "def choose(turn: Turn) -> int:\n    return len(turn.view.hnad)\n",
        'has no attribute "hnad"',
    ),
    "dict": (
        "def choose(turn: Turn) -> dict[str, int]:\n    return {'index': 0}\n\n\nrun(choose)\n",
        'Argument 1 to "run" has incompatible type',
    ),
    "method": (
        "class Mine(Bot):\n    def choose(self, turn: Turn) -> dict[str, int]:\n        return {}\n",
        'incompatible with return type "int | tuple[int, int | None] |',
    ),
    "move": (
        "def choose(turn: Turn) -> int:\n    return len(turn.moves[0].crads)\n",
        'has no attribute "crads"',
    ),
    "name": ("from pegboard.client import Trun\n", 'has no attribute "Trun"'),
}


@pytest.fixture(scope="module")
def complaints(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """What mypy prints about all snippets, checked together: each start of mypy costs seconds."""
    folder = tmp_path_factory.mktemp("bots")
    snippets = {"good": GOOD} | {name: HEAD + code for name, (code, _) in SLIPS.items()}
    for name, code in snippets.items():
        (folder / f"bot_{name}.py").write_text(code, encoding="utf-8")
    cache = folder / "cache"
    # A copy, since `make check` may write the tree's cache meanwhile. Without one mypy takes longer.
    if (ROOT / ".mypy_cache").is_dir():
        shutil.copytree(ROOT / ".mypy_cache", cache)
    command = [sys.executable, "-m", "mypy", "--strict", "--no-error-summary"]
    command += ["--cache-dir", str(cache), *map(str, sorted(folder.glob("bot_*.py")))]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert not done.stderr
    return done.stdout.splitlines()


def about(name: str, complaints: list[str]) -> list[str]:
    """Return the errors in one snippet."""
    return [line for line in complaints if f"bot_{name}.py:" in line and ": error: " in line]


def test_good_bots_are_accepted(complaints: list[str]) -> None:
    assert about("good", complaints) == []


@pytest.mark.parametrize("name", SLIPS)
def test_a_slip_is_refused(name: str, complaints: list[str]) -> None:
    found = about(name, complaints)
    assert found
    assert all(SLIPS[name][1] in line for line in found)


def test_public_signatures_have_no_any() -> None:
    for name in client.__all__:
        thing = getattr(client, name)
        members = [thing] if callable(thing) else []
        if inspect.isclass(thing):
            members = [value for value in vars(thing).values() if inspect.isfunction(value)]
            members += [value.fget for value in vars(thing).values() if isinstance(value, property)]
        for member in members:
            if "pegboard.client" in member.__module__ and not member.__name__.startswith("_"):
                annotations = inspect.get_annotations(member)
                assert annotations, member
                assert not [each for each in annotations.values() if "Any" in str(each)], member
