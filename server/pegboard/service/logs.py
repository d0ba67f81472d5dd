"""The log of a server: on standard error, a line an entry."""

from __future__ import annotations

import logging
import sys
from collections.abc import Mapping, MutableMapping
from typing import Any

import structlog

from pegboard.errors import InvalidRequest
from pegboard.rules.plain import plain, quoted

LEVELS = ("debug", "info", "warning", "error")
LOG_VALUE_MOST = 400
"""The most characters of a value in the log..."""
LOG_WHOLE = frozenset({"exception", "traceback"})
"""...but of these, which are ours."""


def configure_log(level: str) -> None:
    """Log to standard error, a line an entry: values are written as Python writes them, on one line.

    Raises `InvalidRequest` for an unknown level.
    """
    if level not in LEVELS:
        raise InvalidRequest(f"no log level {quoted(level)}; one of {', '.join(LEVELS)}")
    structlog.configure(
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso"),
            structlog.processors.format_exc_info,
            bound_values,
            structlog.processors.KeyValueRenderer(key_order=["timestamp", "level", "event"]),
        ],
        wrapper_class=structlog.make_filtering_bound_logger(getattr(logging, level.upper())),
        logger_factory=lambda *_: StandardError(),
    )


class StandardError:
    """Writes entries to standard error as it is now. If nothing reads it, the server still serves."""

    def msg(self, line: str) -> None:
        """Write one entry."""
        try:
            sys.stderr.write(f"{line}\n")
            sys.stderr.flush()
        except (OSError, ValueError):  # closed, or a pipe without a reader
            pass

    debug = info = warning = error = msg


def bound_values(_logger: Any, _method: str, entry: MutableMapping[str, Any]) -> Mapping[str, Any]:
    """Cut long text of an entry, so that bots cannot fill a log by what they say."""
    for key, value in entry.items():
        if isinstance(value, str) and len(value) > LOG_VALUE_MOST and key not in LOG_WHOLE:
            entry[key] = plain(value, LOG_VALUE_MOST)
    return entry
