"""The cut, the deal of every form, and the phases before the starter (R-C1, R-C5, R-C9.6, R-C9.9)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from pegboard.rules import catalog
from pegboard.rules.cards import PACK, cards_text, parse_cards
from pegboard.rules.cribbage.setup import setup_of
from pegboard.rules.errors import IllegalMove, NotYourTurn

Script = Callable[..., Any]
ASCENDING = cards_text(PACK)


def test_only_those_tied_for_lowest_cut_again(script: Script) -> None:
    """Rank decides, suits are equal; the third has cut itself out (R-C1.2)."""
    table = script("cribbage-3p", 3, cut_1="5C 5S 6C", cut_2="KC 2D")
    assert table.log[:3] == ["CUT 5C 5S 6C", "CUT KC 2D --", "GAME 1 DEALER 1 SCORES 0 0 0"]


@pytest.mark.parametrize(
    ("form", "seats", "dealer", "picks"),
    [
        ("standard", 2, 0, ((1, 3, 5, 7, 9, 11), (0, 2, 4, 6, 8, 10))),
        ("standard", 3, 1, ((1, 4, 7, 10, 13), (2, 5, 8, 11, 14), (0, 3, 6, 9, 12))),
        ("dealer-six", 3, 0, ((0, 3, 6, 9, 12, 15), (1, 4, 7, 10, 13), (2, 5, 8, 11, 14))),
        (
            "short-dealer",
            5,
            4,
            (*(tuple(range(left, 25, 5)) for left in range(4)), (4, 9, 14, 19)),
        ),
        (
            "canadian-doubles",
            4,
            3,
            (tuple(range(0, 20, 2)), (), (), tuple(range(1, 20, 2))),
        ),
    ],
)
def test_cards_go_one_at_a_time_from_the_dealers_left(
    form: str, seats: int, dealer: int, picks: tuple[tuple[int, ...], ...]
) -> None:
    """Which places of the pack each seat gets; who has all is passed over (R-C1.4, R-C5)."""
    game: Any = catalog.game("cribbage", {"form": form})
    assert setup_of(game, seats).picks[dealer] == picks


@pytest.mark.parametrize(
    ("variant", "seats", "cards", "crib"),
    [
        ("cribbage", 2, 4, 4),
        ("cribbage-3p", 3, 4, 4),
        ("cribbage-4p", 4, 4, 4),
        ("cribbage-partners", 4, 4, 4),
        ("cribbage-dealer-six", 3, 4, 4),
        ("cribbage-lone-crib", 3, 4, 4),
        ("cribbage-five-card", 2, 3, 4),
        ("cribbage-5p-short-dealer", 5, 4, 4),
        ("cribbage-5p-five-crib", 5, 4, 5),
        ("cribbage-ten-card", 2, 4, 4),
        ("cribbage-nine-card", 2, 6, 6),
        ("cribbage-canadian-doubles", 4, 4, 4),
    ],
)
def test_everyone_ends_with_a_hand(
    script: Script, variant: str, seats: int, cards: int, crib: int
) -> None:
    """Hands and crib have their sizes when the starter is turned, and no card is there twice."""
    table = script(variant, seats, deal_1_1=ASCENDING)
    state = table.state
    while state.table.starter < 0:
        seat = state.to_act()[-1]
        state.apply(seat, state.choices(seat).moves[0])
    assert [len(hand) for hand in state.table.kept] == [cards] * seats
    assert len(state.table.crib) == crib
    seconds = [card for hand in state.table.second_hands for card in hand]
    dealt = [card for hand in state.table.kept for card in hand] + seconds
    dealt += [*state.table.crib, state.table.starter]
    assert sorted(dealt) == list(PACK[: len(dealt)])


def test_the_deal_passes_to_the_left(script: Script) -> None:
    """Also among three, and the dealer of the next deal is told (R-C1.3)."""
    table = script("cribbage-3p", 3)
    while len([line for line in table.log if line.startswith("DEAL ")]) < 3:
        seat = table.state.to_act()[0]
        table.do(f"{seat} {table.legal(seat)[0]}")
    deals = [line[:15] for line in table.log if line.startswith("DEAL ")]
    assert deals == ["DEAL 1 DEALER 1", "DEAL 2 DEALER 2", "DEAL 3 DEALER 0"]


def test_discards_are_simultaneous_and_final(script: Script) -> None:
    """Any order; a seat that has laid away is not asked again (R-C1.7)."""
    table = script(deal_1_1=ASCENDING)
    assert table.state.to_act() == (0, 1)
    question = table.state.choices(0)
    table.do("1 DISCARD " + " ".join(cards_text(table.state.table.hands[1]).split()[:2]))
    assert table.state.to_act() == (0,)
    assert table.state.choices(0) is question
    with pytest.raises(NotYourTurn, match="waits for seat 0"):
        table.do("1 DISCARD AC AD")


def test_discarded_cards_may_come_in_any_order(script: Script) -> None:
    """The event has them ascending."""
    table = script(deal_1_1=ASCENDING)
    assert table.do("0 DISCARD 3C AC") == ["DISCARDED 0 AC 3C"]


@pytest.mark.parametrize(
    ("move", "hint"),
    [
        ("DISCARD AC", "has 1 cards; DISCARD 2"),
        ("DISCARD AC AC", "that you hold"),
        ("DISCARD AC AD", "that you hold"),
        ("DISCARD AC 2C 3C", "has 3 cards"),
        ("PLAY AC", "DISCARD 2"),
        ("GO", "DISCARD 2"),
    ],
)
def test_a_wrong_discard_changes_nothing(script: Script, move: str, hint: str) -> None:
    """One sentence says what would be right (R-C2.8)."""
    table = script(deal_1_1=ASCENDING)
    before = table.state.view(0)
    with pytest.raises(IllegalMove, match=hint):
        table.do(f"0 {move}")
    assert table.state.view(0) == before
    assert table.state.to_act() == (0, 1)


def test_two_jokers_are_one_choice(script: Script) -> None:
    """Nothing tells them apart, so no set is listed twice."""
    pack = "JK 2C JK 3C 4C 5C 6C 7C 8C 9C TC JC"
    moves = script("cribbage-jokers-wild", 2, deal_1_1=pack).legal(0)
    assert len(moves) == len(set(moves)) == 11


def test_ten_card_discards_then_splits_while_the_other_chooses(script: Script) -> None:
    """Two moves of the same seat (X-15); the second hand is its own (R-C5.10)."""
    table = script("cribbage-ten-card", 2, deal_1_1=ASCENDING)
    assert len(table.legal(0)) == 45
    table.do("0 DISCARD AC 2C")
    assert table.state.to_act() == (0, 1)
    assert len(table.legal(0)) == 70
    question = table.state.choices(1)
    assert table.do("0 SPLIT AH 2H 3C 3H") == ["SPLIT 0 AH 2H 3C 3H / 4C 4H 5C 5H"]
    assert table.state.choices(1) is question
    assert table.state.view(0).second_hand == parse_cards("4C 4H 5C 5H")
    assert table.state.view(1).second_hand == ()


def test_gifts_change_hands_when_both_have_given(script: Script) -> None:
    """Dealer 1 and its left, 2, get ten; partners 3 and 0 see theirs only then (R-C5.CD, X-15)."""
    table = script("cribbage-canadian-doubles", 4, deal_1_1=ASCENDING)
    assert table.state.to_act() == (1, 2)
    assert table.do("2 DISCARD AC AH", "2 GIFT 2C 2H 3C 3H") == []
    assert table.state.view(0).hand == ()
    assert table.do("1 DISCARD AD AS", "1 GIFT 4D 4S 5D 5S")[:2] == [
        "GIFTED 1 3 4D 4S 5D 5S",
        "GIFTED 2 0 2C 2H 3C 3H",
    ]
    assert cards_text(table.state.view(0).hand) == "2C 2H 3C 3H"
    assert cards_text(table.state.view(1).hand) == "2D 2S 3D 3S"


def test_the_lone_seat_chooses_from_eight(script: Script) -> None:
    """Whoever deals; its view has the crib, the others' has not (R-C5.3T2)."""
    table = script("cribbage-lone-crib", 3, {"lone_seat": "2"}, deal_1_1=ASCENDING)
    for seat in (0, 1, 2):
        table.do(f"{seat} {table.legal(seat)[0]}")
    assert table.state.to_act() == (2,)
    assert len(table.state.view(2).hand) == 8
    assert len(table.legal(2)) == 70
    assert table.state.view(0).hand_sizes == (4, 4, 8)
    with pytest.raises(NotYourTurn):
        table.do("0 EXCHANGE AC 2C 3C 4C")
    table.do(f"2 {table.legal(2)[-1]}")
    assert table.state.view(2).discards == table.state.table.crib


def test_surplus_fives_stay(script: Script) -> None:
    """Three fives and two discards: any two of them, no other card (R-C9.7)."""
    pack = "5C AC 5D 2C 5H 3C KC 4C QC 6C JC 7C"
    table = script("cribbage-discard-fives", 2, deal_1_1=pack)
    assert table.legal(0) == ["DISCARD 5C 5D", "DISCARD 5C 5H", "DISCARD 5D 5H"]
    with pytest.raises(IllegalMove, match="fives go to the crib"):
        table.do("0 DISCARD 5C KC")


def test_the_auction_asks_the_dealer_though_all_passed(script: Script) -> None:
    """Dealer last; no bid leaves the crib with the dealer for nothing (R-C9.10, X-13)."""
    table = script("cribbage-auction", 3)
    assert table.state.choices(2).number == (1, 121)
    table.do("2 PASS", "0 PASS")
    assert table.state.to_act() == (1,)
    assert table.state.view(1).crib_owner is None
    assert table.do("1 PASS") == ["BID 1 0", "SOLD 1 0"]
    assert table.state.view(None).crib_owner == 1
    assert table.state.view(None).bid is None


def test_the_auction_goes_round_until_one_is_left(script: Script) -> None:
    """A pass is final; the winner pays at once, below zero if need be (R-C9.11)."""
    table = script("cribbage-auction", 3)
    table.do("2 BID 2", "0 PASS", "1 BID 3")
    assert table.state.to_act() == (2,)
    assert table.state.choices(2).number == (4, 121)
    for wrong in ("BID 3", "BID 122", "GO"):
        with pytest.raises(IllegalMove, match="PASS or BID 4 to 121"):
            table.do(f"2 {wrong}")
    assert table.do("2 PASS") == ["BID 2 0", "SOLD 1 3", "SCORED 1 -3 BID SCORE -3"]
    assert table.state.view(None).rear_pegs == (0, 0, 0)
    assert table.scores == [0, -3, 0]


def test_at_the_highest_bid_only_a_pass_is_left(script: Script) -> None:
    """The target of the bidder's own side bounds its bid (X-13)."""
    table = script("cribbage-two-on-one", 3, {"auction": "on"})
    assert table.state.choices(2).number == (1, 121)
    table.do("2 BID 61")
    assert table.legal(0) == ["PASS"]
    with pytest.raises(IllegalMove, match="a bid cannot be higher"):
        table.do("0 BID 62")
