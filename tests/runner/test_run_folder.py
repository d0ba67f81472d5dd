"""The folder of a run: locked, continued only with the same file, never torn."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
import tomllib
from pathlib import Path

import pytest

from pegboard.arena.schedule import secret_of
from pegboard.rules.record import Record
from pegboard.rules.results import Result, Termination
from pegboard.runner.errors import FolderError
from pegboard.runner.records_file import read_records
from pegboard.runner.run_folder import RunFolder, read_results

TEXT = 'name = "cup"\nconcurrency = 4\n'
EVENTS = """
blocks = 5
[[events]]
variant = "cribbage"
[[events]]
variant = "draw"
blocks = 2
"""
BOT_A, BOT_B = '[[bots]]\nname = "a"\n', '[[bots]]\nname = "b"\n'


def opened(path: Path, text: str) -> RunFolder:
    """Return the folder of a run of the file with this text."""
    return RunFolder(path, tomllib.loads(text), text)


def record(match: str) -> Record:
    """Return a record with this id."""
    return Record(
        match=match,
        variant="cribbage",
        options={},
        bots=("a", "b"),
        nonce="n",
        seed=bytes(32),
        commitment=bytes(32),
        moves=("0 PLAY 5C",),
        result=Result(Termination.NORMAL, None, (1.0, 0.0), (121, 90), (1, 0)),
        events_digest="",
    )


def names(folder: Path) -> list[str]:
    """Return the matches of the records file."""
    return [ended.match for ended in read_records(folder / "records.jsonl")]


def test_a_run_leaves_what_continues_it(tmp_path: Path) -> None:
    """File, label and records are there again in the next session."""
    out = tmp_path / "out"
    with opened(out, TEXT) as folder:
        assert not folder.continued
        label, secret = folder.label, folder.secret
        folder.records.append([record("m1"), record("m2")])
    with opened(out, TEXT) as folder:
        assert folder.continued
        assert (folder.label, folder.secret) == (label, secret)
        first, second = folder.records.read()
        assert (first.match, second.match) == ("m1", "m2")
        assert (first.bots, first.result) == (("a", "b"), record("m1").result)
    assert (out / "tournament.toml").read_text() == TEXT
    assert Record.from_json((out / "records.jsonl").read_text().splitlines()[0]) == record("m1")


@pytest.mark.parametrize("kept", [0, 1, 100])
def test_half_a_line_is_cut_off(tmp_path: Path, kept: int) -> None:
    """A run that was killed while it wrote: the match is told again by the server."""
    with opened(tmp_path, TEXT) as folder:
        folder.records.append([record("m1"), record("m2")])
    path = tmp_path / "records.jsonl"
    first = path.read_bytes().splitlines(keepends=True)[0]
    path.write_bytes(first + first[:kept])
    with opened(tmp_path, TEXT) as folder:
        assert [ended.match for ended in folder.records.read()] == ["m1"]
        folder.records.append([record("m3")])
    assert names(tmp_path) == ["m1", "m3"]


def test_only_half_a_line_is_an_empty_file(tmp_path: Path) -> None:
    """Killed while it wrote the very first record."""
    with opened(tmp_path, TEXT):
        pass
    (tmp_path / "records.jsonl").write_bytes(b'{"match":')
    with opened(tmp_path, TEXT) as folder:
        assert list(folder.records.read()) == []


def test_a_damaged_line_is_named(tmp_path: Path) -> None:
    """Nothing is skipped in silence."""
    with opened(tmp_path, TEXT) as folder:
        folder.records.append([record("m1")])
    path = tmp_path / "records.jsonl"
    path.write_bytes(b"rubbish\n" + path.read_bytes())
    with opened(tmp_path, TEXT) as folder, pytest.raises(FolderError, match="line 1: not a rec"):
        list(folder.records.read())


def test_another_file_is_refused_with_the_key_that_changed(tmp_path: Path) -> None:
    """The sentence says what to do."""
    with opened(tmp_path, TEXT):
        pass
    with pytest.raises(FolderError, match=r"seed is 2 and was not set; undo the change .* --out"):
        opened(tmp_path, TEXT + "seed = 2\n")
    with opened(tmp_path, TEXT.replace("concurrency = 4", "concurrency = 9")):
        pass
    (tmp_path / "tournament.toml").write_text(TEXT + "restarts = 3\n")
    with opened(tmp_path, TEXT):
        pass  # the digest is what counts, an edited copy does no harm


def test_every_run_draws_a_secret_that_only_its_owner_can_read(tmp_path: Path) -> None:
    """The same file in two folders has other deals; no other user can read the secret."""
    secrets = []
    for name in ("one", "two"):
        with opened(tmp_path / name, TEXT) as folder:
            secrets.append(folder.secret)
        assert (tmp_path / name / "run.json").stat().st_mode & 0o777 == 0o600
    assert secrets[0] != secrets[1]
    assert {len(secret) for secret in secrets} == {32}


def test_a_seed_makes_the_secret(tmp_path: Path) -> None:
    """So the same file has the same deals in every folder."""
    with opened(tmp_path / "one", "seed = 7\n" + TEXT) as one:
        pass
    with opened(tmp_path / "two", "seed = 7\n" + TEXT) as two:
        pass
    assert one.secret == two.secret == secret_of(7, "cup")
    assert one.label != two.label


def test_a_run_is_repeated_from_its_run_json(tmp_path: Path) -> None:
    """A new folder that holds nothing but the file with the secret."""
    with opened(tmp_path / "one", TEXT + EVENTS) as one:
        one.records.append([record("m1")])
    (tmp_path / "two").mkdir()
    shutil.copy(tmp_path / "one" / "run.json", tmp_path / "two")
    with opened(tmp_path / "two", TEXT + EVENTS) as two:
        assert two.secret == one.secret
        assert list(two.records.read()) == []


def test_blocks_may_grow_but_not_shrink(tmp_path: Path) -> None:
    """Of the tournament and of one event; what was added stays."""
    with opened(tmp_path, TEXT + EVENTS) as folder:
        secret, digest = folder.secret, folder.digest
    grown = TEXT + EVENTS.replace("blocks = 5", "blocks = 9").replace("blocks = 2", "blocks = 3")
    with opened(tmp_path, grown) as folder:
        assert (folder.secret, folder.digest) == (secret, digest)
    assert (tmp_path / "tournament.toml").read_text() == grown
    assert (tmp_path / "run.json").stat().st_mode & 0o777 == 0o600
    with pytest.raises(
        FolderError, match=r"blocks of cribbage is 5 and was 9; blocks may be added"
    ):
        opened(tmp_path, TEXT + EVENTS.replace("blocks = 2", "blocks = 3"))
    with pytest.raises(FolderError, match="blocks of draw is 2 and was 3"):
        opened(tmp_path, grown.replace("blocks = 3", "blocks = 2"))
    with opened(tmp_path, grown):
        pass  # a file that was refused has changed nothing


def test_bots_may_be_put_in_another_order(tmp_path: Path) -> None:
    """Nothing depends on it; another bot is another tournament."""
    with opened(tmp_path, TEXT + BOT_A + BOT_B):
        pass
    with opened(tmp_path, TEXT + BOT_B + BOT_A):
        pass
    with pytest.raises(FolderError, match="bots is a list of 1 and was a list of 2"):
        opened(tmp_path, TEXT + BOT_A)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ('{"version":2,"digest":"d","label":"l"}', "is of version 2, and this program continues"),
        ('{"version":3,"digest":"d","label":"l"}', "cannot be read"),
        (
            '{"version":3,"digest":"d","label":"l","secret":"xyz","blocks":{},"lasting":{}}',
            "cannot be read",
        ),
        ("", "cannot be read"),
    ],
)
def test_a_run_of_another_kind_is_refused(tmp_path: Path, text: str, sentence: str) -> None:
    """An old folder, or a damaged one: play anew elsewhere."""
    (tmp_path / "run.json").write_text(text)
    with pytest.raises(FolderError, match=sentence):
        opened(tmp_path, TEXT)


def test_a_folder_with_other_things_in_it_is_left_alone(tmp_path: Path) -> None:
    """Results never mix with files of another purpose."""
    (tmp_path / "thesis.txt").write_text("")
    with pytest.raises(FolderError, match="holds other files"):
        opened(tmp_path, TEXT)
    with pytest.raises(FolderError, match="is a file"):
        opened(tmp_path / "thesis.txt", TEXT)
    assert [entry.name for entry in tmp_path.iterdir()] == ["thesis.txt"]


def test_a_second_run_is_refused_with_the_process_named(tmp_path: Path) -> None:
    """And the first goes on undisturbed."""
    with opened(tmp_path, TEXT) as folder:
        with pytest.raises(FolderError, match=f"in use by process {os.getpid()};"):
            opened(tmp_path, TEXT)
        folder.records.append([record("m1")])
    assert names(tmp_path) == ["m1"]


def test_a_lock_outlives_its_run_until_the_sweep_is_over(tmp_path: Path) -> None:
    """The lock's process is dead, its reaper still holds on: wait for that, then go on."""
    code = (
        "import os, subprocess, sys; from pathlib import Path;"
        "from pegboard.runner.run_folder import RunFolder;"
        f"folder = RunFolder(Path({str(tmp_path)!r}), {tomllib.loads(TEXT)!r});"
        "subprocess.Popen(['sleep', '0.7'], pass_fds=(folder.lock,));"
        "os.kill(os.getpid(), 9)"
    )
    subprocess.run([sys.executable, "-c", code], check=False)
    begun = time.monotonic()
    with opened(tmp_path, TEXT):
        assert time.monotonic() - begun > 0.2


def test_results_that_are_not_there_are_asked_for(tmp_path: Path) -> None:
    """`show` of a folder without results says which command makes them."""
    with pytest.raises(FolderError, match="no such file; `pegboard tournament run"):
        read_results(tmp_path)
    (tmp_path / "results.json").write_text(json.dumps({"name": 3}))
    with pytest.raises(FolderError, match="cannot be read"):
        read_results(tmp_path)
