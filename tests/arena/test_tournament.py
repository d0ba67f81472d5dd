"""Whole tournaments: a real server, bots as real processes, and everything that can go wrong."""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.arena import cups
from tests.arena.cups import CRIBBAGE, DRAW, ONE, THREE, TWO, bot

from pegboard.arena.folder import read_results
from pegboard.arena.results import Results
from pegboard.rules.record import Record, verify

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
    assert {path.name for path in (out / "bots").iterdir()} == {
        "one.log",
        "two.log",
        "three--1.log",
        "three--2.log",
    }
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
    """Bots come back, matches go on, nobody is blamed, and the table is the same."""
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
    """Nothing is waited for, and still nothing is left behind."""
    file = cups.write(tmp_path, ONE, TWO, CRIBBAGE, top="blocks = 100")
    runner = cups.start(file, out)
    cups.wait_for_records(runner, out, 1)
    runner.send_signal(signal.SIGINT)
    time.sleep(0.05)
    runner.send_signal(signal.SIGINT)
    assert cups.finish(runner, 5)[0] == 130


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


BAD_BOTS = {
    "crashes": bot("crashes", env={"MISDEED": "crash", "AT": "20"}),
    "exits": bot("exits", command=("{python}", "-c", "raise SystemExit('no model file')")),
    "illegal": bot("illegal", env={"MISDEED": "illegal", "AT": "30"}),
    "resigns": bot("resigns", env={"MISDEED": "resign", "AT": "30"}),
    "sleeps": bot("sleeps", env={"MISDEED": "sleep", "AT": "30"}),
    "hangs": bot("hangs", env={"MISDEED": "hang"}),
}
EXPECTED_FAULTS = {
    "crashes": {"CRASH"},
    "exits": {"CRASH"},
    "illegal": {"ILLEGAL_MOVE"},
    "resigns": {"RESIGN"},
    "sleeps": {"TIMEOUT", "DISCONNECT", "CRASH"},
    "hangs": {"DISCONNECT", "CRASH"},
}


def test_a_bad_bot_stops_nobody(tmp_path: Path, out: Path) -> None:
    """Crashing, silent, illegal: each loses its own matches with a reason that names it."""
    top = "blocks = 2\nconcurrency = 16\nrestarts = 2\n[time]\nmove_ms = 2000\nstartup_ms = 6000"
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
    assert "no model file" in results.last_faults["exits"]
    assert "exits exited with status 1: no model file" in errors
    assert "the rest of its matches is forfeited" in errors
    assert "no model file" in table
    assert {line.bot for line in results.lines[:2]} == {"one", "two"}


ZOO = (
    *("exits", "hangs", "noise", "garbage_first", "garbage_later", "old_protocol", "illegal"),
    *("stale", "meddler", "impostor", "organiser", "huge", "flood", "chatter", "deaf", "crash"),
    *("slow", "stuffed", "holder", "poller", "greeter"),
    *("resigner", "longnames", "stutter", "loudkit", "revolving"),
)


@pytest.mark.long
@pytest.mark.timeout(1000)
def test_a_whole_zoo_ends_with_a_table(tmp_path: Path, out: Path) -> None:
    """Every kind of bad bot at once: all matches end, and the two good bots lose none by a fault."""
    zoo = str(Path(__file__).parents[1] / "bots" / "zoo.py")
    bad = [bot(kind, command=("{python}", zoo, kind)) for kind in ZOO]
    top = "blocks = 1\nconcurrency = 64\nrestarts = 1\n[time]\nmove_ms = 3000\nstartup_ms = 20000"
    file = cups.write(tmp_path, ONE, TWO, *bad, CRIBBAGE, top=top)
    results, ended = cups.play(file, out, timeout_s=900)
    assert results.complete
    faults = {line.bot: line.faults for line in results.lines}
    assert not faults["one"]
    assert not faults["two"]
    for kind in ZOO:
        assert faults[kind], f"{kind} got away"
        assert kind in results.last_faults[kind], "the reason names the bot"
    good = [match for match in ended if set(match.bots) == {"one", "two"}]
    assert [match.termination for match in good] == ["NORMAL", "NORMAL"]


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
    """Tokens come from the environment; a bot without a command is somebody else's."""
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
        runner = subprocess.run(command, capture_output=True, text=True, env=env, timeout=60)
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
