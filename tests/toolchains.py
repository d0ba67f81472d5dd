"""Programs beside Python that some tests need: reported where they are missing, a failure in CI."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

NODE_BOT = Path(__file__).resolve().parent.parent / "examples" / "bots" / "node_random"


def missing(what: str) -> None:
    """Skip the test and say what is missing; where `CI` is set, fail."""
    if os.environ.get("CI"):
        pytest.fail(f"{what} is missing; .ci/run has to install it")
    pytest.skip(f"{what} is missing")


def require(program: str) -> None:
    """Go on only where the program is there."""
    if shutil.which(program) is None:
        missing(program)


def require_node_bot() -> None:
    """Go on only where the Node bot can be played."""
    require("node")
    if not (NODE_BOT / "node_modules").is_dir():
        missing(f"`npm ci` in {NODE_BOT.name}")
