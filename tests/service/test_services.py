"""`MatchService`, `CatalogService`, health and reflection; tokens and errors."""

from __future__ import annotations

import asyncio
import sqlite3
from pathlib import Path
from typing import Any

import grpc
import grpc.aio
import pytest
from google.rpc import error_details_pb2, status_pb2
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection_pb2, reflection_pb2_grpc
from tests.patience import PATIENCE_S, until
from tests.service.rig import ORGANISER, metadata_of, serving, token_of

from pegboard import errors
from pegboard.client import new_match
from pegboard.matches.finished import Archive
from pegboard.matches.settings import HostSettings
from pegboard.rpc.allowance import ACCOUNTS_KEPT, Allowance, Allowances
from pegboard.rpc.limits import Limits
from pegboard.rpc.tokens import bearer_token, load_tokens
from pegboard.rules.catalog import CATALOG
from pegboard.rules.record import verify
from pegboard.service.match_service import (
    RESULTS_BYTES,
    RESULTS_PER_MESSAGE,
    MatchService,
    finished_messages,
)
from pegboard.v1 import match_pb2, match_pb2_grpc
from pegboard.wire.records import read_record, record_message


async def test_the_catalog_is_listed_in_its_order() -> None:
    """Page by page as well."""
    async with serving() as rig, rig.organiser() as organiser:
        variants = await organiser.list_variants()
        assert [variant.name for variant in variants] == [f"variants/{id}" for id in CATALOG]
        cribbage = await organiser.get_variant("cribbage")
        assert cribbage.family == "cribbage"
        kinds = {option.key: option.WhichOneof("kind") for option in cribbage.options}
        assert (kinds["target"], kinds["jokers"], kinds["start_scores"]) == (
            "number",
            "word",
            "text",
        )
        with pytest.raises(errors.UnknownVariant, match="did you mean draw"):
            await organiser.get_variant("drwa")


def with_spec(**changes: Any) -> match_pb2.CreateMatchRequest:
    """A request for a match with other fields than the kit writes."""
    request = new_match("draw", ["alice", "bob"])
    spec: dict[str, Any] = {"variant": request.spec.variant, "bots": request.spec.bots}
    return match_pb2.CreateMatchRequest(spec=match_pb2.MatchSpec(**(spec | changes)))


OTHER_DEFAULTS = {"move_ms": 7000, "startup_ms": 8000, "illegal_move_limit": 9}


@pytest.mark.parametrize("asked", [0, 5])
@pytest.mark.parametrize("field", list(OTHER_DEFAULTS))
async def test_a_field_that_a_request_leaves_out_is_the_hosts(field: str, asked: int) -> None:
    """Of all three; 0 is not set."""
    settings = HostSettings(**OTHER_DEFAULTS)
    async with serving(host_settings=settings) as rig, rig.organiser() as organiser:
        request = with_spec()
        part = request.spec if field == "illegal_move_limit" else request.spec.time_control
        setattr(part, field, asked)
        (match,) = await organiser.create([request])
        found = {
            "move_ms": match.spec.time_control.move_ms,
            "startup_ms": match.spec.time_control.startup_ms,
            "illegal_move_limit": match.spec.illegal_move_limit,
        }
        assert found == OTHER_DEFAULTS | ({field: asked} if asked else {})


async def test_creating_needs_an_organiser() -> None:
    """Nobody: UNAUTHENTICATED; a bot: PERMISSION_DENIED; a wrong token: UNAUTHENTICATED."""
    request = [new_match("draw", ["alice", "bob"])]
    async with serving() as rig:
        for token, error in (
            ("", errors.Unauthenticated),
            ("wrong", errors.Unauthenticated),
            (token_of("alice"), errors.PermissionDenied),
        ):
            async with rig.organiser(token) as nobody:
                with pytest.raises(error):
                    await nobody.create(request)


@pytest.mark.parametrize(
    ("request_", "error"),
    [
        (new_match("drow", ["alice", "bob"]), errors.UnknownVariant),
        (new_match("draw", ["alice"]), errors.SeatsError),
        (new_match("draw", ["alice", ""]), errors.InvalidRequest),
        (new_match("draw", ["alice", "bob"], options={"colour": "red"}), errors.OptionError),
        (new_match("draw", ["alice", "bob"], seed=b"short"), errors.InvalidRequest),
        (new_match("draw", ["alice", "bob"], match_id="No Id"), errors.InvalidRequest),
        (with_spec(variant="draw"), errors.InvalidRequest),
        (with_spec(bots=["alice", "bots/bob"]), errors.InvalidRequest),
    ],
)
async def test_a_bad_request_creates_nothing(
    request_: match_pb2.CreateMatchRequest, error: type[errors.PegboardError]
) -> None:
    """All or none, and the error's own class."""
    async with serving() as rig, rig.organiser() as organiser:
        good = new_match("draw", ["alice", "bob"], match_id="good")
        with pytest.raises(error) as caught:
            await organiser.create([good, request_])
        assert "Traceback" not in str(caught.value)
        assert [match async for match in organiser.list_matches()] == []


async def test_request_ids_make_creating_repeatable() -> None:
    """The same id again is the same match; the same match id is taken."""
    async with serving() as rig, rig.organiser() as organiser:
        request = new_match("draw", ["alice", "bob"], match_id="m-1", request_id="r-1")
        (first,) = await organiser.create([request])
        (again,) = await organiser.create([request])
        assert first == again
        with pytest.raises(errors.AlreadyExists):
            await organiser.create([new_match("draw", ["alice", "bob"], match_id="m-1")])


async def test_listing_by_label_and_state() -> None:
    """Newest first, in pages."""
    async with serving() as rig, rig.organiser() as organiser:
        await organiser.create(
            [new_match("draw", ["alice", "bob"], label="x", match_id=f"m-{n}") for n in range(5)]
        )
        await organiser.create([new_match("draw", ["alice", "bob"], label="y")])
        await organiser.cancel("matches/m-3")
        names = [match.name async for match in organiser.list_matches("x")]
        assert names == [f"matches/m-{n}" for n in (4, 3, 2, 1, 0)]
        finished = organiser.list_matches("x", match_pb2.MATCH_STATE_FINISHED)
        assert [match.name async for match in finished] == ["matches/m-3"]
        async with grpc.aio.insecure_channel(rig.address) as channel:
            stub: match_pb2_grpc.MatchServiceAsyncStub = match_pb2_grpc.MatchServiceStub(channel)
            token = ""
            seen: list[str] = []
            while True:
                page = await stub.ListMatches(
                    match_pb2.ListMatchesRequest(page_size=2, page_token=token, label="x"),
                    metadata=metadata_of("alice"),
                )
                seen += [match.name for match in page.matches]
                token = page.next_page_token
                if not token:
                    break
            assert seen == names
            with pytest.raises(grpc.aio.AioRpcError) as caught:
                await stub.ListMatches(
                    match_pb2.ListMatchesRequest(page_token="nonsense"),
                    metadata=metadata_of("alice"),
                )
            assert caught.value.code() is grpc.StatusCode.INVALID_ARGUMENT


async def test_a_crash_is_reported_by_the_organiser() -> None:
    """ForfeitMatch: the seat's fault, the organiser's words."""
    async with serving() as rig, rig.organiser() as organiser:
        name = await rig.match("alice", "bob")
        match = await organiser.forfeit(name, 1, "exit status 3")
        assert match.result.termination == match_pb2.TERMINATION_CRASH
        assert match.result.seat_at_fault == 1
        assert "exit status 3" in match.result.detail
        with pytest.raises(errors.UnknownMatch):
            await organiser.forfeit("matches/none", 0, "")
        with pytest.raises(errors.InvalidRequest):
            await organiser.cancel("none")


async def test_records_come_back_whole_and_verify() -> None:
    """Through WatchFinishedMatches and GetMatchRecord, live and later."""
    async with serving() as rig, rig.organiser() as organiser:
        rig.play("alice")
        rig.play("bob")
        names = {
            await rig.match("alice", "bob", variant=variant, label="cup")
            for variant in ("draw", "cribbage")
        }
        for _ in range(2):
            seen: dict[str, match_pb2.MatchRecord] = {}
            async for batch in organiser.watch_finished("cup", include_earlier=True):
                seen |= {each.match.name: each.record for each in batch.finished}
                if len(seen) == len(names):
                    break
            assert set(seen) == names
        for name, message in seen.items():
            record = read_record(message)
            verify(record)
            assert record_message(record) == message
            assert await organiser.record(name) == record


async def test_results_travel_in_messages_of_a_bounded_size() -> None:
    """By bytes and by count, all of them once and in order."""
    async with serving() as rig, rig.organiser() as organiser:
        options = {"match_games": "21"}
        matches = [
            new_match("cribbage", ["alice", "bob"], options=options, label="l" * 200)
            for _ in range(700)
        ]
        names = [match.name for match in await organiser.create(matches)]
        for name in names:
            await organiser.cancel(name)
        got: list[str] = []
        sizes, counts = [], []
        async for batch in organiser.watch_finished(include_earlier=True):
            if batch.caught_up:
                break
            got += [each.match.name for each in batch.finished]
            counts.append(len(batch.finished))
            sizes.append(sum(each.ByteSize() for each in batch.finished))
        assert got == names
        assert max(sizes) <= RESULTS_BYTES
        assert max(counts) <= RESULTS_PER_MESSAGE


async def test_one_large_result_travels_alone() -> None:
    """A message begins with it rather than growing by it."""
    async with serving() as rig:
        names = [await rig.match("alice", "bob") for _ in range(4)]
        for name in names:
            await rig.host.cancel(name.removeprefix("matches/"))
        found = [rig.host.get(name.removeprefix("matches/")) for name in names]
        matches = [match.finished for match in found if match.finished is not None]
        large = "\n".join(["0 DISCARD 5C TD"] * 20_000)
        for number in (1, 2):
            matches[number].archive = Archive(large, 1, "ab")
        groups = [[each.match.name for each in group] for group in finished_messages(matches)]
        assert groups == [[name] for name in names]


async def test_a_record_waits_for_the_end() -> None:
    """FAILED_PRECONDITION while the match runs."""
    async with serving() as rig, rig.organiser() as organiser:
        with pytest.raises(errors.MatchRunning):
            await organiser.record(await rig.match("alice", "bob"))


async def test_a_withheld_seed_is_for_organisers() -> None:
    """Other matches share it."""
    async with serving() as rig, rig.organiser() as organiser:
        name = await rig.match("alice", "bob", seed=bytes(range(32)), withhold_seed=True)
        assert (await organiser.get(name)).spec.seed == b""
        await organiser.cancel(name)
        assert (await organiser.record(name)).seed == bytes(range(32))
        async with rig.organiser(token_of("alice")) as bot:
            assert (await bot.record(name)).seed is None


async def test_who_may_watch_as_whom() -> None:
    """A bot its own seat, an organiser any, everybody as a spectator."""
    async with serving(public=True) as rig, rig.organiser() as organiser:
        name = await rig.match("alice", "bob")
        await organiser.cancel(name)

        async def hands(token: str, seat: int | None) -> list[list[int]]:
            async with rig.organiser(token) as watcher:
                events = [
                    e async for batch in watcher.watch_messages(name, seat=seat) for e in batch
                ]
            (dealt,) = [e.cribbage.dealt for e in events if e.cribbage.HasField("dealt")]
            assert events[-1].match_ended.termination == match_pb2.TERMINATION_CANCELLED
            return [[int(card != 0) for card in hand.cards] for hand in dealt.hands]

        hidden, shown = [0] * 6, [1] * 6
        assert await hands("", None) == [hidden, hidden]
        assert await hands(token_of("alice"), 0) == [shown, hidden]
        assert await hands("organisers-token", 1) == [hidden, shown]
        for token, seat, error in (
            ("", 0, errors.PermissionDenied),
            (token_of("bob"), 0, errors.PermissionDenied),
            ("organisers-token", 2, errors.UnknownSeat),
        ):
            with pytest.raises(error):
                await hands(token, seat)


READS = {
    "GetMatch": match_pb2.GetMatchRequest,
    "GetMatchRecord": match_pb2.GetMatchRecordRequest,
    "WatchMatch": match_pb2.WatchMatchRequest,
    "ListMatches": match_pb2.ListMatchesRequest,
}


async def read_code(address: str, method: str, name: str, token: str) -> grpc.StatusCode:
    """Read a match with a token, "" for none, and return the status."""
    request = READS[method]() if method == "ListMatches" else READS[method](name=name)
    metadata = [("authorization", f"Bearer {token}")] if token else []
    async with grpc.aio.insecure_channel(address) as channel:
        call: Any = channel.unary_unary(f"/pegboard.v1.MatchService/{method}")
        code: grpc.StatusCode = await call(request.SerializeToString(), metadata=metadata).code()
        return code


@pytest.mark.parametrize("method", READS)
@pytest.mark.parametrize("public", [False, True])
async def test_reads_need_a_token_unless_the_server_is_public(method: str, public: bool) -> None:
    """Any bot's or organiser's; a token that nobody has is refused by a public server too."""
    async with serving(public=public) as rig, rig.organiser() as organiser:
        name = await rig.match("alice", "bob")
        await organiser.cancel(name)
        free = grpc.StatusCode.OK if public else grpc.StatusCode.UNAUTHENTICATED
        for token, code in (
            ("", free),
            ("wrong", grpc.StatusCode.UNAUTHENTICATED),
            ("w" * 5000, grpc.StatusCode.UNAUTHENTICATED),
            (token_of("zoe"), grpc.StatusCode.OK),
            (ORGANISER, grpc.StatusCode.OK),
        ):
            assert await read_code(rig.address, method, name, token) is code, token


async def test_the_catalog_is_free_but_not_for_wrong_tokens() -> None:
    """A typing error in a token shows at the first call, whichever it is."""
    async with serving() as rig:
        async with rig.organiser("") as anybody:
            assert await anybody.list_variants()
        async with rig.organiser("wrong") as nobody:
            with pytest.raises(errors.Unauthenticated):
                await nobody.get_variant("cribbage")


async def test_matches_are_for_bots_that_can_come() -> None:
    """Every seat's bot has a token; the sentence names the nearest ones."""
    async with serving() as rig, rig.organiser() as organiser:
        for bot, words in (
            ("alise", "no token names the bot 'alise'; did you mean alice"),
            ("x\n", r"no token names the bot 'x\\n'"),
            ("arena", "no token names the bot 'arena'"),  # an organiser
        ):
            with pytest.raises(errors.InvalidRequest, match=words):
                await organiser.create([new_match("draw", ["alice", bot])])
        assert [match async for match in organiser.list_matches()] == []


async def test_watching_goes_on_from_any_point() -> None:
    """`after` is the last sequence number known."""
    async with serving() as rig, rig.organiser() as organiser:
        rig.play("alice")
        rig.play("bob")
        name = await rig.match("alice", "bob", variant="draw", options={"target": "20"})
        live = [event async for event in organiser.watch(name)]
        assert [event.sequence for event in live] == list(range(1, len(live) + 1))
        later = [event async for event in organiser.watch(name, after=10)]
        assert later == live[10:]


async def test_errors_have_one_error_info() -> None:
    """AIP-193: canonical code, reason, domain, metadata."""
    async with serving() as rig, grpc.aio.insecure_channel(rig.address) as channel:
        stub: match_pb2_grpc.MatchServiceAsyncStub = match_pb2_grpc.MatchServiceStub(channel)
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await stub.GetMatch(
                match_pb2.GetMatchRequest(name="matches/none"), metadata=metadata_of("alice")
            )
        assert caught.value.code() is grpc.StatusCode.NOT_FOUND
        trailing = dict(caught.value.trailing_metadata() or ())
        details = trailing["grpc-status-details-bin"]
        assert isinstance(details, bytes)
        status = status_pb2.Status.FromString(details)
        (detail,) = status.details
        info = error_details_pb2.ErrorInfo()
        assert detail.Unpack(info)
        assert (info.reason, info.domain) == ("UNKNOWN_MATCH", "pegboard")


async def test_our_own_bugs_are_told_by_reference(monkeypatch: pytest.MonkeyPatch) -> None:
    """INTERNAL, no traceback, a reference that the log has too."""
    async with serving() as rig, rig.organiser() as organiser:
        monkeypatch.setattr(rig.host._registry, "get", lambda match_id: 1 / 0)
        with pytest.raises(errors.ServerFault, match="its log tells more under") as caught:
            await organiser.get("matches/x")
        assert "ZeroDivision" not in str(caught.value)


async def test_health_and_reflection() -> None:
    """The standard services, for the standard tools."""
    async with serving() as rig, grpc.aio.insecure_channel(rig.address) as channel:
        health = health_pb2_grpc.HealthStub(channel)
        for service in ("", "pegboard.v1.PlayService"):
            answer = await health.Check(health_pb2.HealthCheckRequest(service=service))
            assert answer.status == health_pb2.HealthCheckResponse.SERVING
        stub = reflection_pb2_grpc.ServerReflectionStub(channel)
        call = stub.ServerReflectionInfo()
        await call.write(reflection_pb2.ServerReflectionRequest(list_services=""))
        listed = (await call.read()).list_services_response.service
        assert "pegboard.v1.PlayService" in {each.name for each in listed}
        await call.done_writing()
        stopping = asyncio.create_task(rig.server.stop())
        await asyncio.sleep(0)
        await stopping


async def test_stopping_does_not_wait_for_watchers() -> None:
    """They end with UNAVAILABLE at once, and ask again when the server is back."""
    limits = Limits(stop_s=10 * PATIENCE_S)  # what watchers would be waited for
    async with serving(limits) as rig, rig.organiser() as organiser:
        name = await rig.match("alice", "bob")
        finished = organiser.watch_finished("cup")
        assert (await anext(finished)).caught_up
        events = organiser.watch(name)
        await anext(events)
        async with asyncio.timeout(PATIENCE_S):
            await rig.server.stop()
        with pytest.raises(errors.Unavailable):
            await anext(finished)


async def test_calls_under_way_while_the_server_stops_are_unavailable(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The store closes beneath them: no fault of the server, and worth trying again."""
    called, release = asyncio.Event(), asyncio.Event()

    async with serving() as rig, rig.organiser() as organiser:

        async def create(_service: object, _requests: object) -> object:
            called.set()
            await release.wait()
            raise sqlite3.ProgrammingError("Cannot operate on a closed database.")

        monkeypatch.setattr(rig.server._gate, "_closed", True)
        with pytest.raises(errors.Unavailable, match="the server is stopping"):
            await organiser.get("matches/x")
        monkeypatch.setattr(rig.server._gate, "_closed", False)
        monkeypatch.setattr(MatchService, "_create", create)
        creating = asyncio.create_task(organiser.create([new_match("draw", ["alice", "bob"])]))
        await called.wait()
        stopping = asyncio.create_task(rig.server.stop())
        await until(lambda: rig.server._gate._closed)
        release.set()
        with pytest.raises(errors.Unavailable):
            await creating
        await stopping


def write(folder: Path, text: str) -> Path:
    """Write a token file."""
    path = folder / "tokens.toml"
    path.write_text(text, encoding="utf-8")
    path.chmod(0o600)
    return path


def test_tokens_by_digest_and_in_clear(tmp_path: Path) -> None:
    """Both name the same bot."""
    digest = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
    tokens = load_tokens(write(tmp_path, f'[bots]\na = "sha256:{digest}"\nb = "clear"\n'))
    assert tokens.caller("test").bot == "a"
    assert tokens.caller("clear").bot == "b"
    assert tokens.caller("") == (None, None)
    with pytest.raises(errors.Unauthenticated):
        tokens.caller(f"sha256:{digest}")


@pytest.mark.parametrize("mode", [0o644, 0o640, 0o604, 0o660])
def test_a_token_file_that_others_can_read_is_refused(tmp_path: Path, mode: int) -> None:
    """With the command that mends it."""
    path = write(tmp_path, '[bots]\na = "x"\n')
    path.chmod(mode)
    with pytest.raises(errors.InvalidRequest, match="run `chmod 600 ") as caught:
        load_tokens(path)
    assert f"{mode:04o}" in str(caught.value)
    path.chmod(0o400)
    assert load_tokens(path).caller("x").bot == "a"


def test_a_token_file_may_begin_with_a_byte_order_mark(tmp_path: Path) -> None:
    """As editors on Windows write it."""
    assert load_tokens(write(tmp_path, '\ufeff[bots]\na = "x"\n')).caller("x").bot == "a"


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("[bots", "is not a TOML file"),
        ("[cats]\n", "a section 'cats'"),
        ("bots = 3\n", r"\[bots\] must be a table"),
        ("[bots]\na = 3\n", "bots.a must be a token"),
        ('[bots]\na = ""\n', "bots.a must be a token"),
        ('[bots]\na = "sha256:12"\n', "64 hexadecimal digits"),
        ('[bots]\n"a b" = "x"\n', "is not a name"),
        ('[bots]\na = "x"\n[organisers]\nb = "x"\n', "organisers.b has the token of another"),
    ],
)
def test_a_bad_token_file_gets_one_sentence(tmp_path: Path, text: str, sentence: str) -> None:
    """It names the file and the key."""
    with pytest.raises(errors.InvalidRequest, match=sentence) as caught:
        load_tokens(write(tmp_path, text))
    assert "tokens.toml" in str(caught.value)


def test_development_tokens_are_names() -> None:
    """No file: the token is the bot's name, and everybody organises."""
    tokens = load_tokens(None)
    assert tokens.caller("alice") == ("alice", "developer")
    with pytest.raises(errors.Unauthenticated):
        tokens.caller("no name")
    tokens.check_bot("anybody")
    with pytest.raises(errors.InvalidRequest, match="no bot can be called"):
        tokens.check_bot("no name")


def test_bearer_tokens() -> None:
    """In any case, with blanks around."""
    assert bearer_token([("x", "y"), ("authorization", "bearer  abc ")]) == "abc"
    assert bearer_token([("authorization", "Basic abc")]) == ""
    assert bearer_token(None) == ""


def test_an_allowance_refills() -> None:
    """Burst at once, then by the second, never more than the burst."""
    now_s = 0.0
    allowance = Allowance(10, 2.0, lambda: now_s)
    allowance.spend(10)
    now_s = 1.0
    allowance.spend(2)
    now_s = 100.0
    allowance.spend(10)
    with pytest.raises(errors.TooManyRequests):
        allowance.spend(1)


def test_what_is_refused_is_owed_all_the_same() -> None:
    """Up to the burst: who floods waits the longer, but not for ever."""
    now_s = 0.0
    allowance = Allowance(10, 2.0, lambda: now_s)
    with pytest.raises(errors.TooManyRequests, match=r"wait 5\.0 s"):
        allowance.spend(500_000)
    now_s = 4.0
    with pytest.raises(errors.TooManyRequests):
        allowance.spend(1)
    now_s = 6.0
    allowance.spend(1)


def test_a_caller_has_one_allowance_and_idle_ones_are_dropped() -> None:
    """As many names as there may be without a token file do not fill the memory."""
    allowances = Allowances(10, 1.0)
    busy = allowances.of("busy")
    busy.spend(10)
    for number in range(5 * ACCOUNTS_KEPT):
        allowances.of(f"idle {number}")
    assert allowances.of("busy") is busy
    assert len(allowances) <= 2 * ACCOUNTS_KEPT
