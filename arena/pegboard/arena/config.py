"""A tournament as its organiser writes it: bots, events, how long to play. Pure shapes.

`config_reader` makes a `Config` of a dictionary, from a TOML file or a request, and reports every
problem; `config_checks` says whether its bots and events make sense.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import msgspec

from pegboard.rules.errors import PegboardError

DEFAULT_BLOCKS = 50


class ConfigError(PegboardError):
    """A tournament that cannot be played; `problems` has one sentence for each reason."""

    def __init__(self, problems: Sequence[str]) -> None:
        super().__init__("\n".join(problems))
        self.problems = tuple(problems)


class Time(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A seat's time in milliseconds. 0 is no limit; for `move_ms`, `startup_ms` the server's default.

    `startup_ms` runs until a bot has connected, `match_ms` is the wall-clock time of a whole match.
    """

    move_ms: int = 10_000
    bank_ms: int = 0
    increment_ms: int = 0
    startup_ms: int = 60_000
    match_ms: int = 3_600_000


class ServerEntry(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The `[server]` table: matches are hosted at `address`, or if empty by a server of the run's own.

    `patience_s`: how long a server elsewhere may be away before the run ends.
    """

    address: str = ""
    organiser_token_env: str = ""
    patience_s: int = 60


class BotEntry(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One `[[bots]]` entry: a program that plays.

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
    """One `[[events]]` entry: a variant that all bots play against each other.

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

    If a `seed` is given, all deals follow from it: the tournament can be repeated, and foretold.
    """

    name: str
    bots: tuple[BotEntry, ...]
    events: tuple[Contest, ...]
    seed: int | str | None = None
    blocks: int = DEFAULT_BLOCKS
    concurrency: int = 64
    restarts: int = 5
    time: Time = Time()
    server: ServerEntry = ServerEntry()
