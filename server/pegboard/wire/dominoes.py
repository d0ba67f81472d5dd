"""Dominoes on the wire: moves, views and events, both ways."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from pegboard.rules.dominoes import events as ev
from pegboard.rules.dominoes import moves as mv
from pegboard.rules.dominoes.view import Act, DominoesView
from pegboard.rules.errors import NotationError
from pegboard.rules.game import Choices
from pegboard.rules.tiles import HALVES, HIDDEN, SET, Tile
from pegboard.v1 import dominoes_pb2 as pb
from pegboard.v1 import match_pb2, play_pb2
from pegboard.wire.encoding import VARINT, delimited, key, keys, packed, packed_signed, varint
from pegboard.wire.fields import NUMBERS, Field, Kind, Kinds

FAMILY = "dominoes"


def tile_of(number: int) -> Tile:
    """Return the tile that a client named. Raises `NotationError` for none."""
    if number not in HALVES:
        raise NotationError(f"no tile has the number {number}; 114 is [1|4]")
    return Tile(number)


def _packed_tiles(tiles: tuple[Tile, ...]) -> bytes:
    """Length and payload of packed tiles. Hands and lines differ too much to be worth keeping."""
    payload = b"".join([VARINT[tile] for tile in tiles])
    return varint(len(payload)) + payload


# --- moves -------------------------------------------------------------------------------------

_ENDS = tuple(mv.End)


def _move_message(move: mv.DominoesMove) -> pb.DominoesMove:
    match move:
        case mv.Place():
            place = pb.DominoesPlace(tile=_enum(move.tile))
            if move.end:
                place.end = _enum(move.end)
            return pb.DominoesMove(place=place)
        case mv.Draw():
            return pb.DominoesMove(draw=pb.DominoesDraw())
        case mv.Pass():
            return pb.DominoesMove(pass_turn=pb.DominoesPass())
    raise AssertionError(move)


def _enum(number: int) -> Any:
    """A number as the constructors' stubs want it: their enum types are known to checkers only."""
    return int(number)


def _serialised(move: mv.DominoesMove) -> bytes:
    return match_pb2.GameMove(dominoes=_move_message(move)).SerializeToString()


_PLACE_BYTES = {place: _serialised(move) for place, move in mv.PLACES.items()}
_DRAW_BYTES = _serialised(mv.DRAW)
_PASS_BYTES = _serialised(mv.PASS)


def move_bytes(move: mv.DominoesMove) -> bytes:
    """Return the serialised `GameMove`."""
    if type(move) is mv.Place:
        return _PLACE_BYTES[move.tile, move.end]
    return _DRAW_BYTES if type(move) is mv.Draw else _PASS_BYTES


_LISTED = key(play_pb2.Turn.DESCRIPTOR, "legal_moves")
_LISTED_PLACES = {
    tile: tuple(delimited(_LISTED, _PLACE_BYTES[tile, end]) for end in _ENDS) for tile in SET
}
"""By tile and end."""
_LISTED_DRAW, _LISTED_PASS = delimited(_LISTED, _DRAW_BYTES), delimited(_LISTED, _PASS_BYTES)


def listed_bytes(choices: Choices, asked: Choices) -> list[bytes]:
    """Return moves as elements of `Turn.legal_moves`, key and length included."""
    listed = []
    for move in choices.moves:
        kind = type(move)
        if kind is mv.Place:
            listed.append(_LISTED_PLACES[move.tile][move.end])
        else:
            listed.append(_LISTED_DRAW if kind is mv.Draw else _LISTED_PASS)
    return listed


def read_move(message: pb.DominoesMove) -> mv.DominoesMove:
    """Return a move. Raises `NotationError` where a tile, an end or the move itself makes no sense."""
    oneof = message.WhichOneof("kind")
    if oneof == "place":
        if message.place.end >= len(_ENDS):
            raise NotationError(f"no end has the number {message.place.end}; 1 is left, 2 right")
        return mv.PLACES[tile_of(message.place.tile), _ENDS[message.place.end]]
    if oneof is None:
        raise NotationError("the move is empty; set one of the fields of DominoesMove")
    return mv.DRAW if oneof == "draw" else mv.PASS


def read_listed_move(message: pb.DominoesMove, takes_number: bool) -> mv.DominoesMove:
    """Return a move of `Turn.legal_moves`; no move of dominoes is ever open."""
    return read_move(message)


# --- views -------------------------------------------------------------------------------------

_VIEW = keys(pb.DominoesView.DESCRIPTOR)
_IN_VIEW = key(match_pb2.GameView.DESCRIPTOR, FAMILY)
_K_GAME, _K_ROUND, _K_OPENER = _VIEW["game"], _VIEW["round"], _VIEW["opener"]
_K_SCORES, _K_WON, _K_HAND = _VIEW["scores"], _VIEW["games_won"], _VIEW["hand"]
_K_SIZES, _K_STOCK, _K_LINE = _VIEW["hand_sizes"], _VIEW["stock"], _VIEW["line"]
_K_PASSES, _K_TO_ACT = _VIEW["passes"], _VIEW["seat_to_act"]


def _connection_message(connection: ev.Connection) -> pb.DominoesConnection:
    tile, port, joined_tile, joined_port = connection
    return pb.DominoesConnection(
        tile=_enum(tile),
        port=_enum(port),
        joined_tile=_enum(joined_tile),
        joined_port=_enum(joined_port),
    )


def _continuation_message(continuation: ev.Continuation) -> pb.DominoesContinuation:
    tile, port, pips = continuation
    return pb.DominoesContinuation(tile=_enum(tile), port=_enum(port), pips=pips)


# What a line is made of comes up again and again, so its bytes are kept: by plain numbers, since
# hashing an enum costs more than all else here.
_CONNECTIONS: dict[int, bytes] = {}
_CONTINUATIONS: dict[int, bytes] = {}
_ACTS: dict[int, bytes] = {}


def _connection_bytes(connection: ev.Connection) -> bytes:
    tile, port, joined_tile, joined_port = connection
    place = (tile << 3 | port) << 16 | joined_tile << 3 | joined_port
    known = _CONNECTIONS.get(place)
    if known is None:
        payload = _connection_message(connection).SerializeToString()
        known = _CONNECTIONS[place] = delimited(_VIEW["connections"], payload)
    return known


def _continuation_bytes(continuation: ev.Continuation) -> bytes:
    tile, port, _ = continuation  # which tell the pips
    place = tile << 3 | port
    known = _CONTINUATIONS.get(place)
    if known is None:
        payload = _continuation_message(continuation).SerializeToString()
        known = _CONTINUATIONS[place] = delimited(_VIEW["continuations"], payload)
    return known


def _move_of(tile: Tile | None, end: mv.End, passed: bool) -> mv.DominoesMove:
    if tile is not None:
        return mv.PLACES[tile, end]
    return mv.PASS if passed else mv.DRAW


def _act_bytes(act: Act) -> bytes:
    seat, tile, end, passed = act
    place = (passed if tile is None else tile) << 8 | end << 4 | seat
    known = _ACTS.get(place)
    if known is None:
        message = pb.DominoesAct(seat=seat, move=_move_message(_move_of(tile, end, passed)))
        known = _ACTS[place] = delimited(_VIEW["acts"], message.SerializeToString())
    return known


def view_bytes(view: DominoesView) -> bytes:
    """Return the serialised `GameView`."""
    (game, round_, opener, scores, games_won, hand, hand_sizes, stock, line, connections,
     continuations, passes, seat_to_act, acts) = view  # fmt: skip
    parts = [
        _K_GAME, varint(game), _K_ROUND, varint(round_), _K_OPENER, VARINT[opener],
        _K_SCORES, packed_signed(scores), _K_WON, packed(games_won),
        _K_HAND, _packed_tiles(hand), _K_SIZES, packed(hand_sizes), _K_STOCK, VARINT[stock],
        _K_LINE, _packed_tiles(line), _K_PASSES, VARINT[passes], _K_TO_ACT, VARINT[seat_to_act],
    ]  # fmt: skip
    parts += [_connection_bytes(connection) for connection in connections]
    parts += [_continuation_bytes(continuation) for continuation in continuations]
    parts += [_act_bytes(act) for act in acts]
    payload = b"".join(parts)
    return _IN_VIEW + varint(len(payload)) + payload


def _known(number: int) -> Tile:
    """A tile, or HIDDEN."""
    return Tile(number) if number in HALVES else HIDDEN


def _tile_or_none(number: int) -> Tile | None:
    """A tile, or None."""
    return Tile(number) if number in HALVES else None


def _read_tiles(numbers: Iterable[int]) -> tuple[Tile, ...]:
    return tuple([_known(number) for number in numbers])


def _read_connection(message: pb.DominoesConnection) -> ev.Connection:
    return ev.Connection(
        _known(message.tile),
        ev.Port(message.port),
        _known(message.joined_tile),
        ev.Port(message.joined_port),
    )


def _read_continuation(message: pb.DominoesContinuation) -> ev.Continuation:
    return ev.Continuation(_known(message.tile), ev.Port(message.port), message.pips)


def _read_act(message: pb.DominoesAct) -> Act:
    move = read_move(message.move)
    if isinstance(move, mv.Place):
        return Act(message.seat, move.tile, move.end, False)
    return Act(message.seat, None, mv.End.NONE, move == mv.PASS)


def read_view(message: pb.DominoesView) -> DominoesView:
    """Return the view of a message."""
    return DominoesView(
        game=message.game,
        round=message.round,
        opener=message.opener,
        scores=tuple(message.scores),
        games_won=tuple(message.games_won),
        hand=_read_tiles(message.hand),
        hand_sizes=tuple(message.hand_sizes),
        stock=message.stock,
        line=_read_tiles(message.line),
        connections=tuple(map(_read_connection, message.connections)),
        continuations=tuple(map(_read_continuation, message.continuations)),
        passes=message.passes,
        seat_to_act=message.seat_to_act,
        acts=tuple(map(_read_act, message.acts)),
    )


# --- events ------------------------------------------------------------------------------------


def _write_tiles(tiles: Iterable[Tile]) -> list[Any]:
    return list(tiles)


TILE = Field(lambda tile: tile, _known)
HANDS = Field(
    lambda hands: [pb.DominoesHand(tiles=_write_tiles(hand)) for hand in hands],
    lambda messages: tuple(_read_tiles(message.tiles) for message in messages),
)
DRAWN_TILES = Field(
    lambda tiles: [0 if tile is None else tile for tile in tiles],
    lambda numbers: tuple(map(_tile_or_none, numbers)),
)
END = Field(lambda end: end or None, mv.End, mv.End.NONE)
CONNECTION = Field(
    lambda connection: None if connection is None else _connection_message(connection),
    _read_connection,
)
CONTINUATIONS = Field(
    lambda continuations: list(map(_continuation_message, continuations)),
    lambda messages: tuple(map(_read_continuation, messages)),
)


EVENTS = Kinds(
    pb.DominoesEvent,
    [
        Kind("opener_drawn", ev.OpenerDrawn, pb.DominoesOpenerDrawn, tiles=DRAWN_TILES),
        Kind("game_started", ev.GameStarted, pb.DominoesGameStarted, scores=NUMBERS),
        Kind("dealt", ev.Dealt, pb.DominoesDealt, hands=HANDS),
        Kind(
            "placed",
            ev.Placed,
            pb.DominoesPlaced,
            tile=TILE,
            end=END,
            connection=CONNECTION,
            continuations=CONTINUATIONS,
        ),
        Kind("drawn", ev.Drawn, pb.DominoesDrawn, tile=TILE),
        Kind("passed", ev.Passed, pb.DominoesPassed),
        Kind(
            "round_ended",
            ev.RoundEnded,
            pb.DominoesRoundEnded,
            hands=HANDS,
            pips=NUMBERS,
            scores=NUMBERS,
        ),
        Kind("game_ended", ev.GameEnded, pb.DominoesGameEnded, scores=NUMBERS, winners=NUMBERS),
    ],
)
