"""A tournament file is accepted as a whole or refused with every problem in it."""

from __future__ import annotations

import json
import sys
import tomllib
from pathlib import Path

import msgspec
import pytest

from pegboard.arena.config import Config, ConfigError
from pegboard.arena.config_checks import checked
from pegboard.arena.config_reader import config_of
from pegboard.arena.continuation import blocks_of, changed_key
from pegboard.runner.tournament_file import load, parse

PATH = Path("cups/cup.toml")
BOTS = """
[[bots]]
name = "a"
command = ["{python}", "a.py"]
[[bots]]
name = "b"
command = ["{python}", "b.py"]
"""
EVENTS = """
[[events]]
variant = "cribbage"
"""
GOOD = 'name = "cup"\n' + BOTS + EVENTS


@pytest.fixture(autouse=True)
def _scripts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The bots' scripts are there."""
    monkeypatch.chdir(tmp_path)
    for name in ("a.py", "b.py"):
        (tmp_path / "cups").mkdir(exist_ok=True)
        (tmp_path / "cups" / name).write_text("")


def config_in(text: str, path: Path = PATH) -> Config:
    """Return the tournament of a file with this text."""
    return parse(text, path).config


def problems(text: str) -> list[str]:
    """Return what is wrong with a file, without its path."""
    with pytest.raises(ConfigError) as caught:
        parse(text, PATH)
    for problem in caught.value.problems:
        assert problem.startswith("cups/cup.toml: "), "every sentence names the file"
        assert "\n" not in problem
    return [problem.removeprefix("cups/cup.toml: ") for problem in caught.value.problems]


def test_a_plain_file_gets_all_defaults() -> None:
    """Name, bots and events are all that has to be said."""
    config = config_in(GOOD, PATH)
    assert (config.blocks, config.concurrency, config.time.move_ms) == (50, 64, 10_000)
    assert config.seed is None, "a default seed would be known to all bots"
    event = config.events[0]
    assert (event.seats, event.blocks, event.name) == (2, 50, "cribbage")
    assert config.bots[0].command == (sys.executable, "a.py")


def test_options_may_be_written_as_toml_values() -> None:
    """Options travel as text; people write numbers and truth values."""
    config = config_in(GOOD + "options = { match_games = 3, auto_go = true }\n", PATH)
    assert config.events[0].options == {"match_games": "3", "auto_go": "on"}


def test_a_command_is_found_beside_the_file(tmp_path: Path) -> None:
    """A path in a command is relative to the folder of the file, not to the working folder."""
    script = tmp_path / "bot.sh"
    script.write_text("#!/bin/sh\n")
    script.chmod(0o755)
    text = GOOD.replace('["{python}", "a.py"]', '["./bot.sh", "{python}"]')
    (tmp_path / "b.py").write_text("")
    config = config_in(text, tmp_path / "cup.toml")
    assert config.bots[0].command == (str(script), sys.executable)


def test_a_tournament_needs_no_file() -> None:
    """From a dictionary or a struct, as a request brings it; a problem names its key."""
    raw = {
        "name": "cup",
        "bots": [{"name": "a", "command": ["x"]}, {"name": "b", "command": ["x"]}],
        "events": [{"variant": "cribbage", "blocks": 2}],
    }
    config = config_of(raw)
    assert config.bots[0].command == ("x",), "programs are not looked for"
    assert checked(config) == (config, [])
    broken = msgspec.structs.replace(config, concurrency=0, bots=config.bots[:1])
    assert checked(broken)[1] == [
        "concurrency: 0 is not in 1 to 100000",
        'event 1 ("cribbage"): needs at least two bots',
    ]
    with pytest.raises(ConfigError) as caught:
        config_of({**raw, "events": [{"variant": "cribbage", "blokcs": 2}]})
    assert caught.value.problems == (
        'event 1 ("cribbage"), blokcs: unknown key; did you mean "blocks"?',
    )


def test_a_link_to_a_file_is_followed(tmp_path: Path) -> None:
    """Commands are relative to the folder of the file itself."""
    (tmp_path / "link.toml").symlink_to(tmp_path / "cups" / "cup.toml")
    assert config_in(GOOD, tmp_path / "link.toml").bots[0].command == (sys.executable, "a.py")


def test_a_byte_order_mark_is_skipped(tmp_path: Path) -> None:
    """Some editors write one."""
    path = tmp_path / "cups" / "cup.toml"
    path.write_text("\ufeff" + GOOD, encoding="utf-8")
    assert load(path).config.name == "cup"


@pytest.mark.parametrize(
    ("command", "problem"),
    [
        (["{python}", "-u", "my_bot.py"], "my_bot.py; arguments are relative to the folder of"),
        (["{python}", "my_bot"], "my_bot; arguments are relative to the folder of this file"),
        (["{python}", "-m", "my_bot"], ""),
        (["{python}", "-c", "print()"], ""),
        (["{python}", "a.py", "--save", "new.py"], ""),
        (["{python}", "a.py", "new.py"], ""),
        (["sh", "-c", "exec ./run.sh"], ""),
        (["env", "X=1", "python3", "gone.py"], "gone.py; arguments are relative"),
        (["sh", "cups/a.py"], "cups/a.py; arguments are relative to the folder of this file"),
        (["./plain"], "plain is not executable; `chmod +x "),
        (["./windows"], "ends with a carriage return"),
        (["./folder"], "folder is a folder; name a program in it"),
    ],
)
def test_a_script_that_is_not_there_is_found_before_the_start(
    tmp_path: Path, command: list[str], problem: str
) -> None:
    """What an interpreter is given, and what looks like a script; not options' values."""
    cups = tmp_path / "cups"
    (cups / "plain").write_text("")
    (cups / "folder").mkdir()
    (cups / "windows").write_bytes(b"#!/usr/bin/env python3\r\nprint()\r\n")
    (cups / "windows").chmod(0o755)
    text = GOOD.replace('["{python}", "b.py"]', json.dumps(command))
    if not problem:
        parse(text, PATH)
        return
    (found,) = problems(text)
    assert found.startswith('bot 2 ("b"), command: ')
    assert problem in found


SECOND = '"{python}", "b.py"'
MANY = BOTS.replace('"a"', '"c"').replace('"b"', '"d"')
HUGE = 'event 1 ("cribbage"): about 12,000,000 matches, more than 10,000,000; take fewer'

BAD_KEYS = [
    ("nme = 1\n" + GOOD, ['nme: unknown key; did you mean "name"?']),
    (GOOD.replace('name = "cup"', ""), ["name: missing"]),
    (
        GOOD.replace('command = ["{python}", "b.py"]', 'comand = ["x"]'),
        ['bot 2 ("b"), comand: unknown key; did you mean "command"?'],
    ),
    (
        GOOD + "speed = 3\n",
        ['event 1 ("cribbage"), speed: unknown key; known are variant, seats, opt'],
    ),
    (GOOD + "[time]\nmove = 3\n", ['time.move: unknown key; did you mean "move_ms"?']),
    (GOOD.replace("[[events]]", "[events]"), ["events: write [[events]] with two brackets"]),
    ('name = "cup"\n' + BOTS, ["no [[events]]: a tournament needs at least one"]),
    ('name = "cup"\n' + EVENTS, ["no [[bots]]: a tournament needs at least one"]),
    ("name = \n", ["not valid TOML: invalid value"]),
]
BAD_VALUES = [
    ('blocks = "ten"\n' + GOOD, ["blocks: expected int, got str"]),
    ("blocks = 0\n" + GOOD, ["blocks: 0 is not in 1 to 1000000"]),
    ("concurrency = -1\n" + GOOD, ["concurrency: -1 is not in 1 to 100000"]),
    ("seed = 1.5\n" + GOOD, ["seed: expected int | str | null, got float"]),
    ("time = 3\n" + GOOD, ["time: expected a table, got 3"]),
    (GOOD + "[time]\nmove_ms = -3\n", ["time.move_ms: -3 is not in 0 to 86400000"]),
    (GOOD.replace('"cup"', '" "'), ["name: give the tournament a name"]),
    ("blocks = 1000000\n" + GOOD + MANY, [HUGE]),
]
BAD_BOTS = [
    (GOOD.replace('name = "b"', 'name = "A"'), ['bot 2 ("A"), name: bot 1 has this name too']),
    (
        GOOD.replace('name = "b"', 'name = "b/c"'),
        ["bot 2 (\"b/c\"), name: 'b/c' cannot be a name; take at"],
    ),
    (
        GOOD.replace('name = "b"', 'name = "b--2"'),
        ["bot 2 (\"b--2\"), name: 'b--2' cannot be a name; take at"],
    ),
    (GOOD.replace('name = "b"', "name = 7"), ["bot 2, name: expected str, got int"]),
    (
        GOOD.replace(SECOND, '"no-such-program-7"'),
        ["bot 2 (\"b\"), command: 'no-such-program-7' is not on PATH; install it or give its"],
    ),
    (GOOD.replace(SECOND, '"./b"'), ['bot 2 ("b"), command: there is no file ']),
    (
        GOOD.replace('command = ["{python}", "b.py"]', ""),
        ['bot 2 ("b"), command: missing, e.g. ["{python}", "my_bot.py"]'],
    ),
    (
        GOOD.replace('name = "b"', 'name = "b"\nprocesses = 0'),
        ['bot 2 ("b"), processes: 0 is not in'],
    ),
    (
        GOOD.replace('name = "b"', 'name = "b"\ntoken_env = "B"'),
        ['bot 2 ("b"), token_env: only for'],
    ),
    (
        GOOD + '[server]\naddress = "host:1"\n',
        ["server.organiser_token_env", 'bot 1 ("a"), token_env', 'bot 2 ("b"), token_env'],
    ),
    (
        'name = "cup"\n' + BOTS[: len(BOTS) // 2] + EVENTS,
        ['event 1 ("cribbage"): needs at least two bots'],
    ),
]
ODD_TEXTS = [
    (
        GOOD.replace('["{python}", "b.py"]', '"python b.py"'),
        ['bot 2 ("b"), command: write a list, command = ["python", "b.py"]'],
    ),
    (GOOD.replace(SECOND, '"x\\u0000"'), ['bot 2 ("b"), command: holds a NUL character']),
    (
        GOOD.replace('name = "b"', 'name = "b"\nenv = { "A=B" = "1" }'),
        ["bot 2 (\"b\"), env: a variable cannot be called 'A=B'"],
    ),
    (
        GOOD.replace('name = "b"', 'name = "b"\nenv = { SIZE = 7 }'),
        ['bot 2 ("b"), env.SIZE: expected text, got 7; put it in quotes'],
    ),
    (
        GOOD.replace('name = "b"', 'name = "b"\nenv = { SIZE = "\\u0000" }'),
        ['bot 2 ("b"), env.SIZE: holds a NUL character'],
    ),
    (GOOD.replace('"cup"', '"c\\u0000p"'), ["name: holds a NUL character"]),
    (GOOD + "options = { target = 1.5 }\n", ['event 1 ("cribbage"), options.target: expected te']),
    (
        GOOD.replace('["{python}", "b.py"]', "[1]"),
        ['bot 2 ("b"), command[0]: expected str, got int'],
    ),
    (GOOD + "[time]\nmatch_ms = -1\n", ["time.match_ms: -1 is not in 0 to"]),
    (GOOD + "[server]\npatience_s = 0\n", ["server.patience_s: 0 is not in 1 to"]),
]
BAD_EVENTS = [
    (
        GOOD.replace('"cribbage"', '"cribage"'),
        ["event 1 (\"cribage\"): no variant 'cribage'; did you mean"],
    ),
    (GOOD + "seats = 4\n", ['event 1 ("cribbage"), seats: cribbage is for 2, not 4']),
    (GOOD + "options = { target = 100000 }\n", ['event 1 ("cribbage"): ']),
    (GOOD + "options = { tarjet = 5 }\n", ['event 1 ("cribbage"): ']),
    (GOOD + 'orders = "some"\n', ["event 1 (\"cribbage\"), orders: invalid enum value 'some'"]),
    (GOOD + EVENTS, ["event 2 (\"cribbage\"): event 1 is called 'cribbage' too; tell them apart"]),
    (
        GOOD.replace('"cribbage"', '"cribbage-3p"'),
        ['event 1 ("cribbage-3p"): needs 3 bots and there are 2; add bots, or let'],
    ),
]


@pytest.mark.parametrize(
    ("text", "expected"), BAD_KEYS + BAD_VALUES + BAD_BOTS + ODD_TEXTS + BAD_EVENTS
)
def test_every_problem_gets_a_sentence(text: str, expected: list[str]) -> None:
    """Each problem is one sentence that names file and key and says what to do."""
    found = problems(text)
    assert len(found) == len(expected), found
    for sentence, start in zip(found, expected, strict=True):
        assert sentence.startswith(start), sentence


def test_all_problems_are_told_at_once() -> None:
    """So the file can be mended at once."""
    text = GOOD.replace('name = "b"', 'name = "a"')
    text = text.replace('"cribbage"', '"whist"')
    assert len(problems(text)) == 2


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    """So is a file that is not UTF-8 text."""
    with pytest.raises(ConfigError, match=r"none\.toml: no such file"):
        load(tmp_path / "none.toml")
    (tmp_path / "bytes.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(ConfigError, match="cannot be read"):
        load(tmp_path / "bytes.toml")


BOTS_B_A = '[[bots]]\nname = "b"\n[[bots]]\nname = "a"'


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ("seed = 1", "seed = 2", "seed is 2 and was 1"),
        ("a.b = 1", "a.b = 2", "a.b is 2 and was 1"),
        ("[[x]]\ny = 1", "[[x]]\ny = 2", "x[0].y is 2 and was 1"),
        ("[[x]]\ny = 1", "[[x]]\ny = 1\n[[x]]\ny = 2", "x is a list of 2 and was a list of 1"),
        ("a = 1", "", "a is not set and was 1"),
        ("concurrency = 1", "concurrency = 2", None),
        ("a = 1\nb = 2", "b = 2\na = 1", None),
        ("blocks = 1", "blocks = 2", None),
        ("[[events]]\nblocks = 1", "[[events]]", None),
        ('[[bots]]\nname = "a"\n[[bots]]\nname = "b"', BOTS_B_A, None),
    ],
)
def test_a_changed_key_is_named(before: str, after: str, expected: str | None) -> None:
    """A run continues with the file it was begun with: concurrency and order of bots are free.

    Blocks are compared apart, since they may grow.
    """
    assert changed_key(tomllib.loads(before), tomllib.loads(after)) == expected


def test_blocks_are_those_of_each_event() -> None:
    """An event's own, or the tournament's, or the default; by the event's name."""
    text = EVENTS + '[[events]]\nvariant = "draw"\nname = "short"\nblocks = 2\n'
    assert blocks_of(tomllib.loads(text)) == {"cribbage": 50, "short": 2}
    assert blocks_of(tomllib.loads("blocks = 7\n" + text)) == {"cribbage": 7, "short": 2}
    config = config_in("blocks = 7\n" + GOOD, PATH)
    assert {e.name: e.blocks for e in config.events} == {"cribbage": 7}
