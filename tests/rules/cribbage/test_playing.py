"""The play, jokers in it, and manual counting: whose turn, what is legal, what is told (R-C3, R-C8)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from pegboard.rules.cards import JOKER, parse_card, parse_cards
from pegboard.rules.errors import ClaimTooHigh, IllegalMove, MatchOver, MustGoOut, NotYourTurn

Script = Callable[..., Any]

# Dealer is seat 1, so seat 0 gets every other card from the first.
PACK = "4C 7C 5C 8C 6C 9C KC KD AC AD 2C 2D QS"


def discarded(script: Script, *more: Any, pack: str = PACK, **options: str) -> Any:
    """Start the play with PACK: seat 0 has 4C 5C 6C KC, seat 1 has 7C 8C 9C KD; seat 0 leads."""
    variant = more[0] if more else "cribbage"
    table = script(variant, 2, options, deal_1_1=pack)
    table.do("0 DISCARD AC 2C", "1 DISCARD AD 2D")
    return table


def test_the_view_follows_the_play(script: Script) -> None:
    """Earlier counts, the running count, who said go, what is left in the hands."""
    table = discarded(script)
    table.do("0 PLAY KC", "1 PLAY KD", "0 PLAY 6C")
    view = table.state.view(1)
    assert (view.count, view.hand_sizes, view.said_go) == (26, (2, 3), (1,))
    assert [played.card for played in view.count_cards] == list(parse_cards("KC KD 6C"))
    table.do("0 PLAY 5C")
    view = table.state.view(0)
    assert [played.seat for played in view.played] == [0, 1, 0, 0]
    assert (view.count, view.count_cards, table.state.to_act()) == (0, (), (1,))


def test_a_forced_go_is_said_by_the_server(script: Script) -> None:
    """The event is the same as a seat's own (X-02); 31 ends the count without a go."""
    table = discarded(script)
    table.do("0 PLAY KC", "1 PLAY KD")
    assert table.do("0 PLAY 6C") == ["PLAYED 0 6C 26", "WENT_GO 1"]
    assert table.do("0 PLAY 5C")[0:3] == [
        "PLAYED 0 5C 31",
        "SCORED 0 2 PLAY SCORE 2 / thirty_one 2 (KC KD 6C 5C)",
        "COUNT_ENDED 0 31",
    ]


def test_without_auto_go_the_seat_is_asked(script: Script) -> None:
    """It can only say go; one that can play may not (R-C3.3)."""
    table = discarded(script, auto_go="off")
    with pytest.raises(IllegalMove, match="you can play a card"):
        table.do("0 GO")
    table.do("0 PLAY KC", "1 PLAY KD", "0 PLAY 6C")
    assert (table.state.to_act(), table.legal(1)) == ((1,), ["GO"])
    with pytest.raises(IllegalMove, match="the count would pass 31"):
        table.do("1 PLAY 7C")
    with pytest.raises(IllegalMove, match="say GO"):
        table.do("1 PASS")
    assert table.do("1 GO") == ["WENT_GO 1"]
    assert (table.state.view(0).said_go, table.state.to_act()) == ((1,), (0,))


@pytest.mark.parametrize(
    ("move", "error", "hint"),
    [
        ("1 PLAY 7C", NotYourTurn, "waits for seat 0"),
        ("0 PLAY 7C", IllegalMove, "that you hold"),
        ("0 PLAY AC", IllegalMove, "that you hold"),
        ("0 PLAY 4C CLAIM 0", IllegalMove, "without a claim"),
        ("0 DISCARD 4C 5C", IllegalMove, "PLAY a card"),
        ("0 PASS", IllegalMove, "PLAY a card"),
        ("7 PLAY 4C", NotYourTurn, "waits for seat 0"),
    ],
)
def test_a_wrong_play_changes_nothing(
    script: Script, move: str, error: type[Exception], hint: str
) -> None:
    """Nor does the error say anything about others' cards (R-C2.8)."""
    table = discarded(script)
    before = [table.state.view(seat) for seat in (None, 0, 1)]
    with pytest.raises(error, match=hint):
        table.do(move)
    assert [table.state.view(seat) for seat in (None, 0, 1)] == before


def test_a_joker_is_declared_within_31(script: Script) -> None:
    """Below 31 it can always be an ace; only a joker declares (R-C9.3)."""
    pack = PACK.replace("4C", "JK")
    table = discarded(script, "cribbage-jokers-wild", pack=pack)
    assert len(table.legal(0)) == 3 + 52
    for wrong, hint in [("PLAY JK", "PLAY JK=5C"), ("PLAY 5C CLAIM 1", "without a claim")]:
        with pytest.raises(IllegalMove, match=hint):
            table.do(f"0 {wrong}")
    table.do("0 PLAY KC", "1 PLAY KD", "0 PLAY 6C")
    assert table.legal(0)[-1] == "PLAY JK=5S"
    assert table.do("0 PLAY JK=5S")[0] == "PLAYED 0 JK=5S 31"
    assert table.state.view(1).played[3][1:] == (JOKER, parse_card("5S"))


def test_a_zero_joker_goes_on_31(script: Script) -> None:
    """31 scores late; the holder of a joker has to play it, nobody goes (R-C9.4, R-C9.5)."""
    pack = PACK.replace("7C", "JK")
    table = discarded(script, "cribbage-jokers-zero", pack=pack)
    table.do("0 PLAY KC", "1 PLAY KD", "0 PLAY 6C")
    assert table.legal(1) == ["PLAY JK"]
    table.do("1 PLAY JK")
    assert table.do("0 PLAY 5C") == [
        "PLAYED 0 5C 31",
        "COUNT_ENDED 0 31",
        "SCORED 0 2 THIRTY_ONE SCORE 2 / thirty_one 2 (KC KD 6C JK 5C)",
    ]


def test_five_card_leaves_cards_over(script: Script) -> None:
    """The play is over with the first count; what is left is shown all the same (R-C6.3)."""
    table = script("cribbage-five-card", 2, deal_1_1="TC TD JC 5D KC 6D AC AD 2C 2D QS")
    table.do("0 DISCARD AC 2C", "1 DISCARD AD 2D")
    events = table.do("0 PLAY TC", "1 PLAY TD", "0 PLAY JC")
    assert events[:5] == [
        "PLAYED 0 JC 30",
        "WENT_GO 1",
        "COUNT_ENDED 0 30",
        "SCORED 0 1 GO SCORE 4",
        "HAND 0 0 TC JC KC",
    ]


def test_nothing_may_be_done_after_the_end(script: Script) -> None:
    """The match is over at the cut (R-C2.2, R-C2.4)."""
    table = discarded(script, pack=PACK.replace("QS", "JS"), start_scores="0,119")
    assert table.state.to_act() == ()
    assert table.log[-1] == "GAME_ENDED 1 SCORES 0 121 WINNERS 1 POINTS 1"
    assert table.state.outcome().points == (0.0, 1.0)
    with pytest.raises(MatchOver):
        table.do("0 PLAY 4C")


# Manual counting


def test_a_claim_travels_with_the_card(script: Script) -> None:
    """One open number; its range is the same whatever the cards are (X-03)."""
    table = discarded(script, "cribbage-muggins")
    question = table.state.choices(0)
    assert question.number == (0, 15)
    assert question.complete(0, 2).text() == "PLAY 4C CLAIM 2"
    with pytest.raises(IllegalMove, match="PLAY 5C CLAIM 0"):
        table.do("0 PLAY 4C")


def test_an_opponent_may_call_or_play(script: Script) -> None:
    """Who plays the next card has let the claim stand (R-C8.4)."""
    table = discarded(script, "cribbage-muggins")
    table.do("0 PLAY 6C CLAIM 0")
    assert table.legal(1)[-1] == "CALL"
    assert table.state.view(1).counting[3] == 0
    assert table.do("1 PLAY 9C CLAIM 2") == [
        "PLAYED 1 9C 15",
        "CLAIMED 1 PLAY 2",
        "SCORED 1 2 PLAY SCORE 2",
    ]
    with pytest.raises(ClaimTooHigh, match="count again"):
        table.do("0 PLAY 5C CLAIM 1")
    assert table.legal(0)[-1] == "CALL"
    table.do("0 PLAY 5C CLAIM 0")
    with pytest.raises(IllegalMove, match="PLAY a card"):
        table.do("1 PASS")


def test_the_scorer_waits_for_calls_before_its_own_next_card(script: Script) -> None:
    """A window cannot be shut by being quick; an automatic go leaves it open (X-04)."""
    table = discarded(script, "cribbage-muggins")
    table.do("0 PLAY KC CLAIM 0", "1 PLAY KD CLAIM 0")
    assert table.do("0 PLAY 6C CLAIM 0")[-1] == "WENT_GO 1"
    assert (table.state.to_act(), table.legal(1)) == ((1,), ["PASS", "CALL"])
    with pytest.raises(NotYourTurn):
        table.do("0 PLAY 5C CLAIM 2")
    with pytest.raises(IllegalMove, match="CALL muggins or PASS"):
        table.do("1 PLAY 7C CLAIM 0")
    table.do("1 PASS")
    assert table.state.to_act() == (0,)


def test_a_go_is_claimed_apart(script: Script) -> None:
    """After the calls on the card; then it can be called in turn, also by the next card's player."""
    table = discarded(script, "cribbage-muggins")
    table.do("0 PLAY KC CLAIM 0", "1 PLAY KD CLAIM 0", "0 PLAY 4C CLAIM 0", "1 PLAY 7C CLAIM 0")
    assert table.log[-2:] == ["CLAIMED 1 PLAY 0", "COUNT_ENDED 1 31"]
    assert table.state.to_act() == (0,)
    assert table.state.view(0).counting.cards == parse_cards("KC KD 4C 7C")
    assert table.do("0 CALL 9") == ["CALLED 0 9", "SCORED 0 2 MUGGINS SCORE 2"]
    table.do("0 PLAY 5C CLAIM 0", "1 PLAY 8C CLAIM 0", "0 PLAY 6C CLAIM 0")
    table.do("1 PLAY 9C CLAIM 0")
    assert (table.state.to_act(), table.legal(0)) == ((0,), ["PASS", "CALL"])
    assert table.state.view(None).counting.subject.name == "PLAY"
    table.do("0 PASS")
    assert (table.state.to_act(), table.legal(1)) == ((1,), ["CLAIM"])
    assert table.state.choices(1).number == (0, 2)
    with pytest.raises(ClaimTooHigh):
        table.do("1 CLAIM 2")
    assert table.do("1 CLAIM 1") == ["CLAIMED 1 LAST 1", "SCORED 1 1 LAST SCORE 1"]
    assert table.state.view(None).phase.name == "PLAY"
    assert table.do("0 PASS")[0] == "HAND 0 0 4C 5C 6C KC"


def test_callers_keep_their_question_until_the_window_closes(script: Script) -> None:
    """A host tells by the object whether an open turn still stands; a new claim is a new question."""
    table = script("cribbage-muggins", 4, deal_1_1="")
    for seat in range(4):
        table.do(f"{seat} {table.legal(seat)[0]}")
    table.do(f"2 {table.legal(2)[0]} CLAIM 0")
    assert table.state.to_act() == (0, 1, 3)
    first, playing = table.state.choices(0), table.state.choices(3)
    table.do("1 PASS")
    assert table.state.to_act() == (0, 3)
    assert table.state.choices(0) is first
    assert table.state.choices(3) is playing
    table.do(f"3 {table.legal(3)[0]} CLAIM 0")
    assert table.state.choices(0) is not first


def test_partners_are_not_asked_to_call(script: Script) -> None:
    """Only opponents call (R-C8.6)."""
    table = script("cribbage-partners", 4, {"muggins": "on"})
    for seat in range(4):
        table.do(f"{seat} {table.legal(seat)[0]}")
    table.do(f"2 {table.legal(2)[0]} CLAIM 0")
    assert table.state.to_act() == (1, 3)


def test_going_out_is_compulsory(script: Script) -> None:
    """A claim short of the target is refused where the points reach it (R-C8.2, X-05)."""
    table = discarded(script, "cribbage-muggins", start_scores="0,119")
    table.do("0 PLAY 6C CLAIM 0")
    with pytest.raises(MustGoOut, match="compulsory"):
        table.do("1 PLAY 9C CLAIM 1")
    assert table.state.to_act() == (1,)
    table.do("1 PLAY 9C CLAIM 2")
    assert table.state.outcome().points == (0.0, 1.0)


def shown(script: Script, **options: str) -> Any:
    """Play PACK through without claims up to the show; all opponents pass."""
    table = discarded(script, "cribbage-muggins", **options)
    while table.state.view(None).phase.name == "PLAY":
        seat = table.state.to_act()[0]
        first = table.legal(seat)[0]
        claim = " CLAIM 0" if first.startswith("PLAY") else ""
        table.do(f"{seat} CLAIM 0" if first == "CLAIM" else f"{seat} {first}{claim}")
    return table


def test_the_show_asks_for_claims_then_calls(script: Script) -> None:
    """4 5 6 K of a suit with a queen: three fifteens, a run, a flush: 13; nothing tells it."""
    table = shown(script)
    assert (table.state.to_act(), table.legal(0)) == ((0,), ["CLAIM"])
    assert table.state.choices(0).number == (0, 29)
    for wrong in ("0 CLAIM 14", "0 CLAIM 29"):
        with pytest.raises(ClaimTooHigh):
            table.do(wrong)
    assert table.do("0 CLAIM 4") == ["CLAIMED 0 HAND 4", "SCORED 0 4 HAND SCORE 4"]
    assert (table.state.to_act(), table.legal(1)) == ((1,), ["PASS", "CALL"])
    with pytest.raises(IllegalMove, match="from 1 to 29"):
        table.do("1 CALL 30")
    assert table.do("1 CALL 12") == [
        "CALLED 1 12",
        "SCORED 1 9 MUGGINS SCORE 9",
        "HAND 1 0 7C 8C 9C KD",
    ]


def test_a_zero_is_charged_after_the_calls(script: Script) -> None:
    """Before them the penalty would tell whether anything is missing (X-14)."""
    pack = "2C 7C 4S 8C 6C 9C KC KD AC AD 3C 2D QS"
    table = script("cribbage-muggins", 2, {"zero_penalty": "on"}, deal_1_1=pack)
    table.do("0 DISCARD AC 3C", "1 DISCARD AD 2D")
    while table.state.view(None).phase.name == "PLAY":
        seat = table.state.to_act()[0]
        first = table.legal(seat)[0]
        claim = " CLAIM 0" if first.startswith("PLAY") else ""
        table.do(f"{seat} CLAIM 0" if first == "CLAIM" else f"{seat} {first}{claim}")
    assert table.do("0 CLAIM 0") == ["CLAIMED 0 HAND 0", "SCORED 0 0 HAND SCORE 0"]
    assert not any("ZERO_PENALTY" in line for line in table.log)
    assert table.do("1 PASS")[0] == "SCORED 1 1 ZERO_PENALTY SCORE 1"


def test_manual_counting_names_no_combination(script: Script) -> None:
    """No item in any event: the true points are never told (R-C8.6)."""
    table = shown(script)
    table.do("0 CLAIM 9", "1 PASS", "1 CLAIM 0", "0 PASS", "1 CLAIM 0", "0 PASS")
    assert not any(" / fifteen" in line or " / run" in line for line in table.log)
