"""What `pegboard serve` is told, and the limits that hold for every caller."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Limits:
    """What one caller may use. Times in seconds."""

    message_bytes: int = 1 << 20
    """The largest message taken; a larger one ends its call with RESOURCE_EXHAUSTED."""
    hello_s: float = 10.0
    """From opening a stream to its `Hello`."""
    heartbeat_s: float = 10.0
    silence_beats: int = 3
    """Heartbeat intervals without a word after which a bot that owes no move counts as lost."""
    stall_s: float = 20.0
    """How long a bot may leave what was sent to it unread."""
    excess_burst: int = 1000
    """Answers beyond the open turns, and empty messages, that are taken at once..."""
    excess_per_s: float = 200.0
    """...and how fast that allowance refills."""
    turns_per_message: int = 256
    events_per_message: int = 2000
    poll_s: float = 60.0
    """The longest wait of `GetTurn`."""
    stop_s: float = 5.0
    """From the wish to stop until calls that are still open are cut."""


@dataclass(frozen=True, slots=True)
class ServeSettings:
    """Where to listen, whom to believe, where to keep matches.

    `listen` are `HOST:PORT`, `unix` paths of sockets; one at least. `store` None, or durability
    `memory`, keeps nothing. Without `tokens` only Unix sockets are allowed (see `tokens`).
    """

    listen: tuple[str, ...] = ()
    unix: tuple[Path, ...] = ()
    tokens: Path | None = None
    store: Path | None = Path("pegboard.db")
    durability: str = "batched"
    store_patience_s: float = 30.0
    """How long to go on trying when the store cannot be written; then the server ends."""
    log_level: str = "info"
    stop_on_eof: bool = False
    """Stop when standard input ends: a server does not outlive whoever started it."""
    tls_certificate: Path | None = None
    tls_key: Path | None = None
    limits: Limits = field(default_factory=Limits)
