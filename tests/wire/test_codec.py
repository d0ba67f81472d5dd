"""What is written is what is read: moves, views and events of every variant."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from random import Random
from typing import Any

import pytest
from google.protobuf.message import DecodeError
from hypothesis import given
from hypothesis import strategies as st

from pegboard.rules import catalog
from pegboard.rules.cards import ALL_CARDS, HIDDEN, JOKER, NO_CARD, PACK, card_text
from pegboard.rules.cribbage import moves as mv
from pegboard.rules.cribbage.events import Scored
from pegboard.rules.dominoes import moves as dominoes
from pegboard.rules.errors import ClaimTooHigh, MustGoOut, NotationError
from pegboard.rules.game import Choices, Game, State
from pegboard.rules.shuffle import SeededChance
from pegboard.rules.tiles import SET, tile_text
from pegboard.v1 import cribbage_pb2, dominoes_pb2, match_pb2, play_pb2
from pegboard.wire import codec
from pegboard.wire.turns import answer_bytes, move_answer_bytes, seat_bytes, turn_bytes, turns_bytes

LIMIT_MOVES = 250


def positions(variant: str, seats: int, seed: int) -> Iterator[tuple[Game, State, list[Any]]]:
    """Yield (game, state, the last events) along a random game, the first deals of it."""
    rng = Random(seed)
    game = catalog.game(variant)
    state, events = game.start(seats, SeededChance(seed.to_bytes(32, "big"), "wire"))
    yield game, state, events
    for _ in range(LIMIT_MOVES):
        acting = state.to_act()
        if not acting:
            return
        seat = rng.choice(acting)
        moves = state.choices(seat).expand()
        for move in rng.sample(moves, len(moves)):
            try:
                events = state.apply(seat, move)
                break
            except (ClaimTooHigh, MustGoOut):
                continue
        yield game, state, events


EVERY_FORM = [
    (variant.id, seats) for variant in catalog.CATALOG.values() for seats in variant.game.seats
]


@pytest.mark.parametrize(("variant", "seats"), EVERY_FORM)
def test_turns_views_and_events_come_back_as_they_went(variant: str, seats: int) -> None:
    """Along a random game: the turn of each seat that acts, each seat's view, each seat's events."""
    sequence = 0
    for game, state, events in positions(variant, seats, seed=seats):
        family = game.family
        for seat in state.to_act():
            check_turn(family, seat, state.choices(seat), state.view(seat))
        for reader in (None, *range(seats)):
            view = state.view(reader)
            assert codec.read_view(codec.view_message(family, view)) == view
        for event in events:
            sequence += 1
            for reader in (None, *range(seats)):
                seen = game.redact(event, reader)
                message = codec.event_message(family, sequence, seen)
                assert message.sequence == sequence
                again = codec.read_event(
                    match_pb2.MatchEvent.FromString(message.SerializeToString())
                )
                assert again == as_read(seen)
                assert again.text() == seen.text()


def as_read(event: Any) -> Any:
    """Return the event as a reader has it: a score has its items in place of what was counted."""
    return event._replace(counted=event.explain()) if isinstance(event, Scored) else event


def check_turn(family: str, seat: int, choices: Choices, view: Any) -> None:
    """A turn made of bytes is a `Turn`, and holds what went in."""
    head = seat_bytes("matches/x-1", seat)
    data = turn_bytes(head, 77, (9_000, 500), choices, choices, view, codec.CODECS[family])
    (turn,) = play_pb2.PlayResponse.FromString(turns_bytes([data])).turns
    assert (turn.match, turn.seat, turn.turn_id) == ("matches/x-1", seat, 77)
    assert (turn.clock.turn_ms, turn.clock.bank_ms) == (9_000, 500)
    assert codec.read_choices(turn.legal_moves) == choices
    for listed, move in zip(turn.legal_moves, choices.moves, strict=True):
        assert listed.HasField("number_range") == move.is_open
        if choices.number is not None and move.is_open:
            low, high = choices.number
            assert listed.number_range.min == max(low, move.LEAST)
            assert listed.number_range.max == high
    assert codec.read_view(turn.view) == view
    for move in choices.expand():
        assert codec.read_move(family, codec.move_message(family, move)) == move


def test_refused_claims_narrow_the_range_of_claims_but_not_of_calls() -> None:
    """X-04: a call beside plays names any number from 1 up."""
    play, call = mv.Play(PACK[0], NO_CARD, -1), mv.Call()
    asked = Choices((play, call), (0, 15))
    narrowed = asked.without(ClaimTooHigh("", 4, play), asked)
    data = turn_bytes(b"", 1, (9_000, None), narrowed, asked, VIEW, codec.CODECS["cribbage"])
    turn = play_pb2.Turn.FromString(data)
    ranges = [(move.number_range.min, move.number_range.max) for move in turn.legal_moves]
    assert ranges == [(0, 3), (1, 15)]
    assert codec.read_choices(turn.legal_moves) == narrowed
    assert not turn.clock.HasField("bank_ms")


VIEW = catalog.game("cribbage").start(2, SeededChance(bytes(32), "wire"))[0].view(0)
cards = st.sampled_from(PACK)
hands = st.frozensets(cards, min_size=1, max_size=6).map(lambda some: tuple(sorted(some)))
points = st.integers(0, 200)
cribbage_moves = st.one_of(
    hands.map(mv.Discard),
    hands.map(mv.Split),
    hands.map(mv.Gift),
    hands.map(mv.Exchange),
    st.builds(mv.Play, st.sampled_from((*PACK, JOKER)), st.just(NO_CARD), st.none() | points),
    st.builds(mv.Play, st.just(JOKER), cards, st.none() | points),
    points.map(mv.Bid),
    points.map(mv.Claim),
    points.map(mv.Call),
    st.just(mv.GO),
    st.just(mv.PASS),
    st.builds(mv.Place, st.integers(0, 3), st.integers(0, 3)),
)


@given(cribbage_moves)
def test_any_move_of_cribbage_comes_back(move: mv.CribbageMove) -> None:
    """Also those that random games do not reach."""
    assert codec.read_move("cribbage", codec.move_message("cribbage", move)) == move


def test_any_move_of_dominoes_comes_back() -> None:
    """All of them."""
    for move in (*dominoes.PLACES.values(), dominoes.DRAW, dominoes.PASS):
        assert codec.read_move("dominoes", codec.move_message("dominoes", move)) == move


def test_cards_may_come_in_any_order() -> None:
    """A discard is a set (R-C1.6)."""
    discard = cribbage_pb2.CribbageDiscard(cards=[cribbage_pb2.CARD_KS, cribbage_pb2.CARD_AC])
    move = match_pb2.GameMove(cribbage=cribbage_pb2.CribbageMove(discard=discard))
    assert codec.read_move("cribbage", move) == mv.Discard((PACK[0], PACK[-1]))


@pytest.mark.parametrize(
    ("message", "sentence"),
    [
        (match_pb2.GameMove(), "not one of cribbage"),
        (match_pb2.GameMove(cribbage=cribbage_pb2.CribbageMove()), "the move is empty"),
        (match_pb2.GameMove(dominoes=dominoes_pb2.DominoesMove()), "not one of cribbage"),
        (
            match_pb2.GameMove(
                cribbage=cribbage_pb2.CribbageMove(play=cribbage_pb2.CribbagePlay())
            ),
            "no card has the number 0",
        ),
        (
            match_pb2.GameMove.FromString(b"\x0a\x05\x12\x03\x08\xe7\x07"),
            "no card has the number 999",
        ),
    ],
)
def test_a_move_that_makes_no_sense_gets_a_sentence(
    message: match_pb2.GameMove, sentence: str
) -> None:
    """Nothing else than `NotationError`, whatever a bot sends."""
    with pytest.raises(NotationError, match=sentence):
        codec.read_move("cribbage", message)


@given(st.binary(max_size=40))
def test_any_bytes_that_parse_give_a_move_or_a_sentence(data: bytes) -> None:
    """A bot's bytes cannot cause another error."""
    for family in codec.CODECS:
        try:
            message = match_pb2.GameMove.FromString(data)
        except DecodeError:
            continue
        with suppress(NotationError):
            codec.read_move(family, message).text()


def test_numbers_of_cards_and_tiles_are_those_of_the_contract() -> None:
    """The enum's names say which card a number is."""
    cards = {
        "CARD_JOKER" if card == JOKER else f"CARD_{card_text(card)}": card for card in ALL_CARDS
    }
    numbers: dict[str, int] = dict(cribbage_pb2.Card.items())
    assert numbers == {"CARD_UNSPECIFIED": HIDDEN, **cards}
    tiles = {f"TILE_{tile_text(tile).replace('|', '_')}": tile for tile in SET}
    numbers = dict(dominoes_pb2.Tile.items())
    assert numbers == {"TILE_UNSPECIFIED": HIDDEN, **tiles}


@given(st.integers(0, 9), st.integers(0, 2**40), st.integers(0, 200), st.none() | points)
def test_answers_made_of_bytes_are_answers(
    seat: int, turn_id: int, index: int, number: int | None
) -> None:
    """By index and by move, several in one message."""
    data = answer_bytes("matches/m", seat, turn_id, index, number)
    move = codec.move_message("cribbage", mv.PLAYS[PACK[3]])
    data += move_answer_bytes("matches/m", seat, turn_id, move.SerializeToString())
    first, second = play_pb2.PlayRequest.FromString(data).answers
    for answer in (first, second):
        assert (answer.match, answer.seat, answer.turn_id) == ("matches/m", seat, turn_id)
    assert first.WhichOneof("choice") == "index"
    assert first.index == index
    assert (first.number if first.HasField("number") else None) == number
    assert second.move == move
