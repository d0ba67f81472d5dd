"""Serialises the open turns of a bot."""

from __future__ import annotations

from pegboard.matches.host import MatchHost
from pegboard.matches.running import OpenTurn, SeatedBot
from pegboard.rules.game import Seat
from pegboard.rules.names import MATCHES
from pegboard.wire.codec import CODECS, Codec
from pegboard.wire.turns import seat_bytes, turn_bytes, turns_bytes


class TurnEncoder:
    """Makes the turns of one stream, and keeps what all turns of a seat begin with."""

    __slots__ = ("_addressed", "_host")

    def __init__(self, host: MatchHost) -> None:
        self._host = host
        self._addressed: dict[str, dict[Seat, tuple[bytes, Codec]]] = {}

    def encode(self, turns: list[OpenTurn]) -> bytes:
        """Return the serialised field `turns` of a `PlayResponse`."""
        now_ns, lag_ns = self._host.now_ns(), self._host.deadlines.lag_ns
        encoded = []
        for turn in turns:
            try:
                encoded.append(self._turn(turn, turn.time_ms(now_ns, lag_ns)))
            except Exception:
                # A view that cannot be told is our bug: it ends that match, never the stream.
                self._host.fault(turn.match)
        return turns_bytes(encoded)

    def forget(self, match_id: str) -> None:
        """Drop what is kept of a match that is over."""
        self._addressed.pop(match_id, None)

    def _turn(self, turn: OpenTurn, time_ms: tuple[int, int | None]) -> bytes:
        seated = turn.seated
        of_match = self._addressed.get(seated.match.id)
        if of_match is None:
            of_match = self._addressed[seated.match.id] = {}
        addressed = of_match.get(seated.seat)
        if addressed is None:
            addressed = of_match[seated.seat] = _address(seated)
        return _encoded(turn, time_ms, *addressed)


def encode_turn(turn: OpenTurn, time_ms: tuple[int, int | None]) -> bytes:
    """Return the serialised `Turn`."""
    return _encoded(turn, time_ms, *_address(turn.seated))


def _address(seated: SeatedBot) -> tuple[bytes, Codec]:
    """Return what all turns of a seat begin with, and the codec of the rest."""
    match = seated.match
    return seat_bytes(MATCHES + match.id, seated.seat), CODECS[match.game.family]


def _encoded(turn: OpenTurn, time_ms: tuple[int, int | None], head: bytes, codec: Codec) -> bytes:
    view = turn.match.view(turn.seat)
    return turn_bytes(head, turn.turn_id, time_ms, turn.choices, turn.question, view, codec)
