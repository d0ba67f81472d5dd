"""`pegboard bot check`: good bots pass, and each bad bot of the zoo fails for the right reason."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from tests.toolchains import require_node_bot

from pegboard.cli.shell import run
from pegboard.conformance.check import Settings
from pegboard.conformance.checker import Program, cases, examine
from pegboard.conformance.findings import Finding, Verdict
from pegboard.runner import reaper
from pegboard.runner.launcher import Launcher

ROOT = Path(__file__).resolve().parents[2]
BOTS = ROOT / "examples" / "bots"
ZOO = ROOT / "tests" / "bots" / "zoo.py"
VARIANTS = ("cribbage", "draw", "cribbage-muggins")
PATIENT = Settings(VARIANTS, clock_ms=60_000, startup_s=120.0, play_s=2.0)
"""A crowded machine needs a minute to start a bot, and a good bot must not fail for that."""
HURRIED = PATIENT._replace(clock_ms=800)
"""For bots that never answer."""
MEMORY_MB = 2048


async def checked(
    tmp_path: Path,
    command: Sequence[str],
    settings: Settings = PATIENT,
    only: Sequence[str] = (),
) -> list[Finding]:
    """Check a bot and return what was found; no process of it is left."""
    program = Program(command, (), tmp_path / "bot.log", tmp_path, MEMORY_MB)
    return await examine(program, settings, str(tmp_path / "s"), lambda finding: None, only)


def zoo(kind: str) -> list[str]:
    return [sys.executable, str(ZOO), kind]


def faults(found: Sequence[Finding]) -> list[Finding]:
    """Return what is not as it should be; on a crowded machine a bot may be slow to stop."""
    return [
        each
        for each in found
        if each.verdict is not Verdict.PASS
        and not (each.verdict is Verdict.WARNING and each.case == "SIGTERM")
    ]


@pytest.mark.parametrize("name", ["random_bot.py", "greedy_bot.py"])
async def test_the_example_bots_pass(tmp_path: Path, name: str) -> None:
    found = await checked(tmp_path, [sys.executable, str(BOTS / name)])
    assert faults(found) == []
    assert [each.case for each in found] == list(cases(PATIENT))


@pytest.mark.polyglot
async def test_the_node_bot_passes(tmp_path: Path) -> None:
    require_node_bot()
    found = await checked(tmp_path, ["node", str(BOTS / "node_random" / "bot.js")])
    assert faults(found) == []


def test_the_page_tells_of_every_case() -> None:
    page = (ROOT / "docs" / "bots.md").read_text(encoding="utf-8")
    names = {"variant ID" if name.startswith("variant ") else name for name in cases(PATIENT)}
    assert {name for name in names if f"| `{name}` |" not in page} == set()


UNANSWERED = "unanswered for its whole clock"


@pytest.mark.parametrize(
    ("kind", "case", "words"),
    [
        ("exits", "hello", "exited with status 3, before it connected"),
        ("noise", "hello", "before it connected"),
        ("garbage_first", "hello", "100 bytes that are not a PlayRequest"),
        ("garbage_later", "lonely turn", "100 bytes that are not a PlayRequest"),
        ("old_protocol", "hello", "protocol_version 99"),
        ("impostor", "hello", "another token"),
        ("loudkit", "hello", "sent a message of"),
        ("revolving", "hello", "before it had a turn"),
        ("illegal", "lonely turn", "no move has index 999"),
        ("stale", "lonely turn", "turn 1001 of seat 0"),
        ("meddler", "lonely turn", "which it was never asked"),
        ("greeter", "lonely turn", "said Hello twice"),
        ("huge", "lonely turn", "sent a message of 10,485,"),
        ("longnames", "lonely turn", "sent a message of 1,048,"),
        ("chatter", "lonely turn", "flooded the server"),
        ("flood", "lonely turn", "which it was never asked"),
        ("resigner", "lonely turn", "which it does not play"),
        ("crash", "variant draw", "was killed by SIGABRT"),
        ("hoarder", "lonely turn", "exited with status 1: MemoryError"),
        ("twofold", "lonely turn", "opened a second stream"),
        ("overclaimer", "variant cribbage-muggins", "is not from"),
        ("insister", "withdrawn turn", "answered again after its answer was rejected"),
        ("narrow_minded", "unknown content", "exited with status 1: ValueError"),
        ("quitter", "dropped stream", "exited with status 0"),
        ("quitter", "server restart", "exited with status 0"),
        ("clinger", "replaced", "connected again after ABORTED"),
        ("clinger", "refused token", "connected again after UNAUTHENTICATED"),
        ("stubborn", "SIGTERM", "still ran 5 s after SIGTERM"),
        ("heartless", "SIGTERM", "was killed by SIGTERM"),
        ("heartless", "heartbeats", "left heartbeat 3 unanswered"),
        ("forker", "SIGTERM", "left processes of its own behind"),
    ],
)
async def test_a_bad_bot_fails(tmp_path: Path, kind: str, case: str, words: str) -> None:
    (found,) = await checked(tmp_path, zoo(kind), only=[case])
    assert (found.case, found.verdict) == (case, Verdict.FAIL), found
    assert words in found.seen, found
    assert found.advice


@pytest.mark.parametrize(
    ("kind", "case", "words"),
    [
        ("slow", "lonely turn", UNANSWERED),
        ("stuffed", "lonely turn", UNANSWERED),
        ("holder", "lonely turn", UNANSWERED),
        ("collector", "lonely turn", UNANSWERED),
        ("forgetful", "variant draw", "of seat 1 in"),
        ("sulker", "rejected move", UNANSWERED),
    ],
)
async def test_a_bot_that_owes_an_answer_fails(
    tmp_path: Path, kind: str, case: str, words: str
) -> None:
    (found,) = await checked(tmp_path, zoo(kind), HURRIED, only=[case])
    assert found.verdict is Verdict.FAIL, found
    assert words in found.seen, found
    assert UNANSWERED in found.seen, found


async def test_a_bot_that_never_connects_fails_and_the_rest_is_skipped(tmp_path: Path) -> None:
    first, *rest = await checked(tmp_path, zoo("hangs"), PATIENT._replace(startup_s=1.0))
    assert first.verdict is Verdict.FAIL
    assert "nothing came within 1 s" in first.seen
    assert {each.verdict for each in rest} == {Verdict.SKIPPED}


async def test_what_is_no_fault_is_a_warning(tmp_path: Path) -> None:
    """A kit without a version; a stream that is not given up when the server is silent."""
    hello, silent = await checked(tmp_path, zoo("steady"), only=["hello", "silent server"])
    assert (hello.verdict, hello.seen) == (Verdict.WARNING, "Hello has no kit_version")
    assert silent.verdict is Verdict.WARNING
    assert "still waited" in silent.seen


async def test_no_process_is_left_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also none that has left the group of its bot."""
    runs: list[str] = []
    start = Launcher.__init__

    def noting(self: Launcher, run_id: str, *, lock: int | None = None) -> None:
        runs.append(run_id)
        start(self, run_id, lock=lock)

    monkeypatch.setattr(Launcher, "__init__", noting)
    await checked(tmp_path, zoo("forker"), only=["lonely turn"])
    assert runs
    assert reaper.processes_of(runs[0]) == []


def test_the_command_prints_a_line_a_case_and_the_advice(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run(["bot", "check", "--only", "hello", "--startup", "60", "--", *zoo("exits")]) == 1
    printed = capsys.readouterr().out
    assert "hello  FAIL" in printed
    assert "exited with status 3" in printed
    assert "-> open one PlayService.Play stream" in printed
    assert printed.splitlines()[-1] == "0 passed, 1 failed, 0 with warnings"


def test_the_command_prints_json(capsys: pytest.CaptureFixture[str]) -> None:
    bot = ["--", sys.executable, str(BOTS / "random_bot.py")]
    arguments = ["bot", "check", "--json", "--tcp", "--startup", "60", "--only", "hello", *bot]
    assert run(arguments) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["passed"] is True
    assert report["counts"] == {"pass": 1, "warning": 0, "fail": 0, "skipped": 0}
    (case,) = report["cases"]
    assert (case["case"], case["verdict"]) == ("hello", "pass")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--variants", "chess", "--", "true"], "chess"),
        (["--variants", ",", "--", "true"], "names no variant"),
        (["--only", "nothing", "--", "true"], "no case 'nothing'"),
        (["--", "not-a-program-of-anybody"], "is not on PATH"),
        (["--", "python3", "not_there.py"], "there is no file"),
    ],
)
def test_wrong_arguments_get_one_line(
    arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["bot", "check", *arguments]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert words in line
