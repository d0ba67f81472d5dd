"""From a dictionary to a `Config`, with every problem found. Pure.

`read_config` takes what TOML or JSON gives. First the shape is checked: every key known, every value
of its type. If the shape is right, `config_checks` looks at the sense. A problem is one sentence that
begins with the path of its key. Nothing of a tournament is started before all of it makes sense.
"""

from __future__ import annotations

import difflib
import json
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeVar

import msgspec

from pegboard.arena.config import BotEntry, Config, ConfigError, Contest, ServerEntry, Time
from pegboard.arena.config_checks import checked
from pegboard.arena.key_paths import entry_path, joined

T = TypeVar("T", bound=msgspec.Struct)


def config_of(raw: Mapping[str, Any]) -> Config:
    """Return the tournament that a dictionary describes. Raises `ConfigError`."""
    config, problems = read_config(raw)
    if config is None or problems:
        raise ConfigError(problems)
    return config


def read_config(raw: Mapping[str, Any]) -> tuple[Config | None, list[str]]:
    """Return the tournament, its defaults filled in, and what is wrong with it.

    The tournament is None if the shape is wrong.
    """
    problems = list(_nul_problems("", raw))
    config = _convert(raw, problems)
    if config is None or problems:
        return config, problems
    return checked(config)


def _convert(raw: Mapping[str, Any], problems: list[str]) -> Config | None:
    before = len(problems)
    fields = dict(raw)
    parts: dict[str, Any] = {}
    if "time" in fields:
        parts["time"] = _struct(fields.pop("time"), Time, "time", problems)
    if "server" in fields:
        parts["server"] = _struct(fields.pop("server"), ServerEntry, "server", problems)
    parts["bots"] = _table_array(fields.pop("bots", None), BotEntry, "bots", problems)
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
        _struct(item, kind, entry_path(key, i, _name_of(item)), problems)
        for i, item in enumerate(value)
    )


def _name_of(item: Any) -> str:
    """Return what a bot or an event is called in the file, "" if it has no name."""
    name = (item.get("name") or item.get("variant")) if isinstance(item, dict) else ""
    return name if isinstance(name, str) else ""


def _nul_problems(where: str, value: Any) -> Iterator[str]:
    """Find texts with a NUL, which cannot be an argument, a variable or a name."""
    if isinstance(value, str) and "\0" in value:
        yield f"{where}: holds a NUL character (\\u0000); remove it"
    elif isinstance(value, list):
        for i, item in enumerate(value):
            is_table = where in {"bots", "events"}
            yield from _nul_problems(
                entry_path(where, i, _name_of(item)) if is_table else where, item
            )
    elif isinstance(value, dict):
        for key, item in value.items():
            if "\0" in key:
                yield f"{where or 'file'}: the key {key!r} holds a NUL character; remove it"
            yield from _nul_problems(joined(where, key), item)


def _struct(value: Any, kind: type[T], where: str, problems: list[str]) -> T | None:
    if not isinstance(value, dict):
        problems.append(f"{where}: expected a table, got {value!r}")
        return None
    known = kind.__struct_fields__
    unknown = [key for key in value if key not in known]
    problems.extend(f"{joined(where, key)}: unknown key; {_nearest(key, known)}" for key in unknown)
    if kind is Contest:
        value = {**value, "options": _option_texts(value.get("options", {}))}
    shapes = [joined(where, problem) for problem in _shape_problems(kind, value)]
    problems.extend(shapes)
    if shapes:
        return None
    try:
        return msgspec.convert({k: v for k, v in value.items() if k in known}, kind)
    except msgspec.ValidationError as error:
        problems.append(_sentence(str(error), where))
        return None


def _shape_problems(kind: type[Any], value: Mapping[str, Any]) -> Iterator[str]:
    """Find shapes that people often write by mistake; the sentence gives the right one."""
    table = "env" if kind is BotEntry else "options"
    items = value.get(table)
    for key, item in items.items() if isinstance(items, dict) else ():
        if not isinstance(item, str):
            yield f"{table}.{key}: expected text, got {item!r}; put it in quotes"
    for key in ("command", "inherit") if kind is BotEntry else ():
        text = value.get(key)
        if isinstance(text, str):
            yield f"{key}: write a list, {key} = {json.dumps(_words(text))}"


def _words(text: str) -> list[str]:
    try:
        return shlex.split(text)
    except ValueError:
        return text.split()


def _option_texts(options: Any) -> Any:
    """Return options as text, which the contract wants; TOML also has true, false and numbers."""
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
        return f"{joined(where, missing[1])}: missing"
    key = path.rstrip("`").removeprefix(".").replace("[...]", "")
    return f"{joined(where, key)}: {_lower_first(what.replace('`', ''))}"


def _lower_first(text: str) -> str:
    return text[:1].lower() + text[1:]


def _nearest(word: str, known: Sequence[str]) -> str:
    close = difflib.get_close_matches(word, known, n=1)
    return f'did you mean "{close[0]}"?' if close else f"known are {', '.join(known)}"
