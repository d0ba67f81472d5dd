"""`pegboard vectors`: runs a file of worked cases (docs/vectors.md)."""

from __future__ import annotations

import json
from pathlib import Path

from pegboard.cli.arguments import read_text
from pegboard.cli.output import print_line
from pegboard.rules.errors import NotationError
from pegboard.rules.vectors import run_vectors, told_in_prose


def run_file(path: Path) -> int:
    """Run all cases; print the failing ones; return 1 if any fails. Raises `NotationError`."""
    try:
        cases = json.loads(read_text(path))
    except json.JSONDecodeError as error:
        raise NotationError(f"{path} is not JSON: line {error.lineno}, {error.msg}") from None
    except (ValueError, RecursionError) as error:  # a number of 5,000 digits, lists 1,000 deep
        raise NotationError(f"{path} cannot be read: {error}") from None
    if not isinstance(cases, list) or not all(isinstance(case, dict) for case in cases):
        raise NotationError(f"{path}: a vector file is a list of objects; see docs/vectors.md")
    failures = run_vectors(cases)
    for failure in failures:
        print_line(f"{failure.id}: {failure.reason}")
    prose = told_in_prose(cases)
    if prose:
        print(f"{prose} told in prose: the scripted games of the same ids were run")
    print(f"{len(cases) - len(failures)} passed, {len(failures)} failed")
    return 1 if failures else 0
