"""The `Play` stream as clients/README.md tells it."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from tests.service.rig import ORGANISER, metadata_of, serving, token_of

from pegboard.client import RESIGN, Bot, Turn
from pegboard.client.testing import random_choice
from pegboard.errors import InvalidRequest, PermissionDenied, Replaced, Silent, Unavailable
from pegboard.matches.host import HostSettings
from pegboard.matches.running import RunningMatch
from pegboard.rpc.limits import Limits
from pegboard.v1 import cribbage_pb2, match_pb2, play_pb2

# Ten beats, so that a test that has to wait for a processor is not silent meanwhile.
QUICK = Limits(heartbeat_s=0.2, silence_beats=10, stop_s=1.0)


async def test_hello_is_answered_with_welcome() -> None:
    """The token names the bot."""
    async with serving() as rig:
        welcome = await rig.wire(token_of("alice")).hello()
        assert welcome.bot == "bots/alice"
        assert welcome.protocol_version == 1
        assert welcome.heartbeat_interval_ms == 10_000


async def test_the_token_may_come_as_metadata() -> None:
    """As for every other call."""
    async with serving() as rig:
        metadata = [("authorization", f"Bearer {token_of('bob')}")]
        assert (await rig.wire(metadata=metadata).hello()).bot == "bots/bob"


async def test_no_hello_is_refused_in_time() -> None:
    """Whoever opens a stream and says nothing does not keep it."""
    async with serving(Limits(hello_s=0.2, stop_s=1.0)) as rig:
        wire = rig.wire()
        error = await wire.end()
        assert isinstance(error, InvalidRequest)
        assert "send it first" in str(error)


async def test_the_first_message_must_hold_hello() -> None:
    """An answer before Hello is nobody's."""
    async with serving() as rig:
        wire = rig.wire()
        await wire.send(answers=[play_pb2.Answer(match="matches/x", index=0)])
        assert isinstance(await wire.end(), InvalidRequest)


async def test_an_organiser_cannot_play() -> None:
    """Roles are apart."""
    async with serving() as rig:
        wire = rig.wire()
        await wire.send(hello=play_pb2.Hello(token=ORGANISER, protocol_version=1))
        assert isinstance(await wire.end(), PermissionDenied)


async def test_started_turn_answer_ended() -> None:
    """The life of a match on a stream; closing by half-close ends with OK."""
    async with serving() as rig:
        rig.play("bob")
        wire = rig.wire(token_of("alice"))
        await wire.hello()
        name = await rig.match("alice", "bob", options={"target": "31"}, label="cup")
        started: list[play_pb2.MatchStarted] = []
        ended: list[play_pb2.MatchEnded] = []
        while not ended:
            response = await wire.read()
            assert response is not None
            started += response.started
            ended += response.ended
            for turn in response.turns:
                assert turn.match == name
                assert 0 < turn.clock.turn_ms <= 10_000, "what is left when it is written"
                await wire.answer(turn)
        assert [(each.match, list(each.seats), each.seat_count) for each in started] == [
            (name, [0], 2)
        ]
        assert started[0].options == {"target": "31"}
        assert ended[0].result.termination == match_pb2.TERMINATION_NORMAL
        await wire.call.done_writing()
        assert await wire.end() is None


async def test_a_typed_move_is_as_good_as_an_index() -> None:
    """Cards in any order."""
    async with serving() as rig:
        wire = rig.wire(token_of("alice"))
        await wire.hello(events=True)
        await rig.match("alice", "bob")
        turn = await wire.turn()
        move = turn.legal_moves[4]
        cards = list(reversed(move.cribbage.discard.cards))
        discard = cribbage_pb2.CribbageDiscard(cards=cards)
        typed = match_pb2.GameMove(cribbage=cribbage_pb2.CribbageMove(discard=discard))
        await wire.answer(turn, move=typed)
        response = await wire.read()
        assert response is not None
        (event,) = response.events[0].events
        assert list(event.cribbage.discarded.cards) == list(move.cribbage.discard.cards)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"index": 99}, play_pb2.REJECTION_REASON_ILLEGAL_MOVE),
        ({"move": match_pb2.GameMove()}, play_pb2.REJECTION_REASON_ILLEGAL_MOVE),
        ({"turn_id": 77}, play_pb2.REJECTION_REASON_STALE_TURN),
        ({"seat": 1}, play_pb2.REJECTION_REASON_UNKNOWN_SEAT),
        ({"seat": 200}, play_pb2.REJECTION_REASON_UNKNOWN_SEAT),
        ({"match": "matches/none"}, play_pb2.REJECTION_REASON_UNKNOWN_SEAT),
        ({"match": "no-name"}, play_pb2.REJECTION_REASON_UNKNOWN_SEAT),
    ],
)
async def test_an_answer_that_does_not_count_is_a_message(
    changes: dict[str, object], reason: int
) -> None:
    """Never the end of the stream; the turn stays open for a better answer."""
    async with serving() as rig:
        wire = rig.wire(token_of("alice"))
        await wire.hello()
        await rig.match("alice", "bob")
        turn = await wire.turn()
        await wire.answer(turn, **changes)
        rejected = await wire.rejection()
        assert rejected.reason == reason
        assert rejected.detail
        assert rejected.turn_id == changes.get("turn_id", turn.turn_id)
        await wire.answer(turn)
        await wire.answer(turn, match="matches/none")
        assert (await wire.rejection()).match == "matches/none", "the good answer is accepted"


async def test_a_rejected_turn_comes_again_in_the_same_message() -> None:
    """Whole, its clock running on, for as long as there are attempts."""
    async with serving() as rig:
        wire = rig.wire(token_of("alice"))
        await wire.hello()
        await rig.match("alice", "bob")
        turn = await wire.turn()
        for attempts_left in (2, 1):
            await wire.answer(turn, index=999)
            response = await wire.read()
            assert response is not None
            assert [each.attempts_left for each in response.rejected] == [attempts_left]
            (again,) = response.turns
            assert 0 < again.clock.turn_ms <= turn.clock.turn_ms
            again.clock.CopyFrom(turn.clock)
            assert again == turn
        await wire.answer(turn, index=999)
        response = await wire.read()
        assert response is not None
        assert response.rejected
        assert not response.turns


async def test_the_same_answer_again_is_accepted_again() -> None:
    """(match, seat, turn_id) is the idempotency key; another answer is stale."""
    async with serving() as rig:
        wire = rig.wire(token_of("alice"))
        await wire.hello()
        await rig.match("alice", "bob")
        turn = await wire.turn()
        for _ in range(3):
            await wire.answer(turn)
        await wire.answer(turn, index=1)
        rejected = await wire.rejection()
        assert rejected.reason == play_pb2.REJECTION_REASON_STALE_TURN


async def test_a_newer_stream_takes_over_and_gets_the_turns_again() -> None:
    """The older one ends with ABORTED."""
    async with serving() as rig:
        older = rig.wire(token_of("alice"))
        await older.hello()
        name = await rig.match("alice", "bob")
        turn = await older.turn()
        newer = rig.wire(token_of("alice"))
        await newer.hello()
        assert isinstance(await older.end(), Replaced)
        again = await newer.turn()
        assert (again.match, again.turn_id) == (name, turn.turn_id)
        assert again.legal_moves == turn.legal_moves
        assert again.clock.turn_ms < turn.clock.turn_ms, "the clock has run on"


async def test_heartbeats_come_and_silence_ends_the_stream() -> None:
    """As many intervals without a word as the limits say."""
    async with serving(QUICK) as rig:
        wire = rig.wire(token_of("alice"))
        await wire.hello()
        heard = []
        for _ in range(3):
            response = await wire.read()
            assert response is not None
            heard.append(response.heartbeat)
            await wire.send(heartbeat=response.heartbeat)
        assert heard == [1, 2, 3]
        error = await wire.end()
        assert isinstance(error, Silent)
        assert "alice" in str(error)


async def test_a_bot_that_thinks_is_not_silent() -> None:
    """While a turn's clock runs the clock decides."""
    async with serving(QUICK, HostSettings()) as rig:
        wire = rig.wire(token_of("alice"))
        await wire.hello()
        await rig.match("alice", "bob", time_control=match_pb2.TimeControl(move_ms=60_000))
        turn = await wire.turn()
        beats = 0
        while beats <= QUICK.silence_beats + 1:
            response = await wire.read()
            assert response is not None
            beats = response.heartbeat or beats
        await wire.answer(turn, index=99)
        assert (await wire.rejection()).reason == play_pb2.REJECTION_REASON_ILLEGAL_MOVE


async def test_max_open_turns_is_kept() -> None:
    """The others wait at the server, clocks stopped."""
    async with serving() as rig:
        wire = rig.wire(token_of("alice"))
        await wire.hello(max_open_turns=2)
        for _ in range(5):
            await rig.match("alice", "bob")
        turns: list[play_pb2.Turn] = []
        while len(turns) < 2:
            response = await wire.read()
            assert response is not None
            turns += response.turns
        assert len(turns) == 2
        await wire.answer(turns[0])
        third = await wire.turn()
        assert third.match not in {turn.match for turn in turns}


async def test_events_come_redacted_and_dense() -> None:
    """Every sequence number once; the opponent's cards hidden; the result last."""
    async with serving() as rig:
        rig.play("bob")
        wire = rig.wire(token_of("alice"))
        await wire.hello(events=True)
        await rig.match("alice", "bob", options={"target": "31"})
        events: list[match_pb2.MatchEvent] = []
        while not events or events[-1].WhichOneof("kind") != "match_ended":
            response = await wire.read()
            assert response is not None
            for batch in response.events:
                assert batch.seat == 0
                events += batch.events
            for turn in response.turns:
                await wire.answer(turn)
        assert [event.sequence for event in events] == list(range(1, len(events) + 1))
        dealt = [e.cribbage.dealt for e in events if e.cribbage.HasField("dealt")]
        for deal in dealt:
            assert all(card for card in deal.hands[0].cards)
            assert list(deal.hands[1].cards) == [0] * 6


async def test_a_stopping_server_says_so() -> None:
    """UNAVAILABLE: bots come back by themselves."""
    async with serving() as rig:
        wire = rig.wire(token_of("alice"))
        await wire.hello()
        stopping = asyncio.create_task(rig.server.stop())
        assert isinstance(await wire.end(), Unavailable)
        await stopping


async def test_one_stream_carries_many_matches_in_few_messages() -> None:
    """Turns that are ready together travel together."""
    async with serving() as rig:
        wire = rig.wire(token_of("alice"))
        await wire.hello()
        async with rig.organiser() as organiser:
            from pegboard.client import new_match

            await organiser.create([new_match("draw", ["alice", "alice"]) for _ in range(100)])
        messages = turns = 0
        while turns < 100:
            response = await wire.read()
            assert response is not None
            messages += 1
            turns += len(response.turns)
        assert messages <= 4


async def test_a_match_of_one_bot_against_itself() -> None:
    """Both seats on one stream."""
    async with serving() as rig:
        rig.play("alice")
        result = await rig.result(await rig.match("alice", "alice", options={"target": "31"}))
        assert result.termination == match_pb2.TERMINATION_NORMAL


async def test_resigning() -> None:
    """From the kit: RESIGN instead of a move."""
    async with serving() as rig:
        rig.play("alice", lambda turn: RESIGN)
        rig.play("bob")
        result = await rig.result(await rig.match("alice", "bob"))
        assert result.termination == match_pb2.TERMINATION_RESIGN
        assert result.seat_at_fault == 0


class Batches(Bot):
    """Chooses for all turns at once, in a thread, slowly enough for batches to form."""

    def __init__(self) -> None:
        self.sizes: list[int] = []

    def choose_batch(self, turns: list[Turn]) -> list[object]:  # type: ignore[override]
        """Choose at random."""
        self.sizes.append(len(turns))
        return [random_choice(turn) for turn in turns]


async def test_choose_batch_gets_the_turns_that_are_open() -> None:
    """Several matches' turns in one call."""
    async with serving() as rig:
        bot = Batches()
        rig.play("alice", bot)
        rig.play("bob")
        names = [await rig.match("alice", "bob", options={"target": "31"}) for _ in range(20)]
        for name in names:
            assert (await rig.result(name)).termination == match_pb2.TERMINATION_NORMAL
        assert max(bot.sizes) > 1


@pytest.mark.parametrize("variant", ["cribbage-muggins", "cribbage-auction", "cribbage-squares"])
async def test_open_numbers_by_random_bots(variant: str) -> None:
    """Bids, claims and calls; refused claims are asked again and cost nothing."""
    async with serving() as rig:
        rig.play("alice")
        rig.play("bob")
        bots = ("alice",) if variant == "cribbage-squares" else ("alice", "bob")
        name = await rig.match(*bots, variant=variant)
        assert (await rig.result(name, 30)).termination == match_pb2.TERMINATION_NORMAL


class Unseen:
    """A state that cannot be viewed."""

    def __init__(self, state: Any) -> None:
        self.state = state

    def __getattr__(self, name: str) -> Any:
        """Return everything else as it is."""
        return getattr(self.state, name)

    def view(self, seat: int | None) -> Any:
        """Fail."""
        raise ZeroDivisionError(seat)


async def test_a_view_that_fails_ends_its_match_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Our own bug is a SERVER_FAULT, which is never rated; the stream goes on."""
    async with serving() as rig:
        wire = rig.wire(token_of("alice"))
        await wire.hello()
        broken = await rig.match("alice", "bob", match_id="broken")
        turn = await wire.turn()
        match = rig.host.get("broken")
        assert isinstance(match, RunningMatch)
        monkeypatch.setattr(match, "state", Unseen(match.state))
        again = rig.wire(token_of("alice"))
        await again.hello()
        assert (await rig.result(broken)).termination == match_pb2.TERMINATION_SERVER_FAULT
        monkeypatch.undo()
        await rig.match("alice", "bob")
        assert (await again.turn()).match != turn.match


async def test_a_view_that_fails_for_a_call_ends_its_match_too(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It is not lost on time by the bot that was never told of the turn."""
    import grpc.aio

    async with serving() as rig, grpc.aio.insecure_channel(rig.address) as channel:
        broken = await rig.match("alice", "alice", match_id="broken")
        match = rig.host.get("broken")
        assert isinstance(match, RunningMatch)
        monkeypatch.setattr(match, "state", Unseen(match.state))
        get: Any = channel.unary_unary("/pegboard.v1.PlayService/GetTurn")
        request = play_pb2.GetTurnRequest(match=broken, wait_ms=1000).SerializeToString()
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await get(request, metadata=metadata_of("alice"))
        assert caught.value.code() is grpc.StatusCode.INTERNAL
        assert (await rig.result(broken)).termination == match_pb2.TERMINATION_SERVER_FAULT


async def test_get_turn_and_submit_move() -> None:
    """A whole match without a stream; a rejected turn comes with its rejection."""
    async with serving() as rig:
        rig.play("bob")
        name = await rig.match("alice", "bob", options={"target": "31"})
        import grpc.aio

        from pegboard.v1 import play_pb2_grpc

        metadata = [("authorization", f"Bearer {token_of('alice')}")]
        async with grpc.aio.insecure_channel(rig.address) as channel:
            stub: play_pb2_grpc.PlayServiceAsyncStub = play_pb2_grpc.PlayServiceStub(channel)
            while True:
                request = play_pb2.GetTurnRequest(match=name, wait_ms=1000)
                try:
                    turn = (await stub.GetTurn(request, metadata=metadata)).turn
                except grpc.aio.AioRpcError:
                    break
                if not turn.match:
                    break
                answer = play_pb2.Answer(match=name, seat=turn.seat, turn_id=turn.turn_id, index=99)
                submitted = await stub.SubmitMove(
                    play_pb2.SubmitMoveRequest(answer=answer), metadata=metadata
                )
                assert submitted.rejected.attempts_left == 2
                assert submitted.turn.turn_id == turn.turn_id
                assert submitted.turn.legal_moves == turn.legal_moves
                answer.index = 0
                submitted = await stub.SubmitMove(
                    play_pb2.SubmitMoveRequest(answer=answer), metadata=metadata
                )
                assert submitted == play_pb2.SubmitMoveResponse()
        assert (await rig.result(name)).termination == match_pb2.TERMINATION_NORMAL
