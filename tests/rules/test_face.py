"""What a bot's author meets first: one import, typed games, values that print as people write them."""

from __future__ import annotations

import doctest
import subprocess
import sys
from typing import get_args

import pytest

from pegboard.rules import catalog, cribbage, dominoes
from pegboard.rules.cards import JOKER, parse_card, parse_cards
from pegboard.rules.cribbage import points
from pegboard.rules.cribbage.moves import CardsMove
from pegboard.rules.errors import NotationError
from pegboard.rules.game import Game, State
from pegboard.rules.shuffle import SeededChance
from pegboard.rules.tiles import parse_tile

CHANCE = SeededChance(bytes(32), "x")


def test_both_games_are_typed_from_start_to_view() -> None:
    crib: Game[cribbage.CribbageState, cribbage.CribbageMove, cribbage.CribbageEvent]
    crib = cribbage.Cribbage()
    state: State[cribbage.CribbageMove, cribbage.CribbageEvent, cribbage.CribbageView]
    state, _ = crib.start(2, CHANCE)
    assert len(state.view(0).hand) == 6
    draw: Game[dominoes.DominoesState, dominoes.DominoesMove, dominoes.DominoesEvent]
    draw = dominoes.Dominoes()
    other: State[dominoes.DominoesMove, dominoes.DominoesEvent, dominoes.DominoesView]
    other, _ = draw.start(2, CHANCE)
    assert len(other.view(0).hand) == 7


@pytest.mark.parametrize(
    ("move", "text"),
    [
        (cribbage.Discard(parse_cards("5C TD")), "DISCARD 5C TD"),
        (cribbage.Play(JOKER, parse_card("5C")), "PLAY JK=5C"),
        (cribbage.Play(parse_card("5C"), claim=2), "PLAY 5C CLAIM 2"),
        (cribbage.Play(parse_card("5C"), claim=-1), "PLAY 5C ?"),
        (cribbage.Bid(), "BID ?"),
        (cribbage.Bid(3), "BID 3"),
        (cribbage.Go(), "GO"),
        (dominoes.Place(parse_tile("4|1"), dominoes.End.LEFT), "PLACE 1|4@L"),
        (dominoes.Draw(), "DRAW"),
    ],
)
def test_moves_print_as_their_notation(move: object, text: str) -> None:
    assert (str(move), repr(move)) == (text, text)


def test_events_choices_views_and_states_print_as_text() -> None:
    state, events = cribbage.Cribbage().start(2, CHANCE)
    assert [str(event) for event in events] == [event.text() for event in events]
    assert repr(events[-1]).startswith("DEAL 1 DEALER 0 / 4D 5C 6H 8H JS KD / ")
    assert repr(state.choices(0)).startswith("DISCARD 4D 5C, DISCARD 4D 6H, ")
    assert "hand: 4D 5C 6H 8H JS KD" in str(state.view(0)).splitlines()
    assert "4D 5C" not in str(state.view(1))
    assert str(state).splitlines()[-2:] == [
        "seat 0: 4D 5C 6H 8H JS KD",
        "seat 1: 2D 3S 5D 7D 8C QS",
    ]


def test_a_view_of_dominoes_prints_the_hand_and_the_line() -> None:
    state, _ = dominoes.Dominoes(first_opener=1).start(2, CHANCE)
    state.apply(1, state.choices(1).moves[0])
    tile = state.view(1).line[0]
    lines = str(state.view(0)).splitlines()
    assert lines[0] == "seat 0 to act in round 1 of game 1, scores 0 0"
    assert lines[1].startswith("hand: ")
    assert lines[-1].startswith(f"line: {tile // 10 % 10}|{tile % 10}, open for ")


def test_examples_of_the_points_hold() -> None:
    found = doctest.testmod(points)
    assert (found.failed, found.attempted > 0) == (0, True)


def test_points_take_texts_and_cards() -> None:
    hand, starter = parse_cards("5C 5D 5H JS"), parse_card("5S")
    assert cribbage.show_points(hand, starter) == cribbage.show_points("5C 5D 5H JS", "5S") == 29
    assert (
        cribbage.show_points("2C 4C 6C 8C", "TD")
        - cribbage.show_points("2C 4C 6C 8C", "TD", crib=True)
        == 4
    )
    assert sum(item.points for item in cribbage.show_items(hand, starter)) == 29
    assert cribbage.peg_points(parse_cards("7C 7D 7H")) == 6
    assert [str(item) for item in cribbage.peg_items("7C 8D")] == ["fifteen 2 (7C 8D)"]
    with pytest.raises(NotationError):
        cribbage.show_points("5C 5X", "5S")


def test_one_import_reaches_every_class_of_moves_and_events() -> None:
    """A class that is added is exported, too."""
    kinds = [
        (cribbage, (*get_args(cribbage.CribbageEvent), *CardsMove.__subclasses__())),
        (dominoes, (*get_args(dominoes.DominoesEvent), *dominoes.DominoesMove.__subclasses__())),
    ]
    for package, classes in kinds:
        assert {kind.__name__ for kind in classes} <= set(package.__all__)
        assert all(hasattr(package, name) for name in package.__all__)
    for variant in catalog.CATALOG.values():
        state, _ = variant.game.start(variant.game.seats[0], CHANCE)
        package = sys.modules[f"pegboard.rules.{variant.game.family}"]
        for seat in state.to_act():
            for move in state.choices(seat).moves:
                assert type(move).__name__ in package.__all__


def test_importing_a_game_loads_no_server() -> None:
    code = (
        "import sys; from pegboard.rules import catalog, cribbage, dominoes;"
        "assert not {'grpc', 'google.protobuf', 'asyncio', 'numpy'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
