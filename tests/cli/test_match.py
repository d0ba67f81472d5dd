"""`pegboard match`: every subcommand against a server process, and the sentence for each mistake."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from tests.patience import PATIENCE_S

from pegboard.cli.shell import run
from pegboard.client import BotClient, Organiser, new_match
from pegboard.client.bot import as_bot
from pegboard.client.testing import random_choice

COMMAND = (sys.executable, "-m", "pegboard.cli.main")


@contextmanager
def serving(folder: str, *options: str) -> Iterator[str]:
    """Run a server process and yield its address."""
    command = [*COMMAND, "serve", "--unix", f"{folder}/s", "--log-level", "error", *options]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline().startswith("listening")
            yield f"unix:{folder}/s"
        finally:
            process.terminate()


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """A server at which a and b have played `over`; no bot plays `open`."""
    with (
        TemporaryDirectory(prefix="pegboard-") as folder,
        serving(folder, "--durability", "memory") as address,
    ):
        asyncio.run(play(address, "over"))
        asyncio.run(create(address, "open", ["x", "y"]))
        yield address


async def create(address: str, match_id: str, bots: list[str]) -> None:
    """Create a match of draw."""
    async with Organiser(address) as organiser:
        request = new_match(
            "draw", bots, options={"target": "20"}, match_id=match_id, label=f"label-{match_id}"
        )
        await organiser.create(request)


async def play(address: str, match_id: str) -> None:
    """Create a match and play it to its end."""
    await create(address, match_id, ["a", "b"])
    clients = [BotClient(as_bot(random_choice), address, name) for name in "ab"]
    tasks = [asyncio.create_task(client.play()) for client in clients]
    async with Organiser(address) as organiser, asyncio.timeout(PATIENCE_S):
        await organiser.result(f"matches/{match_id}")
    for client in clients:
        await client.stop()
    await asyncio.gather(*tasks)


@pytest.fixture(autouse=True)
def at_server(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the environment name the server, as it does for bots."""
    monkeypatch.setenv("PEGBOARD_ADDRESS", address)
    monkeypatch.setenv("PEGBOARD_TOKEN", "")


def test_list_shows_each_match_in_a_row(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    assert run(["match", "list"]) == 0
    rows = [line.split() for line in capsys.readouterr().out.splitlines() if line.strip()]
    assert [word for row in rows for word in row if word in {"over", "open"}][-1] == "over"
    (over,) = [row for row in rows if row[0] == "over"]
    assert over[1:4] == ["draw", "a,", "b"]
    (still,) = [row for row in rows if row[0] == "open"]
    assert "running" in still
    assert "x," in still


def test_list_takes_filters(capsys: pytest.CaptureFixture[str]) -> None:
    for options, names in (
        (["--state", "finished"], ["matches/over"]),
        (["--state", "running", "--label", "label-open"], ["matches/open"]),
        (["--label", "label-over"], ["matches/over"]),
        (["--label", "none"], []),
        (["--limit", "1"], ["matches/open"]),
        (["--order", "oldest", "--limit", "1"], ["matches/over"]),
        (["--order", "last-ended"], ["matches/over"]),
        (["--bot", "x"], ["matches/open"]),
        (["--variant", "draw", "--bot", "a"], ["matches/over"]),
        (["--variant", "cribbage"], []),
        (["--created-to", "2020-01-01"], []),
        (["--created-from", "2020-01-01", "--ended-from", "2020-01-01"], ["matches/over"]),
        (["--ended-to", "2020-01-01T12:00:00"], []),
    ):
        assert run(["match", "list", *options, "--json"]) == 0
        found = json.loads(capsys.readouterr().out)
        assert [match["name"] for match in found] == names, options
    assert run(["match", "list", "--label", "none"]) == 0
    assert capsys.readouterr().out == "no matches\n"


def test_a_narrow_list_keeps_ids(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    assert run(["match", "list"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 40
    assert any(line.split()[:1] == ["over"] for line in lines)


def test_show_tells_all(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["match", "show", "matches/over"]) == 0
    shown = dict(line.split(maxsplit=1) for line in capsys.readouterr().out.splitlines())
    assert shown["variant"] == "draw"
    assert shown["state"] == "finished"
    assert shown["result"].startswith("normal; points ")
    assert run(["match", "show", "over", "--json"]) == 0
    message = json.loads(capsys.readouterr().out)
    assert message["result"]["termination"] == "TERMINATION_NORMAL"
    assert str(message["eventCount"]) == shown["events"]


def test_watch_prints_events_until_the_end(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["match", "watch", "over"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [int(line.split()[0]) for line in lines] == list(range(1, len(lines) + 1))
    assert lines[-1].split()[1] == "="
    assert any("DEALT" in line or "ROUND" in line for line in lines)
    assert run(["match", "watch", "over", "--seat", "1", "--after", str(len(lines) - 3)]) == 0
    assert capsys.readouterr().out.splitlines() == lines[-3:]
    assert run(["match", "watch", "over", "--json", "--after", str(len(lines) - 1)]) == 0
    (last,) = map(json.loads, capsys.readouterr().out.splitlines())
    assert last["matchEnded"]["termination"] == "TERMINATION_NORMAL"


def test_watch_streams_while_the_match_runs(address: str) -> None:
    asyncio.run(create(address, "live", ["c", "d"]))
    with subprocess.Popen(
        [*COMMAND, "match", "watch", "live"], stdout=subprocess.PIPE, text=True, env=os.environ
    ) as watching:
        assert watching.stdout is not None
        assert watching.stdout.readline().startswith("    1 ")
        assert watching.poll() is None
        assert run(["match", "cancel", "live"]) == 0
        assert watching.stdout.read().splitlines()[-1].split()[1:3] == ["=", "cancelled;"]
    assert watching.returncode == 0


def test_cancel_says_how_each_match_ended(address: str, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("one", "two"):
        asyncio.run(create(address, name, ["c", "d"]))
    assert run(["match", "cancel", "one", "matches/two"]) == 0
    assert capsys.readouterr().out == "one: cancelled\ntwo: cancelled\n"
    assert run(["match", "cancel", "one", "--json"]) == 0
    (message,) = json.loads(capsys.readouterr().out)
    assert message["name"] == "matches/one"


def test_record_is_what_replay_reads(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert run(["match", "record", "over"]) == 0
    printed = capsys.readouterr().out
    file = tmp_path / "records.jsonl"
    assert run(["match", "record", "over", "over", "--out", str(file)]) == 0
    assert capsys.readouterr().out == ""
    assert file.read_text(encoding="utf-8") == printed * 2
    assert run(["replay", str(file), "--verify"]) == 0
    assert "2 records verified" in capsys.readouterr().out


MISTAKES = {
    "an unknown match": (["show", "none"], "none"),
    "not the name of a match": (["show", "x/y z"], "x/y z"),
    "an unknown match to watch": (["watch", "none"], "none"),
    "an unknown match to cancel": (["cancel", "over", "none"], "none"),
    "an unknown seat": (["watch", "over", "--seat", "9"], "has seats 0 to 1"),
    "a match that runs": (["record", "open"], "open"),
    "an unknown state": (["list", "--state", "over"], "matches are running or finished"),
    "an unknown order": (["list", "--order", "best"], "one of newest, oldest, last-ended"),
    "a time of no shape": (["list", "--created-from", "noon"], "Input should be a valid datetime"),
    "no matches at all": (["list", "--limit", "0"], "--limit"),
    "an address of no shape": (["list", "--address", "nowhere"], "'nowhere' is not an address"),
    "no server": (
        ["show", "over", "--address", "unix:/nowhere/s"],
        "no server at unix:/nowhere/s",
    ),
    "a folder to write to": (["record", "over", "--out", "."], "Is a directory"),
    "no match": (["record"], "Missing argument"),
    "no such command": (["lsit"], "No such command 'lsit'"),
}


@pytest.mark.parametrize(("arguments", "sentence"), MISTAKES.values(), ids=MISTAKES)
def test_a_mistake_gets_one_line_and_status_2(
    arguments: list[str], sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["match", *arguments]) == 2
    captured = capsys.readouterr()
    assert captured.err.startswith("pegboard: ")
    assert captured.err.count("\n") == 1
    assert sentence in captured.err
    if arguments[0] != "cancel":
        assert captured.out == ""


def test_a_token_is_needed_where_the_server_has_some(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    tokens = tmp_path / "tokens.toml"
    tokens.write_text('[bots]\nann = "a-token"\n[organisers]\nme = "my-token"\n', encoding="utf-8")
    tokens.chmod(0o600)
    with (
        TemporaryDirectory(prefix="pegboard-") as folder,
        serving(folder, "--durability", "memory", "--tokens", str(tokens)) as address,
    ):
        options = ["--address", address]
        assert run(["match", "list", *options, "--token", "my-token"]) == 0
        assert capsys.readouterr().out == "no matches\n"
        assert run(["match", "list", *options]) == 2
        assert capsys.readouterr().err.count("\n") == 1


def test_help_of_match_loads_nothing_heavy() -> None:
    code = (
        "import sys; from pegboard.cli.shell import run; run(['match', '--help']);"
        "assert not {'grpc', 'numpy', 'google.protobuf', 'asyncio'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True, stdout=subprocess.DEVNULL)
