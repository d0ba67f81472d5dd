"""Whether a tournament makes sense: names that differ, variants that exist, numbers in range. Pure."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence

import msgspec

from pegboard.arena.config import BotEntry, Config, Contest
from pegboard.arena.key_paths import entry_path, joined
from pegboard.rules import catalog
from pegboard.rules.errors import PegboardError

# Two hyphens stand between a bot's name and the number of its process.
BOT_NAME = re.compile(r"(?!.*--)[A-Za-z0-9]([A-Za-z0-9._-]{0,38}[A-Za-z0-9])?")
MAX_MATCHES = 10_000_000


def checked(config: Config) -> tuple[Config, list[str]]:
    """Return the tournament with its events' defaults filled in, and what is wrong with it."""
    problems = [*_number_problems(config), *_name_problems(config)]
    for i, bot in enumerate(config.bots):
        problems.extend(joined(bot_path(bot, i), problem) for problem in _bot_problems(bot, config))
    events = tuple(
        _contest(contest, _event_path(contest, i), config, problems)
        for i, contest in enumerate(config.events)
    )
    problems.extend(_event_name_problems(events))
    return msgspec.structs.replace(config, events=events), problems


def bot_path(bot: BotEntry, index: int) -> str:
    """Return the path of a bot's entry."""
    return entry_path("bots", index, bot.name)


def _event_path(contest: Contest, index: int) -> str:
    return entry_path("events", index, contest.name or contest.variant)


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
        ranges[joined(bot_path(bot, i), "processes")] = (bot.processes, 1, 64)
        ranges[joined(bot_path(bot, i), "memory_mb")] = (bot.memory_mb, 0, 1 << 20)
    for i, contest in enumerate(config.events):
        ranges[joined(_event_path(contest, i), "blocks")] = (contest.blocks, 0, 1_000_000)
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
                f"{bot_path(bot, i)}, name: {bot.name[:60]!r} cannot be a name; take at most 40 "
                "letters, digits, dots, underscores and single hyphens, a letter or digit at "
                "both ends"
            )
        # Names are compared without case: each is also the name of a log file.
        other = first.setdefault(bot.name.lower(), i)
        if other != i:
            yield f"{bot_path(bot, i)}, name: bot {other + 1} has this name too (but for case)"


def _event_name_problems(events: Sequence[Contest]) -> Iterator[str]:
    first: dict[str, int] = {}
    for i, contest in enumerate(events):
        other = first.setdefault(contest.name, i)
        if other != i:
            yield (
                f"{_event_path(contest, i)}: event {other + 1} is called {contest.name!r} too; "
                "tell them apart with `name`"
            )


def _bot_problems(bot: BotEntry, config: Config) -> Iterator[str]:
    remote = bool(config.server.address)
    if remote and not bot.token_env:
        yield "token_env: name the variable that holds this bot's token"
    if remote and bot.processes > 1:
        yield "processes: a remote server knows the bot by one token; use 1"
    if not remote and bot.token_env:
        yield "token_env: only for a remote server ([server] address)"
    if not remote and not bot.command:
        yield 'command: missing, e.g. ["{python}", "my_bot.py"]'
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
    players = sides if contest.teams else seats
    contest = msgspec.structs.replace(
        contest,
        seats=seats,
        blocks=contest.blocks or config.blocks,
        name=contest.name or contest.variant,
    )
    problems.extend(_entry_problems(contest, where, players, len(config.bots)))
    return contest


def _entry_problems(contest: Contest, where: str, players: int, bots: int) -> Iterator[str]:
    if players > 1 and bots < 2:
        yield f"{where}: needs at least two bots"
    elif players > bots and not contest.repeat:
        yield (
            f"{where}: needs {players} bots and there are {bots}; add bots, or let a bot hold "
            "several seats with `repeat = true`"
        )
    else:
        yield from _size_problems(contest, where, players, bots)


def _size_problems(contest: Contest, where: str, players: int, bots: int) -> Iterator[str]:
    """Refuse a size that is a mistake, before the schedule is laid out in memory."""
    pairings = math.comb(bots + players - 1 if contest.repeat else bots, players)
    orders = players if contest.orders == "rotations" else math.factorial(players)
    matches = pairings * orders * contest.blocks
    if matches > MAX_MATCHES:
        yield (
            f"{where}: about {matches:,} matches, more than {MAX_MATCHES:,}; take fewer blocks "
            'or bots, or `orders = "rotations"`'
        )
