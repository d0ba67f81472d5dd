"""A tournament file is accepted as a whole or refused with every problem in it."""

from __future__ import annotations

import sys
import tomllib
from pathlib import Path

import pytest

from pegboard.arena.config import ConfigError, blocks_of, changed_key, load, parse

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
    config = parse(GOOD, PATH)
    assert (config.blocks, config.concurrency, config.time.move_ms) == (50, 64, 10_000)
    assert config.seed is None, "a default seed would be known to all bots"
    event = config.events[0]
    assert (event.seats, event.blocks, event.name) == (2, 50, "cribbage")
    assert config.bots[0].command == (sys.executable, "a.py")


def test_options_may_be_written_as_toml_values() -> None:
    """Options travel as text; people write numbers and truth values."""
    config = parse(GOOD + "options = { match_games = 3, auto_go = true }\n", PATH)
    assert config.events[0].options == {"match_games": "3", "auto_go": "on"}


def test_a_command_is_found_beside_the_file(tmp_path: Path) -> None:
    """A path in a command is relative to the folder of the file, not to where one stands."""
    script = tmp_path / "bot.sh"
    script.write_text("#!/bin/sh\n")
    script.chmod(0o755)
    text = GOOD.replace('["{python}", "a.py"]', '["./bot.sh", "{python}"]')
    config = parse(text, tmp_path / "cup.toml")
    assert config.bots[0].command == (str(script), sys.executable)


SECOND = '"{python}", "b.py"'
MANY = BOTS.replace('"a"', '"c"').replace('"b"', '"d"')
HUGE = "events[0]: about 12,000,000 matches, more than 10,000,000; take fewer"

BAD_KEYS = [
    ("nme = 1\n" + GOOD, ['nme: unknown key; did you mean "name"?']),
    (GOOD.replace('name = "cup"', ""), ["name: missing"]),
    (
        GOOD.replace('command = ["{python}", "b.py"]', 'comand = ["x"]'),
        ['bots[1].comand: unknown key; did you mean "command"?'],
    ),
    (GOOD + "speed = 3\n", ["events[0].speed: unknown key; known are variant, seats, options"]),
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
    (GOOD.replace('name = "b"', 'name = "A"'), ["bots[1].name: 'A' is taken by bots[0]"]),
    (GOOD.replace('name = "b"', 'name = "b/c"'), ["bots[1].name: 'b/c' is no name; take at"]),
    (GOOD.replace('name = "b"', 'name = "b--2"'), ["bots[1].name: 'b--2' is no name; take at"]),
    (GOOD.replace('name = "b"', "name = 7"), ["bots[1].name: expected str, got int"]),
    (
        GOOD.replace(SECOND, '"no-such-program-7"'),
        ["bots[1].command: 'no-such-program-7' is not on PATH; install it or give its path"],
    ),
    (GOOD.replace(SECOND, '"./b"'), ["bots[1].command: cups/b is no program that can be run"]),
    (
        GOOD.replace('command = ["{python}", "b.py"]', ""),
        ['bots[1].command: missing, e.g. ["{python}", "my_bot.py"]'],
    ),
    (GOOD.replace('name = "b"', 'name = "b"\nprocesses = 0'), ["bots[1].processes: 0 is not in"]),
    (GOOD.replace('name = "b"', 'name = "b"\ntoken_env = "B"'), ["bots[1].token_env: only for"]),
    (
        GOOD + '[server]\naddress = "host:1"\n',
        ["server.organiser_token_env: name", "bots[0].token_env: nam", "bots[1].token_env: nam"],
    ),
    ('name = "cup"\n' + BOTS[: len(BOTS) // 2] + EVENTS, ["events[0]: needs at least two bots"]),
]
BAD_EVENTS = [
    (GOOD.replace('"cribbage"', '"cribage"'), ["events[0]: no variant 'cribage'; did you mean"]),
    (GOOD + "seats = 4\n", ["events[0].seats: cribbage is for 2, not 4"]),
    (GOOD + "options = { target = 100000 }\n", ["events[0]: "]),
    (GOOD + "options = { tarjet = 5 }\n", ["events[0]: "]),
    (GOOD + 'orders = "some"\n', ["events[0].orders: invalid enum value 'some'"]),
    (GOOD + EVENTS, ["events[1]: events[0] is called 'cribbage' too; tell them apart with `name`"]),
    (
        GOOD.replace('"cribbage"', '"cribbage-3p"'),
        ["events[0]: needs 3 bots and there are 2; add bots, or let a bot hold"],
    ),
]


@pytest.mark.parametrize(("text", "expected"), BAD_KEYS + BAD_VALUES + BAD_BOTS + BAD_EVENTS)
def test_every_problem_gets_a_sentence(text: str, expected: list[str]) -> None:
    """Each problem is one sentence that names file and key and says what to do."""
    found = problems(text)
    assert len(found) == len(expected), found
    for sentence, start in zip(found, expected, strict=True):
        assert sentence.startswith(start), sentence


def test_all_problems_are_told_at_once() -> None:
    """Who mends a file wants to do it once."""
    text = GOOD.replace("b.py", "b").replace('name = "b"', 'name = "a"')
    text = text.replace('"cribbage"', '"whist"')
    assert len(problems(text)) == 2


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    """So is one that is no text."""
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
    config = parse("blocks = 7\n" + GOOD, PATH)
    assert {e.name: e.blocks for e in config.events} == {"cribbage": 7}
