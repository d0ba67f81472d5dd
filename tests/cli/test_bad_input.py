"""Files and arguments of every odd kind: exit status 2 and one line, never a traceback."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pegboard.cli.shell import run
from pegboard.errors import InvalidRequest
from pegboard.rpc.tokens import load_tokens

MANY = 5_000
FILES = {
    "empty": b"",
    "nul": b"\0",
    "a byte order mark": b"\xef\xbb\xbf",
    "utf-16": "[]".encode("utf-16"),
    "latin-1": b'["\xff"]',
    "lists in lists": b"[" * MANY,
    "objects in objects": b'{"a":' * MANY,
    "tables in tables": b"a = " + b"{a=" * MANY,
    "values in values": b"a = " + b"[" * MANY,
    "a long number in JSON": b'[{"id":' + b"9" * MANY + b"}]",
    "a long number in TOML": b"a = " + b"9" * MANY,
    "not a number": b"name = 'x'\nblocks = nan\n",
    "a date": b"name = 'x'\nseed = 1979-05-27T07:32:00Z\n",
    "a key twice": b"a = 1\na = 1\n",
    "wrong types": b"name=1\nbots=3\nevents='x'\ntime=1\nserver=[]\n",
    "null": b"null",
    "one line": b"x" * 1_000_000,
}
COMMANDS = (["vectors"], ["replay"], ["replay", "--verify"], ["tournament", "run"])
CASES = {
    "numbers without an end": '[{"kind": "peg_run", "cards": ["5"], "counts": [1e999]}]',
    "surrogates": r'[{"id": "\ud800", "kind": "\ud800"}]',
    "names that are lists": '[{"id": [1], "kind": [2]}]',
    "no fields": "[{}]",
    "a negative depth": '[{"id": "x", "kind": "perft", "variant": "draw", "depth": -1}]',
}
WORDS = [
    *("", " ", "-", "--", "-x", "--json", "--variant", "--variant=", "--variant=draw", "--crib"),
    *("--starter", "5S", "5C", "JK", "10", "1", "K", ",", "5C,5D", "x y", "--out", "--match"),
    *("--verify", "--board", "--help", "cribbage-jokers-wild", "a\0b", "\udcff", "\u202e"),
    *("\x1b[2J", "a\nb", "²", "٣", "Ａ", "ı", "ß", "a" * 10_000, ".", "/dev/null", "/" + "x" * 300),
]
GROUPS = [
    *(["score"], ["peg"], ["variants"], ["vectors"], ["replay"], ["tournament", "run"]),
    *(["tournament", "show"], ["tournament"], ["bench", "no such"], ["serve", "--durability", "x"]),
    [],
]


def assert_one_sentence(err: str) -> None:
    """One line a fault, nothing but printable characters, of a length that can be read."""
    assert "Traceback" not in err
    for line in err.removesuffix("\n").split("\n"):
        assert line.startswith("pegboard: ")
        assert line.isprintable()
        assert len(line) < 2_000


@pytest.mark.parametrize("content", FILES.values(), ids=FILES)
def test_odd_files_get_a_sentence(
    content: bytes, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = tmp_path / "odd"
    path.write_bytes(content)
    for command in COMMANDS:
        assert run([*command, str(path)]) == 2, command
        assert_one_sentence(capsys.readouterr().err)
    (tmp_path / "results.json").write_bytes(content)
    assert run(["tournament", "show", str(tmp_path)]) == 2
    assert_one_sentence(capsys.readouterr().err)
    if content.decode("utf-8-sig", "replace").strip():  # an empty file names no tokens
        path.chmod(0o600)
        with pytest.raises(InvalidRequest, match="odd"):
            load_tokens(path)


@pytest.mark.parametrize("content", CASES.values(), ids=CASES)
def test_odd_cases_fail(content: str, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """A vector file whose cases make no sense: each is named as failing."""
    path = tmp_path / "odd.json"
    path.write_text(content, encoding="utf-8")
    assert run(["vectors", str(path)]) == 1
    assert "0 passed, 1 failed" in capsys.readouterr().out


def test_a_byte_order_mark_is_no_fault(tmp_path: Path) -> None:
    """Editors of some systems write one."""
    path = tmp_path / "marked.json"
    path.write_bytes(
        b'\xef\xbb\xbf[{"id": "x", "kind": "peg_run", "cards": ["5"], "counts": [5], "points": [0]}]'
    )
    assert run(["vectors", str(path)]) == 0


def test_what_cannot_be_opened(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """A folder, a name that is too long, a file without rights."""
    closed = tmp_path / "closed"
    closed.write_text("{", encoding="utf-8")
    closed.chmod(0)
    for path in (str(tmp_path), "x" * 5_000, "\udcff", "a\0b", str(closed)):
        for command in COMMANDS:
            assert run([*command, path]) == 2
            assert_one_sentence(capsys.readouterr().err)


@settings(
    max_examples=200,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(group=st.sampled_from(GROUPS), words=st.lists(st.sampled_from(WORDS), max_size=4))
def test_odd_arguments_get_a_sentence(
    group: list[str],
    words: list[str],
    capsys: pytest.CaptureFixture[str],
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    """Any words after any command: it works, or says in one line why not."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path_factory.getbasetemp())
        status = run([*group, *words])
    captured = capsys.readouterr()
    if status == 2 and not captured.err.startswith("Usage:"):
        assert captured.out == ""
        assert_one_sentence(captured.err)
    else:
        assert status in (0, 1, 2)


def test_more_jokers_than_a_pack_has(capsys: pytest.CaptureFixture[str]) -> None:
    """Such jokers are worth nothing, so a count of them would not end."""
    assert run(["peg", *["JK"] * 100_000, "--variant", "cribbage-jokers-zero"]) == 2
    assert "two jokers" in capsys.readouterr().err
