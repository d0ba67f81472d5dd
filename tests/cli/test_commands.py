"""The command line: what it prints, and the one line that each mistake gets."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
from dataclasses import replace
from io import BytesIO, TextIOWrapper
from pathlib import Path

import pytest
from google.protobuf import json_format

from pegboard.cli.replay import _what_came
from pegboard.cli.shell import run
from pegboard.client.testing import ScriptedMatch, play_match, random_choice
from pegboard.rules import catalog
from pegboard.rules.record import Record, events_digest, replay
from pegboard.rules.results import Result, Termination
from pegboard.rules.shuffle import SeededChance
from pegboard.v1 import match_pb2
from pegboard.wire.records import record_message

MISTAKES = {
    "no such command": (["scor"], "No such command 'scor'"),
    "no such command of a group": (["tournament", "rnu"], "No such command 'rnu'"),
    "no such option": (["score", "--foo"], "No such option: --foo"),
    "no cards": (["score"], "Missing argument"),
    "no starter": (["score", "5C", "5D", "5H", "JS"], "name the starter"),
    "no such card": (["score", "5C", "5D", "5H", "JX", "--starter", "5S"], "'JX' is not a card"),
    "no such starter": (["score", "5C", "5D", "5H", "JS", "--starter", "5"], "'5' is not a card"),
    "three cards": (["score", "5C", "5D", "5H", "--starter", "5S"], "has 4 cards"),
    "a card twice": (["score", "5C", "5C", "5H", "JS", "--starter", "5S"], "5C is there twice"),
    "the starter twice": (
        ["score", "5C", "5D", "5H", "JS", "--starter", "5C"],
        "5C is there twice",
    ),
    "a joker without jokers": (["score", "JK", "5D", "5H", "JS", "--starter", "5C"], "no jokers"),
    "no such variant": (["score", "5C", "--variant", "cribage", "--starter", "5S"], "cribbage"),
    "no cribbage": (
        ["score", "5C", "--variant", "draw", "--starter", "5S"],
        "draw is not cribbage",
    ),
    "a crib in squares": (
        [
            "score",
            "5C",
            "5D",
            "5H",
            "JS",
            "--starter",
            "5S",
            "--crib",
            "--variant",
            "cribbage-squares",
        ],
        "has no crib",
    ),
    "a count beyond 31": (["peg", "K", "Q", "J", "5"], "makes the count 35"),
    "a rank that is none": (["peg", "1"], "'1' is not a card"),
    "a wild joker in the play": (["peg", "JK", "--variant", "cribbage-jokers-wild"], "declared"),
    "an unknown variant": (["variants", "crib-auction"], "cribbage-auction"),
    "vectors not there": (["vectors", "nowhere.json"], "nowhere.json"),
    "a record not there": (["replay", "nowhere.jsonl"], "nowhere.jsonl"),
    "a tournament not there": (["tournament", "run", "nowhere.toml"], "nowhere.toml"),
    "a run not there": (["tournament", "show", "nowhere"], "nowhere"),
    "an unknown benchmark": (["bench", "nothing"], "no benchmark 'nothing'"),
    "a durability that is none": (
        ["serve", "--unix", "socket", "--durability", "firm"],
        "strict",
    ),
    "a log level that is none": (["serve", "--unix", "socket", "--log-level", "loud"], "loud"),
    "nowhere to listen": (["serve"], "listen"),
    "TCP without tokens": (["serve", "--listen", "127.0.0.1:0"], "token"),
    "tokens not there": (["serve", "--unix", "socket", "--tokens", "nowhere.toml"], "nowhere.toml"),
}


@pytest.mark.parametrize(("arguments", "sentence"), MISTAKES.values(), ids=MISTAKES)
def test_a_mistake_gets_one_line_and_status_2(
    arguments: list[str],
    sentence: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    """One clear sentence on standard error, nothing on standard output, no traceback."""
    monkeypatch.chdir(tmp_path)
    assert run(arguments) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert sentence in captured.err
    assert captured.err.count("\n") == 1
    assert captured.err.startswith("pegboard: ")


FILES = {
    "not JSON": (["vectors"], "[1, ", "not JSON"),
    "no list": (["vectors"], '{"id": 1}', "a vector file is a list"),
    "not of objects": (["vectors"], "[1]", "a vector file is a list"),
    "no record": (["replay"], "{}\n", "line 1"),
    "an empty file of records": (["replay"], "\n", "holds no record"),
    "a torn record": (["replay", "--verify"], '{"version": 1, "ru', "line 1"),
    "no TOML": (["tournament", "run"], "name = ", "TOML"),
    "an unknown key": (["tournament", "run"], 'name = "x"\nblokcs = 3\n', "blocks"),
}


@pytest.mark.parametrize(("command", "content", "sentence"), FILES.values(), ids=FILES)
def test_a_bad_file_gets_one_line_and_status_2(
    command: list[str],
    content: str,
    sentence: str,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
) -> None:
    """The sentence names the file and what is wrong with it."""
    path = tmp_path / "bad.toml"
    path.write_text(content, encoding="utf-8")
    assert run([*command, str(path)]) == 2
    captured = capsys.readouterr()
    lines = captured.err.splitlines()
    assert any(sentence in line for line in lines)
    assert all("bad.toml" in line for line in lines), "a sentence a problem, each naming the file"


def test_a_file_that_is_no_text_is_refused(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = tmp_path / "bytes"
    path.write_bytes(b"\xff\xfe\x00")
    for command in (["vectors"], ["replay"], ["tournament", "run"]):
        assert run([*command, str(path)]) == 2
        assert "text" in capsys.readouterr().err


def test_score_prints_the_contract_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["score", "5C 5D 5H JS", "--starter", "5S", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {
        "fifteens": 16,
        "pairs": 12,
        "runs": 0,
        "flush": 0,
        "nobs": 1,
        "total": 29,
    }


def test_peg_prints_the_contract_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    """Suits may be left out; a card is printed as it was given."""
    assert run(["peg", "5", "5C", "10", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == [
        {"card": "5", "count": 5, "points": 0},
        {"card": "5C", "count": 10, "points": 2},
        {"card": "10", "count": 20, "points": 0},
    ]


def test_variants_lists_the_catalog(capsys: pytest.CaptureFixture[str]) -> None:
    """Every id, and every option of one."""
    assert run(["variants"]) == 0
    listed = capsys.readouterr().out
    assert all(re.search(rf"^{variant} ", listed, re.MULTILINE) for variant in catalog.CATALOG)
    assert run(["variants", "--json"]) == 0
    assert [each["id"] for each in json.loads(capsys.readouterr().out)] == list(catalog.CATALOG)
    assert run(["variants", "cribbage-auction"]) == 0
    page = capsys.readouterr().out
    assert "auction" in page
    assert "## What differs" in page


def make_record(variant: str = "draw", target: str = "1") -> Record:
    """Return the record of a short game in which every first move is made."""
    options = {"target": target}
    game = catalog.game(variant, options)
    chance = SeededChance(bytes(32), "story")
    state, events = game.start(2, chance)
    moves = []
    while seats := state.to_act():
        move = state.choices(seats[0]).moves[0]
        moves.append(f"{seats[0]} {move.text()}")
        events = events + state.apply(seats[0], move)
    outcome = state.outcome()
    assert outcome is not None
    result = Result(Termination.NORMAL, None, outcome.points, outcome.scores, outcome.games_won, "")
    return Record(
        rules_version=catalog.RULES_VERSION,
        match="story",
        variant=variant,
        options=options,
        bots=("ann", "bob"),
        nonce="story",
        seed=bytes(32),
        commitment=chance.commitment(),
        moves=tuple(moves),
        result=result,
        events_digest=events_digest(events),
    )


def test_replay_tells_and_verifies(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """A true record passes; a forged one is named."""
    record = make_record()
    assert list(replay(record))
    path = tmp_path / "records.jsonl"
    path.write_text(record.to_json() + "\n", encoding="utf-8")
    assert run(["replay", str(path), "--verify"]) == 0
    assert "1 records verified" in capsys.readouterr().out
    assert run(["replay", str(path), "--match", "story"]) == 0
    assert "ROUND_ENDED" in capsys.readouterr().out
    assert run(["replay", str(path), "--match", "matches/story"]) == 0
    assert run(["replay", str(path), "--match", "other"]) == 2
    assert "no record of match other" in capsys.readouterr().err
    forged = record.to_json().replace(record.events_digest, "0" * 64)
    path.write_text(forged + "\n", encoding="utf-8")
    assert run(["replay", str(path), "--verify"]) == 1
    assert "story: " in capsys.readouterr().out


def test_replay_reads_records_as_other_programs_print_them(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """`GetMatchRecord` as JSON, indented, one after the other; names with a line separator in them."""
    record = replace(make_record(), bots=("ann\u2028x", "bob\u0085y"))
    response = match_pb2.GetMatchRecordResponse(record=record_message(record))
    one = json_format.MessageToJson(response, ensure_ascii=False)
    snake = json_format.MessageToJson(response.record, preserving_proto_field_name=True)
    path = tmp_path / "record.json"
    for text, count in ((one, 1), (f"{one}\n{snake}\n", 2), (record.to_json(), 1)):
        path.write_text(text, encoding="utf-8")
        assert run(["replay", str(path), "--verify"]) == 0
        assert f"{count} records verified" in capsys.readouterr().out
    path.write_text(one + "\n{}", encoding="utf-8")
    assert run(["replay", str(path), "--verify"]) == 2
    assert f"{path}, line {one.count(chr(10)) + 2}: a record lacks" in capsys.readouterr().err


def test_replay_reads_standard_input(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """`-` is what another program prints; a file that is not there is named once."""
    response = match_pb2.GetMatchRecordResponse(record=record_message(make_record()))
    data = json_format.MessageToJson(response).encode()
    monkeypatch.setattr("sys.stdin", TextIOWrapper(BytesIO(data)))
    assert run(["replay", "-", "--verify"]) == 0
    assert "1 records verified" in capsys.readouterr().out
    assert run(["replay", "nowhere.jsonl"]) == 2
    assert capsys.readouterr().err.count("nowhere.jsonl") == 1


@pytest.fixture
def story(tmp_path: Path) -> str:
    """The file of a record of cribbage."""
    path = tmp_path / "story.jsonl"
    path.write_text(make_record("cribbage", "61").to_json() + "\n", encoding="utf-8")
    return str(path)


def test_replay_shows_a_turn_as_its_bot_saw_it(
    story: str, capsys: pytest.CaptureFixture[str]
) -> None:
    record = make_record("cribbage", "61")
    for number, text in enumerate(record.moves, 1):
        assert run(["replay", story, "--at", str(number)]) == 0
        shown = capsys.readouterr().out.splitlines()
        seat, _, move = text.partition(" ")
        assert shown[0] == f"story: cribbage; before move {number} of {len(record.moves)}"
        assert re.fullmatch(rf"turn \d+ of seat {seat} in matches/story", shown[1])
        # `make_record` makes the first legal move, so it is listed as number 0.
        assert any(re.match(f"legal moves: 0 {move}(,|$)", line) for line in shown)
        assert shown[-1] == f"> {text} (move {number})"


def test_replay_shows_the_turn_of_the_other_seat(
    story: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["replay", story, "--at", "1", "--seat", "1"]) == 0
    shown = capsys.readouterr().out
    second = make_record("cribbage", "61").moves[1]
    assert "\nturn 1 of seat 1 in matches/story\n" in shown
    assert shown.endswith(f"> {second} (move 2)\n")


def test_replay_shows_the_turn_that_lost_a_match(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    record = make_record("cribbage", "61")
    points, scores = (0.0, 1.0), (0, 0)
    lost = Result(Termination.TIMEOUT, 0, points, scores, scores, "late")
    path = tmp_path / "lost.jsonl"
    path.write_text(
        replace(record, moves=record.moves[:6], result=lost).to_json(), encoding="utf-8"
    )
    assert run(["replay", str(path), "--at", "7"]) == 0
    shown = capsys.readouterr().out
    assert "\nturn 4 of seat 0 in matches/story\n" in shown
    assert "TIMEOUT" in shown.splitlines()[-1]
    assert "late" in shown.splitlines()[-1]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--at", "7", "--seat", "1"], "seat 1 is not asked before move 7, but only 0"),
        (["--at", "7", "--seat", "9"], "seat 9 is not asked before move 7, but only 0"),
        (["--at", "900"], "there is no move 900; the record has"),
        (["--at", "49"], "the match was over after move 48"),
        (["--at", "0"], "--at"),
        (["--at", "x"], "--at"),
        (["--seat", "0"], "give the number of a move too, with --at"),
        (["--at", "1", "--verify"], "leave out --verify or --at"),
        (["--at", "1", "--match", "none"], "holds no record of match none"),
    ],
)
def test_a_turn_that_is_not_there_gets_a_sentence(
    arguments: list[str], sentence: str, story: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["replay", story, *arguments]) == 2
    err = capsys.readouterr().err
    assert sentence in err
    assert err.count("\n") == 1


@pytest.mark.parametrize("number", [3, 4])
def test_a_turn_after_or_before_a_damaged_move(
    number: int, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    record = make_record("cribbage", "61")
    path = tmp_path / "damaged.jsonl"
    moves = (*record.moves[:2], "no move", *record.moves[3:])
    path.write_text(replace(record, moves=moves).to_json(), encoding="utf-8")
    assert run(["replay", str(path), "--at", str(number)]) == 2
    assert "no move 'no move'" in capsys.readouterr().err


def test_a_turn_of_several_records_needs_a_match(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = tmp_path / "two.jsonl"
    path.write_text(f"{make_record().to_json()}\n" * 2, encoding="utf-8")
    assert run(["replay", str(path), "--at", "1"]) == 2
    assert "holds 2 records; choose one with --match" in capsys.readouterr().err


def test_replay_draws_the_board(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """After every deal of cribbage; the other lines are the same without the board."""
    record = make_record("cribbage", "61")
    path = tmp_path / "records.jsonl"
    path.write_text(record.to_json() + "\n", encoding="utf-8")
    assert run(["replay", str(path)]) == 0
    plain = capsys.readouterr().out
    assert run(["replay", str(path), "--board"]) == 0
    drawn = capsys.readouterr().out
    assert drawn.count("front peg") == plain.count("    DEAL ") >= 2
    assert "of 61, rear peg" in drawn
    assert [line for line in drawn.splitlines() if line in plain.splitlines()] == plain.splitlines()
    path.write_text(make_record().to_json() + "\n", encoding="utf-8")
    assert run(["replay", str(path), "--board"]) == 0
    assert "front peg" not in capsys.readouterr().out


def test_vectors_name_the_failing_ids(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """Exit status 1, and a line for each failure."""
    good = {
        "id": "good",
        "kind": "peg_run",
        "cards": ["5", "5"],
        "counts": [5, 10],
        "points": [0, 2],
    }
    bad = {**good, "id": "bad", "points": [0, 3]}
    path = tmp_path / "cases.json"
    path.write_text(json.dumps([good, bad]), encoding="utf-8")
    assert run(["vectors", str(path)]) == 1
    printed = capsys.readouterr().out
    assert printed.startswith("bad: ")
    assert "1 passed, 1 failed" in printed
    path.write_text(json.dumps([good]), encoding="utf-8")
    assert run(["vectors", str(path)]) == 0


def test_doctor_says_what_works(capsys: pytest.CaptureFixture[str]) -> None:
    """Libraries and sockets work here, or the tests could not run."""
    assert run(["doctor", "--json"]) == 0
    found = {each["name"]: each for each in json.loads(capsys.readouterr().out)}
    assert found["grpcio"]["works"]
    assert found["Unix sockets"]["works"]


def test_help_loads_nothing_heavy() -> None:
    """`--help` is quick because gRPC, numpy and the rules stay out of it."""
    code = (
        "import sys; from pegboard.cli.shell import run; run(['--help']);"
        "assert not {'grpc', 'numpy', 'google.protobuf', 'asyncio'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True, stdout=subprocess.DEVNULL)


def test_ctrl_c_during_the_imports_gets_no_traceback() -> None:
    code = """
import signal, sys
class Interrupting:
    def find_spec(self, name, path=None, target=None):
        if name == "typer":
            signal.raise_signal(signal.SIGINT)
signal.signal(signal.SIGINT, signal.default_int_handler)  # a job in the background ignores it
sys.meta_path.insert(0, Interrupting())
sys.argv = ["pegboard", "variants"]
from pegboard.cli.main import main
main()
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (-signal.SIGINT, b"", b"")


def test_the_reader_may_go_away() -> None:
    """A closed pipe, as with `| head -1`, gives no traceback."""
    command = [sys.executable, "-m", "pegboard.cli.main", "variants", "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert b"Traceback" not in process.stderr.read()


def test_a_turn_that_another_seat_ended_is_told_as_that() -> None:
    """In muggins a play or a call closes the turns of other seats that might have called."""
    played = play_match("cribbage-muggins", [random_choice] * 3, seed=3)
    moves = tuple(f"{seat} {move}" for seat, move in played.moves)
    record = replace(
        make_record(),
        variant="cribbage-muggins",
        options={},
        bots=("ann", "bob", "cat"),
        nonce="scripted",
        seed=(3).to_bytes(32, "big"),
        moves=moves,
    )
    ended = []
    for before in range(60):
        match = ScriptedMatch.from_record(record, before)
        for seat in match.state.to_act():
            line = _what_came(record, ScriptedMatch.from_record(record, before), seat)
            if line.endswith("ended the turn"):
                ended.append(line)
                assert not line.split(", ")[1].startswith(f"{seat} ")
            else:
                assert line.startswith(f"> {seat} ")
    assert ended
