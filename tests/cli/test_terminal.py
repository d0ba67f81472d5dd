"""What reaches a terminal: no control characters of others, and something readable in any encoding."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest
from rich.console import Console
from tests.cli.test_commands import make_record
from tests.runner.test_reporters import board

from pegboard.arena.results import Results
from pegboard.cli.shell import run
from pegboard.rules.plain import plain
from pegboard.runner import reporters, tables, terminal
from pegboard.runner.progress import Plan

HOSTILE = "a\x1b[2J\r\x00\x07\x9b31m\u202e\u2066\u2028\u2029\ud800[red]z"
HOSTILE_SHOWN = (
    r"a\x1b[2J\r\x00\x07\x9b31m\u202e\u2066\u2028\u2029\ud800[red]z"  # markup is left as it is
)
COMMAND = (sys.executable, "-m", "pegboard.cli.main")
PLAIN_LOCALES: dict[str, dict[str, str]] = {
    "ascii": {"PYTHONIOENCODING": "ascii"},
    "latin-1": {"PYTHONIOENCODING": "latin-1"},
    "C": {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
}


def hostile_results() -> Results:
    """Tables as a server, or a file, could hand them to us."""
    made = board(faults=True).results("cup", "d")
    return msgspec.structs.replace(
        made, name=HOSTILE, last_faults={"bert": HOSTILE, HOSTILE: "words"}
    )


def assert_harmless(text: str) -> None:
    """Nothing but printable characters and the ends of lines."""
    assert text
    assert all(line.isprintable() for line in text.split("\n")), text


def test_text_of_others_is_escaped_and_cut() -> None:
    """Controls, bidi, line separators and surrogates are escapes; what can be printed stays."""
    assert plain(HOSTILE, 200) == HOSTILE_SHOWN
    assert plain("größe [b]5♣[/b]") == "größe [b]5♣[/b]"
    assert plain("x" * 11, 10) == "x" * 7 + "..."
    assert plain("x" * 10, 10) == "x" * 10


@pytest.mark.parametrize("terminal_like", [True, False])
def test_tables_and_notes_are_harmless(terminal_like: bool) -> None:
    """Names and details, in tables, notes and headlines; markup is text."""
    console = Console(file=io.StringIO(), width=120, highlight=False, no_color=True)
    assert isinstance(console.file, io.StringIO)
    tables.print_results(hostile_results(), console=console)
    text = console.file.getvalue()
    assert_harmless(text)
    assert HOSTILE_SHOWN in text
    if terminal_like:
        live = reporters.LiveReporter(console)
        live.note(HOSTILE)
        live.interrupted(board().results("cup", "d"), Path(HOSTILE))
        assert_harmless(console.file.getvalue())


def test_plain_notes_are_harmless(capsys: pytest.CaptureFixture[str]) -> None:
    """Lines for a log or a pipe too."""
    plain = reporters.PlainReporter()
    plain.started(Plan(HOSTILE, Path(HOSTILE), ("a",), (HOSTILE,), 3, 0))
    plain.note(f"carl exited with status 1: {HOSTILE}")
    plain.finished(hostile_results())
    captured = capsys.readouterr()
    assert_harmless(captured.err)
    assert_harmless(captured.out)
    assert captured.err.count("\n") == 2


def test_json_is_exact_and_harmless(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same value, whatever the encoding of standard output."""
    name = HOSTILE.replace("\ud800", "") + "größe 🂡"
    results = msgspec.structs.replace(board().results("cup", "d"), name=name)
    tables.print_results(results, json=True)
    text = capsys.readouterr().out
    assert "größe 🂡" in text
    assert_harmless(text)
    assert json.loads(text)["name"] == name
    stream = io.TextIOWrapper(io.BytesIO(), encoding="latin-1")
    monkeypatch.setattr(sys, "stdout", stream)
    tables.print_results(results, json=True)
    stream.flush()
    data = stream.buffer.getvalue()
    assert data.isascii()
    assert json.loads(data)["name"] == name


def test_replay_is_harmless(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """Match, bots and detail of a record from a file; also if it cannot be verified."""
    fields = json.loads(make_record().to_json())
    fields["match"] = f"matches/{HOSTILE}"
    fields["bots"] = [HOSTILE, "bob"]
    fields["result"]["detail"] = HOSTILE
    path = tmp_path / "records.jsonl"
    path.write_text(json.dumps(fields) + "\n", encoding="utf-8")
    for options in ([], ["--verify"], ["--board"]):
        run(["replay", str(path), *options])
        captured = capsys.readouterr()
        assert_harmless(captured.out + captured.err)


@pytest.mark.parametrize("content", [f'name = "x"\n"{HOSTILE[:-7]}" = 1', f"{HOSTILE}", '"\x1b"'])
def test_sentences_about_files_are_harmless(
    content: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """What a file holds is quoted in errors."""
    path = tmp_path / "x\x1b[2J"
    text = content.encode("utf-8", "replace")
    path.write_bytes(text)
    for command in (["vectors"], ["replay"], ["tournament", "run"], ["tournament", "show"]):
        assert run([*command, str(path)]) == 2
        assert_harmless(capsys.readouterr().err)


def test_arguments_in_sentences_are_harmless(capsys: pytest.CaptureFixture[str]) -> None:
    """Bytes that are not UTF-8 arrive as surrogates."""
    for arguments in ([HOSTILE], ["score", HOSTILE], ["replay", HOSTILE], ["bench", HOSTILE]):
        without = [argument.replace("\0", "") for argument in arguments]
        assert run(without) == 2
        err = capsys.readouterr().err
        assert_harmless(err)
        assert err.count("\n") == 1


@pytest.mark.parametrize("locale", PLAIN_LOCALES.values(), ids=PLAIN_LOCALES)
def test_tables_come_out_in_every_encoding(locale: dict[str, str], tmp_path: Path) -> None:
    """Symbols have ASCII alternatives that keep the columns straight."""
    results = msgspec.structs.replace(board().results("cup", "d"), name="größe")
    (tmp_path / "results.json").write_bytes(msgspec.json.encode(results))
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("LC_", "LANG"))}
    shown = subprocess.run(
        [*COMMAND, "tournament", "show", str(tmp_path)],
        capture_output=True,
        env={**kept, **locale},
    )
    assert (shown.returncode, shown.stderr) == (0, b"")
    text = shown.stdout.decode("latin-1")
    assert "%" in text
    assert "anna" in text
    assert "größe" in text if locale == PLAIN_LOCALES["latin-1"] else r"gr\xf6\xdfe" in text
    header = next(line for line in text.split("\n") if " score " in line)
    row = next(line for line in text.split("\n") if " anna " in line)
    assert ("±" if locale == PLAIN_LOCALES["latin-1"] else "+-") in row
    bars = [[place for place, char in enumerate(line) if char == "|"] for line in (header, row)]
    assert bars[0] == bars[1]


@pytest.mark.parametrize("width", [60, 90])
def test_a_table_for_a_pipe_is_as_wide_as_columns_says(width: int, tmp_path: Path) -> None:
    """Columns go until the rest fits; sentences are never broken."""
    results = board(faults=True).results("cup", "d")
    (tmp_path / "results.json").write_bytes(msgspec.json.encode(results))
    shown = subprocess.run(
        [*COMMAND, "tournament", "show", str(tmp_path)],
        capture_output=True,
        text=True,
        env={**os.environ, "COLUMNS": str(width)},
    )
    rule = next(line for line in shown.stdout.splitlines() if "──" in line)
    assert width // 2 < len(rule.rstrip()) <= width


def test_the_reader_may_go_away_quietly() -> None:
    """Also if all the output fits into the buffer: nothing on standard error, the status of SIGPIPE."""
    for arguments in (["variants"], ["peg", "5"]):
        reading, writing = os.pipe()
        os.close(reading)
        with subprocess.Popen(
            [*COMMAND, *arguments], stdout=writing, stderr=subprocess.PIPE
        ) as process:
            os.close(writing)
            assert process.stderr is not None
            assert process.stderr.read() == b""
        assert process.returncode == 141


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a device of Linux")
def test_a_full_disk_is_said() -> None:
    """Exit status 2 and one line."""
    with Path("/dev/full").open("wb") as full:
        ended = subprocess.run([*COMMAND, "peg", "5"], stdout=full, stderr=subprocess.PIPE)
    assert ended.returncode == 2
    assert ended.stderr == b"pegboard: No space left on device\n"


def test_closed_streams_are_no_fault() -> None:
    """`>&-`: nothing is printed, and no file of ours becomes standard output."""
    for closed in (">&-", ">&- 2>&- <&-"):
        command = f'"$0" -m pegboard.cli.main peg 5 {closed}'
        ended = subprocess.run(["sh", "-c", command, sys.executable], capture_output=True)
        assert (ended.returncode, ended.stderr) == (0, b""), closed


def test_notes_go_on_without_a_reader(monkeypatch: pytest.MonkeyPatch) -> None:
    """A tournament goes on after its terminal has closed."""
    reading, writing = os.pipe()
    os.close(reading)
    with open(writing, "w", encoding="utf-8") as stream:
        monkeypatch.setattr(sys, "stderr", stream)
        for _ in range(3):
            terminal.say("x" * 10_000)
        stream.write("more")
        stream.flush()
