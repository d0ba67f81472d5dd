"""Building serialised protobuf messages field by field, for the messages that go out by the million.

Through the generated classes a `Turn` costs three times as much, and one more copy when it joins its
`PlayResponse`. Field numbers come from the generated descriptors, so the contract stays in one place;
the tests parse every message back with the generated classes and compare.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from google.protobuf.descriptor import Descriptor, FieldDescriptor

_LENGTH_DELIMITED = {
    FieldDescriptor.TYPE_STRING,
    FieldDescriptor.TYPE_BYTES,
    FieldDescriptor.TYPE_MESSAGE,
}


def encode_varint(number: int) -> bytes:
    """Return the base-128 encoding of a number from 0 up."""
    assert number >= 0, "negative numbers are zigzagged first"
    encoded = bytearray()
    while number > 127:
        encoded.append(number & 127 | 128)
        number >>= 7
    encoded.append(number)
    return bytes(encoded)


_SMALL: Final = 1 << 14
VARINT: Final[tuple[bytes, ...]] = tuple(encode_varint(number) for number in range(_SMALL))
"""The encoding of small numbers, for cards, seats and others of a known range."""


def varint(number: int) -> bytes:
    """Return the encoding of any number from 0 up."""
    return VARINT[number] if 0 <= number < _SMALL else encode_varint(number)


_ZIGZAG_MOST = 2048
ZIGZAG: Final[tuple[bytes, ...]] = tuple(
    encode_varint(2 * n if n >= 0 else -2 * n - 1)
    for n in (*range(_ZIGZAG_MOST), *range(-_ZIGZAG_MOST, 0))
)
"""The encoding of a `sint32` from -2048 to 2047, negative ones by their negative index."""


def key(message: Descriptor, name: str) -> bytes:
    """Return the key (number and wire type) of a field of a message type."""
    field: FieldDescriptor = message.fields_by_name[name]
    delimited = field.type in _LENGTH_DELIMITED or field.is_packed
    return encode_varint(field.number << 3 | (2 if delimited else 0))


def keys(message: Descriptor) -> dict[str, bytes]:
    """Return the keys of all fields by name."""
    return {field.name: key(message, field.name) for field in message.fields}


def delimited(field_key: bytes, payload: bytes) -> bytes:
    """Return a string, bytes, message or packed field."""
    return field_key + varint(len(payload)) + payload


@lru_cache(maxsize=1 << 12)
def packed(numbers: tuple[int, ...]) -> bytes:
    """Return length and payload of packed `uint32`s."""
    payload = b"".join([varint(number) for number in numbers])
    return varint(len(payload)) + payload


def packed_signed(numbers: tuple[int, ...]) -> bytes:
    """Return length and payload of packed `sint32`s. Scores differ too much to be worth keeping."""
    try:
        if len(numbers) == 2:  # most matches; a loop would cost twice as much
            first, second = numbers
            payload = ZIGZAG[first] + ZIGZAG[second]
        else:
            payload = b"".join([ZIGZAG[number] for number in numbers])
    except IndexError:
        payload = b"".join([encode_varint(2 * abs(n) - (n < 0)) for n in numbers])
    return varint(len(payload)) + payload
