"""What may be done on a turn (R-D7 to R-D13, X-18), and what is refused."""

from __future__ import annotations

import pytest

from pegboard.rules.dominoes.game import Dominoes
from pegboard.rules.dominoes.hands import hand_of
from pegboard.rules.dominoes.legal import line_moves, opening_moves
from pegboard.rules.dominoes.moves import DominoesMove
from pegboard.rules.dominoes.state import DominoesState
from pegboard.rules.errors import IllegalMove, MatchOver, NotYourTurn
from pegboard.rules.shuffle import ScriptedChance
from pegboard.rules.tiles import Tile, parse_tile, places_of

GAME = Dominoes(first_opener=0)


def texts(moves: tuple[DominoesMove, ...]) -> list[str]:
    """Return the moves in canonical text."""
    return [move.text() for move in moves]


def tiles(text: str) -> list[Tile]:
    """Read tiles separated by blanks."""
    return [parse_tile(tile) for tile in text.split()]


def started(*hands: str, stock: str = "") -> DominoesState:
    """Start a match in which seat 0 opens and these hands lie; all draw the stock in this order."""
    columns = [tiles(hand) for hand in hands]
    order = [tile for row in zip(*columns, strict=True) for tile in row] + tiles(stock)
    labels = ["round/1/1", *(f"draw/1/1/{seat}" for seat in range(len(hands)))]
    state, _ = GAME.start(len(hands), ScriptedChance(dict.fromkeys(labels, places_of(order))))
    return state


def play(state: DominoesState, *moves: str) -> list[str]:
    """Make the moves of whoever is on turn; return the texts of the events."""
    return [
        event.text() for move in moves for event in state.apply(state.turn, GAME.parse_move(move))
    ]


LOW = "0|0 0|1 0|2 0|3 0|4 0|5 0|6"
ONES = "1|1 1|2 1|3 1|4 1|5 1|6 2|2"


@pytest.mark.parametrize(
    ("hand", "ends", "stock", "expected"),
    [
        ("3|5 0|2", (3, 6), 14, ["PLACE 3|5@L", "DRAW"]),
        ("0|2", (3, 6), 3, ["DRAW"]),
        ("3|5 0|2", (3, 6), 2, ["PLACE 3|5@L"]),
        ("0|2 4|5", (3, 6), 2, ["PASS"]),
        ("3|5", (3, 3), 5, ["PLACE 3|5@L", "PLACE 3|5@R", "DRAW"]),
        ("0|6", (5, 5), 9, ["DRAW"]),
        ("3|6", (3, 6), 9, ["PLACE 3|6@L", "PLACE 3|6@R", "DRAW"]),
    ],
)
def test_choices_on_the_line(
    hand: str, ends: tuple[int, int], stock: int, expected: list[str]
) -> None:
    """D-08 to D-15: place or draw, forced draw, must place, pass only where nothing else is left."""
    assert texts(line_moves(*ends, hand_of(tiles(hand)), stock)) == expected


def test_choices_of_the_opener() -> None:
    """D-14: any tile, no end to name, a draw allowed, a pass never (R-D13)."""
    hand = hand_of(tiles("5|5 0|3"))
    assert texts(opening_moves(hand, 14)) == ["PLACE 0|3", "PLACE 5|5", "DRAW"]
    assert texts(opening_moves(hand, 2)) == ["PLACE 0|3", "PLACE 5|5"]


def test_nobody_else_is_asked() -> None:
    """Exactly the seat on turn has choices."""
    state = started(LOW, ONES)
    assert state.to_act() == (0,)
    assert state.choices(1).moves == ()


def test_a_draw_keeps_the_turn_and_a_placement_ends_it() -> None:
    """R-D8, R-D9: draw with a playable tile, then place any tile, not only the drawn one."""
    state = started(LOW, ONES, stock="6|6")
    assert play(state, "DRAW") == ["DRAWN 0 6|6 13"]
    assert state.to_act() == (0,)
    assert play(state, "PLACE 0|1") == ["PLACED 0 0|1 / 0|1:low:0 0|1:high:1"]
    assert state.to_act() == (1,)
    assert play(state, "PLACE 1|5@R") == ["PLACED 1 1|5@R 0|1:high-1|5:low / 0|1:low:0 1|5:high:5"]
    assert state.to_act() == (0,)


@pytest.mark.parametrize(
    ("before", "move", "says"),
    [
        ([], "PLACE 6|6", "do not hold 6|6"),
        ([], "PLACE 0|1@L", "no ends"),
        ([], "PASS", "stock of two"),
        (["PLACE 0|1"], "PLACE 1|5", "name the left or the right"),
        (["PLACE 0|1"], "PLACE 1|5@L", "does not fit"),
        (["PLACE 0|1"], "PLACE 0|2@L", "do not hold 0|2"),
        (["PLACE 0|0"], "PASS", "draw, or place"),
    ],
)
def test_an_illegal_move_changes_nothing(before: list[str], move: str, says: str) -> None:
    """Each is refused with a sentence, and the state is as it was."""
    state = started(LOW, ONES)
    play(state, *before)
    seat = state.turn
    seen = [state.view(0), state.view(1)]
    with pytest.raises(IllegalMove, match=says.replace("|", r"\|")):
        state.apply(seat, GAME.parse_move(move))
    assert [state.view(0), state.view(1)] == seen
    assert state.turn == seat


def test_what_is_no_move_of_draw_is_refused() -> None:
    """A host may hand over anything."""
    with pytest.raises(IllegalMove, match="not a move of Draw"):
        started(LOW, ONES).apply(0, "DRAW")  # type: ignore[arg-type]


def test_another_seat_is_refused() -> None:
    """`NotYourTurn`, whatever the move."""
    with pytest.raises(NotYourTurn, match="seat 0 is on turn"):
        started(LOW, ONES).apply(1, GAME.parse_move("PLACE 1|1"))


def drained() -> DominoesState:
    """Return a state with two tiles in the stock and 0|0 on the line; seat 1 is on turn.

    Seat 0 has drawn all twelve tiles, so that seat 1 holds ones and 2|2 and nothing fits.
    """
    state = started(LOW, ONES)
    play(state, *["DRAW"] * 12, "PLACE 0|0")
    return state


def test_the_last_two_tiles_are_never_drawn() -> None:
    """R-D5: twelve draws with two seats; the thirteenth is refused."""
    state = started(LOW, ONES)
    play(state, *["DRAW"] * 12)
    assert state.stock_left == 2
    assert "DRAW" not in texts(state.choices(0).moves)
    with pytest.raises(IllegalMove, match="never drawn"):
        play(state, "DRAW")


def test_pass_only_where_nothing_fits_and_two_are_left() -> None:
    """R-D12: then it is the only choice; with a tile that fits it is refused."""
    state = drained()
    assert texts(state.choices(1).moves) == ["PASS"]
    assert play(state, "PASS") == ["PASSED 1"]
    with pytest.raises(IllegalMove, match="you may pass only if none fits"):
        play(state, "PASS")
    assert state.turn == 0


def test_a_placement_starts_the_count_of_passes_again() -> None:
    """R-D20: only passes in succession end the round."""
    state = drained()
    play(state, "PASS")
    assert state.view(None).passes == 1
    play(state, "PLACE 0|3@L")
    assert state.view(None).passes == 0
    assert state.round == 1


def test_nothing_goes_when_the_match_is_over() -> None:
    """`MatchOver`, and nobody is asked."""
    state, _ = Dominoes(start_scores=(100, 0)).start(2, ScriptedChance({}))
    assert state.to_act() == ()
    assert state.choices(0).moves == ()
    with pytest.raises(MatchOver):
        state.apply(0, GAME.parse_move("DRAW"))


def test_a_question_is_the_same_object_until_it_is_answered() -> None:
    """The contract of `State.choices`: also where two forced draws in a row look the same."""
    state = started(LOW, ONES, stock="6|6 5|5")
    first = state.choices(0)
    assert state.choices(0) is first
    with pytest.raises(IllegalMove):
        play(state, "PASS")
    assert state.choices(0) is first
    play(state, "PLACE 0|0")
    forced = state.choices(1)
    assert texts(forced.moves) == ["DRAW"]
    play(state, "DRAW")
    assert state.choices(1) == forced
    assert state.choices(1) is not forced
