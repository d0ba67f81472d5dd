"""Heartbeats of one stream, and how long its bot has been silent or has not read.

The server gives each stream a pulse, ten in a heartbeat interval. Pulses are counted, not time: while
the server itself was held up there were no pulses, and no bot was silent.
"""

from __future__ import annotations

from math import ceil

from pegboard.rpc.limits import Limits

PULSES_PER_BEAT = 10


def pulse_interval_s(limits: Limits) -> float:
    """Return the time between two pulses."""
    return limits.heartbeat_s / PULSES_PER_BEAT


class Heartbeat:
    """Counts pulses: since the last heartbeat, the bot's last message, and the start of a write.

    `due`: a heartbeat is to join the next message. The writer task sets `writing` around a write, and
    `blocked_pulses` to 0 at its start.
    """

    __slots__ = (
        "_beat_pulses",
        "_beats",
        "_quiet_pulses",
        "_silent_pulses",
        "_stall_pulses",
        "blocked_pulses",
        "due",
        "writing",
    )

    def __init__(self, limits: Limits) -> None:
        self.due = False
        self.writing = False
        self.blocked_pulses = 0
        self._beats = 0
        self._beat_pulses = 0
        self._quiet_pulses = 0
        self._silent_pulses = PULSES_PER_BEAT * limits.silence_beats
        self._stall_pulses = ceil(limits.stall_s / pulse_interval_s(limits))

    def heard(self) -> None:
        """Note a message of the bot."""
        self._quiet_pulses = 0

    def take(self) -> int:
        """Return the number of the heartbeat that is due; it is due no more."""
        self.due = False
        self._beats += 1
        return self._beats

    def pulse(self, thinks: bool) -> None:
        """Count a pulse. `thinks`: the bot has a turn and may be too busy to answer; its clock runs."""
        self._beat_pulses += 1
        if self._beat_pulses >= PULSES_PER_BEAT:
            self._beat_pulses = 0
            self.due = True
        if self.writing:
            self.blocked_pulses += 1
        self._quiet_pulses = 0 if thinks else self._quiet_pulses + 1

    @property
    def is_stalled(self) -> bool:
        """Whether the bot has left what was sent to it unread for too long."""
        return self.writing and self.blocked_pulses >= self._stall_pulses

    @property
    def is_silent(self) -> bool:
        """Whether the bot has left too many heartbeats unanswered."""
        return self._quiet_pulses >= self._silent_pulses
