"""The limits that hold for every caller of a server."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Limits:
    """What one caller may use. Times in seconds."""

    message_bytes: int = 1 << 20
    """The largest request of an organiser: a batch of 1000 matches has room."""
    request_bytes: int = 1 << 14
    """The largest request of a bot or a spectator, and the largest `Hello`."""
    play_bytes: int = 1 << 18
    """The largest message of a `Play` stream: 1000 answers with typed moves have room."""
    received_bytes: int = 1 << 21
    """What gRPC itself takes; beyond that it ends the call, without telling why as we do."""
    streams_per_connection: int = 512
    hello_s: float = 10.0
    """From opening a stream to its `Hello`."""
    heartbeat_s: float = 10.0
    silence_beats: int = 3
    """Heartbeat intervals without a word after which a bot that owes no move counts as lost."""
    stall_s: float = 20.0
    """How long a bot may leave what was sent to it unread."""
    excess_burst: int = 1000
    """Units of work that one caller may cause unasked at once (`allowance`): an answer beyond the open
    turns, a resignation, a message without either, 256 bytes more than answers need, a call..."""
    excess_per_s: float = 200.0
    """...and how fast that allowance refills."""
    hello_units: int = 20
    """What a `Hello` costs; one more for every ten running matches, whose turns are sent again, up to a
    quarter of the burst."""
    calls_at_once: int = 256
    """Calls of one caller that wait for something."""
    greeting_streams: int = 256
    """Streams without a `Hello`; from there on each new one ends the oldest."""
    rejections_unread: int = 2000
    """Rejections that wait for a bot to read them."""
    turns_per_message: int = 256
    events_per_message: int = 2000
    poll_s: float = 60.0
    """The longest wait of `GetTurn`."""
    stop_s: float = 5.0
    """From the wish to stop until calls that are still open are cut."""
