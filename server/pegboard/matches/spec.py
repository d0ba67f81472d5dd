"""What a match is asked to be. Pure data; no game is known by name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class TimeControl:
    """A seat's time, in milliseconds. Bank and increment 0: no bank, only the cap for each turn.

    `move_ms` and `startup_ms` 0: those of the host (`HostSettings`), which `Creation` fills in.
    `match_ms` is the wall-clock limit of the whole match, 0 for none.
    """

    bank_ms: int = 0
    increment_ms: int = 0
    move_ms: int = 0
    startup_ms: int = 0
    match_ms: int = 0


@dataclass(frozen=True, slots=True)
class MatchSpec:
    """Variant, seats, time and deals of one match. `bots` by seat; `seed` None: the host draws it.

    `illegal_move_limit` 0: that of the host, which `Creation` fills in.
    Matches of one `block` can be read by organisers alone until `block_matches` of them have a result.
    """

    variant: str
    bots: tuple[str, ...]
    options: Mapping[str, str] = field(default_factory=dict)
    time_control: TimeControl = TimeControl()
    label: str = ""
    nonce: str = ""
    seed: bytes | None = None
    withhold_seed: bool = False
    illegal_move_limit: int = 0
    block: str = ""
    block_matches: int = 0
