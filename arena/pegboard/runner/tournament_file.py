"""The tournament file: TOML read from disk, the programs of its bots found on this machine.

What the keys mean is checked by `arena.config_reader`, which knows no files; a problem begins with
the path of the file here.
"""

from __future__ import annotations

import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from pegboard.arena.config import BotEntry, Config, ConfigError
from pegboard.arena.config_checks import bot_path
from pegboard.arena.config_reader import read_config
from pegboard.arena.key_paths import joined
from pegboard.runner.commands import PYTHON, command_problem, find_program, missing_program


class TournamentFile(NamedTuple):
    """A file that can be played. `folder` is that of the file itself, also if `path` is a link to it.

    `raw` are the values as written in `text`, `config` those with defaults, and commands with the
    paths of their programs.
    """

    path: Path
    folder: Path
    text: str
    raw: dict[str, Any]
    config: Config


def load(path: Path) -> TournamentFile:
    """Read and check a tournament file. Raises `ConfigError` with every problem found."""
    try:
        text = path.read_text(encoding="utf-8-sig")  # some editors write a byte order mark
    except FileNotFoundError:
        raise ConfigError([f"{path}: no such file"]) from None
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError([f"{path}: cannot be read: {error}"]) from None
    return parse(text, path)


def parse(text: str, path: Path) -> TournamentFile:
    """Check the text of a tournament file that lies at `path`. Raises `ConfigError`."""
    try:
        raw = tomllib.loads(text)
    except (ValueError, RecursionError) as error:  # also numbers of 5,000 digits, lists 1,000 deep
        sentence = str(error)
        raise ConfigError(
            [f"{path}: not valid TOML: {sentence[:1].lower()}{sentence[1:]}"]
        ) from None
    folder = path.resolve().parent
    config, problems = read_config(raw)
    if config is not None:
        problems += _command_problems(config, folder)
    if problems or config is None:
        raise ConfigError([f"{path}: {problem}" for problem in problems])
    return TournamentFile(path, folder, text, raw, _with_programs(config, folder))


def _command_problems(config: Config, folder: Path) -> Iterator[str]:
    for i, bot in enumerate(config.bots):
        if not bot.command or any("\0" in part for part in bot.command):
            continue
        found = find_program(bot.command[0], folder)
        if found is None:
            problem = missing_program(bot.command[0], folder)
        else:
            problem = command_problem(bot.command, found, folder)
        if problem:
            yield f"{joined(bot_path(bot, i), 'command')}: {problem}"


def _with_programs(config: Config, folder: Path) -> Config:
    bots = tuple(_with_program(bot, folder) for bot in config.bots)
    return msgspec.structs.replace(config, bots=bots)


def _with_program(bot: BotEntry, folder: Path) -> BotEntry:
    if not bot.command:
        return bot
    found = find_program(bot.command[0], folder)
    assert found is not None, "the command has been checked"
    rest = (part.replace(PYTHON, sys.executable) for part in bot.command[1:])
    return msgspec.structs.replace(bot, command=(found, *rest))
