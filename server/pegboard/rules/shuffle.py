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

import re
from collections.abc import Mapping, Sequence
from hashlib import sha256
from struct import Struct
from typing import Final

from pegboard.rules.errors import NotationError

SEED_BYTES: Final = 32
_NUMBERS: Final = Struct(">16H")
_LABEL: Final = re.compile(
    r"(cut|opener)/[1-9][0-9]*|(deal|round)/[1-9][0-9]*/[1-9][0-9]*|draw/[1-9][0-9]*/[1-9][0-9]*/[0-3]"
)


_INNER: Final = bytes(0x36 ^ byte for byte in range(256))
_OUTER: Final = bytes(0x5C ^ byte for byte in range(256))
_HMAC_BLOCK_BYTES: Final = 64
_ASCENDING: Final = [*range(64)]
"""Copied rather than counted: as long as the packs and sets that games have."""


class SeededChance:
    """Chance from a secret seed and a public nonce."""

    __slots__ = ("_inner_key", "_outer_key", "nonce", "seed")

    def __init__(self, seed: bytes, nonce: str) -> None:
        """Take a seed of 32 bytes. Raises `NotationError` for another length."""
        if len(seed) != SEED_BYTES:
            raise NotationError(f"a seed has {SEED_BYTES} bytes, not {len(seed)}")
        self.seed = seed
        self.nonce = nonce
        key = seed.ljust(_HMAC_BLOCK_BYTES, b"\0")
        self._inner_key = key.translate(_INNER)
        self._outer_key = key.translate(_OUTER)

    def order(self, label: str, size: int, count: int) -> Sequence[int]:
        """Return the first `count` of a random order of 0 to `size` - 1."""
        places = min(count, size - 1)
        items = _ASCENDING[:size] if size <= len(_ASCENDING) else [*range(size)]
        numbers = self._numbers(label, places)
        # Only numbers at the very top can be above the limit of a span; mostly there is none.
        for number in numbers:
            if number >= 65536 - size:
                numbers = self._below_limits(label, size, places)
                break
        for place in range(places):
            other = place + numbers[place] % (size - place)
            items[place], items[other] = items[other], items[place]
        return items[:count]

    def _below_limits(self, label: str, size: int, places: int) -> tuple[int, ...]:
        """Return a number for each place, those above the limit of its span passed over."""
        found: list[int] = []
        block = 0
        while len(found) < places:
            for number in self._block(label, block):
                span = max(size - len(found), 1)
                if number < 65536 - 65536 % span:
                    found.append(number)
            block += 1
        return tuple(found)

    def _numbers(self, label: str, count: int) -> tuple[int, ...]:
        """Return at least so many numbers of the stream, one block or more."""
        numbers = self._block(label, 0)
        block = 0
        while len(numbers) < count:
            block += 1
            numbers += self._block(label, block)
        return numbers

    def _block(self, label: str, block: int) -> tuple[int, ...]:
        """Return the sixteen numbers of a block.

        HMAC-SHA256 written out over the prepared keys: half the time of `hmac.digest`, and a deal needs
        little else.
        """
        message = f"{self.nonce}/{label}/{block}".encode()
        inner = sha256(self._inner_key + message).digest()
        return _NUMBERS.unpack(sha256(self._outer_key + inner).digest())

    def commitment(self) -> bytes:
        """Return the 32 bytes to publish before the first deal."""
        return commitment(self.seed, self.nonce)


class ScriptedChance:
    """Chance that does as it is told: for vectors and tests.

    `orders` gives the first items of an order by label (docs/deals.md); the rest follow ascending. A
    label that is not given is ascending throughout, unless `otherwise` is there to ask.
    """

    __slots__ = ("orders", "otherwise")

    def __init__(
        self, orders: Mapping[str, Sequence[int]], otherwise: SeededChance | None = None
    ) -> None:
        """Take the orders. Raises `NotationError` for a label that no game ever asks for."""
        for label in orders:
            if not _LABEL.fullmatch(label):
                raise NotationError(
                    f"no order has the label {label!r}; docs/deals.md has them all, like deal/1/1:"
                    " first the game, then the deal"
                )
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
    return sha256(b"pegboard/1\0" + seed + nonce.encode()).digest()
