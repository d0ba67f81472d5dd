"""`make test-compiled` runs the proofs of the rules in an environment with the compiled package."""

from __future__ import annotations

import importlib
import sys
import tomllib
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
COMPILED = ROOT / ".venv-compiled"


def compiled_modules() -> list[str]:
    """Return what the build hook compiles."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    hook = project["tool"]["hatch"]["build"]["targets"]["wheel"]["hooks"]["custom"]
    return list(hook["modules"])


@pytest.mark.parametrize("name", compiled_modules())
def test_what_is_tested_is_what_was_to_be_compiled(name: str) -> None:
    """In `make test-compiled` an extension module, for the proofs are to be of that; else a source.

    A module that moved must not drop out of the compiled package.
    """
    assert (ROOT / "server" / f"{name.replace('.', '/')}.py").exists()
    module = importlib.import_module(name)
    assert module.__file__ is not None
    if Path(sys.prefix) == COMPILED:
        assert module.__file__.endswith(tuple(EXTENSION_SUFFIXES)), module.__file__
        assert Path(module.__file__).is_relative_to(COMPILED)
    else:
        assert module.__file__.endswith(".py")
