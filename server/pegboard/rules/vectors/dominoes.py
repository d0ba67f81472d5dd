"""Cases of Draw: layouts, legal moves, the score of a round, the end of a match."""

from __future__ import annotations

from collections.abc import Iterable

from pegboard.rules.dominoes.events import Dealt, RoundEnded
from pegboard.rules.dominoes.game import Dominoes
from pegboard.rules.dominoes.hands import hand_of
from pegboard.rules.dominoes.legal import NEVER_DRAWN, line_moves, opening_moves
from pegboard.rules.dominoes.line import Line
from pegboard.rules.dominoes.moves import End
from pegboard.rules.dominoes.scoring import (
    block_points,
    block_winner,
    leaders,
    out_points,
    target_for,
)
from pegboard.rules.dominoes.state import DominoesState
from pegboard.rules.errors import NotationError
from pegboard.rules.shuffle import SEED_BYTES, SeededChance
from pegboard.rules.tiles import Tile, parse_tile, tile_text
from pegboard.rules.vectors.case import Case, expect, field, numbers, texts

_TRIES = 200
"""Seeds to look through for a round that the wanted seat wins; one in a few does."""


def run_layout(case: Case) -> None:
    """Lay tiles one after the other: kind domino_layout (R-D15 to R-D18)."""
    line = Line()
    for number, text in enumerate(texts(case, "tiles")):
        tile = parse_tile(text)
        line.place(tile, _end(line, tile, field(case, "connections"), number))
    assert line.ends is not None
    wanted = [[list(port) for port in pair] for pair in field(case, "connections")]
    joined = [joint.text() for joint in line.connections]
    expect("connections", joined, [_connection_text(pair) for pair in wanted])
    open_ends = sorted(end.text() for end in line.ends)
    continuations = sorted(":".join(map(str, port)) for port in field(case, "continuations"))
    expect("continuations", open_ends, continuations)


def _connection_text(pair: list[list[str]]) -> str:
    return "-".join(":".join(port) for port in pair)


def _end(line: Line, tile: Tile, connections: list[list[list[str]]], number: int) -> End:
    """Return the end at which the case joins this tile, the `number`th of the line."""
    if line.ends is None:
        return End.NONE
    if number > len(connections):
        raise NotationError(f"no connection says where {tile_text(tile)} joins")
    older, port = connections[number - 1][0]
    left, right = line.ends
    for end, place in ((End.LEFT, left), (End.RIGHT, right)):
        if place.text().startswith(f"{older}:{port}:"):
            return end
    raise NotationError(f"{older} has no open port {port} for {tile_text(tile)}")


def run_legal(case: Case) -> None:
    """List the legal moves: kind domino_legal (R-D8 to R-D13)."""
    hand = hand_of(map(parse_tile, texts(case, "hand")))
    stock, ends = field(case, "stock"), field(case, "ends")
    moves = (
        opening_moves(hand, stock) if ends is None else line_moves(ends[0], ends[1], hand, stock)
    )
    expect("legal", [move.text() for move in moves], texts(case, "legal"))


def run_block(case: Case) -> None:
    """Settle a blocked round by the pips of the hands: kind domino_block (R-D23)."""
    pips = numbers(case, "hands")
    winner = block_winner(pips)
    expect("winner", winner, field(case, "winner"))
    award = 0 if winner is None else block_points(pips, winner)
    expect("award", award, field(case, "award"))


def run_out(case: Case) -> None:
    """Settle a round by going out; the hand that went out is null: kind domino_out (R-D22)."""
    hands = field(case, "hands")
    winner = field(case, "winner")
    expect("empty hand", [seat for seat, pips in enumerate(hands) if pips is None], [winner])
    expect("award", out_points([pips or 0 for pips in hands], winner), field(case, "award"))


def run_match(case: Case) -> None:
    """Add a round's award and say whether the match is over: kind domino_match (R-D27 to R-D29)."""
    seats, before, award = field(case, "players"), numbers(case, "before"), numbers(case, "award")
    after = [old + new for old, new in zip(before, award, strict=True)]
    expect("after", after, field(case, "after"))
    winners = leaders(after, target_for(seats))
    state, _ = Dominoes(start_scores=tuple(after)).start(seats, _chance(0))
    expect("match over", state.outcome() is not None, bool(winners))
    decided_before = bool(leaders(before, target_for(seats)))
    expect("result", _result(winners, decided_before), str(field(case, "result")).split(" (")[0])


def _result(winners: Iterable[int], decided_before: bool) -> str:
    seats = tuple(winners)
    if not seats:
        return "continue"
    if len(seats) > 1:
        return "draw"
    return "already decided: no further round" if decided_before else f"seat {seats[0]} wins"


def run_rotation(case: Case) -> None:
    """Play rounds until the wanted seat wins the first; see who opens the next: domino_rotation."""
    seats, opener = field(case, "players"), field(case, "opener_round1")
    for number in range(_TRIES):
        state, _ = Dominoes(first_opener=opener, target=999).start(seats, _chance(number))
        ended, dealt = _play_round(state)
        if ended.winner == field(case, "winner_round1"):
            expect("opener of round 2", dealt.opener, field(case, "opener_round2"))
            return
    raise NotationError(f"seat {case['winner_round1']} won none of {_TRIES} rounds")


def _play_round(state: DominoesState) -> tuple[RoundEnded, Dealt]:
    """Play the first move listed until a round is over; return its end and the next deal."""
    while True:
        (seat,) = state.to_act()
        events = state.apply(seat, state.choices(seat).moves[0])
        ends = [event for event in events if isinstance(event, RoundEnded)]
        if ends:
            return ends[0], next(event for event in events if isinstance(event, Dealt))


def run_deal(case: Case) -> None:
    """Deal to each number of seats: kind domino_deal (R-D4, R-D5)."""
    for players, (hand, stock, drawable) in field(case, "deals").items():
        state, _ = Dominoes().start(int(players), _chance(0))
        view = state.view(None)
        expect(f"hands of {players}", set(view.hand_sizes), {hand})
        expect(f"stock of {players}", view.stock, stock)
        expect(f"drawable of {players}", view.stock - NEVER_DRAWN, drawable)


def _chance(number: int) -> SeededChance:
    return SeededChance(number.to_bytes(SEED_BYTES, "big"), "vectors")
