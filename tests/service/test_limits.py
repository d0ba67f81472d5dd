"""What one caller may cause: sizes, counts, echoes, and time of the event loop."""

from __future__ import annotations

import asyncio
import threading
import time
from functools import partial
from typing import Any

import grpc
import grpc.aio
import pytest
from google.rpc import error_details_pb2, status_pb2
from tests.patience import PATIENCE_S, until
from tests.service.rig import ORGANISER, Rig, Wire, metadata_of, serving, token_of

from pegboard import errors
from pegboard.client import Bot, Turn, new_match
from pegboard.rpc.allowance import Allowance
from pegboard.rpc.limits import Limits
from pegboard.rules.plain import plain, quoted, sentence
from pegboard.service.play_service import hello_cost
from pegboard.service.session import PlaySession
from pegboard.v1 import cribbage_pb2, match_pb2, play_pb2

SMALL_WINDOW = [
    ("grpc.use_local_subchannel_pool", 1),
    ("grpc.http2.lookahead_bytes", 1024),
    ("grpc.http2.bdp_probe", 0),
]
EMPTY_RESIGNATION = b"\x1a\x00"
LOUD = "\n\x1b[31m\u2028\0" * 100_000


def test_what_others_wrote_stays_on_one_line_and_short() -> None:
    """Line feeds, ESC, NUL, U+2028 and what is not text at all show as escapes."""
    assert plain("alice") == "alice"
    assert plain("a\nb\x1b\u2028\0\ud800") == r"a\nb\x1b\u2028\x00\ud800"
    assert plain("x" * 81) == "x" * 77 + "..."
    assert quoted("it") == "'it'"
    for text in (LOUD, "x" * 1_000_000, "\U000e0001" * 80):
        assert len(plain(text)) <= 80
        assert len(sentence(text)) <= 400
        assert plain(text).isprintable()


async def attacked(rig: Rig, name: str, *data: bytes) -> errors.PegboardError | None:
    """Say Hello as a bot, send these bytes, and return the error of the stream."""
    wire = rig.wire(token_of(name))
    await wire.hello()
    for each in data:
        await wire.call.write(each)
    return await wire.end()


@pytest.mark.parametrize(
    "data",
    [
        EMPTY_RESIGNATION * 100_000,
        b"\x12\x00" * 100_000,
        b"\x78\x01" * 130_000,  # fields that the contract does not know
        play_pb2.PlayRequest(answers=[play_pb2.Answer(match="m" * 250_000)]).SerializeToString(),
    ],
    ids=["resignations", "answers", "unknown fields", "a long name"],
)
async def test_everything_in_a_message_is_charged(data: bytes) -> None:
    """Beside an answer that is owed too; and to connect again does not give the allowance back."""
    async with serving() as rig:
        await rig.match("zoe", "alice")
        wire = rig.wire(token_of("zoe"))
        await wire.hello()
        turn = await wire.turn()
        answer = play_pb2.Answer(match=turn.match, seat=0, turn_id=turn.turn_id, index=0)
        owed = play_pb2.PlayRequest(answers=[answer]).SerializeToString()
        await wire.call.write(owed + data)
        await wire.call.write(data)
        assert isinstance(await wire.end(), errors.TooManyRequests)
        again = rig.wire(token_of("zoe"))
        await again.send(hello=play_pb2.Hello(token=token_of("zoe"), protocol_version=1))
        assert isinstance(await again.end(), errors.TooManyRequests)
        other = rig.wire(token_of("alice"))
        assert (await other.hello()).bot == "bots/alice", "another bot has its own"


async def test_single_calls_use_the_same_allowance() -> None:
    """A bot that has been cut off cannot go on with GetTurn."""
    async with serving() as rig, grpc.aio.insecure_channel(rig.address) as channel:
        assert isinstance(
            await attacked(rig, "zoe", EMPTY_RESIGNATION * 100_000), errors.TooManyRequests
        )
        error = await failure(channel, "PlayService/GetTurn", b"", "zoe")
        assert error.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
        assert info_of(error).reason == "TOO_MANY_REQUESTS"


async def test_a_long_message_leaves_the_loop_to_others() -> None:
    """Nine hundred answers are taken in slices: no pass of the loop has more than 64 of them."""
    async with serving() as rig:
        wire = rig.wire(token_of("zoe"))
        await wire.hello()
        await until(lambda: len(rig.server._play._sessions) == 1)
        (session,) = rig.server._play._sessions
        reading = asyncio.create_task(be_rejected(wire, 900))
        passes: list[int] = []
        async with asyncio.timeout(20):
            while not reading.done():
                before = session.account._unread
                await asyncio.sleep(0)
                passes.append(session.account._unread - before)
        assert 0 < max(passes) <= 64


async def be_rejected(wire: Wire, count: int) -> None:
    """Send so many answers to no match in one message, and read all rejections."""
    nobody = play_pb2.Answer(match="matches/none", index=0)
    await wire.send(answers=[nobody] * count)
    while count > 0:
        response = await wire.read()
        assert response is not None
        count -= len(response.rejected)


async def test_nothing_that_a_bot_says_is_repeated_at_length() -> None:
    """Names of matches in rejections and details, moves that cannot be read."""
    async with serving() as rig:
        wire = rig.wire(token_of("zoe"))
        await wire.hello()
        await rig.match("zoe", "alice")
        turn = await wire.turn()
        await wire.answer(turn, match="matches/" + LOUD[:40_000])
        rejected = await wire.rejection()
        assert len(rejected.match) <= 90
        assert len(rejected.detail) <= 200
        assert (rejected.match + rejected.detail).isprintable()
        cards = [cribbage_pb2.CARD_5C] * 50_000
        discard = cribbage_pb2.CribbageDiscard(cards=cards)
        typed = match_pb2.GameMove(cribbage=cribbage_pb2.CribbageMove(discard=discard))
        await wire.answer(turn, move=typed)
        rejected = await wire.rejection()
        assert rejected.reason == play_pb2.REJECTION_REASON_ILLEGAL_MOVE
        assert len(rejected.detail) <= 200


async def test_rejections_wait_in_bounds_for_a_bot_that_does_not_read() -> None:
    """Then the stream ends."""
    limits = Limits(rejections_unread=50, stop_s=1.0)
    async with serving(limits) as rig:
        nobody = play_pb2.Answer(match="matches/none", index=0)
        data = play_pb2.PlayRequest(answers=[nobody] * 51).SerializeToString()
        error = await attacked(rig, "zoe", data)
        assert isinstance(error, errors.TooManyRequests)
        assert "rejections unread" in str(error)


def is_greeting(rig: Rig, number: int) -> bool:
    """Whether so many streams have said nothing yet."""
    return len(rig.server._play._greeting) == number


async def test_streams_without_hello_are_bounded() -> None:
    """The oldest of them ends; who says Hello at once is not disturbed."""
    async with serving(Limits(greeting_streams=3, stop_s=1.0)) as rig:
        silent: list[Wire] = []
        for number in range(1, 4):  # one after the other, so that the first is the oldest
            silent.append(rig.wire())
            await until(partial(is_greeting, rig, number))
        last = rig.wire()
        assert isinstance(await silent[0].end(), errors.TooManyRequests)
        assert (await rig.wire(token_of("alice")).hello()).bot == "bots/alice"
        for wire in (*silent, last):
            wire.call.cancel()


async def test_open_calls_are_bounded() -> None:
    """Polls do not pile up."""
    limits = Limits(calls_at_once=2, stop_s=1.0)
    async with serving(limits) as rig, grpc.aio.insecure_channel(rig.address) as channel:
        call: Any = channel.unary_unary("/pegboard.v1.PlayService/GetTurn")
        request = play_pb2.GetTurnRequest(wait_ms=60_000).SerializeToString()
        polls = [call(request, metadata=metadata_of("zoe")) for _ in range(3)]
        done, _ = await asyncio.wait(
            [asyncio.ensure_future(poll.code()) for poll in polls],
            return_when=asyncio.FIRST_COMPLETED,
            timeout=10,
        )
        assert [task.result() for task in done] == [grpc.StatusCode.RESOURCE_EXHAUSTED]
        for poll in polls:
            poll.cancel()


async def failure(
    channel: grpc.aio.Channel, method: str, data: bytes, bot: str = "alice", token: str = ""
) -> grpc.aio.AioRpcError:
    """Make a single call with these bytes and return how it failed."""
    call: Any = channel.unary_unary(f"/pegboard.v1.{method}")
    metadata = [("authorization", f"Bearer {token}")] if token else metadata_of(bot)
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await call(data, metadata=metadata)
    return caught.value


def info_of(error: grpc.aio.AioRpcError) -> error_details_pb2.ErrorInfo:
    """Return the one ErrorInfo of a failed call."""
    details = dict(error.trailing_metadata() or ())["grpc-status-details-bin"]
    assert isinstance(details, bytes)
    (detail,) = status_pb2.Status.FromString(details).details
    info = error_details_pb2.ErrorInfo()
    assert detail.Unpack(info)
    assert info.domain == "pegboard"
    return info


@pytest.mark.parametrize(
    "method",
    [
        "CatalogService/GetVariant",
        "MatchService/GetMatch",
        "MatchService/WatchMatch",
        "MatchService/CreateMatch",
        "MatchService/WatchFinishedMatches",
        "PlayService/GetTurn",
        "PlayService/SubmitMove",
    ],
)
async def test_every_error_of_a_request_has_its_error_info(method: str) -> None:
    """Bytes that are not a message, and more of them than are taken."""
    token = "" if method.startswith("Play") else ORGANISER
    async with serving() as rig, grpc.aio.insecure_channel(rig.address) as channel:
        error = await failure(channel, method, b"\xff" * 100, token=token)
        assert error.code() is grpc.StatusCode.INVALID_ARGUMENT
        assert info_of(error).reason == "INVALID_REQUEST"
        error = await failure(channel, method, b"\xff" * 1_500_000, token=token)
        assert error.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
        assert info_of(error).reason == "TOO_MANY_REQUESTS"


async def test_a_stream_tells_of_large_messages_too() -> None:
    """RESOURCE_EXHAUSTED with the sizes, and an ErrorInfo."""
    async with serving() as rig:
        error = await attacked(rig, "zoe", bytes(300_000))
        assert isinstance(error, errors.TooManyRequests)
        assert "300000 bytes; at most 262144" in str(error)


async def test_long_fields_of_a_spec_are_refused() -> None:
    """With the name of the field."""
    async with serving() as rig, rig.organiser() as organiser:
        for request, words in (
            (new_match("v" * 10_000, ["alice", "bob"]), "variant has 10009 characters"),
            (new_match("draw", ["alice", "b" * 10_000]), "the name of a bot has 10005"),
            (new_match("draw", ["alice"] * 5_000), "at most 16 bots"),
            (new_match("draw", ["alice", "bob"], label="l" * 201), "label has 201"),
            (new_match("draw", ["alice", "bob"], options={"k" * 999: "1"}), "key of an option"),
            (new_match("draw", ["alice", "bob"], request_id="r" * 999), "request_id has 999"),
        ):
            with pytest.raises(errors.InvalidRequest, match=words):
                await organiser.create([request])


async def test_a_refused_call_leaves_nothing_in_memory() -> None:
    """Not even until the cycle collector runs: `abort` of gRPC would keep request and traceback."""
    import gc

    async with serving() as rig, grpc.aio.insecure_channel(rig.address) as channel:
        gc.collect()
        gc.disable()
        try:
            for _ in range(20):
                await failure(channel, "MatchService/GetMatch", b"\xff" * 1_000)
            kept = [each for each in gc.get_objects() if isinstance(each, errors.InvalidRequest)]
        finally:
            gc.enable()
        assert kept == []


def is_stalled(session: PlaySession) -> bool:
    """Whether the same message is being written for three pulses: the window is full."""
    return session.heartbeat.blocked_pulses >= 3


async def test_departures_are_not_faults(monkeypatch: pytest.MonkeyPatch) -> None:
    """A bot that goes while its events are written, and a poll that is cancelled."""
    faults: list[Any] = []
    monkeypatch.setattr("pegboard.rpc.errors._log.error", lambda *a, **k: faults.append(k))
    limits = Limits(heartbeat_s=0.3, silence_beats=1000, stop_s=1.0)
    async with serving(limits) as rig:
        async with rig.organiser() as organiser:
            await organiser.create([new_match("cribbage", ["zoe", "bob"])] * 600)
        for _ in range(3):
            async with grpc.aio.insecure_channel(rig.address, SMALL_WINDOW) as channel:
                method: Any = channel.stream_stream("/pegboard.v1.PlayService/Play")
                call = method()
                hello = play_pb2.Hello(token=token_of("zoe"), protocol_version=1, events=True)
                await call.write(play_pb2.PlayRequest(hello=hello).SerializeToString())
                await call.read()
                await until(lambda: len(rig.server._play._sessions) == 1)
                (session,) = rig.server._play._sessions
                await until(partial(is_stalled, session))
                call.cancel()
            await until(lambda: not rig.server._play._sessions)
    assert faults == []


class AllAtOnce(Bot):
    """Answers nothing before it is let go, then all turns that are open by then."""

    def __init__(self) -> None:
        self.go = threading.Event()
        self.sizes: list[int] = []

    def choose_batch(self, turns: list[Turn]) -> list[object]:  # type: ignore[override]
        """Take the first move of each."""
        self.go.wait(PATIENCE_S)
        self.sizes.append(len(turns))
        return [0] * len(turns)


async def test_the_kit_answers_many_turns_in_messages_that_are_taken() -> None:
    """However many are open at once."""
    async with serving(Limits(play_bytes=15_000, stop_s=1.0)) as rig:
        bot = AllAtOnce()
        rig.play("alice", bot)
        async with rig.organiser() as organiser:
            await organiser.create([new_match("draw", ["alice", "alice"])] * 1000)
            try:
                await until(lambda: bool(rig.server._play._sessions))
                (session,) = rig.server._play._sessions
                await until(lambda: session.account.turns_sent >= 1000)
                turns = session.account.turns_sent
            finally:
                bot.go.set()
            await until(lambda: sum(bot.sizes) >= turns)
            await until(lambda: session.account.turns_sent >= 2 * turns)
            assert max(bot.sizes) > 256
            assert session in rig.server._play._sessions


def test_a_bot_can_come_back_to_any_number_of_matches() -> None:
    """A `Hello` costs more for running matches, but never what no allowance has."""
    limits = Limits()
    assert hello_cost(limits, 0) == limits.hello_units
    assert hello_cost(limits, 500) == limits.hello_units + 50
    Allowance(limits.excess_burst, limits.excess_per_s).spend(2 * hello_cost(limits, 100_000))


async def test_answers_to_open_turns_cost_nothing() -> None:
    """A bot that plays by single calls is never refused, however fast it plays."""
    async with serving(Limits(excess_burst=20, excess_per_s=0.001, stop_s=1.0)) as rig:
        name = await rig.match("alice", "alice", options={"target": "31"})
        async with grpc.aio.insecure_channel(rig.address) as channel:
            get: Any = channel.unary_unary("/pegboard.v1.PlayService/GetTurn")
            submit: Any = channel.unary_unary("/pegboard.v1.PlayService/SubmitMove")
            metadata = metadata_of("alice")
            request = play_pb2.GetTurnRequest(wait_ms=1000).SerializeToString()
            began = time.monotonic()
            for _ in range(25):
                data = await get(request, metadata=metadata)
                turn = play_pb2.GetTurnResponse.FromString(data).turn
                if not turn.match:
                    break
                answer = play_pb2.Answer(match=name, seat=turn.seat, turn_id=turn.turn_id, index=0)
                move = play_pb2.SubmitMoveRequest(answer=answer).SerializeToString()
                await submit(move, metadata=metadata)
            assert time.monotonic() - began < 60
