"""`pegboard doctor`: what works on this machine, what does not, and what to do about it."""

from __future__ import annotations

import platform
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from importlib import metadata
from pathlib import Path
from typing import NamedTuple

from pegboard.cli.output import columns, print_json, print_line

SECONDS_TOOL = 10
LIBRARIES = ("grpcio", "protobuf", "uvloop", "msgspec", "numpy", "rich", "typer")


class Finding(NamedTuple):
    """One thing examined. `needed`: Pegboard does not work without it."""

    name: str
    works: bool
    needed: bool
    detail: str


class Tool(NamedTuple):
    """A program of another language, and what it is wanted for."""

    name: str
    version_arguments: tuple[str, ...]
    purpose: str


TOOLS = (
    Tool("node", ("node", "--version"), "bots in JavaScript"),
    Tool("npm", ("npm", "--version"), "packages of bots in JavaScript"),
    Tool("go", ("go", "version"), "bots in Go"),
    Tool("cargo", ("cargo", "--version"), "bots in Rust"),
    Tool("java", ("java", "-version"), "bots in Java"),
    Tool("g++", ("g++", "--version"), "bots in C++"),
    Tool("bwrap", ("bwrap", "--version"), "running bots in a sandbox"),
)


def examine(as_json: bool) -> int:
    """Print all findings; return 1 if something that is needed does not work."""
    found = list(findings())
    if as_json:
        print_json([finding._asdict() for finding in found])
    else:
        for line in columns([row(finding) for finding in found]):
            print_line(line)
    return 0 if all(finding.works for finding in found if finding.needed) else 1


def row(finding: Finding) -> tuple[str, str, str]:
    """Return a finding as a row of the table."""
    state = "ok" if finding.works else "FAILS" if finding.needed else "missing"
    return (finding.name, state, finding.detail)


def findings() -> Iterator[Finding]:
    """Examine everything, the needed things first."""
    yield Finding("python", sys.version_info >= (3, 11), True, platform.python_version())
    for library in LIBRARIES:
        yield examine_library(library)
    yield attempt("Unix sockets", open_unix_socket, "use --listen 127.0.0.1:PORT instead")
    yield attempt("loopback TCP", open_tcp_socket, "use --unix PATH instead")
    yield attempt("temporary files", write_temporary_file, "free some space or set TMPDIR")
    for tool in TOOLS:
        yield examine_tool(tool)


def examine_library(name: str) -> Finding:
    """Find the installed version of a library."""
    try:
        return Finding(name, True, True, metadata.version(name))
    except metadata.PackageNotFoundError:
        return Finding(name, False, True, "not installed; install pegboard again")


def attempt(name: str, action: Callable[[], str], advice: str) -> Finding:
    """Do something that the operating system may refuse, and report the outcome."""
    try:
        return Finding(name, True, False, action())
    except OSError as error:
        return Finding(name, False, False, f"{error.strerror or error}; {advice}")


def open_unix_socket() -> str:
    """Listen on a Unix socket for a moment."""
    with tempfile.TemporaryDirectory() as folder, socket.socket(socket.AF_UNIX) as server:
        server.bind(str(Path(folder) / "probe"))
        server.listen()
    return "can listen"


def open_tcp_socket() -> str:
    """Listen on the loopback interface for a moment."""
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen()
    return "can listen on 127.0.0.1"


def write_temporary_file() -> str:
    """Write a temporary file."""
    with tempfile.TemporaryFile() as file:
        file.write(b"probe")
    free = shutil.disk_usage(tempfile.gettempdir()).free
    return f"{free // 2**20:,} MiB free"


def examine_tool(tool: Tool) -> Finding:
    """Ask a program for its version."""
    missing = f"not found; only needed for {tool.purpose}"
    if shutil.which(tool.name) is None:
        return Finding(tool.name, False, False, missing)
    try:
        answer = subprocess.run(
            tool.version_arguments,
            capture_output=True,
            text=True,
            timeout=SECONDS_TOOL,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return Finding(tool.name, False, False, f"does not run: {error}")
    lines = (answer.stdout or answer.stderr).strip().splitlines()
    if answer.returncode != 0:
        return Finding(tool.name, False, False, f"does not run: exit status {answer.returncode}")
    return Finding(tool.name, True, False, lines[0] if lines else "runs")
