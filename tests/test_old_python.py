"""An old Python gets one sentence: from make, from the command, from the kit."""

from __future__ import annotations

import ast
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
GUARDS = {
    "arena/pegboard/cli/__init__.py": SystemExit,
    "server/pegboard/rules/__init__.py": ImportError,
}
OLD = """#!/bin/sh
case "$1" in
  --version) echo "Python 3.10.1" ;;
  *) exit 1 ;;
esac
"""


@pytest.mark.parametrize(("path", "error"), GUARDS.items())
def test_old_pythons_are_refused(
    path: str, error: type[BaseException], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before anything is imported that they lack, in words that they can read."""
    source = (ROOT / path).read_text(encoding="utf-8")
    ast.parse(source, feature_version=(3, 7))
    monkeypatch.setattr(sys, "version_info", (3, 10, 1, "final", 0))
    with pytest.raises(error, match=r"needs Python 3\.11 or newer, and this is "):
        exec(compile(source, path, "exec"), {})


@pytest.mark.skipif(shutil.which("make") is None, reason="needs make")
@pytest.mark.parametrize(
    ("python", "words"),
    [
        ("./old", "make: Pegboard needs Python 3.11 or newer, and ./old is Python 3.10.1;"),
        ("./none", "make: no ./none here; name a Python of 3.11 or newer: make PYTHON=python3.11"),
    ],
)
def test_make_refuses_an_old_python(python: str, words: str, tmp_path: Path) -> None:
    """Nothing is made with it."""
    shutil.copy(ROOT / "Makefile", tmp_path)
    (tmp_path / "requirements.lock").touch()
    (tmp_path / "pyproject.toml").touch()
    (tmp_path / "old").write_text(OLD, encoding="utf-8")
    (tmp_path / "old").chmod(0o755)
    ended = subprocess.run(
        ["make", "-s", ".venv/.installed", f"PYTHON={python}"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert ended.returncode == 2
    assert ended.stderr.startswith(words)
    assert not (tmp_path / ".venv").exists()
