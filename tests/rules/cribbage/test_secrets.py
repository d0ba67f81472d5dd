"""What each seat may see, copies, and moves as text."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from pegboard.rules import catalog
from pegboard.rules.cards import HIDDEN, PACK, parse_cards
from pegboard.rules.cribbage.board import Pegs, board_text
from pegboard.rules.cribbage.events import (
    CribTaken,
    Dealt,
    Discarded,
    Exchanged,
    Gifted,
    SplitMade,
)
from pegboard.rules.cribbage.game import Cribbage
from pegboard.rules.errors import NotationError
from pegboard.rules.shuffle import SeededChance

Script = Callable[..., Any]
GAME = Cribbage()
AD, AH, AS, TWO_C, TWO_D = PACK[1:6]


def test_a_deal_shows_only_the_own_hand() -> None:
    """The card dealt to the crib is nobody's; a spectator sees no card at all (R-C1.7)."""
    event = Dealt(1, 0, ((AD, AH), (AS, TWO_C)), (TWO_D,))
    assert GAME.redact(event, 1) == Dealt(1, 0, ((HIDDEN, HIDDEN), (AS, TWO_C)), (HIDDEN,))
    assert GAME.redact(event, None).hands == ((HIDDEN, HIDDEN), (HIDDEN, HIDDEN))
    assert GAME.redact(event, 0).text() == "DEAL 1 DEALER 0 / AD AH / ?? ?? / CRIB ??"


@pytest.mark.parametrize(
    ("event", "knows", "hidden"),
    [
        (Discarded(0, (AD, AH)), {0}, "DISCARDED 0 ?? ??"),
        (CribTaken(1, (AD, AH, AS, TWO_C)), {1}, "TOOK 1 ?? ?? ?? ??"),
        (Exchanged(1, (AD, AH, AS, TWO_C)), {1}, "EXCHANGED 1 ?? ?? ?? ??"),
        (SplitMade(0, (AD, AH), (AS, TWO_C)), {0}, "SPLIT 0 ?? ?? / ?? ??"),
        (Gifted(1, 3, (AD, AH)), {1, 3}, "GIFTED 1 3 ?? ??"),
    ],
)
def test_hidden_cards_show_their_number_only(event: Any, knows: set[int], hidden: str) -> None:
    """The seats concerned see the cards, all others and spectators do not."""
    for seat in (None, 0, 1, 2, 3):
        seen = GAME.redact(event, seat)
        assert seen.text() == (event.text() if seat in knows else hidden)


def test_a_view_has_no_card_of_others(script: Script) -> None:
    """Own hand and discards only, and nothing for a spectator."""
    table = script(deal_1_1="4C 7C 5C 8C 6C 9C KC KD AC AD 2C 2D QS")
    table.do("0 DISCARD AC 2C")
    own, other, nobody = (table.state.view(seat) for seat in (0, 1, None))
    assert (own.hand, own.discards) == (parse_cards("4C 5C 6C KC"), parse_cards("AC 2C"))
    assert (other.discards, len(other.hand)) == ((), 6)
    assert (nobody.hand, nobody.discards, nobody.second_hand) == ((), (), ())
    assert nobody.hand_sizes == other.hand_sizes == (4, 6)


def test_copies_are_independent_in_every_variant() -> None:
    """Playing a copy on leaves the original alone, in whatever phase it was made."""
    for variant in catalog.CATALOG.values():
        if variant.game.family != "cribbage":
            continue
        seats = variant.game.seats[-1]
        state, _ = variant.game.start(seats, SeededChance(bytes(32), variant.id))
        for step in range(45):
            asked = state.to_act()
            if not asked:
                break
            views = [state.view(seat) for seat in range(seats)]
            seat = asked[step % len(asked)]
            move = state.choices(seat).complete(step % len(state.choices(seat).moves), None)
            copy = state.copy()
            events = [event.text() for event in copy.apply(seat, move)]
            assert [state.view(seat) for seat in range(seats)] == views
            assert [event.text() for event in state.apply(seat, move)] == events
            assert copy.to_act() == state.to_act()
            assert [copy.view(seat) for seat in range(seats)] == [
                state.view(seat) for seat in range(seats)
            ]


@pytest.mark.parametrize(
    "text",
    [
        "DISCARD 5C TD",
        "SPLIT AC 2C 3C 4C",
        "GIFT AC 2C 3C 4C",
        "EXCHANGE AC 2C 3C 4C",
        "PLAY 5C",
        "PLAY JK",
        "PLAY JK=5C",
        "PLAY 5C CLAIM 0",
        "PLAY JK=5C CLAIM 12",
        "GO",
        "PASS",
        "BID 3",
        "CLAIM 8",
        "CALL 2",
        "PLACE 0 3",
    ],
)
def test_moves_read_back(text: str) -> None:
    """Canonical text both ways, in either case."""
    assert GAME.parse_move(text).text() == text
    assert GAME.parse_move(f" {text.lower()} ") == GAME.parse_move(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "DISCARD",
        "DISCARD 5X",
        "PLAY",
        "PLAY 5C=6C",
        "PLAY JK=JK",
        "PLAY 5C CLAIM",
        "PLAY 5C CLAIM -1",
        "GO 1",
        "BID",
        "BID x",
        "BID ٣",
        "CLAIM 1000",
        "PLACE 0 4",
        "PLACE 03",
        "DRAW",
    ],
)
def test_what_is_no_move_is_refused(text: str) -> None:
    """With a sentence, never with a traceback of another kind."""
    with pytest.raises(NotationError):
        GAME.parse_move(text)


def test_the_board_shows_both_pegs() -> None:
    """Front at 37, rear at 31; the game hole stands behind the last street."""
    lines = board_text([37, 121], [31, 100], [121, 121], ["ann", "bob"]).splitlines()
    assert lines[0] == "  1 ann ..... ..... ..... ..+.. ..... ....."
    assert lines[2] == " 31 ann o.... .@... ...+. ..... ..... ....."
    assert lines[7] == "    bob ..... +...o ..... ..... ..... ..... [@]"
    assert lines[8] == "    ann 37 of 121, rear peg 31"


def test_the_board_is_as_long_as_the_target() -> None:
    """Sides may have different targets (R-C5.3T1); a game for one has no holes (R-C7)."""
    lines = board_text([37, 60], [0, 58], [121, 61]).splitlines()
    assert lines[3] == "    side 1 ..... ..... ...+. ..... ..... ..o.@ [.]"
    assert lines[4].startswith(" 61 side 0")
    assert lines[5].startswith(" 91 side 0")
    assert board_text([62], [0], [0]) == "    side 0 62"


def test_pegs_follow_the_events(script: Script) -> None:
    """At every point they stand where the view has them, also after going back (R-C2.5, R-C9.12)."""
    options = {"back_up_10": "on", "auction": "on", "match_games": "3", "target": "25"}
    table = script("cribbage", 2, options)
    pegs, told = Pegs((25, 25)), 0
    while table.state.to_act():
        for event in table.events[told:]:
            pegs.note(event)
        told = len(table.events)
        view = table.state.view(None)
        assert (tuple(pegs.fronts), tuple(pegs.rears)) == (view.scores, view.rear_pegs)
        assert tuple(pegs.games_won) == view.games_won
        seat = table.state.to_act()[0]
        listed = table.legal(seat)[-1]
        number = table.state.choices(seat).number
        table.do(
            f"{seat} BID {number[0]}"
            if listed == "BID" and number[0] < 4
            else f"{seat} {table.legal(seat)[0]}"
        )
    assert sum(pegs.games_won) >= 1
    assert f"games won {pegs.games_won[1]}" in pegs.text()
