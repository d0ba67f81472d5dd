"""What a host does unless a match says otherwise, and how much it keeps."""

from __future__ import annotations

from dataclasses import dataclass

from pegboard.matches.clock import SECOND


@dataclass(frozen=True, slots=True)
class HostSettings:
    """Settings of one host.

    `reconnect_s`: how long a bot may be away. `wait_s`: how long the turns of a seat may wait in one
    match, in all, before their clocks run anyway; they wait while the bot is away or has as many turns
    as it takes. `polls_max`: calls of `GetTurn` that a bot may have open. `move_ms`, `startup_ms`,
    `illegal_move_limit`: the defaults of a match. `lag_ms`: what a seat may overrun, refilled by
    `lag_refill_ms` with each answer. `finished_kept`: finished matches kept in memory, of which
    `events_kept` with their events, and not more than have `finished_kept_bytes` of moves. `batch_max`:
    matches created at once. `store_patience_s`: how long to go on trying when the store cannot be
    written.
    """

    reconnect_s: float = 30.0
    wait_s: float = 3600.0
    polls_max: int = 64
    move_ms: int = 10_000
    startup_ms: int = 60_000
    illegal_move_limit: int = 3
    lag_ms: int = 100
    lag_refill_ms: int = 10
    finished_kept: int = 1024
    finished_kept_bytes: int = 8 << 20
    events_kept: int = 64
    batch_max: int = 1000
    store_patience_s: float = 30.0

    @property
    def wait_ns(self) -> int:
        """`wait_s` in nanoseconds."""
        return int(self.wait_s * SECOND)
