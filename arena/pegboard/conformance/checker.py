"""Runs the cases, one after the other, each with a bot that is fit for it."""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from pegboard.arena.config import BotEntry
from pegboard.conformance.bot import BotProgram
from pegboard.conformance.cases import connection, greeting, playing, turns
from pegboard.conformance.check import BOT, Case, Check, Settings
from pegboard.conformance.findings import Failed, Finding, Verdict
from pegboard.conformance.server import ScriptedServer
from pegboard.runner.environment import bot_environment
from pegboard.runner.launcher import Launcher

FAILURES_MOST = 3
"""After so many failures the rest is skipped: each of them may have the same cause."""
CASE_S = 90.0
NEEDED = ("hello", "lonely turn")
"""If one of these fails, no other case can pass."""


class Program(NamedTuple):
    """What to check. `log` is where its standard error goes, its output beside it (`.out`)."""

    command: Sequence[str]
    inherit: tuple[str, ...]
    log: Path
    folder: Path
    memory_mb: int


def cases(settings: Settings) -> Mapping[str, Case]:
    """Return all cases by name, in the order in which they run: one process serves most of them."""
    variants: dict[str, Case] = {
        f"variant {variant}": playing.variant_case(variant) for variant in settings.variants
    }
    muggins = {"narrowed claim": turns.narrowed_claim}
    return {
        "hello": greeting.hello,
        "heartbeats": greeting.heartbeats,
        "lonely turn": playing.lonely_turn,
        **variants,
        "many matches": playing.many_matches,
        "repeated turn": turns.repeated_turn,
        "rejected move": turns.rejected_move,
        **(muggins if "cribbage-muggins" in settings.variants else {}),
        "withdrawn turn": turns.withdrawn_turn,
        "unknown content": turns.unknown_content,
        "dropped stream": connection.dropped,
        "server restart": connection.restarted,
        "SIGTERM": connection.stop,
        "silent server": greeting.silent_server,
        "replaced": greeting.replaced,
        "refused token": greeting.refused_token,
    }


async def examine(
    program: Program,
    settings: Settings,
    socket: str,
    report: Callable[[Finding], None],
    only: Sequence[str] = (),
) -> list[Finding]:
    """Run the cases and report each as it ends. Leaves no process behind."""
    server = ScriptedServer(socket)
    await server.start()
    token = secrets.token_urlsafe(24)
    entry = BotEntry(name=BOT, command=tuple(program.command), inherit=program.inherit)
    env = bot_environment(entry, name=BOT, address=server.address, token=token)
    with Launcher(f"check-{secrets.token_hex(8)}") as launcher:
        bot = BotProgram(
            launcher, program.command, env, program.log, program.folder, program.memory_mb
        )
        check = Check(settings, server, bot, token)
        try:
            return await _run_all(check, cases(settings), report, only)
        finally:
            await check.leave()
            await server.stop()


async def _run_all(
    check: Check,
    all_cases: Mapping[str, Case],
    report: Callable[[Finding], None],
    only: Sequence[str],
) -> list[Finding]:
    findings: list[Finding] = []
    blocked = ""
    for name, case in all_cases.items():
        if only and name not in only:
            continue
        if blocked:
            finding = Finding(name, Verdict.SKIPPED, blocked)
        else:
            finding = await run_case(check, name, case)
        findings.append(finding)
        report(finding)
        if finding.verdict is Verdict.FAIL:
            await check.leave()  # the next case gets a process that has not been led astray
            failed = [each.case for each in findings if each.verdict is Verdict.FAIL]
            if name in NEEDED or len(failed) >= FAILURES_MOST:
                blocked = f"mend {name!r} first" if name in NEEDED else "mend the failures first"
    return findings


async def run_case(check: Check, name: str, case: Case) -> Finding:
    """Run one case and return what it found."""
    check.warnings.clear()
    begun = time.monotonic()
    verdict, advice = Verdict.PASS, ""
    try:
        async with asyncio.timeout(CASE_S + check.settings.startup_s):
            seen = await case(check)
            check.settle()
    except Failed as failure:
        verdict, seen, advice = Verdict.FAIL, failure.seen, failure.advice
    except TimeoutError:
        verdict, seen = Verdict.FAIL, f"was not through after {CASE_S:g} s"
        advice = "look at the bot's log (--log FILE)"
    if verdict is Verdict.PASS and check.warnings:
        verdict = Verdict.WARNING
        seen = "; ".join(warning for warning, _ in check.warnings)
        advice = "; ".join(hint for _, hint in check.warnings)
    return Finding(name, verdict, seen, advice, round(time.monotonic() - begun, 2))
