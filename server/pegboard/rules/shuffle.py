"""Verifiable chance: every order of cards or tiles is a pure function of (seed, nonce, label).

The algorithm, so that any language can redo it (docs/deals.md has worked examples):

1. Stream: block i = HMAC-SHA256(key = seed, message = UTF-8 of `nonce/label/i`), i = 0, 1, 2...; the
   blocks are read as big-endian 16-bit numbers, in order.
2. Below m: take the next number x; while x >= 65536 - 65536 mod m, take the next one; x mod m.
3. Fisher-Yates from the front: of the list 0, 1, .. size-1, for i = 0, 1, ..: j = i + below(size - i);
   exchange places i and j. Stopping after `count` places gives the first `count` of the full order.

The commitment is SHA-256 over `pegboard/1`, a zero byte, the seed and the nonce; published before the
first deal, it binds the server to every order of the match.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Iterator, Mapping, Sequence
from struct import Struct

from pegboard.rules.errors import NotationError

SEED_BYTES = 32
_NUMBERS = Struct(">16H")


class SeededChance:
    """Chance from a secret seed and a public nonce."""

    __slots__ = ("nonce", "seed")

    def __init__(self, seed: bytes, nonce: str) -> None:
        """Take a seed of 32 bytes. Raises `NotationError` for another length."""
        if len(seed) != SEED_BYTES:
            raise NotationError(f"a seed has {SEED_BYTES} bytes, not {len(seed)}")
        self.seed = seed
        self.nonce = nonce

    def order(self, label: str, size: int, count: int) -> Sequence[int]:
        """Return the first `count` of a random order of 0 to `size` - 1."""
        numbers = self._numbers(label)
        items = list(range(size))
        for place in range(min(count, size - 1)):
            span = size - place
            limit = 65536 - 65536 % span
            number = next(numbers)
            while number >= limit:
                number = next(numbers)
            other = place + number % span
            items[place], items[other] = items[other], items[place]
        return items[:count]

    def _numbers(self, label: str) -> Iterator[int]:
        prefix = f"{self.nonce}/{label}/"
        block = 0
        while True:
            digest = hmac.digest(self.seed, f"{prefix}{block}".encode(), "sha256")
            yield from _NUMBERS.unpack(digest)
            block += 1

    def commitment(self) -> bytes:
        """Return the 32 bytes to publish before the first deal."""
        return commitment(self.seed, self.nonce)


class ScriptedChance:
    """Chance that does as it is told: for vectors and tests.

    `orders` gives the first items of an order by label; the rest follow ascending. A label that is
    not given is ascending throughout, unless `otherwise` is there to ask.
    """

    __slots__ = ("orders", "otherwise")

    def __init__(
        self, orders: Mapping[str, Sequence[int]], otherwise: SeededChance | None = None
    ) -> None:
        self.orders = orders
        self.otherwise = otherwise

    def order(self, label: str, size: int, count: int) -> Sequence[int]:
        """Return the scripted items, then the missing ones ascending, cut to `count`."""
        if label not in self.orders and self.otherwise is not None:
            return self.otherwise.order(label, size, count)
        first = list(self.orders.get(label, ()))
        given = set(first)
        return [*first, *(item for item in range(size) if item not in given)][:count]


def commitment(seed: bytes, nonce: str) -> bytes:
    """Return SHA-256 over `pegboard/1`, a zero byte, the seed and the nonce."""
    return hashlib.sha256(b"pegboard/1\0" + seed + nonce.encode()).digest()
