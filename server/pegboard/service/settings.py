"""What `pegboard serve` is told."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from pegboard.matches.settings import HostSettings
from pegboard.rpc.limits import Limits


@dataclass(frozen=True, slots=True)
class ServeSettings:
    """Where to listen, whom to believe, where to keep matches.

    `listen` are `HOST:PORT`, `unix` paths of sockets; one at least. `store` None, or durability
    `memory`, keeps nothing. Without `tokens` only Unix sockets are allowed (see `tokens`).
    """

    listen: tuple[str, ...] = ()
    unix: tuple[Path, ...] = ()
    tokens: Path | None = None
    public: bool = False
    """Whether matches and records may be read without a token."""
    store: Path | None = Path("pegboard.db")
    durability: str = "batched"
    host: HostSettings = field(default_factory=HostSettings)
    log_level: str = "info"
    stop_on_eof: bool = False
    """Stop when standard input ends: a server does not outlive the process that started it."""
    tls_certificate: Path | None = None
    tls_key: Path | None = None
    limits: Limits = field(default_factory=Limits)
