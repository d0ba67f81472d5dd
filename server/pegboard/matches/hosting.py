"""What the parts of one host share: its matches, its bots, its clocks and its settings."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from pegboard.matches.bots import Bots
from pegboard.matches.deadlines import Deadlines
from pegboard.matches.registry import Registry
from pegboard.matches.settings import HostSettings


class Hosting(NamedTuple):
    """Made once by the host, and handed to each of its parts. `now_ns` is monotonic."""

    registry: Registry
    bots: Bots
    deadlines: Deadlines
    now_ns: Callable[[], int]
    settings: HostSettings
