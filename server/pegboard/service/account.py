"""What a bot owes on its stream: answers to the turns it got, and units for all beyond that."""

from __future__ import annotations

from pegboard.errors import TooManyRequests
from pegboard.rpc.allowance import Allowance

FAIR_BYTES = 256
"""What an answer may need: a name of 63 characters, a typed move. More is charged for."""


class StreamAccount:
    """`owed` counts turns that were sent and not answered, `turns_sent` all turns of the stream."""

    __slots__ = ("_allowance", "_bot", "_unread", "_unread_most", "owed", "turns_sent")

    def __init__(self, bot: str, allowance: Allowance, unread_most: int) -> None:
        """Take the bot's allowance, and how many rejections the bot may leave unread."""
        self._bot = bot
        self._allowance = allowance
        self._unread = 0
        self._unread_most = unread_most
        self.owed = 0
        self.turns_sent = 0

    def turns_told(self, count: int) -> None:
        """Note turns that the bot is sent: it owes an answer to each."""
        self.owed += count
        self.turns_sent += count

    def charge(self, items: int, size: int) -> None:
        """Charge what was not asked for: more answers than turns owed, nothing at all, bytes.

        `items` are the answers and resignations of a message of `size` bytes. Raises `TooManyRequests`
        if the bot has no allowance left for it.
        """
        owed = self.owed - items
        self.owed = max(owed, 0)
        bytes_over = size - FAIR_BYTES * (items + 1)
        if owed >= 0 and items and bytes_over <= 0:
            return
        excess = max(-owed, 0) + (0 if items else 1) + max(bytes_over, 0) // FAIR_BYTES
        self._allowance.spend(excess)

    def charge_unreadable(self, size: int) -> None:
        """Charge a message that is not a `PlayRequest`. Raises `TooManyRequests`."""
        self._allowance.spend(size // FAIR_BYTES)

    def rejected(self) -> None:
        """Note a rejection that waits to be sent. Raises `TooManyRequests` if too many wait."""
        self._unread += 1
        if self._unread > self._unread_most:
            raise TooManyRequests(
                f"{self._bot} left {self._unread_most} rejections unread; read what the server says"
            )

    def rejections_told(self, count: int) -> None:
        """Note rejections that the bot is sent."""
        self._unread -= count
