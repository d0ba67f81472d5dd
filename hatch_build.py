"""Build hook: with PEGBOARD_COMPILE=1 the wheel has its hot modules as extension modules too:
the rules, the wire, and what a match, its host and a stream do for every move.

mypyc compiles them as they are; the sources stay in the wheel beside them, to be read and to fall back
on. Without the variable, and for editable installs always, nothing here does anything.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

SWITCH = "PEGBOARD_COMPILE"
SOURCES = "server"
FOLDER = "build/mypyc"
"""Where the sources are copied to and compiled, relative to the root."""

FLAGS = "-fvisibility=hidden -fno-semantic-interposition"
"""Calls within the library then go straight; a twentieth faster. Unix compilers only read them."""

SETUP = """
from mypyc.build import mypycify
from setuptools import setup

# Types are checked by `make check`; without the stubs of protobuf strictness has no use here.
flags = ["--namespace-packages", "--explicit-package-bases", "--ignore-missing-imports",
         "--config-file="]
extensions = mypycify([*flags, *{paths!r}], opt_level="2", debug_level="0",
                        group_name="pegboard_compiled")
setup(name="pegboard-compiled", packages=[], ext_modules=extensions)
"""


class CompileHook(BuildHookInterface):
    """Adds extension modules to the wheel; `modules` in pyproject.toml says which."""

    def dependencies(self) -> list[str]:
        """Return what compiling needs beside hatchling; requirements.lock has the versions."""
        return ["mypy", "setuptools"] if wanted() else []

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile, and make the wheel one for this interpreter and platform."""
        if not wanted() or version == "editable":
            return
        built = compile_modules(Path(self.root), self.config["modules"])
        build_data["pure_python"] = False
        build_data["infer_tag"] = True
        build_data["force_include"].update(built)


def wanted() -> bool:
    """Whether the variable is set."""
    return os.environ.get(SWITCH, "") not in ("", "0")


def compile_modules(root: Path, modules: list[str]) -> dict[str, str]:
    """Compile a copy of the sources; return the place in the wheel of each file made."""
    check_tools()
    folder = root / FOLDER
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(root / SOURCES, folder, ignore=shutil.ignore_patterns("__pycache__"))
    paths = [f"{module.replace('.', '/')}.py" for module in modules]
    # mypyc writes what it wonders at to standard output; it matters only where it fails.
    command = [sys.executable, "-c", SETUP.format(paths=paths), "build_ext", "--inplace"]
    settings = {
        "CFLAGS": f"{FLAGS} {os.environ.get('CFLAGS', '')}",
        "MYPYPATH": str(root / "protos"),  # `wire` converts to and from the contract
    }
    done = subprocess.run(
        command, cwd=folder, env=os.environ | settings, capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        raise SystemExit(f"{done.stdout}{done.stderr}\n{SWITCH}: it does not compile; see above")
    suffix = sysconfig.get_config_var("EXT_SUFFIX")
    made = [path.relative_to(folder) for path in folder.rglob(f"*{suffix}")]
    # setuptools keeps a second copy of each below `build`.
    return {str(folder / path): path.as_posix() for path in made if path.parts[0] != "build"}


def check_tools() -> None:
    """Exit with one sentence where the compiler or the headers of Python are missing."""
    compiler = os.environ.get("CC") or sysconfig.get_config_var("CC") or "cc"
    header = Path(sysconfig.get_path("include"), "Python.h")
    missing = [
        *([] if shutil.which(compiler.split()[0]) else ["a C compiler"]),
        *([] if header.exists() else ["the headers of Python"]),
        *([] if importlib.util.find_spec("mypyc") else ["mypy"]),
    ]
    if missing:
        raise SystemExit(
            f"{SWITCH}=1 needs {' and '.join(missing)}: apt-get install gcc python3-dev"
        )
