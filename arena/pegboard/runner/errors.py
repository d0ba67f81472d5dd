"""What ends a run before its end: each error is one sentence that says what to do."""

from __future__ import annotations

from pegboard.rules.errors import PegboardError


class NoServer(PegboardError):
    """No server can be reached or kept running, or it does not take the run."""


class FolderError(PegboardError):
    """The folder of the run cannot be used, or can no longer be written."""


class Exhausted(PegboardError):
    """The operating system gives this process no more of something, e.g. open files."""
