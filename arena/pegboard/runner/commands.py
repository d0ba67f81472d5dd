"""The commands of bots: programs and scripts that are looked for before anything is started."""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

PYTHON = "{python}"
OF_FILE = "the folder of this file"
"""To what the commands of a tournament file are relative, in words."""
_SCRIPT = re.compile(r"[^:\s]+\.(py|pyz|js|mjs|cjs|ts|jar|rb|pl|sh|php|lua|jl|R|dll|exs)")
_NEEDS_SCRIPT = re.compile(r"(python|pypy|bash|sh|ruby|perl)[0-9.]*")
_TAKES_VALUE = frozenset({"-c", "-e", "-m", "-o", "-cp", "-classpath"})


def find_program(program: str, folder: Path) -> str | None:
    """Return the path of a program that can be run, or None.

    A name is looked for on PATH; with a slash it is a path, relative to `folder`.
    """
    if program == PYTHON:
        return sys.executable
    if "/" in program:
        return shutil.which(str(folder / program))
    return shutil.which(program)


def missing_program(program: str, folder: Path, base: str = OF_FILE) -> str:
    """Return why a program cannot be run and what to do."""
    if "/" not in program:
        return f"{program!r} is not on PATH; install it or give its path"
    path = folder / program
    if not path.exists():
        return f"there is no file {path}; commands are relative to {base}"
    if path.is_dir():
        return f"{path} is a folder; name a program in it"
    return f"{path} is not executable; `chmod +x {path}`, or put its interpreter before it"


def command_problem(command: Sequence[str], found: str, folder: Path, base: str = OF_FILE) -> str:
    """Return what is wrong with a command whose program was found at `found`, else ""."""
    if command[0] != PYTHON and _has_carriage_return(Path(found)):
        return (
            f"the first line of {found} ends with a carriage return, so that its interpreter is "
            f"not found; `sed -i 's/\\r$//' {found}` mends it"
        )
    script = _script(command, os.path.basename(found))
    if script and not (folder / script).exists():
        return f"there is no file {folder / script}; arguments are relative to {base}"
    return ""


def _script(command: Sequence[str], program: str) -> str:
    """Return the argument that names a script, else "".

    That is what follows an interpreter at once, or the first argument with the ending of a script
    that is not the value of an option.
    """
    if len(command) > 1 and _NEEDS_SCRIPT.fullmatch(program) and command[1][:1] not in {"-", ""}:
        return command[1]
    before = ""
    for part in command[1:]:
        is_value = before in _TAKES_VALUE or before.startswith("--")
        if _SCRIPT.fullmatch(part) and not part.startswith("-") and not is_value:
            return part
        before = part
    return ""


def _has_carriage_return(program: Path) -> bool:
    try:
        with program.open("rb") as file:
            line = file.readline(256)
    except OSError:
        return False
    return line.startswith(b"#!") and line.endswith(b"\r\n")
