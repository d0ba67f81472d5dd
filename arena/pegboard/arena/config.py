"""The tournament file: what an organiser writes, checked as a whole.

`load` reads TOML and returns a `Config`, or raises `ConfigError` with every problem found, one
sentence each, naming file and key. Nothing is started before the whole file makes sense.
"""

from __future__ import annotations

import difflib
import json
import math
import re
import shlex
import sys
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, TypeVar

import msgspec

from pegboard.arena.commands import PYTHON, command_problem, find_program, missing_program
from pegboard.rules import catalog
from pegboard.rules.errors import PegboardError

# Two hyphens stand between a bot's name and the number of its process.
BOT_NAME = re.compile(r"(?!.*--)[A-Za-z0-9]([A-Za-z0-9._-]{0,38}[A-Za-z0-9])?")
MAX_MATCHES = 10_000_000
DEFAULT_BLOCKS = 50

T = TypeVar("T", bound=msgspec.Struct)


class ConfigError(PegboardError):
    """A tournament file that cannot be played; `problems` has one sentence each."""

    def __init__(self, problems: Sequence[str]) -> None:
        super().__init__("\n".join(problems))
        self.problems = tuple(problems)


class Time(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A seat's time in milliseconds. 0: no such limit; of `move_ms`, `startup_ms` the server's default.

    `startup_ms` runs until a bot has connected, `match_ms` is the wall-clock time of a whole match.
    """

    move_ms: int = 10_000
    bank_ms: int = 0
    increment_ms: int = 0
    startup_ms: int = 60_000
    match_ms: int = 3_600_000


class Server(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Where the matches are hosted: at `address`, or (none) at a server of the run's own.

    `patience_s`: how long a server elsewhere may be away before the run ends.
    """

    address: str = ""
    organiser_token_env: str = ""
    patience_s: int = 60


class Bot(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A program that plays.

    `command` is resolved against the folder of the file; no command (with a server's `address`)
    means that its author runs the bot. `env` are variables of its environment, `inherit` the
    names of those that it gets as the runner has them. `memory_mb` 0: no limit. `token_env` names
    the variable that holds its token at a remote server.
    """

    name: str
    command: tuple[str, ...] = ()
    env: dict[str, str] = {}
    inherit: tuple[str, ...] = ()
    processes: int = 1
    memory_mb: int = 0
    token_env: str = ""


class Contest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One `[[events]]` entry: a variant played by everybody against everybody.

    `seats` 0: the smallest number the variant has. `blocks` 0: the tournament's. `orders`: all
    seat orders of a seed, or rotations only. `repeat`: a bot may hold several seats of a match,
    so that few bots fill many seats. `teams`: one bot plays all seats of a side.
    """

    variant: str
    seats: int = 0
    options: dict[str, str] = {}
    blocks: int = 0
    name: str = ""
    orders: Literal["all", "rotations"] = "all"
    repeat: bool = False
    teams: bool = False


class Config(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A tournament. `blocks` are those of each pairing; `restarts` those allowed to each bot.

    All deals follow from a `seed`, where one is given: the tournament can be repeated, and foretold.
    """

    name: str
    bots: tuple[Bot, ...]
    events: tuple[Contest, ...]
    seed: int | str | None = None
    blocks: int = DEFAULT_BLOCKS
    concurrency: int = 64
    restarts: int = 5
    time: Time = Time()
    server: Server = Server()


def load(path: Path) -> Config:
    """Read and check a tournament file. Raises `ConfigError`."""
    return parse(read_text(path), path)


def read_text(path: Path) -> str:
    """Return the text of a tournament file. Raises `ConfigError`."""
    try:
        return path.read_text(encoding="utf-8-sig")  # some editors write a byte order mark
    except FileNotFoundError:
        raise ConfigError([f"{path}: no such file"]) from None
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError([f"{path}: cannot be read: {error}"]) from None


def parse(text: str, path: Path) -> Config:
    """Check the text of a tournament file that lies at `path`. Raises `ConfigError`.

    Commands are relative to the folder of the file itself, also where `path` is a link to it.
    """
    try:
        raw = tomllib.loads(text)
    except (ValueError, RecursionError) as error:  # also numbers of 5,000 digits, lists 1,000 deep
        raise ConfigError([f"{path}: not valid TOML: {_lower_first(str(error))}"]) from None
    problems = list(_nul_problems("", raw))
    config = _convert(raw, problems)
    if config is not None and not problems:
        config = _complete(config, path.resolve().parent, problems)
    if problems or config is None:
        raise ConfigError([f"{path}: {problem}" for problem in problems])
    return config


# Shape: every key known, every value of its type. Problems are collected, not only the first.


def _convert(raw: dict[str, Any], problems: list[str]) -> Config | None:
    before = len(problems)
    fields = dict(raw)
    parts: dict[str, Any] = {}
    if "time" in fields:
        parts["time"] = _struct(fields.pop("time"), Time, "time", problems)
    if "server" in fields:
        parts["server"] = _struct(fields.pop("server"), Server, "server", problems)
    parts["bots"] = _table_array(fields.pop("bots", None), Bot, "bots", problems)
    parts["events"] = _table_array(fields.pop("events", None), Contest, "events", problems)
    top = _struct({**fields, "bots": [], "events": []}, Config, "", problems)
    if len(problems) > before or top is None:
        return None
    return msgspec.structs.replace(top, **parts)


def _table_array(value: Any, kind: type[T], key: str, problems: list[str]) -> tuple[T | None, ...]:
    if value is None or value == []:
        problems.append(f"no [[{key}]]: a tournament needs at least one")
        return ()
    if not isinstance(value, list):
        problems.append(f"{key}: write [[{key}]] with two brackets, once for each")
        return ()
    return tuple(
        _struct(item, kind, _place(key, i, _name_of(item)), problems)
        for i, item in enumerate(value)
    )


def _name_of(item: Any) -> str:
    """Return what a bot or an event is called in the file, "" where nothing tells."""
    name = (item.get("name") or item.get("variant")) if isinstance(item, dict) else ""
    return name if isinstance(name, str) else ""


_PLACE = re.compile(r"(bot|event) \d+( \(.*\))?", re.DOTALL)


def _place(key: str, index: int, name: str) -> str:
    """Return where an entry stands, e.g. `bot 2 ("b")`."""
    place = f"{key.removesuffix('s')} {index + 1}"
    return f"{place} ({json.dumps(name[:60])})" if name else place


def _nul_problems(where: str, value: Any) -> Iterator[str]:
    """A text with a NUL can be no argument, no variable and no name."""
    if isinstance(value, str) and "\0" in value:
        yield f"{where}: holds a NUL character (\\u0000); remove it"
    elif isinstance(value, list):
        for i, item in enumerate(value):
            is_table = where in {"bots", "events"}
            yield from _nul_problems(_place(where, i, _name_of(item)) if is_table else where, item)
    elif isinstance(value, dict):
        for key, item in value.items():
            if "\0" in key:
                yield f"{where or 'file'}: the key {key!r} holds a NUL character; remove it"
            yield from _nul_problems(_join(where, key), item)


def _struct(value: Any, kind: type[T], where: str, problems: list[str]) -> T | None:
    if not isinstance(value, dict):
        problems.append(f"{where}: expected a table, got {value!r}")
        return None
    known = kind.__struct_fields__
    unknown = [key for key in value if key not in known]
    problems.extend(f"{_join(where, key)}: unknown key; {_nearest(key, known)}" for key in unknown)
    if kind is Contest:
        value = {**value, "options": _option_texts(value.get("options", {}))}
    shapes = [_join(where, problem) for problem in _shape_problems(kind, value)]
    problems.extend(shapes)
    if shapes:
        return None
    try:
        return msgspec.convert({k: v for k, v in value.items() if k in known}, kind)
    except msgspec.ValidationError as error:
        problems.append(_sentence(str(error), where))
        return None


def _shape_problems(kind: type[Any], value: Mapping[str, Any]) -> Iterator[str]:
    """What people write that has another shape, with the shape that is meant."""
    table = "env" if kind is Bot else "options"
    items = value.get(table)
    for key, item in items.items() if isinstance(items, dict) else ():
        if not isinstance(item, str):
            yield f"{table}.{key}: expected text, got {item!r}; put it in quotes"
    for key in ("command", "inherit") if kind is Bot else ():
        text = value.get(key)
        if isinstance(text, str):
            yield f"{key}: write a list, {key} = {json.dumps(_words(text))}"


def _words(text: str) -> list[str]:
    try:
        return shlex.split(text)
    except ValueError:
        return text.split()


def _option_texts(options: Any) -> Any:
    """Options travel as text; TOML's own true, false and numbers are what people write."""
    if not isinstance(options, dict):
        return options
    return {key: _text(value) for key, value in options.items()}


def _text(value: Any) -> Any:
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, list) and all(isinstance(item, int) for item in value):
        return ",".join(map(str, value))
    return value


def _sentence(message: str, where: str) -> str:
    """Turn msgspec's `Expected ..., got ... - at `$.x`` into `x: expected ..., got ...`."""
    what, _, path = message.partition(" - at `$")
    missing = re.fullmatch(r"Object missing required field `(\w+)`", what)
    if missing:
        return f"{_join(where, missing[1])}: missing"
    key = path.rstrip("`").removeprefix(".").replace("[...]", "")
    return f"{_join(where, key)}: {_lower_first(what.replace('`', ''))}"


def _join(where: str, key: str) -> str:
    """Return the place of a key, e.g. `time.move_ms` or `bot 2 ("b"), command`."""
    between = ", " if _PLACE.fullmatch(where) else "."
    return f"{where}{between}{key}" if where and key else where or key


def _lower_first(text: str) -> str:
    return text[:1].lower() + text[1:]


def _nearest(word: str, known: Sequence[str]) -> str:
    close = difflib.get_close_matches(word, known, n=1)
    return f'did you mean "{close[0]}"?' if close else f"known are {', '.join(known)}"


# Sense: bots that exist, variants that can be played, numbers in range.


def _complete(config: Config, folder: Path, problems: list[str]) -> Config:
    problems.extend(_number_problems(config))
    problems.extend(_name_problems(config))
    bots = tuple(_bot(bot, i, config, folder, problems) for i, bot in enumerate(config.bots))
    events = tuple(
        _contest(contest, _event_place(contest, i), config, problems)
        for i, contest in enumerate(config.events)
    )
    problems.extend(_event_name_problems(events))
    return msgspec.structs.replace(config, bots=bots, events=events)


def _bot_place(bot: Bot, index: int) -> str:
    return _place("bots", index, bot.name)


def _event_place(contest: Contest, index: int) -> str:
    return _place("events", index, contest.name or contest.variant)


def _number_problems(config: Config) -> Iterator[str]:
    ranges: dict[str, tuple[int, int, int]] = {
        "blocks": (config.blocks, 1, 1_000_000),
        "concurrency": (config.concurrency, 1, 100_000),
        "restarts": (config.restarts, 0, 1_000),
        "time.move_ms": (config.time.move_ms, 0, 86_400_000),
        "time.bank_ms": (config.time.bank_ms, 0, 86_400_000),
        "time.increment_ms": (config.time.increment_ms, 0, 86_400_000),
        "time.startup_ms": (config.time.startup_ms, 0, 86_400_000),
        "time.match_ms": (config.time.match_ms, 0, 604_800_000),
        "server.patience_s": (config.server.patience_s, 1, 86_400),
    }
    for i, bot in enumerate(config.bots):
        ranges[_join(_bot_place(bot, i), "processes")] = (bot.processes, 1, 64)
        ranges[_join(_bot_place(bot, i), "memory_mb")] = (bot.memory_mb, 0, 1 << 20)
    for i, contest in enumerate(config.events):
        ranges[_join(_event_place(contest, i), "blocks")] = (contest.blocks, 0, 1_000_000)
    for key, (value, low, high) in ranges.items():
        if not low <= value <= high:
            yield f"{key}: {value} is not in {low} to {high}"
    if not config.name.strip():
        yield "name: give the tournament a name"
    if config.server.address and not config.server.organiser_token_env:
        yield "server.organiser_token_env: name the variable that holds your organiser's token"


def _name_problems(config: Config) -> Iterator[str]:
    first: dict[str, int] = {}
    for i, bot in enumerate(config.bots):
        if not BOT_NAME.fullmatch(bot.name):
            yield (
                f"{_bot_place(bot, i)}, name: {bot.name[:60]!r} cannot be a name; take at most 40 "
                "letters, digits, dots, underscores and single hyphens, a letter or digit at "
                "both ends"
            )
        # Names are compared without case: each is also the name of a log file.
        other = first.setdefault(bot.name.lower(), i)
        if other != i:
            yield f"{_bot_place(bot, i)}, name: bot {other + 1} has this name too (but for case)"


def _event_name_problems(events: Sequence[Contest]) -> Iterator[str]:
    first: dict[str, int] = {}
    for i, contest in enumerate(events):
        other = first.setdefault(contest.name, i)
        if other != i:
            yield (
                f"{_event_place(contest, i)}: event {other + 1} is called {contest.name!r} too; "
                "tell them apart with `name`"
            )


def _bot(bot: Bot, index: int, config: Config, folder: Path, problems: list[str]) -> Bot:
    where = _bot_place(bot, index)
    problems.extend(_join(where, problem) for problem in _bot_problems(bot, config))
    if not bot.command:
        return bot
    found = find_program(bot.command[0], folder)
    if found is None:
        problem = missing_program(bot.command[0], folder)
    else:
        problem = command_problem(bot.command, found, folder)
    if found is None or problem:
        problems.append(f"{where}, command: {problem}")
        return bot
    rest = (part.replace(PYTHON, sys.executable) for part in bot.command[1:])
    return msgspec.structs.replace(bot, command=(found, *rest))


def _bot_problems(bot: Bot, config: Config) -> Iterator[str]:
    remote = bool(config.server.address)
    if remote and not bot.token_env:
        yield "token_env: name the variable that holds this bot's token"
    if remote and bot.processes > 1:
        yield "processes: a remote server knows the bot by one token; use 1"
    if not remote and bot.token_env:
        yield "token_env: only for a remote server ([server] address)"
    if not remote and not bot.command:
        yield f'command: missing, e.g. ["{PYTHON}", "my_bot.py"]'
    for name in (*bot.env, *bot.inherit):
        if not name or "=" in name:
            yield f'env: a variable cannot be called {name!r}; write NAME = "value"'
    for name in bot.inherit:
        if name in {config.server.organiser_token_env, *(other.token_env for other in config.bots)}:
            yield f"inherit: {name} holds a token, which bots do not get; leave it out"


def _contest(contest: Contest, where: str, config: Config, problems: list[str]) -> Contest:
    try:
        game = catalog.game(contest.variant, contest.options)
    except PegboardError as error:
        problems.append(f"{where}: {error}")
        return contest
    seats = contest.seats or game.seats[0]
    if seats not in game.seats:
        allowed = " or ".join(map(str, game.seats))
        problems.append(f"{where}, seats: {contest.variant} is for {allowed}, not {seats}")
        return contest
    sides = max(game.sides(seats)) + 1
    entrants = sides if contest.teams else seats
    contest = msgspec.structs.replace(
        contest,
        seats=seats,
        blocks=contest.blocks or config.blocks,
        name=contest.name or contest.variant,
    )
    problems.extend(_entry_problems(contest, where, entrants, len(config.bots)))
    return contest


def _entry_problems(contest: Contest, where: str, entrants: int, bots: int) -> Iterator[str]:
    if entrants > 1 and bots < 2:
        yield f"{where}: needs at least two bots"
    elif entrants > bots and not contest.repeat:
        yield (
            f"{where}: needs {entrants} bots and there are {bots}; add bots, or let a bot hold "
            "several seats with `repeat = true`"
        )
    else:
        yield from _size_problems(contest, where, entrants, bots)


def _size_problems(contest: Contest, where: str, entrants: int, bots: int) -> Iterator[str]:
    """Refuse a size that is a mistake, before the schedule is laid out in memory."""
    pairings = math.comb(bots + entrants - 1 if contest.repeat else bots, entrants)
    orders = entrants if contest.orders == "rotations" else math.factorial(entrants)
    matches = pairings * orders * contest.blocks
    if matches > MAX_MATCHES:
        yield (
            f"{where}: about {matches:,} matches, more than {MAX_MATCHES:,}; take fewer blocks "
            'or bots, or `orders = "rotations"`'
        )


# Continuing: a run may go on only with the file that it was started with, or one with more blocks.

FREE_KEYS = frozenset({"concurrency", "server"})


def lasting(raw: Mapping[str, Any]) -> dict[str, Any]:
    """Return the part of a file that stays the same for the whole of a run.

    Left out are `FREE_KEYS`, on which no result depends; the blocks, which may grow (`blocks_of`);
    and the order of the bots.
    """
    kept = {key: value for key, value in raw.items() if key not in FREE_KEYS | {"blocks"}}
    events = kept.get("events")
    if isinstance(events, list):
        kept["events"] = [_without_blocks(event) for event in events]
    bots = kept.get("bots")
    if isinstance(bots, list) and all(isinstance(bot, dict) for bot in bots):
        kept["bots"] = sorted(bots, key=lambda bot: str(bot.get("name")))
    return kept


def _without_blocks(event: Any) -> Any:
    if not isinstance(event, dict):
        return event
    return {key: value for key, value in event.items() if key != "blocks"}


def blocks_of(raw: Mapping[str, Any]) -> dict[str, int]:
    """Return the blocks of each event of a file, by the event's name."""
    default = raw.get("blocks", DEFAULT_BLOCKS)
    return {
        event.get("name") or event["variant"]: event.get("blocks") or default
        for event in raw.get("events", [])
    }


def changed_key(old: Mapping[str, Any], new: Mapping[str, Any]) -> str | None:
    """Return what differs between the `lasting` parts of two files as a key path with both values."""
    before, after = lasting(old), lasting(new)
    for key in [*after, *(key for key in before if key not in after)]:
        if before.get(key) != after.get(key):
            return _difference(key, before.get(key), after.get(key))
    return None


def _difference(path: str, old: Any, new: Any) -> str:
    if isinstance(old, dict) and isinstance(new, dict):
        for key in [*new, *(key for key in old if key not in new)]:
            if old.get(key) != new.get(key):
                return _difference(f"{path}.{key}", old.get(key), new.get(key))
    if isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for i, (before, after) in enumerate(zip(old, new, strict=True)):
            if before != after:
                return _difference(f"{path}[{i}]", before, after)
    return f"{path} is {_shown(new)} and was {_shown(old)}"


def _shown(value: Any) -> str:
    if value is None:
        return "not set"
    if isinstance(value, list):
        return f"a list of {len(value)}"
    return repr(value)
