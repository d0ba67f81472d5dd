"""`Turn` and `PlayResponse` as bytes: what the server sends for every decision."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from pegboard.rules.game import Choices
from pegboard.v1 import play_pb2
from pegboard.wire.codec import Codec
from pegboard.wire.encoding import delimited, key, keys, varint

_TURN = keys(play_pb2.Turn.DESCRIPTOR)
_K_TURN_ID, _K_VIEW, _K_CLOCK = _TURN["turn_id"], _TURN["view"], _TURN["clock"]
_CLOCK = keys(play_pb2.Clock.DESCRIPTOR)
_K_TURN_MS, _K_BANK_MS = _CLOCK["turn_ms"], _CLOCK["bank_ms"]
_K_TURNS = key(play_pb2.PlayResponse.DESCRIPTOR, "turns")


def turn_bytes(
    head: bytes,
    turn_id: int,
    time_ms: tuple[int, int | None],
    choices: Choices,
    asked: Choices,
    view: Any,
    codec: Codec,
) -> bytes:
    """Return the serialised `Turn`. `head` is of `seat_bytes`, `time_ms` (turn, bank or None).

    `asked` are the choices before refused claims narrowed the range of `choices` (`Choices.without`).
    """
    view_bytes = codec.view_bytes(view)
    parts = [
        head,
        _K_TURN_ID,
        varint(turn_id),
        _clock_bytes(time_ms),
        *codec.listed_bytes(choices, asked),
        _K_VIEW,
        varint(len(view_bytes)),
        view_bytes,
    ]
    return b"".join(parts)


def turns_bytes(turns: list[bytes]) -> bytes:
    """Return serialised turns as the field `turns` of a `PlayResponse`.

    Serialised messages join by concatenation, so this may follow any other fields of the response.
    """
    parts: list[bytes] = []
    for turn in turns:
        parts += _K_TURNS, varint(len(turn)), turn
    return b"".join(parts)


def seat_bytes(match: str, seat: int) -> bytes:
    """Return the fields of a `Turn` that stay for a whole match, `matches/{id}` and a seat."""
    return play_pb2.Turn(match=match, seat=seat).SerializeToString()


@lru_cache(maxsize=1 << 10)
def _clock_bytes(time_ms: tuple[int, int | None]) -> bytes:
    turn_ms, bank_ms = time_ms
    payload = _K_TURN_MS + varint(turn_ms)
    if bank_ms is not None:
        payload += _K_BANK_MS + varint(bank_ms)
    return _K_CLOCK + varint(len(payload)) + payload


# --- answers -----------------------------------------------------------------------------------

_ANSWER = keys(play_pb2.Answer.DESCRIPTOR)
_K_ANSWER_TURN, _K_INDEX, _K_ANSWER_NUMBER = (
    _ANSWER[name] for name in ("turn_id", "index", "number")
)
_K_ANSWERS = key(play_pb2.PlayRequest.DESCRIPTOR, "answers")


def answer_bytes(match: str, seat: int, turn_id: int, index: int, number: int | None) -> bytes:
    """Return an answer by index as an element of `PlayRequest.answers`."""
    payload = (
        _answer_seat_bytes(match, seat)
        + _K_ANSWER_TURN
        + varint(turn_id)
        + _K_INDEX
        + varint(index)
    )
    if number is not None:
        payload += _K_ANSWER_NUMBER + varint(number)
    return _K_ANSWERS + varint(len(payload)) + payload


def move_answer_bytes(match: str, seat: int, turn_id: int, move: bytes) -> bytes:
    """Return an answer by a serialised `GameMove` as an element of `PlayRequest.answers`."""
    payload = (
        _answer_seat_bytes(match, seat)
        + _K_ANSWER_TURN
        + varint(turn_id)
        + delimited(_ANSWER["move"], move)
    )
    return delimited(_K_ANSWERS, payload)


@lru_cache(maxsize=1 << 12)
def _answer_seat_bytes(match: str, seat: int) -> bytes:
    return play_pb2.Answer(match=match, seat=seat).SerializeToString()
