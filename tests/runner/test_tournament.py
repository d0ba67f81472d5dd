"""Whole tournaments: a real server, bots as real processes, and everything that can go wrong."""

from __future__ import annotations

import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.patience import wait_until
from tests.runner import cups
from tests.runner.cups import CRIBBAGE, DRAW, ONE, THREE, TWO, bot

from pegboard.arena.results import Results
from pegboard.rules.record import Record, verify
from pegboard.runner.environment import BOT_NAMES
from pegboard.runner.records_file import read_records
from pegboard.runner.run_folder import read_results

# Starting a dozen processes takes seconds, and on a busy machine a minute.
pytestmark = pytest.mark.timeout(300)

FILE_PARTS = (ONE, TWO, THREE, CRIBBAGE, DRAW)


@pytest.fixture(scope="module")
def uninterrupted(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path, Results]:
    """A file, its folder and its results, played in one go."""
    folder = tmp_path_factory.mktemp("cup")
    file = cups.write(folder, *FILE_PARTS)
    results, _ = cups.play(file, folder / "out")
    return file, folder / "out", results


@pytest.fixture
def out(tmp_path: Path) -> Iterator[Path]:
    """A folder for results; nothing may run there afterwards."""
    path = tmp_path / "out"
    yield path
    assert cups.nothing_left(str(path)), "processes were left behind"


def test_a_tournament_is_played_to_its_end(
    uninterrupted: tuple[Path, Path, Results],
) -> None:
    """Every match is there once, every record replays and verifies, and nothing else is left."""
    _, out, results = uninterrupted
    assert results.complete
    assert results.finished == results.total == 2 * 3 * 2 * 3
    assert not any(line.faults for line in results.lines)
    lines = (out / "records.jsonl").read_text().splitlines()
    records = [Record.from_json(line) for line in lines]
    assert len({record.match for record in records}) == results.total
    for record in records:
        verify(record)
    expected = {"bots", "lock", "records.jsonl", "results.json", "run.json", "server.log"}
    assert {path.name for path in out.iterdir()} == expected | {"tournament.toml"}
    processes = ("one", "two", "three--1", "three--2")
    logs = {f"{name}.{ending}" for name in processes for ending in ("log", "out")}
    assert {path.name for path in (out / "bots").iterdir()} == logs
    assert cups.nothing_left(str(out))


def test_processes_of_a_bot_play_different_seat_orders(
    uninterrupted: tuple[Path, Path, Results],
) -> None:
    """A bot that remembers the hands of a block gains nothing: another process meets them again."""
    _, out, _ = uninterrupted
    seen: dict[str, list[str]] = {}
    for line in (out / "records.jsonl").read_text().splitlines():
        record = Record.from_json(line)
        seen.setdefault(record.nonce, []).extend(b for b in record.bots if b.startswith("three"))
    with_three = [names for names in seen.values() if names]
    assert with_three
    assert all(sorted(names) == ["three--1", "three--2"] for names in with_three)


def test_the_same_file_gives_the_same_table(
    uninterrupted: tuple[Path, Path, Results], tmp_path: Path, out: Path
) -> None:
    """Also in another folder, with another concurrency."""
    _, _, expected = uninterrupted
    file = cups.write(tmp_path, *FILE_PARTS, top=cups.TOP.replace("= 4", "= 9"))
    results, _ = cups.play(file, out)
    assert results == expected


def test_a_finished_tournament_is_shown_again_at_once(
    uninterrupted: tuple[Path, Path, Results],
) -> None:
    """The same command after the end plays nothing and prints the same table."""
    file, out, _ = uninterrupted
    before = (out / "results.json").read_bytes()
    status, table, _ = cups.finish(cups.start(file, out))
    assert status == 0
    assert "cup: 36 matches" in table
    assert (out / "results.json").read_bytes() == before
    show = [sys.executable, "-m", "pegboard.cli.main", "tournament", "show", str(out)]
    shown = subprocess.run(show, capture_output=True, text=True, check=True)
    assert shown.stdout == table


def kill_runner(runner: subprocess.Popen[str]) -> None:
    """Kill it with -9 and read its pipes to the end."""
    runner.kill()
    runner.communicate()


def play_with_kills(file: Path, out: Path, rng: random.Random, kills: int, total: int) -> Results:
    """Play, killing the runner at random moments, and return what came out in the end."""
    for _ in range(kills):
        runner = cups.start(file, out)
        cups.wait_for_records(runner, out, rng.randint(0, total))
        time.sleep(rng.random() * 0.3)
        kill_runner(runner)
        if rng.random() < 0.5:
            assert cups.nothing_left(str(out)), "a killed runner left processes behind"
    return cups.play(file, out)[0]


def test_a_killed_run_ends_with_the_same_table(
    uninterrupted: tuple[Path, Path, Results], tmp_path: Path, out: Path
) -> None:
    """Kill -9 in the middle, then the same command."""
    _, _, expected = uninterrupted
    file = cups.write(tmp_path, *FILE_PARTS)
    runner = cups.start(file, out)
    cups.wait_for_records(runner, out, 12)
    kill_runner(runner)
    assert cups.count_records(out) < 36, "killed too late to prove anything"
    assert cups.nothing_left(str(out)), "a killed runner left processes behind"
    assert cups.play(file, out)[0] == expected


@pytest.mark.long
@pytest.mark.parametrize("seed", range(8))
def test_a_run_killed_at_random_ends_with_the_same_table(
    uninterrupted: tuple[Path, Path, Results], tmp_path: Path, out: Path, seed: int
) -> None:
    """Several kills, at any moment: before the first match, in the middle, after the last."""
    _, _, expected = uninterrupted
    file = cups.write(tmp_path, *FILE_PARTS)
    results = play_with_kills(file, out, random.Random(seed), kills=3, total=36)
    assert results == expected, f"seed {seed}"


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_a_server_that_dies_is_started_again(
    uninterrupted: tuple[Path, Path, Results], tmp_path: Path, out: Path, number: signal.Signals
) -> None:
    """Bots come back, matches go on, no bot is blamed, and the table is the same."""
    _, _, expected = uninterrupted
    file = cups.write(tmp_path, *FILE_PARTS)
    runner = cups.start(file, out)
    cups.wait_for_records(runner, out, 8)
    (server,) = cups.processes_with(f"--store {out}")
    os.kill(server, number)
    status, _, errors = cups.finish(runner)
    assert status == 0, errors
    assert "it is started again" in errors
    assert read_results(out) == expected


def test_a_second_run_on_a_folder_is_refused(tmp_path: Path, out: Path) -> None:
    """It names the process that is at work there, which goes on undisturbed."""
    file = cups.write(tmp_path, ONE, TWO, CRIBBAGE, top="blocks = 1000")
    runner = cups.start(file, out)
    cups.wait_for_records(runner, out, 1)
    status, _, errors = cups.finish(cups.start(file, out))
    assert status == 2
    assert errors.startswith(f"pegboard: {out} is in use by process {runner.pid}; ")
    assert len(errors.splitlines()) == 1
    before = cups.count_records(out)
    cups.wait_for_records(runner, out, before + 1)
    runner.send_signal(signal.SIGINT)
    assert cups.finish(runner)[0] == 130


def test_ctrl_c_stops_and_the_same_command_goes_on(
    uninterrupted: tuple[Path, Path, Results], tmp_path: Path, out: Path
) -> None:
    """Exit status 130, a sentence that says how to continue, the same table in the end."""
    _, _, expected = uninterrupted
    file = cups.write(tmp_path, *FILE_PARTS)
    runner = cups.start(file, out)
    cups.wait_for_records(runner, out, 5)
    runner.send_signal(signal.SIGINT)
    status, table, errors = cups.finish(runner)
    assert status == 130
    assert "the same command continues it" in errors
    assert "of 36" in table
    assert not read_results(out).complete
    assert cups.nothing_left(str(out))
    assert cups.play(file, out)[0] == expected


def test_a_second_ctrl_c_kills_at_once(tmp_path: Path, out: Path) -> None:
    """Nothing is waited for, and still nothing is left behind, sockets of the server included."""
    file = cups.write(tmp_path, ONE, TWO, CRIBBAGE, top="blocks = 100")
    with tempfile.TemporaryDirectory(prefix="pegboard-", dir="/tmp") as folder:
        runner = cups.start(file, out, env={**os.environ, "TMPDIR": folder})
        interrupt_twice(runner, out)
        assert wait_until(lambda: not os.listdir(folder)), os.listdir(folder)


def interrupt_twice(runner: subprocess.Popen[str], out: Path) -> None:
    """Send two signals to a runner that plays, and see how it ends."""
    cups.wait_for_records(runner, out, 1)
    runner.send_signal(signal.SIGINT)
    assert runner.stderr is not None
    while "once more kills at once" not in (line := runner.stderr.readline()):
        assert line, "it never said what a second Ctrl-C does"
    runner.send_signal(signal.SIGINT)
    status, table, errors = cups.finish(runner)
    assert (status, table) == (130, "")
    assert "continues it" not in errors, "it has not stopped in good order"


def test_a_changed_file_is_refused(
    uninterrupted: tuple[Path, Path, Results], tmp_path: Path
) -> None:
    """The sentence names the key."""
    _, done, _ = uninterrupted
    out = tmp_path / "out"
    shutil.copytree(done, out)
    for before, after, sentence in (
        ("seed = 1", "seed = 2", "seed is 2 and was 1; undo the change"),
        ("blocks = 3", "blocks = 2", "blocks of cribbage is 2 and was 3; blocks may be added"),
    ):
        file = cups.write(tmp_path, *FILE_PARTS, top=cups.TOP.replace(before, after))
        status, _, errors = cups.finish(cups.start(file, out))
        assert status == 2
        assert f"was begun with another file: {sentence}" in errors


def test_a_finished_run_goes_on_with_more_blocks(
    uninterrupted: tuple[Path, Path, Results], tmp_path: Path, out: Path
) -> None:
    """The new blocks are played, and the table is that of a run which had them from the start."""
    _, done, short = uninterrupted
    grown = tmp_path / "out" / "grown"
    shutil.copytree(done, grown)
    parts = (TWO, ONE, THREE, CRIBBAGE, DRAW)  # the order of the bots does not matter
    file = cups.write(tmp_path, *parts, top=cups.TOP.replace("blocks = 3", "blocks = 4"))
    before = (grown / "records.jsonl").read_bytes()
    results, _ = cups.play(file, grown)
    assert (grown / "records.jsonl").read_bytes().startswith(before)
    assert (short.finished, results.finished, results.total) == (36, 48, 48)
    assert results == cups.play(file, out / "anew")[0]


def test_a_run_without_a_seed_is_repeated_from_its_secret_alone(tmp_path: Path, out: Path) -> None:
    """Two runs of one file have other deals; with the run.json of the first they are the same."""
    file = cups.write(tmp_path, ONE, TWO, CRIBBAGE, top="blocks = 2")
    first, records = cups.play(file, out / "one")
    _, other = cups.play(file, out / "two")
    assert not {match.match for match in records} & {match.match for match in other}
    seeds = [
        {Record.from_json(line).seed for line in (out / name / "records.jsonl").open()}
        for name in ("one", "two")
    ]
    assert len(seeds[0] | seeds[1]) == 4
    (out / "again").mkdir()
    shutil.copy(out / "one" / "run.json", out / "again")
    repeated, again = cups.play(file, out / "again")
    assert repeated == first
    assert sorted(again) == sorted(records)


SHADOWS = ("random", "statistics", "queue", "typing", "logging", "sitecustomize")


def test_nothing_of_ours_imports_from_the_folder_of_the_file(tmp_path: Path, out: Path) -> None:
    """Files that are called like modules of the library are the bots' affair alone."""
    for name in SHADOWS:
        path = tmp_path / f"{name}.py"
        path.write_text(f"open({str(tmp_path / 'imported')!r}, 'a').write('{name}\\n')\n")
    file = cups.write(tmp_path, ONE, TWO, CRIBBAGE, top="blocks = 1")
    command = [str(Path(sys.executable).parent / "pegboard"), "tournament", "run", str(file)]
    env = {**os.environ, "PYTHONPATH": "", "PYTHONSTARTUP": str(tmp_path / "random.py")}
    runner = subprocess.run(
        [*command, "--out", str(out)], cwd=tmp_path, env=env, capture_output=True, text=True
    )
    assert runner.returncode == 0, runner.stderr
    assert not (tmp_path / "imported").exists(), (tmp_path / "imported").read_text()


def test_helpers_do_not_read_the_variables_of_python(tmp_path: Path, out: Path) -> None:
    """The server and the reaper start with what they need; `PYTHONPATH` is the user's."""
    (tmp_path / "random.py").write_text(f"open({str(tmp_path / 'imported')!r}, 'w')\n")
    file = cups.write(tmp_path, ONE, TWO, CRIBBAGE, top="blocks = 1")
    env = {**os.environ, "PYTHONPATH": str(tmp_path), "PYTHONHOME": "/nowhere"}
    command = [*cups.RUNNER, str(file), "--out", str(out)]
    runner = subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True)
    assert runner.returncode == 0, runner.stderr
    assert not (tmp_path / "imported").exists()


TELL = """
import json, os, runpy
open({!r}, "w").write(json.dumps(dict(os.environ)))
runpy.run_path({!r}, run_name="__main__")
"""


def test_a_bot_sees_neither_secrets_of_the_shell_nor_of_others(tmp_path: Path, out: Path) -> None:
    """Its environment is an allow-list, `inherit`, `env`, and what the arena tells it."""
    seen = tmp_path / "seen.json"
    teller = tmp_path / "teller.py"
    teller.write_text(TELL.format(str(seen), str(cups.STEADY)))
    told = bot("told", command=("{python}", "teller.py"), env={"MODEL": "big"})
    told = told.replace("env =", 'inherit = ["GPU"]\nenv =')
    file = cups.write(tmp_path, ONE, told, CRIBBAGE, top="blocks = 1")
    env = {**os.environ, "AWS_SECRET": "s", "GPU": "1", "PEGBOARD_TOKEN": "mine", "LC_ALL": "C"}
    command = [*cups.RUNNER, str(file), "--out", str(out)]
    runner = subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True)
    assert runner.returncode == 0, runner.stderr
    names = json.loads(seen.read_text())
    assert "AWS_SECRET" not in names
    assert (names["MODEL"], names["GPU"], names["LC_ALL"]) == ("big", "1", "C")
    assert names["PEGBOARD_TOKEN"] != "mine"
    own = {"MODEL", "GPU", "PEGBOARD_ADDRESS", "PEGBOARD_TOKEN", "PEGBOARD_BOT"}
    own |= {"PEGBOARD_PROCESS", "PEGBOARD_RUN_ID"}
    allowed = {name for name in names if name in BOT_NAMES or name.startswith("LC_")}
    assert set(names) == own | allowed


def test_the_folder_of_a_run_is_this_users_alone(
    uninterrupted: tuple[Path, Path, Results],
) -> None:
    """Records, logs and the database while it is there."""
    _, out, _ = uninterrupted
    for path in (out, *out.rglob("*")):
        assert path.stat().st_mode & 0o077 == 0, path


ABSENT = {
    "exits": bot("exits", command=("{python}", "-c", "raise SystemExit('no model file')")),
    "hangs": bot("hangs", env={"MISDEED": "hang"}),
    "dies": bot("dies", env={"MISDEED": "crash"}),
}


def test_bots_that_do_not_come_are_named_before_anything_is_rated(
    tmp_path: Path, out: Path
) -> None:
    """All of them at once, with status 1; mended, the same command plays."""
    top = "blocks = 1\n[time]\nmove_ms = 90000\nstartup_ms = 8000"
    parts = ("[[bots]]\n" + part.removeprefix("[[bots]]\n") for part in ABSENT.values())
    file = cups.write(tmp_path, ONE, *parts, CRIBBAGE, top=top)
    status, table, errors = cups.finish(cups.start(file, out))
    assert status == 1, errors
    assert not table
    assert cups.count_records(out) == 0
    times = "ended 3 times, the last time it"
    for line in (
        f"exits {times} exited with status 1: no model file; its log is {out}/bots/exits.log",
        f"dies {times} exited with status 3: Traceback: the bot lost its mind; its log is {out}",
        "hangs did not connect within 8 s; its log is ",
        "nothing was played, since 3 of 4 bots' processes did not make a first move",
    ):
        assert line in errors
    assert "one " not in errors.replace("no one", "")
    file = cups.write(tmp_path, ONE, TWO, CRIBBAGE, top=top)
    status, _, errors = cups.finish(cups.start(file, out, "--fresh"))
    assert status == 0, errors


def test_a_bot_that_never_moves_is_told_of(tmp_path: Path, out: Path) -> None:
    """It came, and forfeited everything: its row in the table means nothing."""
    bad = bot("bad", env={"MISDEED": "illegal"})
    file = cups.write(tmp_path, ONE, bad, CRIBBAGE, top="blocks = 1")
    for _ in range(2):
        status, table, errors = cups.finish(cups.start(file, out))
        assert status == 1
        assert "bad never made a move in any match; its results mean nothing" in errors
        assert "cup: 2 matches" in table


def test_fresh_sets_an_earlier_run_aside(
    uninterrupted: tuple[Path, Path, Results], tmp_path: Path
) -> None:
    """Its files and no others; nothing is lost."""
    _, done, _ = uninterrupted
    out = tmp_path / "out"
    shutil.copytree(done, out)
    (out / "notes.txt").write_text("mine")
    file = cups.write(tmp_path, ONE, TWO, CRIBBAGE, top="blocks = 1")
    status, _, errors = cups.finish(cups.start(file, out))
    assert status == 2
    assert "with --fresh" in errors
    status, table, errors = cups.finish(cups.start(file, out, "--fresh"))
    assert status == 0
    assert "cup: 2 matches" in table
    assert f"what an earlier run left here is now in {out}/earlier-1" in errors
    aside = {path.name for path in (out / "earlier-1").iterdir()}
    assert aside == {path.name for path in done.iterdir()} - {"lock"}
    assert (out / "notes.txt").exists()
    status, _, errors = cups.finish(cups.start(file, out))
    assert "all of it was played before; --fresh plays it anew" in errors


def test_a_process_that_hangs_loses_what_it_was_silent_in_and_no_more(
    tmp_path: Path, out: Path
) -> None:
    """The arena kills it; what else it was playing then is played again, not lost by a crash."""
    once = str(tmp_path / "hung")
    hangs = bot("hangs", env={"MISDEED": "sleep", "AT": "200", "ONCE": once})
    top = "blocks = 20\nconcurrency = 12\n[time]\nmove_ms = 3000"
    file = cups.write(tmp_path, ONE, TWO, hangs, CRIBBAGE, top=top)
    status, _, errors = cups.finish(cups.start(file, out))
    assert status == 0, errors
    assert "hangs seems to hang; its process is started again" in errors
    assert "is out" not in errors
    results = read_results(out)
    assert results.complete
    assert results.unrated == 0
    faults = {line.bot: line.faults for line in results.lines}
    assert "CRASH" not in faults["hangs"]
    assert sum(faults["hangs"].values()) >= 16
    ended = list(read_records(out / "records.jsonl"))
    cancelled = [match for match in ended if match.result.termination == "CANCELLED"]
    assert all("hangs" in match.bots for match in cancelled)
    assert len(ended) == results.total + len(cancelled)


@pytest.mark.long
def test_a_suspended_runner_costs_no_game(tmp_path: Path, out: Path) -> None:
    """Bots that print a lot play on while the runner stands still for longer than `move_ms`."""
    chatty = [bot(name, env={"MISDEED": "chat"}) for name in ("left", "right")]
    top = "blocks = 60\nconcurrency = 8\n[time]\nmove_ms = 10000"
    file = cups.write(tmp_path, *chatty, CRIBBAGE, top=top)
    runner = cups.start(file, out)
    cups.wait_for_records(runner, out, 4)
    runner.send_signal(signal.SIGSTOP)
    time.sleep(15)
    runner.send_signal(signal.SIGCONT)
    status, _, errors = cups.finish(runner)
    assert status == 0, errors
    assert not any(line.faults for line in read_results(out).lines)
    for path in (out / "bots").iterdir():
        assert path.stat().st_size <= 10 * 1024 * 1024


def test_a_local_server_that_is_killed_at_its_first_start_is_started_again(
    tmp_path: Path, out: Path
) -> None:
    """Only one that gives up by itself ends the run."""
    file = cups.write(tmp_path, ONE, TWO, CRIBBAGE, top="blocks = 1")
    runner = cups.start(file, out)
    while not (found := cups.processes_with(f"--store {out}")):
        assert runner.poll() is None
        time.sleep(0.001)
    os.kill(found[0], signal.SIGKILL)
    status, _, errors = cups.finish(runner)
    assert status == 0, errors
    assert "the server was killed by SIGKILL; it is started again" in errors


def test_a_long_folder_for_temporary_files_is_no_obstacle(tmp_path: Path, out: Path) -> None:
    """The path of a Unix socket has 107 bytes at most."""
    long = tmp_path / ("x" * 100)
    long.mkdir()
    file = cups.write(tmp_path, ONE, TWO, CRIBBAGE, top="blocks = 1")
    command = [*cups.RUNNER, str(file), "--out", str(out)]
    env = {**os.environ, "TMPDIR": str(long)}
    runner = subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True)
    assert runner.returncode == 0, runner.stderr
    assert "the socket is in /tmp" in runner.stderr


def remote(address: str, **more: int) -> tuple[str, ...]:
    """Return the parts of a file for a server elsewhere, with tokens 1 and 2."""
    lines = [f'address = "{address}"', 'organiser_token_env = "ORGANISER"']
    lines += [f"{key} = {value}" for key, value in more.items()]
    return (
        ONE.replace("[[bots]]", '[[bots]]\ntoken_env = "TOKEN_1"'),
        TWO.replace("[[bots]]", '[[bots]]\ntoken_env = "TOKEN_2"'),
        CRIBBAGE,
        "\n".join(["[server]", *lines]),
    )


TOKENS = {"ORGANISER": "an-organiser", "TOKEN_1": "token-of-one", "TOKEN_2": "token-of-two"}


@pytest.mark.parametrize("address", ["unix:/nowhere/socket", "localhost:1", "https://localhost:1"])
def test_a_server_that_is_not_there_is_told_of(tmp_path: Path, out: Path, address: str) -> None:
    """A word after two seconds, an end with a sentence after the patience that the file sets."""
    file = cups.write(tmp_path, *remote(address, patience_s=4))
    command = [*cups.RUNNER, str(file), "--out", str(out)]
    env = {**os.environ, **TOKENS}
    runner = subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True)
    assert runner.returncode == 2
    assert f"no server at {address} for 2 s" in runner.stderr
    assert "trying for 2 s more" in runner.stderr
    last = runner.stderr.splitlines()[-1]
    assert last.startswith(f"pegboard: no server at {address} for 4 s")
    assert "Traceback" not in runner.stderr


@contextmanager
def serving(folder: Path) -> Iterator[subprocess.Popen[str]]:
    """Serve on a socket in the folder, on a store there."""
    tokens = folder / "tokens.toml"
    tokens.write_text(
        '[organisers]\nme = "an-organiser"\n[bots]\none = "token-of-one"\ntwo = "token-of-two"\n'
    )
    tokens.chmod(0o600)
    serve = [sys.executable, "-m", "pegboard.cli.main", "serve", "--unix", str(folder / "s")]
    serve += ["--tokens", str(tokens), "--store", str(folder / "db"), "--log-level", "error"]
    server = subprocess.Popen(serve, stdout=subprocess.PIPE, text=True)
    assert server.stdout is not None
    try:
        assert server.stdout.readline().startswith("listening")
        yield server
    finally:
        server.kill()
        server.communicate()


def test_an_unknown_token_ends_the_run_at_once(tmp_path: Path, out: Path) -> None:
    """Also a bot's token in the organiser's place; no bot is started."""
    file = cups.write(tmp_path, *remote(f"unix:{tmp_path / 's'}"))
    command = [*cups.RUNNER, str(file), "--out", str(out)]
    with serving(tmp_path):
        for token in ("nobody-has-this-token", "token-of-one"):
            env = {**os.environ, **TOKENS, "ORGANISER": token}
            runner = subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True)
            assert runner.returncode == 2
            assert "does not take the organiser's token: " in runner.stderr.splitlines()[-1]
    assert not (out / "bots").exists()


def test_a_server_elsewhere_may_go_and_come_back(tmp_path: Path, out: Path) -> None:
    """The run says so, goes on with the same matches, and blames no bot."""
    parts = remote(f"unix:{tmp_path / 's'}", patience_s=120)
    file = cups.write(tmp_path, *parts, top="blocks = 30\nconcurrency = 4")
    command = [*cups.RUNNER, str(file), "--out", str(out)]
    env = {**os.environ, **TOKENS}
    with (tmp_path / "errors").open("w+") as errors:
        with serving(tmp_path):
            runner = subprocess.Popen(command, cwd=tmp_path, env=env, stderr=errors, text=True)
            while cups.count_records(out) < 5:
                assert runner.poll() is None
                time.sleep(0.01)
        while "no server at" not in (tmp_path / "errors").read_text():
            assert runner.poll() is None
            time.sleep(0.05)
        with serving(tmp_path):
            assert runner.wait(200) == 0, (tmp_path / "errors").read_text()
    assert "is back after" in (tmp_path / "errors").read_text()
    results = read_results(out)
    assert results.complete
    assert not any(line.faults for line in results.lines)


BAD_BOTS = {
    "crashes": bot("crashes", env={"MISDEED": "crash", "AT": "20"}),
    "illegal": bot("illegal", env={"MISDEED": "illegal", "AT": "30"}),
    "resigns": bot("resigns", env={"MISDEED": "resign", "AT": "30"}),
    "sleeps": bot("sleeps", env={"MISDEED": "sleep", "AT": "30"}),
}
EXPECTED_FAULTS = {
    "crashes": {"CRASH"},
    "illegal": {"ILLEGAL_MOVE"},
    "resigns": {"RESIGN"},
    "sleeps": {"TIMEOUT", "DISCONNECT", "CRASH"},
}


def test_a_bad_bot_stops_no_other(tmp_path: Path, out: Path) -> None:
    """Crashing, silent, illegal: each loses its own matches with a reason that names it."""
    top = "blocks = 2\nconcurrency = 16\nrestarts = 1\n[time]\nmove_ms = 2000\nstartup_ms = 6000"
    parts = ("[[bots]]\n" + part.removeprefix("[[bots]]\n") for part in BAD_BOTS.values())
    file = cups.write(tmp_path, ONE, TWO, *parts, CRIBBAGE, top=top)
    runner = cups.start(file, out)
    status, table, errors = cups.finish(runner)
    assert status == 0, errors
    results = read_results(out)
    assert results.complete
    faults = {line.bot: set(line.faults) for line in results.lines}
    assert faults["one"] == faults["two"] == set()
    for name, allowed in EXPECTED_FAULTS.items():
        assert faults[name], f"{name} got away"
        assert faults[name] <= allowed
        assert name in results.last_faults[name], "the reason names the bot"
    assert "the bot lost its mind" in results.last_faults["crashes"]
    assert "crashes exited with status 3: Traceback: the bot lost its mind" in errors
    assert "the rest of its matches is forfeited" in errors
    assert "the bot lost its mind" in table
    assert {line.bot for line in results.lines[:2]} == {"one", "two"}


ZOO = ("illegal", "stale", "meddler", "deaf", "crash", "slow", "stuffed", "holder", "poller")
"""Those that come, and get so far as to lose a match by what they do or leave."""

ZOO_ABSENT = (
    *("exits", "hangs", "noise", "garbage_first", "garbage_later", "old_protocol", "impostor"),
    *("organiser", "flood", "greeter"),
)
"""Those that make none: the check before a run names them."""

ZOO_EITHER = ("huge", "chatter", "resigner", "longnames", "stutter", "loudkit", "revolving")
"""They send far too much at once; whether a move comes first is a matter of time."""


ZOO_HARMLESS = ("spy",)
"""Those that only try to see too much; tests/service/test_zoo.py plays with them."""

ZOO_OF_THE_CHECK = (
    *("steady", "forgetful", "sulker", "overclaimer", "collector", "heartless", "stubborn"),
    *("clinger", "quitter", "twofold", "insister", "narrow_minded", "hoarder", "forker"),
)
"""Those that break one point of the protocol; tests/conformance plays with them."""


def test_every_kind_of_the_zoo_has_its_place() -> None:
    """A new bad bot is told how a tournament has to take it."""
    source = (Path(__file__).parents[1] / "bots" / "zoo.py").read_text(encoding="utf-8")
    kinds = re.findall(r"^        (\w+),$", source.partition("KINDS:")[2], re.MULTILINE)
    placed = (*ZOO, *ZOO_ABSENT, *ZOO_EITHER, *ZOO_HARMLESS, *ZOO_OF_THE_CHECK)
    assert sorted(kinds) == sorted(placed)


@pytest.mark.long
@pytest.mark.timeout(1000)
def test_a_whole_zoo_ends_with_a_table(tmp_path: Path, out: Path) -> None:
    """Every kind of bad bot at once: all matches end, and the two good bots lose none by a fault."""
    zoo = str(Path(__file__).parents[1] / "bots" / "zoo.py")
    bad = [bot(kind, command=("{python}", zoo, kind)) for kind in ZOO]
    top = "blocks = 1\nconcurrency = 64\nrestarts = 1\n[time]\nmove_ms = 3000\nstartup_ms = 20000"
    file = cups.write(tmp_path, ONE, TWO, *bad, CRIBBAGE, top=top)
    status, _, errors = cups.finish(cups.start(file, out), timeout_s=900)
    assert status == 1, errors
    for kind in ("illegal", "deaf", "holder", "poller"):
        assert f"{kind} never made a move in any match" in errors
    results, ended = read_results(out), list(read_records(out / "records.jsonl"))
    assert results.complete
    faults = {line.bot: line.faults for line in results.lines}
    assert not faults["one"]
    assert not faults["two"]
    for kind in ZOO:
        assert faults[kind], f"{kind} got away"
        assert kind in results.last_faults[kind], "the reason names the bot"
    good = [match for match in ended if set(match.bots) == {"one", "two"}]
    assert [match.result.termination for match in good] == ["NORMAL", "NORMAL"]


@pytest.mark.long
def test_the_check_names_all_of_the_zoo_that_do_not_play(tmp_path: Path, out: Path) -> None:
    """Everything that keeps a bot from its first move is told at once, with its last words."""
    zoo = str(Path(__file__).parents[1] / "bots" / "zoo.py")
    kinds = ZOO_ABSENT + ZOO_EITHER
    bad = [bot(kind, command=("{python}", zoo, kind)) for kind in kinds]
    top = "blocks = 1\nrestarts = 1\n[time]\nstartup_ms = 20000"
    file = cups.write(tmp_path, ONE, TWO, *bad, CRIBBAGE, top=top)
    status, _, errors = cups.finish(cups.start(file, out))
    assert status == 1, errors
    named = {line.split()[0] for line in errors.splitlines() if "; its log is " in line}
    assert set(ZOO_ABSENT) <= named <= set(kinds)
    assert cups.count_records(out) == 0


def test_a_server_that_cannot_start_is_explained(tmp_path: Path, out: Path) -> None:
    """One sentence with the server's own words; nothing is left running."""
    file = cups.write(tmp_path, ONE, TWO, CRIBBAGE)
    runner = cups.start(file, out)
    cups.wait_for_records(runner, out, 1)
    kill_runner(runner)
    assert cups.nothing_left(str(out))
    for path in out.glob("server.db*"):
        path.unlink()
    (out / "server.db").write_bytes(b"this is no database" * 100)
    status, _, errors = cups.finish(cups.start(file, out))
    assert status == 2
    assert "pegboard: the server exited with status 2: " in errors
    assert "Traceback" not in errors


def test_a_tournament_at_a_server_that_runs_elsewhere(tmp_path: Path, out: Path) -> None:
    """Tokens come from the environment; a bot without a command is run by its author."""
    tokens = tmp_path / "tokens.toml"
    tokens.write_text('[organisers]\nme = "o"\n[bots]\none = "1"\ntwo = "2"\n')
    tokens.chmod(0o600)
    socket = tmp_path / "s"
    serve = [sys.executable, "-m", "pegboard.cli.main", "serve", "--unix", str(socket)]
    serve += ["--tokens", str(tokens), "--durability", "memory", "--log-level", "error"]
    env = {**os.environ, "ORGANISER": "o", "TOKEN_1": "1", "TOKEN_2": "2"}
    server = subprocess.Popen(serve, stdout=subprocess.PIPE, text=True)
    assert server.stdout is not None
    assert server.stdout.readline().startswith("listening")
    other = subprocess.Popen(
        [sys.executable, str(cups.STEADY)],
        env={**env, "PEGBOARD_ADDRESS": f"unix:{socket}", "PEGBOARD_TOKEN": "2"},
    )
    file = cups.write(
        tmp_path,
        ONE.replace("[[bots]]", '[[bots]]\ntoken_env = "TOKEN_1"'),
        '[[bots]]\nname = "two"\ntoken_env = "TOKEN_2"\n',
        CRIBBAGE,
        f'[server]\naddress = "unix:{socket}"\norganiser_token_env = "ORGANISER"\n',
    )
    try:
        command = [*cups.RUNNER, str(file), "--out", str(out)]
        runner = subprocess.run(command, capture_output=True, text=True, env=env, timeout=250)
        assert runner.returncode == 0, runner.stderr
        assert read_results(out).complete
        again = subprocess.run([*command[:-1], f"{out}2"], capture_output=True, text=True, env=env)
        assert again.returncode == 2
        assert "leave `seed` out, or change one of them" in again.stderr
        missing = subprocess.run([*command[:-1], f"{out}3"], capture_output=True, text=True)
        assert missing.stderr.splitlines()[-1].endswith(
            "the variable ORGANISER is not set; put the token there"
        )
    finally:
        other.kill()
        server.terminate()
        other.wait()
        server.wait()
        server.stdout.close()
