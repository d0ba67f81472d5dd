"""Playing a match: turns, answers, rejections, results."""

from __future__ import annotations

from typing import Any

import pytest
from tests.matches.fakes import Boom, Claim, Guard, Hosted, Stranger, Take, opened, play

from pegboard.errors import UnknownMatch, UnknownSeat
from pegboard.matches.answers import Answer
from pegboard.matches.host import HostSettings
from pegboard.matches.mailbox import Mailbox
from pegboard.matches.rejection import Rejection, RejectionReason
from pegboard.matches.running import OpenTurn, RunningMatch
from pegboard.rules.cards import parse_card
from pegboard.rules.cribbage import moves as cribbage_moves
from pegboard.rules.errors import ClaimTooHigh, MustGoOut
from pegboard.rules.game import Choices
from pegboard.rules.record import Record
from pegboard.rules.results import Termination


async def guarded(stones: int = 10, **settings: Any) -> tuple[Hosted, RunningMatch, OpenTurn]:
    """A match in which both seats have guarded, and the turn that is open."""
    host = await opened(settings=HostSettings(**settings))
    boxes = {name: host.connect(name) for name in "ab"}
    match = await host.begin("a", "b", options={"stones": str(stones)})
    play(host, match, boxes, moves=2)
    return host, match, taken(*boxes.values())


def taken(*boxes: Mailbox) -> OpenTurn:
    """The one turn in the mailboxes."""
    (turn,) = [turn for box in boxes for turn in box.take().turns]
    return turn


def say(host: Hosted, turn: OpenTurn, **answer: Any) -> Any:
    """Answer the turn as its bot."""
    bot = turn.match.spec.bots[turn.seat]
    return host.answer(bot, Answer(turn.match.id, turn.seat, turn.turn_id, **answer))


async def result_of(host: Hosted, match: RunningMatch) -> Any:
    """The result, once it is published."""
    await host.stored()
    return match.finished and match.finished.result


async def test_a_match_is_played_to_its_outcome() -> None:
    host = await opened()
    boxes = {name: host.connect(name) for name in "ab"}
    match = await host.begin("a", "b")
    assert play(host, match, boxes) == 12
    before = match.finished
    result = await result_of(host, match)
    assert before is None, "published before it is stored"
    assert result.termination is Termination.NORMAL
    assert result.points in ((1.0, 0.0), (0.0, 1.0))
    assert [box.take().ended for box in boxes.values()] == [[match.finished], [match.finished]]
    assert match.finished is not None
    record = match.finished.record(reveal_seed=True)
    assert Record.from_json(record.to_json()) == record
    assert len(record.moves) == 12
    assert record.seed == bytes(32)
    assert match.finished.record(reveal_seed=False).seed is None
    assert match.finished.events(0)[-1] == (match.finished.event_count, result)
    assert [number for number, _ in match.finished.events(0)] == list(
        range(1, match.finished.event_count + 1)
    )


async def test_a_bot_may_sit_at_several_seats_or_alone() -> None:
    host = await opened()
    box = host.connect("a")
    both = await host.begin("a", "a", id="both")
    alone = await host.begin("a", id="alone")
    assert both.seats_of("a") == (0, 1)
    play(host, both, {"a": box})
    assert (await result_of(host, both)).termination is Termination.NORMAL
    assert alone.finished is not None
    assert alone.finished.result.points == (1.0,)


async def test_a_listed_move_may_be_named_by_index_or_typed_with_or_without_its_number() -> None:
    host, match, turn = await guarded()
    box = host.connect(match.spec.bots[1 - turn.seat])
    assert say(host, turn, move=Take(2)) is None
    turn = taken(box)
    assert say(host, turn, move_index=3, number=1) is None
    turn = taken(host.connect(match.spec.bots[1 - turn.seat]))
    assert say(host, turn, move=Claim(), number=2) is None
    await host.stored()
    assert [event.text() for _, event in match.events(3)][-3:] == [
        f"TOOK {turn.seat} 2",
        f"TOOK {1 - turn.seat} 1",
        f"TOOK {turn.seat} 2",
    ]


async def test_all_seats_of_a_phase_are_asked_at_once_and_keep_their_turns() -> None:
    host = await opened()
    box = host.connect("a")
    match = await host.begin("a", "a", "a")
    turns = box.take().turns
    assert [(turn.seat, turn.turn_id) for turn in turns] == [(0, 1), (1, 1), (2, 1)]
    assert say(host, turns[2], move_index=0) is None
    assert box.take().turns == []
    assert [seated.turn for seated in match.seats] == [turns[0], turns[1], None]
    assert say(host, turns[0], move_index=1) is None
    assert say(host, turns[1], move_index=2) is None
    assert taken(box).turn_id == 2, "by seat, not by who answered first"


async def test_a_turn_falls_when_its_question_becomes_another() -> None:
    host = await opened()
    box = host.connect("a")
    match = await host.begin("a", "a")
    first, second = box.take().turns
    state: Any = match.state
    state._choices.clear()  # as after a move that opens another window for the same seat
    assert say(host, first, move_index=0) is None
    again = taken(box)
    assert (again.seat, again.turn_id) == (1, 2)
    rejection = say(host, second, move_index=0)
    assert rejection.reason is RejectionReason.STALE_TURN
    assert say(host, again, move_index=0) is None


async def test_the_same_answer_again_is_accepted_and_another_is_stale() -> None:
    host, match, turn = await guarded()
    before = match.log.move_count
    assert say(host, turn, move_index=1) is None
    assert say(host, turn, move_index=1) is None
    assert say(host, turn, move=Take(2)) is None, "the same move, typed"
    for other in ({"move_index": 0}, {"move": Take(3)}, {"move_index": 99}, {}):
        assert say(host, turn, **other).reason is RejectionReason.STALE_TURN
    assert match.log.move_count == before + 1


async def test_the_last_answer_may_come_again_after_the_end() -> None:
    host, match, turn = await guarded(stones=3)
    assert say(host, turn, move_index=2) is None
    await host.stored()
    assert match.finished is not None
    assert say(host, turn, move_index=2) is None
    rejection = say(host, turn, move_index=0)
    assert rejection.reason is RejectionReason.MATCH_OVER
    assert "match m is over" in rejection.detail


@pytest.mark.parametrize("turn_id", [0, 1, 3, 99])
async def test_an_answer_to_no_open_turn_is_stale(turn_id: int) -> None:
    host, match, turn = await guarded()
    bot = match.spec.bots[turn.seat]
    rejection = host.answer(bot, Answer("m", turn.seat, turn_id, move_index=2))
    assert rejection is not None
    assert rejection.reason is RejectionReason.STALE_TURN
    assert "turn 2 is open" in rejection.detail


@pytest.mark.parametrize(
    ("bot", "match_id", "seat"),
    [("a", "m", 1), ("b", "m", 0), ("c", "m", 0), ("a", "x", 0), ("a", "m", -1), ("a", "m", 2)],
)
async def test_an_answer_of_a_bot_that_does_not_sit_there_is_refused(
    bot: str, match_id: str, seat: int
) -> None:
    host, _, turn = await guarded()
    for rejection in (
        host.answer(bot, Answer(match_id, seat, turn.turn_id, move_index=0)),
        host.resign(bot, match_id, seat),
    ):
        assert rejection is not None
        assert rejection.reason is RejectionReason.UNKNOWN_SEAT
        assert bot in rejection.detail
        assert match_id in rejection.detail


ILLEGAL: list[dict[str, Any]] = [
    {"move_index": 5},
    {"move_index": -1},
    {"move": Take(4)},
    {"move": Guard(1)},
    {"move": Stranger()},
    {"move_index": 3, "number": 41},
    {"move": Claim(41)},
    {},
]


@pytest.mark.parametrize("answer", ILLEGAL, ids=str)
async def test_an_illegal_answer_costs_an_attempt_and_nothing_else(answer: dict[str, Any]) -> None:
    host, match, turn = await guarded()
    rejection = say(host, turn, **answer)
    assert rejection.reason is RejectionReason.ILLEGAL_MOVE
    assert rejection.attempts_left == 2
    assert rejection.detail
    assert match.seats[turn.seat].turn is turn
    assert say(host, turn, move_index=0) is None


async def test_a_seat_forfeits_with_its_last_attempt() -> None:
    host, match, turn = await guarded()
    left = [say(host, turn, **answer).attempts_left for answer in ILLEGAL[:3]]
    assert left == [2, 1, 0]
    result = await result_of(host, match)
    assert result.termination is Termination.ILLEGAL_MOVE
    assert result.seat_at_fault == turn.seat
    assert result.points[turn.seat] == 0.0
    assert sum(result.points) == 1.0
    bot = match.spec.bots[turn.seat]
    assert result.detail.startswith(f"{bot} (seat {turn.seat}) in match m: ")
    assert "TAKE 4" in result.detail
    assert say(host, turn, move_index=0).reason is RejectionReason.MATCH_OVER


async def test_attempts_are_counted_by_the_turn() -> None:
    host = await opened()
    box = host.connect("a")
    match = await host.begin("a", "a", illegal_move_limit=2)
    for turn in box.take().turns:
        assert say(host, turn, move_index=9).attempts_left == 1
        assert say(host, turn, move_index=0) is None
    assert say(host, taken(box), move_index=9).attempts_left == 1
    assert match.ending is None


async def test_the_first_claim_too_high_costs_nothing_and_the_second_stands_as_0() -> None:
    """X-19: claims cannot be searched downwards; the record has the move that was made."""
    host, match, turn = await guarded()
    rejection = say(host, turn, move=Claim(20))
    assert (rejection.reason, rejection.attempts_left) == (RejectionReason.CLAIM_TOO_HIGH, 3)
    assert say(host, turn, move=Claim(19)) is None
    assert match.log.moves().splitlines()[-1] == f"{turn.seat} CLAIM 0"
    assert say(host, turn, move=Claim(19)) is None, "the same answer again is accepted again"
    assert say(host, turn, move=Claim(18)).reason is RejectionReason.STALE_TURN
    assert match.ending is None


async def test_an_honest_claim_after_one_too_high_counts() -> None:
    host, match, turn = await guarded()
    assert say(host, turn, move=Claim(20)).reason is RejectionReason.CLAIM_TOO_HIGH
    assert say(host, turn, move=Claim(2)) is None
    assert match.log.moves().splitlines()[-1] == f"{turn.seat} CLAIM 2"


async def test_each_question_has_its_own_claim_too_high() -> None:
    host = await opened()
    box = host.connect("a")
    match = await host.begin("a")
    play(host, match, {"a": box}, moves=1)
    for _ in range(2):
        turn = taken(box)
        assert say(host, turn, move=Claim(20)).reason is RejectionReason.CLAIM_TOO_HIGH
        assert say(host, turn, move=Claim(20)) is None
    assert match.ending is None


async def test_a_claim_that_would_not_go_out_is_refused() -> None:
    """Counting up costs nothing and ends at what is needed; a claim as low as one before does."""
    host, match, turn = await guarded(stones=3)
    for claim, left in ((0, 3), (1, 3), (1, 2), (2, 2), (0, 1)):
        rejection = say(host, turn, move=Claim(claim))
        assert (rejection.reason, rejection.attempts_left) == (RejectionReason.MUST_GO_OUT, left)
    assert say(host, turn, move=Claim(3)) is None
    assert match.ending is not None
    assert match.ending.result.termination is Termination.NORMAL


async def test_a_claim_too_high_never_stands_as_one_too_low_to_go_out() -> None:
    """Counting down costs nothing there: the points that win are known to be there (X-05, X-19)."""
    host, match, turn = await guarded(stones=3)
    for claim, left in ((9, 3), (8, 3), (8, 2), (5, 2), (9, 1)):
        rejection = say(host, turn, move=Claim(claim))
        assert (rejection.reason, rejection.attempts_left) == (RejectionReason.CLAIM_TOO_HIGH, left)
    assert say(host, turn, move=Claim(9)).attempts_left == 0
    result = await result_of(host, match)
    assert (result.termination, result.seat_at_fault) == (Termination.ILLEGAL_MOVE, turn.seat)
    assert "(illegal answer 3 of turn" in result.detail


async def test_an_error_of_the_rules_ends_its_match_alone() -> None:
    host, match, turn = await guarded()
    other = await host.begin("a", "b", id="other")
    assert say(host, turn, move=Boom()).reason is RejectionReason.MATCH_OVER
    result = await result_of(host, match)
    assert result.termination is Termination.SERVER_FAULT
    assert result.seat_at_fault is None
    assert result.points == ()
    assert other.ending is None


async def test_a_bot_resigns_once() -> None:
    host, match, _ = await guarded()
    assert host.resign("a", "m", 0) is None
    assert host.resign("a", "m", 0) is None
    rejection = host.resign("b", "m", 1)
    assert rejection is not None
    assert rejection.reason is RejectionReason.MATCH_OVER
    result = await result_of(host, match)
    assert (result.termination, result.seat_at_fault) == (Termination.RESIGN, 0)
    assert result.points == (0.0, 1.0)


async def test_a_match_is_cancelled_without_a_result_and_a_finished_one_stays() -> None:
    host, match, _ = await guarded()
    assert await host.cancel("m") is match.finished
    assert match.finished is not None
    assert match.finished.result.termination is Termination.CANCELLED
    assert match.finished.result.points == ()
    assert (await host.forfeit("m", 0, "late")).result == match.finished.result
    with pytest.raises(UnknownMatch, match="'nope'"):
        await host.cancel("nope")


async def test_a_crash_is_reported_by_the_organiser() -> None:
    host, match, _ = await guarded()
    with pytest.raises(UnknownSeat, match="no seat 2"):
        await host.forfeit("m", 2, "gone")
    await host.forfeit("m", 1, "exit status 3")
    assert match.finished is not None
    assert match.finished.result.termination is Termination.CRASH
    assert match.finished.result.detail == "b (seat 1) in match m: exit status 3"


async def test_a_refused_claim_narrows_the_range_of_its_turn() -> None:
    """X-05, X-19: a bot that stays within the range loses no attempt, whatever it claims."""
    host, match, turn = await guarded(stones=3)
    assert turn.choices.number == (0, 40)
    for claim, bounds in ((20, (0, 19)), (0, (1, 19)), (9, (1, 8)), (2, (3, 8)), (8, (3, 7))):
        rejection = say(host, turn, move_index=3, number=claim)
        assert (rejection.attempts_left, rejection.turn) == (3, turn)
        assert turn.choices.number == bounds
    assert say(host, turn, move_index=3, number=20).attempts_left == 2, "refused before"
    assert say(host, turn, move_index=3) is None, "the least that is left"
    assert match.log.moves().splitlines()[-1] == f"{turn.seat} CLAIM 3"
    assert say(host, turn, move_index=3) is None, "the same answer again"


def test_refusals_of_different_cards_do_not_close_the_range() -> None:
    """Too low to go out counts, since the points that win are there."""
    asked = Choices((Claim(),), (0, 15))
    high = asked.without(ClaimTooHigh("", 4, Claim(0)), asked)
    assert high.number == (0, 3)
    low = high.without(MustGoOut("", 3), asked)
    assert low.number == (4, 15)
    assert low.without(ClaimTooHigh("", 4, Claim(0)), asked) == low
    assert asked.number == (0, 15)


def test_a_call_keeps_the_range_that_claims_have_lost() -> None:
    """X-04, if plays and the call are listed in one turn."""
    play, call = cribbage_moves.Play(parse_card("5C"), claim=-1), cribbage_moves.Call()
    asked = Choices((play, call), (0, 15))
    narrowed = asked.without(ClaimTooHigh("", 1, play), asked)
    assert narrowed.number == (0, 0)
    assert narrowed.complete(1, 9, asked) == cribbage_moves.Call(9)
    assert narrowed.complete(1, None, asked) == cribbage_moves.Call(1)
    raised = asked.without(MustGoOut("", 1), asked)
    assert raised.complete(0, None, asked) == cribbage_moves.Play(parse_card("5C"), claim=2)
    assert raised.complete(1, None, asked) == cribbage_moves.Call(1)


async def test_a_rejected_turn_is_delivered_again_with_its_rejection() -> None:
    """The clock runs on, and what the bot has open is counted once."""
    host = await opened()
    box = host.connect("a", max_open_turns=1)
    await host.begin("a", "a")
    turn = taken(box)
    for _ in range(2):
        rejection = say(host, turn, move_index=9)
        box.reject("m", turn.seat, turn.turn_id, rejection)
    started_ns = turn.seated.clock.started_ns
    delivery = box.take()
    assert ([each[3].reason for each in delivery.rejected], delivery.turns) == (
        [RejectionReason.ILLEGAL_MOVE] * 2,
        [turn],
    )
    assert turn.seated.clock.started_ns == started_ns
    assert not box.take()
    assert box.thinks
    assert say(host, turn, move_index=0) is None
    assert taken(box) is not turn
    assert say(host, turn, move_index=9).turn is None


async def test_a_turn_that_is_answered_after_a_rejection_is_not_told_again() -> None:
    """Both answers have come in one message."""
    host = await opened()
    box = host.connect("a")
    await host.begin("a")
    turn = taken(box)
    box.reject("m", 0, turn.turn_id, say(host, turn, move_index=9))
    assert say(host, turn, move_index=0) is None
    delivery = box.take()
    assert len(delivery.rejected) == 1
    assert turn not in delivery.turns


async def test_no_turn_overtakes_the_rejection_that_brings_it_up() -> None:
    """Of many rejections, the last is of the turn."""
    host = await opened()
    box = host.connect("a")
    await host.begin("a")
    turn = taken(box)
    for _ in range(3):
        box.reject("m", 0, 99, Rejection(RejectionReason.STALE_TURN, "over"))
    box.reject("m", 0, turn.turn_id, say(host, turn, move_index=9))
    first, second = box.take(2), box.take(2)
    assert (len(first.rejected), first.turns) == (2, [])
    assert (len(second.rejected), second.turns) == (2, [turn])
