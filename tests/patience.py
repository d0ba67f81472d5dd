"""How long tests wait: until the condition holds, or far longer than a crowded machine needs.

No test measures time. A deadline is here to end a test that would hang, so it is generous.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

PATIENCE_S = 120.0
"""Below the limit of pytest for a test (`timeout` in pyproject.toml), so that the wait is named."""

_STEP_S = 0.01


def wait_until(condition: Callable[[], object], within_s: float = PATIENCE_S) -> bool:
    """Wait until the condition holds; return whether it does."""
    deadline = time.monotonic() + within_s
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(_STEP_S)
    return True


async def until(condition: Callable[[], object], within_s: float = PATIENCE_S) -> None:
    """Wait in the event loop until the condition holds. Raises `TimeoutError`."""
    async with asyncio.timeout(within_s):
        while not condition():  # noqa: ASYNC110
            await asyncio.sleep(_STEP_S)
