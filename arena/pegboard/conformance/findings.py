"""What a case has found."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple


class Verdict(StrEnum):
    """How a case came out; only FAIL makes a bot fail."""

    PASS = "pass"  # noqa: S105 - not a password
    WARNING = "warning"
    FAIL = "FAIL"
    SKIPPED = "skipped"


class Finding(NamedTuple):
    """One case: what was seen, and what to do about it if anything."""

    case: str
    verdict: Verdict
    seen: str
    advice: str = ""
    seconds: float = 0.0


class Failed(Exception):
    """The bot does not do what a case asks for: what was seen, and what to mend."""

    def __init__(self, seen: str, advice: str) -> None:
        super().__init__(seen)
        self.seen = seen
        self.advice = advice
