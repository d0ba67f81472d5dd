"""What ends a run before its end: each error is one sentence that says what to do."""

from __future__ import annotations

from pegboard.rules.errors import PegboardError


class NoServer(PegboardError):
    """There is no server to play at."""


class FolderError(PegboardError):
    """The folder of the run cannot be used, or can no longer be written."""


class Exhausted(PegboardError):
    """The operating system gives this process no more of something, e.g. open files."""
