"""Creating, finding, listing and watching matches."""

from __future__ import annotations

import asyncio
import hashlib
import random
from base64 import urlsafe_b64encode
from contextlib import suppress
from typing import Any

import pytest
from tests.matches.fakes import GAMES, Happened, Heap, Hosted, Take, opened, play, request, settle

from pegboard.errors import AlreadyExists, InvalidRequest, UnknownMatch
from pegboard.matches.answers import Answer
from pegboard.matches.host import CreateRequest, HostSettings
from pegboard.matches.log import KEPT, Log
from pegboard.matches.running import RunningMatch
from pegboard.matches.spec import MatchSpec, TimeControl
from pegboard.matches.store.query import MatchQuery
from pegboard.rules.errors import OptionError, PegboardError, SeatsError, UnknownVariant
from pegboard.rules.results import Result, Termination


def ids(matches: list[RunningMatch]) -> list[str]:
    """The ids."""
    return [match.id for match in matches]


async def test_defaults_are_filled_in_and_the_seed_is_kept_apart() -> None:
    host = await opened(settings=HostSettings(move_ms=7, startup_ms=8, illegal_move_limit=9))
    (match,) = await host.create(
        [CreateRequest(MatchSpec("heap", ("a",), time_control=TimeControl(0, 0, 0, 0), seed=b"x" * 32,
                                 illegal_move_limit=0))]
    )  # fmt: skip
    assert match.spec.time_control == TimeControl(0, 0, 7, 8)
    assert match.spec.illegal_move_limit == 9
    assert match.spec.nonce == match.id
    assert match.spec.seed is None
    assert match.seed == b"x" * 32
    assert len(match.commitment) == 32


async def test_a_seed_is_drawn_where_none_is_given() -> None:
    host = await opened()
    one, two = await host.create([request("a", seed=None), request("a", seed=None)])
    assert len(one.seed) == len(two.seed) == 32
    assert one.seed != two.seed
    assert one.id != two.id


BAD: list[tuple[CreateRequest, type[PegboardError], str]] = [
    (CreateRequest(MatchSpec("nope", ("a",))), UnknownVariant, "nope"),
    (request("a", options={"x": "1"}), OptionError, "no option x"),
    (request(*"abcd"), SeatsError, "heap has 1 or 2 or 3 seats, not 4"),
    (request(), InvalidRequest, "a bot at every seat"),
    (request("a", ""), InvalidRequest, "a bot at every seat"),
    (request("a", id="Big"), InvalidRequest, "lower-case"),
    (request("a", id="x" * 64), InvalidRequest, "at most 63"),
    (request("a", seed=b"short"), InvalidRequest, "32 bytes, not 5"),
    (request("a", time_control=TimeControl(move_ms=-1)), InvalidRequest, "milliseconds"),
    (request("a", time_control=TimeControl(match_ms=-1)), InvalidRequest, "milliseconds"),
    (request("a", id="good"), AlreadyExists, "match good exists"),
]


@pytest.mark.parametrize(("bad", "error", "words"), BAD, ids=[case[2] for case in BAD])
async def test_all_of_a_batch_are_created_or_none(
    bad: CreateRequest, error: type[PegboardError], words: str
) -> None:
    host = await opened()
    with pytest.raises(error, match=words):
        await host.create([request("a", id="good", request_id="r"), bad])
    assert host.list() == ([], "")
    assert ids(await host.create([request("a", id="good", request_id="r")])) == ["good"]


async def test_a_batch_has_a_limit() -> None:
    host = await opened(settings=HostSettings(batch_max=2))
    with pytest.raises(InvalidRequest, match="at most 2"):
        await host.create([request("a")] * 3)


async def test_a_request_id_gives_the_same_match_again() -> None:
    host = await opened()
    (first,) = await host.create([request("a", request_id="r")])
    again, other, twice, twin = await host.create(
        [
            request("a", request_id="r"),
            request("a", request_id="s"),
            request("a", request_id="t"),
            request("a", request_id="t"),
        ]
    )
    assert again is first
    assert other is not first
    assert twice is twin
    await host.cancel(first.id)
    assert (await host.create([request("a", request_id="r")]))[0].id == first.id


async def test_requests_at_the_same_time_make_one_match() -> None:
    host = await opened()
    made = await asyncio.gather(*[host.create([request("a", request_id="r")]) for _ in range(3)])
    assert len({match.id for (match,) in made}) == 1
    tried = await asyncio.gather(
        *[host.create([request("a", id="x")]) for _ in range(3)], return_exceptions=True
    )
    assert sum(isinstance(each, AlreadyExists) for each in tried) == 2


async def test_a_creation_goes_on_when_its_caller_goes_away() -> None:
    host = await opened()
    creating = asyncio.create_task(host.create([request("a", id="m", request_id="r")]))
    await asyncio.sleep(0)
    creating.cancel()
    with pytest.raises(asyncio.CancelledError):
        await creating
    (match,) = await host.create([request("a", id="m", request_id="r")])
    assert [turn.match for turn in host.connect("a").take().turns] == [match]


async def test_pages_are_newest_first_and_complete() -> None:
    host = await opened()
    await host.create([request("a", id=f"m{n}", label="odd" * (n % 2)) for n in range(7)])
    for n in (1, 2):
        await host.cancel(f"m{n}")
    first, token = host.list(page_size=4)
    second, last = host.list(page_size=4, page_token=token)
    assert ids(first) + ids(second) == [f"m{n}" for n in (6, 5, 4, 3, 2, 1, 0)]
    assert last == ""
    assert ids(host.list(MatchQuery(label="odd"))[0]) == ["m5", "m3", "m1"]
    assert ids(host.list(MatchQuery(label="odd", finished=True))[0]) == ["m1"]
    assert ids(host.list(MatchQuery(finished=False))[0]) == ["m6", "m5", "m4", "m3", "m0"]
    assert ids(host.list(page_size=7)[0]) == ids(first) + ids(second)


def encoded(text: str) -> str:
    """Text as page tokens have it."""
    return urlsafe_b64encode(text.encode()).decode().rstrip("=")


NUMBERS = ["-1", "+1", "1_0", " 1", "1 ", "0x1", "1.0", "1e3", "٣", "²", "", "9" * 16, "9" * 30]
NUMBERS += [str(2**53 + 1), str(2**63), str(2**64), str(10**400), "1\n", "1\0"]
TOKENS = ["nonsense", "MjoxMg", "MTp4", "é", "=", "\0", "a" * 10**6, "\ud800", "/w==", "MTox\n"]


@pytest.mark.parametrize("token", [*TOKENS, *(encoded(f"1:{number}") for number in NUMBERS)])
async def test_a_strange_page_token_is_refused(token: str) -> None:
    host = await opened()
    with pytest.raises(InvalidRequest, match="page_token"):
        host.list(page_token=token)


async def test_any_page_token_gives_a_page_or_is_refused() -> None:
    """Random bytes, and tokens of ours with random changes."""
    host = await opened()
    await host.create([request("a") for _ in range(3)])
    _, token = host.list(page_size=1)
    for seed in range(2000):
        rng = random.Random(seed)
        tried = list(token) if seed % 2 else [""] * rng.randrange(40)
        for _ in range(rng.randrange(1, 4)):
            tried.insert(rng.randrange(len(tried) + 1), chr(rng.choice((127, 0x110000 - 1))))
            tried[rng.randrange(len(tried))] = chr(rng.randrange(rng.choice((128, 0x11000))))
        with suppress(InvalidRequest):
            host.list(page_token="".join(tried))


async def test_finished_matches_leave_memory_and_are_still_there() -> None:
    host = await opened(settings=HostSettings(finished_kept=2, events_kept=1))
    box = {"a": host.connect("a")}
    for n in range(5):
        play(host, await host.begin("a", id=f"m{n}"), box)
    await host.stored()
    assert len(host._registry._finished) == 2
    old = host.get("m0")
    assert old.event_count == len(old.events(0)) == 14
    assert isinstance(old.events(0)[-1][1], Result)
    assert [event for _, event in old.events(12)] == [Happened("WON 0"), old.result]
    assert old.record(True).moves == host.get("m4").record(True).moves
    assert len(host._registry._finished) == 2
    with pytest.raises(UnknownMatch):
        host.get("m9")
    rejection = host.answer("a", Answer("m1", 0, 1, move_index=0))
    assert rejection is not None
    assert rejection.reason.name == "MATCH_OVER"


async def test_a_record_comes_only_when_the_match_is_over() -> None:
    host = await opened(settings=HostSettings(events_kept=0))
    match = await host.begin("a")
    assert await host.cancel("m") is match.finished
    assert match.finished is not None
    assert match.finished.record(True).moves == ()


async def collect(host: Hosted, after: int = 0) -> list[int]:
    """All sequence numbers a watcher sees."""
    return [number async for events in host.watch("m", after) for number, _ in events]


async def test_a_watcher_sees_all_events_once_and_then_the_end() -> None:
    host = await opened()
    box = {"a": host.connect("a")}
    match = await host.begin("a", options={"stones": "400"})
    early = asyncio.create_task(collect(host))
    play(host, match, box, moves=2 * KEPT + 20)
    await settle()
    late = asyncio.create_task(collect(host))
    middle = asyncio.create_task(collect(host, after=match.event_count - 3))
    await settle()
    play(host, match, box)
    await host.stored()
    assert match.finished is not None
    assert await early == await late == list(range(1, match.finished.event_count + 1))
    assert (await middle)[0] < 2 * KEPT + 20
    assert await collect(host, after=match.finished.event_count) == []
    assert await collect(host, after=10**6) == []
    with pytest.raises(UnknownMatch):
        await anext(host.watch("x", 0))


async def test_matches_are_told_in_the_order_of_finishing() -> None:
    host = await opened()
    await host.create([request("a", id=f"m{n}", label="ab"[n % 2]) for n in range(6)])
    for n in (3, 1):
        await host.cancel(f"m{n}")
    every, live, label = (
        host.finished(include_earlier=True),
        host.finished(),
        host.finished("b", include_earlier=True),
    )
    assert ids(await anext(every)) == ["m3", "m1"]
    assert await anext(every) == []
    assert await anext(live) == []
    assert ids(await anext(label)) == ["m3", "m1"]
    assert await anext(label) == []
    coming = asyncio.ensure_future(anext(every))
    labelled = asyncio.ensure_future(anext(label))
    await settle()
    for n in (4, 5, 0):
        await host.cancel(f"m{n}")
    seen: list[Any] = await coming
    while len(seen) < 3:
        seen += await anext(every)
    assert ids(seen) == ["m4", "m5", "m0"]
    assert ids(await labelled) == ["m5"]
    assert ids(await anext(live))[0] == "m4"
    await host.close()
    assert [each async for each in every] == []


async def test_a_game_that_cannot_go_on_faults_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    host = await opened()
    monkeypatch.setitem(GAMES, "heap", Heap(stones=0))
    monkeypatch.setattr("tests.matches.fakes.HeapState.outcome", lambda _: None)
    match = await host.begin("a")
    await host.stored()
    assert match.finished is not None
    assert match.finished.result.termination is Termination.SERVER_FAULT


async def test_a_game_may_be_over_before_a_move(monkeypatch: pytest.MonkeyPatch) -> None:
    host = await opened()
    monkeypatch.setitem(GAMES, "heap", Heap(stones=0))
    match = await host.begin("a", "b")
    await host.stored()
    assert match.finished is not None
    assert match.finished.result.termination is Termination.NORMAL
    assert match.finished.record(True).moves == ()


async def test_a_broken_start_creates_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    host = await opened()
    monkeypatch.setitem(GAMES, "heap", Heap(broken=True))
    with pytest.raises(AssertionError):
        await host.begin("a")
    assert host.list() == ([], "")
    assert host._creation._ids == set()


def test_the_log_forgets_old_events_but_not_their_digest() -> None:
    log = Log()
    texts = []
    for number in range(500):
        events = [Happened(f"E {number}-{each}") for each in range(number % 3)]
        texts += [event.text() for event in events]
        log.append(number % 2, Take(number), events)
        assert len(log.events) <= 2 * KEPT
        assert log.count == len(texts)
        assert log.first + len(log.events) == log.count + 1
    whole = "".join(f"{text}\n" for text in texts)
    assert log.digest() == hashlib.sha256(whole.encode()).hexdigest() == log.digest()


@pytest.mark.parametrize("peek", [False, True])
def test_the_log_tells_all_moves_whenever_it_is_asked(peek: bool) -> None:
    log = Log()
    moves = [f"{number % 2} TAKE {number}" for number in range(60)]
    for number in range(60):
        log.append(number % 2, Take(number), [])
        if peek and number % 4 == 1:
            assert log.moves().splitlines() == moves[: number + 1]
    assert log.moves().splitlines() == moves
