"""`pegboard bot check`: runs the cases of `pegboard.conformance` and prints what they found."""

from __future__ import annotations

import asyncio
import textwrap
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from pegboard.cli.interrupts import EXIT_INTERRUPTED, Interrupts
from pegboard.cli.output import print_json
from pegboard.conformance.check import Settings
from pegboard.conformance.checker import Program, cases, examine
from pegboard.conformance.findings import Finding, Verdict
from pegboard.errors import InvalidRequest
from pegboard.rules import catalog
from pegboard.runner.commands import command_problem, find_program, missing_program
from pegboard.runner.local_server import socket_folder
from pegboard.runner.terminal import say, shown, table_width

ALL = "all"
HERE = "the present folder"
VERDICT_WIDTH = 7


class Wishes(NamedTuple):
    """The options of the command."""

    variants: str
    only: tuple[str, ...]
    move_ms: int
    startup_s: float
    play_s: float
    tcp: bool
    inherit: tuple[str, ...]
    memory_mb: int
    log: Path | None


def check(command: Sequence[str], wishes: Wishes, as_json: bool) -> int:
    """Check a bot and print what was found; return 1 if a case failed.

    Raises `InvalidRequest`, `UnknownVariant`, `NoServer`.
    """
    settings = Settings(
        variants_of(wishes.variants), wishes.move_ms, wishes.startup_s, wishes.play_s
    )
    known = cases(settings)
    for name in wishes.only:
        if name not in known:
            raise InvalidRequest(f"no case {name!r}; they are {', '.join(known)}")
    check_command(command)
    sockets = socket_folder(say)
    with TemporaryDirectory(prefix="pegboard-check-", dir=sockets.parent) as folder:
        sockets.rmdir()
        log = (wishes.log or Path(folder) / "bot.log").absolute()
        program = Program(command, wishes.inherit, log, Path.cwd(), wishes.memory_mb)
        socket = "" if wishes.tcp else f"{folder}/socket"
        found = _examine(program, settings, socket, wishes.only, as_json)
    if found is None:
        return EXIT_INTERRUPTED
    if as_json:
        print_json(report(found))
    else:
        print(summary(found))
    return 1 if any(finding.verdict is Verdict.FAIL for finding in found) else 0


def _examine(
    program: Program, settings: Settings, socket: str, only: Sequence[str], as_json: bool
) -> list[Finding] | None:
    """Run the cases; None if that was interrupted."""

    width = max(map(len, only or cases(settings)))

    def tell(finding: Finding) -> None:
        if not as_json:
            print("\n".join(lines_of(finding, width)), flush=True)

    async def run() -> list[Finding] | None:
        running = asyncio.current_task()
        assert running is not None
        loop = asyncio.get_running_loop()

        def stop() -> None:
            loop.call_soon_threadsafe(running.cancel)

        with Interrupts(stop) as interrupts:
            try:
                return await examine(program, settings, socket, tell, only)
            except asyncio.CancelledError:
                if interrupts.count:
                    say("interrupted")
                    return None
                raise

    # Not uvloop: it starts processes by fork, for which gRPC has handlers; asyncio uses vfork.
    return asyncio.run(run())


def variants_of(text: str) -> tuple[str, ...]:
    """Return the variants of a list with commas. Raises `InvalidRequest`, `UnknownVariant`."""
    if text.strip() == ALL:
        return tuple(catalog.CATALOG)
    ids = [word.strip() for word in text.split(",") if word.strip()]
    if not ids:
        raise InvalidRequest("--variants names no variant; `pegboard variants` lists them")
    return tuple(dict.fromkeys(catalog.find(each).id for each in ids))


def check_command(command: Sequence[str]) -> None:
    """Raise `InvalidRequest` if the command cannot be started."""
    here = Path.cwd()
    found = find_program(command[0], here)
    if found is None:
        raise InvalidRequest(missing_program(command[0], here, HERE))
    problem = command_problem(command, found, here, HERE)
    if problem:
        raise InvalidRequest(problem)


def lines_of(finding: Finding, name_width: int) -> list[str]:
    """Return a finding as lines: case, verdict, what was seen, and what to mend below."""
    head = f"{finding.case:<{name_width}}  {finding.verdict:<{VERDICT_WIDTH}}  "
    indent = " " * len(head)
    width = max(table_width() or 100, 60)
    lines = textwrap.wrap(shown(finding.seen), width, initial_indent=head, subsequent_indent=indent)
    if finding.advice:
        lines += textwrap.wrap(
            shown(finding.advice), width, initial_indent=f"{indent}-> ", subsequent_indent=indent
        )
    return lines or [head.rstrip()]


def count(found: Sequence[Finding], verdict: Verdict) -> int:
    """Return how many cases came out so."""
    return sum(finding.verdict is verdict for finding in found)


def summary(found: Sequence[Finding]) -> str:
    """Return the last line."""
    parts = [
        f"{count(found, Verdict.PASS)} passed",
        f"{count(found, Verdict.FAIL)} failed",
        f"{count(found, Verdict.WARNING)} with warnings",
    ]
    if skipped := count(found, Verdict.SKIPPED):
        parts.append(f"{skipped} skipped")
    return ", ".join(parts)


def report(found: Sequence[Finding]) -> dict[str, object]:
    """Return the JSON of all findings."""
    return {
        "passed": not count(found, Verdict.FAIL),
        "counts": {str(verdict).lower(): count(found, verdict) for verdict in Verdict},
        "cases": [
            {
                "case": finding.case,
                "verdict": str(finding.verdict).lower(),
                "seen": finding.seen,
                "advice": finding.advice,
                "seconds": finding.seconds,
            }
            for finding in found
        ],
    }
