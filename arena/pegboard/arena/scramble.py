"""Numbers that look random without the key, and can be read back with it. Pure."""

from __future__ import annotations

import hashlib
from typing import NamedTuple

_ROUNDS = 6
_HALF = 32
_MASK = (1 << _HALF) - 1


class Scramble(NamedTuple):
    """A permutation of the numbers below 2**64, fixed by a key of at most 64 bytes.

    It is a balanced Feistel network over two halves of 32 bits. Four rounds with a pseudorandom
    function make a strong pseudorandom permutation (Luby and Rackoff); the two more are a margin.
    """

    key: bytes

    def hide(self, number: int) -> int:
        """Return what stands for a number."""
        left, right = number >> _HALF, number & _MASK
        for turn in range(_ROUNDS):
            left, right = right, left ^ self._mix(turn, right)
        return left << _HALF | right

    def show(self, hidden: int) -> int:
        """Return the number that `hidden` stands for."""
        left, right = hidden >> _HALF, hidden & _MASK
        for turn in reversed(range(_ROUNDS)):
            left, right = right ^ self._mix(turn, left), left
        return left << _HALF | right

    def _mix(self, turn: int, half: int) -> int:
        data = turn.to_bytes(1, "big") + half.to_bytes(4, "big")
        # Keyed BLAKE2b is a pseudorandom function, and takes a third of the time of HMAC-SHA256.
        digest = hashlib.blake2b(data, key=self.key, digest_size=4).digest()
        return int.from_bytes(digest, "big")
