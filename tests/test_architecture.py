"""The layers, the size limits and the promises about packaging, as tests."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

from pegboard.rules.catalog import CATALOG

ROOT = Path(__file__).resolve().parent.parent
SOURCE_ROOTS = ("server", "arena", "clients/python")

# A package may import those named beside it and itself (ARCHITECTURE.md).
ALLOWED = {
    "rules": set(),
    "v1": set(),
    "errors": {"rules"},
    "wire": {"errors", "rules", "v1"},
    "matches": {"errors", "rules"},
    "rpc": {"matches", "wire", "errors", "rules", "v1"},
    "service": {"rpc", "matches", "wire", "errors", "rules", "v1"},
    "client": {"wire", "errors", "rules", "v1"},
    "arena": {"errors", "rules"},
    "runner": {"arena", "client", "wire", "errors", "rules", "v1"},
    "conformance": {"runner", "arena", "client", "wire", "errors", "rules", "v1"},
    "cli": {
        "conformance",
        "runner",
        "arena",
        "service",
        "rpc",
        "client",
        "matches",
        "wire",
        "errors",
        "rules",
        "v1",
    },
}
IMPURE = {
    "asyncio",
    "os",
    "random",
    "time",
    "socket",
    "threading",
    "subprocess",
    "pathlib",
    "io",
} | {
    *("shutil", "secrets", "signal", "tempfile"),
}
LIMIT_LINES_FUNCTION = 70


def modules() -> Iterator[tuple[str, Path]]:
    """Yield (package, file) of everything of ours that ships."""
    for root in SOURCE_ROOTS:
        base = ROOT / root / "pegboard"
        for path in sorted(base.rglob("*.py")):
            yield path.relative_to(base).parts[0], path


def imports(path: Path) -> Iterator[str]:
    """Yield the dotted names that a file imports, at any depth."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            yield node.module
            if node.module == "pegboard":
                yield from (f"pegboard.{alias.name}" for alias in node.names)


MODULES = list(modules())


@pytest.mark.parametrize(
    ("package", "path"), MODULES, ids=[str(path.relative_to(ROOT)) for _, path in MODULES]
)
def test_a_layer_imports_only_what_lies_below_it(package: str, path: Path) -> None:
    """The order of the layers is that of ARCHITECTURE.md."""
    allowed = ALLOWED[package] | {package}
    ours = {name.split(".")[1] for name in imports(path) if name.startswith("pegboard.")}
    assert ours <= allowed, f"{path.relative_to(ROOT)} may not import {sorted(ours - allowed)}"


def graph() -> dict[str, set[str]]:
    """Return which module of ours imports which, imports for type checkers among them."""
    names = {}
    for root in SOURCE_ROOTS:
        for path in (ROOT / root / "pegboard").rglob("*.py"):
            dotted = ".".join(path.relative_to(ROOT / root).with_suffix("").parts)
            names[dotted.removesuffix(".__init__")] = path
    return {name: set(known_imports(path, set(names))) - {name} for name, path in names.items()}


def known_imports(path: Path, known: set[str]) -> Iterator[str]:
    """Yield the modules among `known` that a file imports: the nearest one to what it names."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            for alias in node.names:
                whole = f"{node.module}.{alias.name}"
                yield from {whole if whole in known else node.module} & known
        elif isinstance(node, ast.Import):
            yield from {alias.name for alias in node.names} & known


def test_no_modules_import_each_other_in_a_circle() -> None:
    """Neither at run time nor for type checkers."""
    try:
        TopologicalSorter(graph()).prepare()
    except CycleError as error:
        pytest.fail(" <- ".join(error.args[1]))


GAMES = {variant.game.family for variant in CATALOG.values()}
KNOWS_GAMES = {
    "server/pegboard/rules/catalog.py",
    "server/pegboard/wire/codec.py",  # lists the codecs
    "server/pegboard/rules/vectors/dominoes.py",  # cases of one rule of a game each
    "server/pegboard/rules/vectors/plays.py",
    "server/pegboard/rules/vectors/scores.py",
    "arena/pegboard/cli/arguments.py",  # commands that count cards or draw a cribbage board
    "arena/pegboard/cli/commands.py",
    "arena/pegboard/cli/peg.py",
    "arena/pegboard/cli/replay.py",
    "arena/pegboard/cli/score.py",
    "clients/python/pegboard/client/__init__.py",  # a bot's one import gives both games
}


def names_a_game(path: Path) -> bool:
    """Whether a file imports a game, reaches for its field, or compares with its name."""
    if any(set(name.split(".")) & GAMES for name in imports(path)):
        return True
    return any(
        (isinstance(node, ast.Attribute) and node.attr in GAMES)
        or (isinstance(node, ast.Constant) and node.value in GAMES)
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
    )


def test_only_a_game_and_the_catalog_know_games_by_name() -> None:
    """A new game changes nothing else (CONTRIBUTING.md)."""
    own = [f"server/pegboard/{room}/{game}" for room in ("rules", "wire") for game in GAMES]
    found = {
        file
        for _, path in MODULES
        if not (file := path.relative_to(ROOT).as_posix()).startswith(tuple(own))
        and names_a_game(path)
    }
    assert found <= KNOWS_GAMES, sorted(found - KNOWS_GAMES)


PATH = re.compile(r"`([\w./-]+/(?:[\w.-]+\.(?:py|md|proto|toml|json|jsonl|csv|js|svg))?)`")
BASES = (
    "",
    "server/pegboard",
    "server/pegboard/rules",
    "arena/pegboard",
    "clients/python/pegboard",
)


PAGES = [
    *sorted(ROOT.glob("*.md")),
    *(ROOT / f"{folder}/README.md" for folder in ("bench", "clients", "clients/python")),
    *sorted((ROOT / "docs").rglob("*.md")),
]


@pytest.mark.parametrize("page", PAGES, ids=[str(page.relative_to(ROOT)) for page in PAGES])
def test_paths_that_the_docs_name_exist(page: Path) -> None:
    """In code font, with a suffix or a slash at the end; words in capitals stand for others."""
    for named in PATH.findall(page.read_text(encoding="utf-8")):
        if re.search(r"\b[A-Z_]{2,}\b", named) or named.startswith(("runs/", "build/", "/")):
            continue
        bases = [page.parent, *(ROOT / base for base in BASES)]
        assert any((base / named).exists() for base in bases), f"{page.name}: {named}"


PURE = {"rules": {"typing_extensions"}, "arena": {"numpy", "msgspec"}}
"""Packages that reach nothing outside, with what they use beside the standard library.

The rules import `typing_extensions` for type checkers only, and the test below sees to that.
"""


@pytest.mark.parametrize(
    ("package", "path"),
    [(package, path) for package, path in MODULES if package in PURE],
    ids=[str(path.relative_to(ROOT)) for package, path in MODULES if package in PURE],
)
def test_rules_and_arena_are_pure(package: str, path: Path) -> None:
    """No clock, no files, no processes: both are tested, and used by others, without a machine."""
    for name in imports(path):
        top = name.split(".")[0]
        assert top in {"pegboard", *sys.stdlib_module_names, *PURE[package]}, name
        assert top not in IMPURE, f"{path.name} imports {name}"


def test_importing_the_rules_loads_no_grpc() -> None:
    """A search bot can use the rules without the service's weight."""
    code = (
        "import sys, pegboard.rules.catalog;"
        "assert not {'grpc', 'google.protobuf', 'numpy', 'asyncio', 'typing_extensions'}"
        " & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_pegboard_is_a_namespace() -> None:
    """Four roots share the name: an `__init__.py` in any of them would hide the others."""
    found = [
        root
        for root in (*SOURCE_ROOTS, "protos")
        if (ROOT / root / "pegboard/__init__.py").exists()
    ]
    assert found == []


def test_every_portion_is_typed() -> None:
    """Each package tells type checkers that it is annotated."""
    packages = {
        path.parent
        for root in (*SOURCE_ROOTS, "protos")
        for path in (ROOT / root / "pegboard").glob("*/py.typed")
    }
    assert {path.name for path in packages} == set(ALLOWED)


def functions(path: Path) -> Iterator[tuple[str, int]]:
    """Yield (name, lines without the docstring) of each function."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            body = node.body[1:] if ast.get_docstring(node) else node.body
            lines = 0 if not body else (body[-1].end_lineno or 0) - body[0].lineno + 1
            yield node.name, lines


def test_functions_are_short() -> None:
    """Seventy lines at most; see CONTRIBUTING.md."""
    long = [
        f"{path.relative_to(ROOT)}:{name} has {lines}"
        for _, path in MODULES
        for name, lines in functions(path)
        if lines > LIMIT_LINES_FUNCTION
    ]
    assert long == []


def test_dependency_floors_are_what_the_generated_code_asks_for() -> None:
    """grpcio and protobuf floors in pyproject.toml equal the generator's versions."""
    stub = (ROOT / "protos/pegboard/v1/play_pb2_grpc.py").read_text(encoding="utf-8")
    code = (ROOT / "protos/pegboard/v1/play_pb2.py").read_text(encoding="utf-8")
    grpc_version = re.search(r"GRPC_GENERATED_VERSION = '([\d.]+)'", stub)
    protobuf_version = re.search(r"Protobuf Python Version: ([\d.]+)", code)
    assert grpc_version is not None
    assert protobuf_version is not None
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert f"grpcio>={grpc_version[1]}" in project["dependencies"]
    assert f"protobuf>={protobuf_version[1]}" in project["dependencies"]


def test_no_machine_path_and_no_registry_host_in_the_lock() -> None:
    """The lock file names packages and hashes only, so any registry can serve it."""
    lock = (ROOT / "requirements.lock").read_text(encoding="utf-8")
    assert "://" not in lock
    assert "--index" not in lock
