"""Task groups that end with one plain error, or when an event is set."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


class _Over(Exception):
    """Raised by a task of a group to end it; `TaskGroup` in Python 3.11 has no method for that."""


@asynccontextmanager
async def task_group(over: asyncio.Event | None = None) -> AsyncIterator[asyncio.TaskGroup]:
    """Open a task group; the first error of its tasks is raised as itself.

    `TaskGroup` raises an `ExceptionGroup`, which `except NoServer` does not catch. If `over` is set,
    all tasks of the group are cancelled and no error is raised. Errors that follow the first one
    come from tasks that were being cancelled, and are dropped.
    """
    try:
        async with asyncio.TaskGroup() as group:
            if over is not None:
                group.create_task(_end_when(over), name="end of the group")
            yield group
    except BaseExceptionGroup as failed:
        first = failed.exceptions[0]
        if not isinstance(first, _Over):
            raise first from None


async def _end_when(over: asyncio.Event) -> None:
    await over.wait()
    raise _Over
