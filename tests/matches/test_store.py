"""Store files: whose they are, how they fail, what survives."""

from __future__ import annotations

import asyncio
import os
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.matches.fakes import GAMES, Hosted, opened, play, request, settle
from tests.patience import PATIENCE_S, until

from pegboard.errors import StoreError
from pegboard.matches.answers import Answer
from pegboard.matches.host import HostSettings
from pegboard.matches.running import RunningMatch
from pegboard.matches.spec import TimeControl
from pegboard.matches.store.columns import checksum
from pegboard.matches.store.opening import open_store
from pegboard.matches.store.protocol import Durability, StoreState
from pegboard.matches.store.query import MatchQuery
from pegboard.matches.store.schema import APPLICATION_ID, SCHEMA_VERSION
from pegboard.rules.results import Termination

STORED = [Durability.STRICT, Durability.BATCHED]


def spoil(path: Path, sql: str) -> None:
    """Make a store and change it."""
    open_store(path).close()
    connection = sqlite3.connect(path)
    connection.executescript(sql)
    connection.close()


def add_to_journal(path: Path, lines: str) -> None:
    """Add a row that nothing is wrong with but its moves."""
    connection = sqlite3.connect(path)
    with connection:
        row = (lines, checksum((lines,)))
        connection.execute("INSERT INTO journal(lines, sum) VALUES (?, ?)", row)
    connection.close()


def make_foreign(path: Path) -> None:
    """Make a database of another program."""
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE songs (title TEXT)")
    connection.close()


def make_damaged(path: Path) -> None:
    """Make a store and overwrite it."""
    open_store(path).close()
    data = path.read_bytes()
    path.write_bytes(data[:100] + b"\xff" * (len(data) - 100))


BAD_FILES: dict[str, tuple[Callable[[Path], Any], str]] = {
    "text": (lambda path: path.write_text("name = 1\n" * 200), "is not a Pegboard store"),
    "foreign": (make_foreign, "is not a Pegboard store"),
    "older": (
        lambda path: spoil(path, "PRAGMA user_version = 1"),
        "older Pegboard .store version 1, this one reads",
    ),
    "newer": (
        lambda path: spoil(path, f"PRAGMA user_version = {SCHEMA_VERSION + 1}"),
        f"newer Pegboard .store version {SCHEMA_VERSION + 1}",
    ),
    "other": (
        lambda path: spoil(path, f"PRAGMA application_id = {APPLICATION_ID + 1}"),
        "is not a Pegboard store",
    ),
    "damaged": (make_damaged, "damaged"),
    "folder": (lambda path: path.mkdir(), "it is a folder"),
}


@pytest.mark.parametrize("kind", BAD_FILES)
def test_a_bad_file_gets_one_clear_sentence(kind: str, tmp_path: Path) -> None:
    make, words = BAD_FILES[kind]
    path = tmp_path / "store.db"
    make(path)
    for _ in range(2):  # and its lock is given back
        with pytest.raises(StoreError, match=words) as caught:
            open_store(path)
        assert str(path) in str(caught.value)


def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match=r"there is no folder .*nowhere"):
        open_store(tmp_path / "nowhere" / "store.db")


def test_a_path_goes_with_durability() -> None:
    with pytest.raises(StoreError, match="needs one"):
        open_store(None, Durability.STRICT)


def test_a_second_process_is_refused_and_told_who_has_it(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    store = open_store(path)
    code = (
        "import sys, pathlib; from pegboard.matches.store.opening import open_store\n"
        "try: open_store(pathlib.Path(sys.argv[1]))\n"
        "except ValueError as error: print(error)"
    )
    command = [sys.executable, "-c", code, str(path)]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert f"in use by another server (process {os.getpid()})" in said
    with pytest.raises(StoreError, match="in use"):
        open_store(path)
    store.close()
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == ""


@pytest.mark.parametrize("snapshots", [False, True])
@pytest.mark.parametrize("durability", STORED)
async def test_a_running_match_goes_on_after_a_restart(
    durability: Durability, snapshots: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A running match goes on after a restart, whether its moves or a snapshot were stored."""
    if snapshots:
        monkeypatch.setattr("pegboard.matches.commits.SNAPSHOT_BYTES", 0)
    path = tmp_path / "store.db"
    control = TimeControl(bank_ms=5000, increment_ms=0, move_ms=2000)
    host = await opened(path, durability)
    box = host.connect("a")
    match = await host.begin("a", "a", time_control=control, label="l", options={"stones": "9"})
    _, second = box.take().turns
    await host.pass_s(0.5)
    assert host.answer("a", Answer("m", 0, 1, move_index=1)) is None
    await host.close()

    again = await opened(path, durability)
    found = again.get("m")
    assert found is not match
    assert found.spec == match.spec
    assert (found.key, found.seed, found.create_time) == (match.key, match.seed, match.create_time)
    assert [seated.clock.bank_ms for seated in found.seats] == [4500, 5000]
    box = again.connect("a")
    (turn,) = box.take().turns
    assert (turn.seat, turn.turn_id) == (second.seat, second.turn_id) == (1, 1)
    assert again.answer("a", Answer("m", 0, 1, move_index=1)) is None, (
        "the same answer, from before"
    )
    assert again.answer("a", Answer("m", 1, 1, move_index=0)) is None
    while found.finished is None:
        assert play(again, found, {"a": box}) < 20
        await again.stored()
    assert again.list(MatchQuery(label="l")) == ([found.finished], "")
    await again.close()

    third = await opened(path, durability)
    old = third.get("m")
    assert (old.result, old.end_time) == (found.finished.result, found.finished.end_time)
    assert old.record(True) == found.finished.record(True)
    assert old.events(0) == found.finished.events(0)
    assert third.running() == []
    await third.close()


async def test_the_order_of_finishing_survives(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    host = await opened(path, Durability.BATCHED)
    await host.create([request("a", id=f"m{n}") for n in range(4)])
    await host.cancel("m2")
    await host.cancel("m0")
    await host.close()
    host = await opened(path, Durability.BATCHED)
    await host.cancel("m3")
    told = host.finished(include_earlier=True)
    assert [match.id for match in await anext(told)] == ["m2", "m0", "m3"]
    (new,) = await host.create([request("a", request_id="r")])
    assert new.key == 5
    await host.close()


async def test_a_match_that_no_longer_replays_ends_by_a_server_fault(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    host = await opened(path, Durability.BATCHED)
    box = {"a": host.connect("a")}
    await host.begin("a", id="good")
    await host.begin("a", id="bad")
    play(host, host.get("bad"), box, moves=4)
    await host.close()
    add_to_journal(path, "2 0 TAKE 9")

    host = await opened(path, Durability.BATCHED)
    await host.stored()
    bad = host.get("bad")
    assert bad.finished is not None
    assert bad.finished.result.termination is Termination.SERVER_FAULT
    assert "match bad cannot be recovered: TAKE 9 is not legal" in bad.finished.result.detail
    assert bad.record(True).moves == ("0 GUARD 0", "0 TAKE 1", "0 TAKE 9")
    turns = host.connect("a").take().turns
    assert [(turn.match.id, turn.turn_id) for turn in turns] == [("good", 3)]
    await host.close()


async def test_a_journal_that_goes_on_after_the_end_of_a_match_ends_it_by_a_server_fault(
    tmp_path: Path,
) -> None:
    """Its moves cannot all be true, and the other matches go on."""
    path = tmp_path / "store.db"
    host = await opened(path, Durability.BATCHED)
    await host.begin("a", id="good")
    await host.begin("a", id="bad", options={"stones": "2"})
    await host.close()
    add_to_journal(path, "2 0 GUARD 0\n2 0 TAKE 2\n2 0 TAKE 1")

    host = await opened(path, Durability.BATCHED)
    bad = host.get("bad")
    assert bad.result.termination is Termination.SERVER_FAULT
    assert "the journal has the move '0 TAKE 1' after the end of the match" in bad.result.detail
    assert [match.id for match in host.running()] == ["good"]
    await host.close()


async def test_a_journal_that_ends_with_its_match_gives_the_match_its_result(
    tmp_path: Path,
) -> None:
    """The process ended after the last move was written and before the result was."""
    path = tmp_path / "store.db"
    host = await opened(path, Durability.BATCHED)
    await host.begin("a", id="over", options={"stones": "2"})
    await host.close()
    add_to_journal(path, "1 0 GUARD 0\n1 0 TAKE 2")
    host = await opened(path, Durability.BATCHED)
    await host.stored()
    assert host.get("over").finished.result.termination is Termination.NORMAL
    await host.close()


async def test_a_variant_that_is_gone_takes_only_its_matches_with_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "store.db"
    host = await opened(path, Durability.BATCHED)
    await host.begin("a", id="over")
    await host.cancel("over")
    await host.begin("a", id="runs")
    await host.close()
    with monkeypatch.context() as patch:
        patch.delitem(GAMES, "heap")
        host = await opened(path, Durability.BATCHED)
        await host.stored()
        assert host.get("over").record(True).moves == ()
        result = host.get("runs").finished.result
        assert result is not None
        assert result.termination is Termination.SERVER_FAULT
        await host.close()


async def test_strict_publishes_turns_and_events_only_when_stored(tmp_path: Path) -> None:
    host = await opened(tmp_path / "store.db", Durability.STRICT)
    box = host.connect("a", events=True)
    match = await host.begin("a", "a")
    await host.stored()
    for turn in box.take().turns:
        assert host.answer("a", Answer("m", turn.seat, turn.turn_id, move_index=0)) is None
        assert match.event_count == 1
        assert not box.take()
    waiting = asyncio.create_task(box.wait())
    await host.stored()
    await asyncio.wait_for(waiting, PATIENCE_S)
    assert match.event_count == 3
    delivery = box.take()
    assert [turn.turn_id for turn in delivery.turns] == [2]
    assert delivery.events == [(match, 0, 1), (match, 1, 1)]
    assert play(host, match, {"a": box}) == 0
    await host.close()


async def test_a_reconnect_does_not_show_a_strict_turn_before_its_time(tmp_path: Path) -> None:
    host = await opened(tmp_path / "store.db", Durability.STRICT)
    box = host.connect("a")
    await host.begin("a")
    await host.stored()
    (turn,) = box.take().turns
    assert host.answer("a", Answer("m", 0, turn.turn_id, move_index=0)) is None
    box = host.connect("a")
    assert box.take().turns == []
    assert await host.next_turn("a", "", 0) is None
    await host.stored()
    assert [turn.turn_id for turn in box.take().turns] == [2]
    await host.close()


def rows_of(path: Path, query: str) -> list[tuple[object, ...]]:
    """Read the file from outside."""
    connection = sqlite3.connect(path)
    found = connection.execute(query).fetchall()
    connection.close()
    return found


@pytest.mark.parametrize("durability", STORED)
async def test_a_match_that_ends_in_recovery_costs_the_others_nothing(
    durability: Durability, tmp_path: Path
) -> None:
    """A snapshot has to know all running matches; the first one is due at once."""
    path = tmp_path / "store.db"
    host = await opened(path, durability)
    box = {"a": host.connect("a")}
    names = [f"m{number}" for number in range(80)]
    for name in names:
        await host.begin("a", id=name, options={"stones": "30"})
    await host.stored()
    for _ in range(3):
        play(host, host.get("m0"), box, moves=1)
        await host.stored()
    moves = {name: host.get(name).log.moves() for name in names}
    assert all(moves.values())
    await host.close()
    add_to_journal(path, "1 0 TAKE 9")

    for _ in range(2):
        host = await opened(path, durability)
        await host.stored()
        result = host.get("m0").finished.result
        assert result is not None
        assert result.termination is Termination.SERVER_FAULT
        assert {name: host.get(name).log.moves() for name in names[1:]} == {
            name: moves[name] for name in names[1:]
        }
        await host.close()


async def test_moves_are_stored_within_20_ms_though_no_caller_waits(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    host = await opened(path, Durability.BATCHED)
    box = {"a": host.connect("a")}
    match = await host.begin("a", "a")
    play(host, match, box, moves=3)
    assert rows_of(path, "SELECT count(*) FROM journal") == [(0,)]
    await until(lambda: rows_of(path, "SELECT count(*) FROM journal") != [(0,)])
    ((lines,),) = rows_of(path, "SELECT lines FROM journal")
    assert str(lines).startswith("1 0 GUARD 0\n1 1 GUARD 0\n")
    await host.close()


@pytest.mark.parametrize("durability", STORED)
async def test_what_callers_are_told_is_synced(durability: Durability, tmp_path: Path) -> None:
    """Results, creations and `stored`; moves alone only if durability is strict."""
    host = await opened(tmp_path / "store.db", durability)
    synced: list[tuple[bool, bool]] = []  # (moves alone, whether synced)
    write = host._store.write_texts

    def noted(texts: tuple[str, str, str], *args: Any) -> None:
        write(texts, *args)
        ((level,),) = host._store._writer.execute("PRAGMA synchronous").fetchall()
        synced.append((not texts[0] and not texts[2], level == 2))

    host._store.write_texts = noted
    box = {"a": host.connect("a")}
    match = await host.begin("a", options={"stones": "6"})
    play(host, match, box, moves=1)
    await until(lambda: (True, durability is Durability.STRICT) in synced)
    play(host, match, box, moves=1)
    await host.stored()
    assert synced[-1] == (True, True), "a caller waited"
    play(host, match, box, moves=1)
    await until(lambda: not host._commits._moves and not host._commits._busy)
    statements: list[str] = []
    host._store._writer.set_trace_callback(statements.append)
    await host.stored()
    checkpointed = any("wal_checkpoint" in statement for statement in statements)
    assert checkpointed is (durability is Durability.BATCHED), "written before, and synced now"
    await host.stored()
    assert sum("wal_checkpoint" in statement for statement in statements) == checkpointed
    while match.finished is None:
        play(host, match, box)
        await host.stored()
    assert all(sync for alone, sync in synced if not alone)
    await host.close()


async def test_the_journal_gives_way_to_a_snapshot(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pegboard.matches.commits.SNAPSHOT_BYTES", 400)
    path = tmp_path / "store.db"
    host = await opened(path, Durability.STRICT)
    boxes = {"a": host.connect("a")}
    for name in ("x", "y", "idle"):
        await host.begin("a", id=name, options={"stones": "100"})
    for _ in range(40):
        play(host, host.get("x"), boxes, moves=1)
        await host.stored()
    ((count,),) = rows_of(path, "SELECT count(*) FROM journal")
    assert isinstance(count, int)
    assert count < 30
    moves = {name: host.get(name).log.moves() for name in ("x", "y", "idle")}
    await host.close()
    host = await opened(path, Durability.STRICT)
    assert {name: host.get(name).log.moves() for name in moves} == moves
    await host.close()


async def test_turns_wait_for_a_store_that_is_slow(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pegboard.matches.commits.SLOW_S", 0.01)
    host = await opened(tmp_path / "store.db", Durability.BATCHED)
    box = {"a": host.connect("a")}
    match = await host.begin("a")
    write, gate = host._store.write_texts, threading.Event()

    def slow(*args: Any) -> None:
        gate.wait(PATIENCE_S)
        write(*args)

    monkeypatch.setattr(host._store, "write_texts", slow)
    assert play(host, match, box, moves=1) == 1
    await until(lambda: host._commits.holding)
    assert play(host, match, box) == 1, "the turn that was out"
    seen = match.event_count
    gate.set()
    await host.stored()
    assert match.event_count == seen + 1
    assert play(host, match, box) == 9
    await host.close()


async def test_an_error_while_publishing_loses_the_store_and_ends_all_waits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was stored is told after the next start."""
    path = tmp_path / "store.db"
    host = await opened(path, Durability.BATCHED)
    match = await host.begin("a")

    def broken(match: RunningMatch) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(host._registry, "finish", broken)
    with pytest.raises(StoreError, match="restart it"):
        await asyncio.wait_for(host.cancel("m"), 5)
    assert host.store_state is StoreState.LOST
    assert match.ending is not None
    with pytest.raises(StoreError, match="restart it"):
        await host.begin("a", id="n")
    await host.close()
    host = await opened(path, Durability.BATCHED)
    assert host.get("m").finished.result == match.ending.result
    await host.close()


def modes(path: Path) -> dict[str, int]:
    """The rights on the store and on all files beside it."""
    return {each.name: each.stat().st_mode & 0o777 for each in path.parent.iterdir()}


def leave_open(path: Path, store: tuple[bytes, bytes]) -> None:
    """Write the store and the file beside it, for all to read and write."""
    for suffix, data in zip(("", "-wal"), store, strict=True):
        left = Path(f"{path}{suffix}")
        left.write_bytes(data)
        left.chmod(0o666)


@pytest.mark.parametrize("umask", [0o000, 0o022, 0o777])
async def test_only_its_owner_may_read_a_store(umask: int, tmp_path: Path) -> None:
    """Whatever the umask: seeds of running matches are in it."""
    path = tmp_path / "store.db"
    before = os.umask(umask)
    try:
        host = await opened(path, Durability.BATCHED)
        await host.begin("a")
        names = {"store.db", "store.db-wal", "store.db-shm", "store.db.lock"}
        assert modes(path) == dict.fromkeys(names, 0o600)
        await host.close()
    finally:
        os.umask(before)


async def test_a_store_that_others_may_read_is_tightened(tmp_path: Path) -> None:
    """With all files that a process which was killed has left beside it."""
    path = tmp_path / "store.db"
    host = await opened(path, Durability.BATCHED)
    await host.begin("a")
    for name in modes(path):
        (tmp_path / name).chmod(0o644)
    store = (tmp_path / "store.db").read_bytes(), (tmp_path / "store.db-wal").read_bytes()
    await host.close()
    leave_open(path, store)
    host = await opened(path, Durability.BATCHED)
    assert set(modes(path).values()) == {0o600}
    assert [match.id for match in host.running()] == ["m"]
    await host.close()


def test_a_file_that_is_not_a_store_keeps_its_rights(tmp_path: Path) -> None:
    """It is not ours."""
    path = tmp_path / "notes.txt"
    path.write_text("milk, eggs\n" * 200)
    path.chmod(0o644)
    with pytest.raises(StoreError):
        open_store(path)
    assert path.stat().st_mode & 0o777 == 0o644


def test_an_old_sqlite_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sqlite3.sqlite_version_info", (3, 31, 0))
    with pytest.raises(StoreError, match=r"too old; Python needs 3\.38\.0"):
        open_store(tmp_path / "store.db")


class Full(Hosted):
    """A host whose disk can be filled."""

    def fill(self) -> None:
        """Leave no room."""
        self._store._writer.execute("PRAGMA max_page_count = 1")

    def free(self) -> None:
        """Make room."""
        self._store._writer.execute("PRAGMA max_page_count = 1000000")


async def full_host(path: Path, patience_s: float) -> Full:
    """An open host whose disk can be filled."""
    settings = HostSettings(store_patience_s=patience_s)
    host = Full(path, Durability.BATCHED, settings)
    await host.open()
    return host


async def test_a_full_disk_refuses_work_and_loses_nothing_when_there_is_room_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pegboard.matches.commits.RETRY_S", 0.01)
    path = tmp_path / "store.db"
    host = await full_host(path, patience_s=60)
    box = {"a": host.connect("a")}
    match = await host.begin("a", options={"stones": "2000"})
    host.fill()
    play(host, match, box, moves=850)
    with pytest.raises(StoreError, match=r"cannot write to the store .*full"):
        await host.stored()
    assert host.store_state is StoreState.FAILING
    with pytest.raises(StoreError, match="full"):
        await host.begin("a", id="new")
    assert match.ending is None
    play(host, match, box, moves=1)
    await settle()
    assert play(host, match, box, moves=1) == 0, "no turn is published meanwhile"
    host.free()
    assert await asyncio.wait_for(host.store_left(StoreState.FAILING), 10) is StoreState.WRITABLE
    await host.begin("a", id="new")
    play(host, match, box, moves=5000)
    await host.stored()
    assert match.finished is not None
    record = match.finished.record(True)
    await host.close()
    host = await full_host(path, patience_s=60)
    assert host.get("m").record(True) == record
    await host.close()


async def test_a_disk_that_stays_full_tells_nothing_that_a_restart_would_take_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A match that has been told as ended does not run again, so no result is told."""
    monkeypatch.setattr("pegboard.matches.commits.RETRY_S", 0.01)
    path = tmp_path / "store.db"
    host = await full_host(path, patience_s=0.05)
    box = host.connect("a", events=True)
    match = await host.begin("a", options={"stones": "2000"})
    other = await host.begin("a", id="other")
    await host.begin("a", id="over")
    await host.cancel("over")
    watching = asyncio.create_task(collect_results(host))
    await settle()
    host.fill()
    play(host, match, {"a": box}, moves=850)
    cancelling = asyncio.create_task(host.cancel("other"))
    for state in (StoreState.WRITABLE, StoreState.FAILING):
        await asyncio.wait_for(host.store_left(state), 10)
    assert host.store_state is StoreState.LOST
    assert "full" in str(host.store_failure)
    with pytest.raises(StoreError, match="full"):
        await cancelling
    box.take()
    play(host, match, {"a": box}, moves=1)
    await settle()
    assert not box.take()
    assert match.finished is None
    assert other.ending is not None
    assert other.finished is None
    with pytest.raises(StoreError, match="full"):
        await host.begin("a", id="new")
    with pytest.raises(StoreError, match="full"):
        await host.stored()
    assert host.get("over").finished is not None
    await host.close()
    assert await watching == ["over"]
    host = await full_host(path, patience_s=1)
    assert [each.id for each in host.running()] == ["m", "other"], "as they were last stored"
    assert [match.id for match in await anext(host.finished(include_earlier=True))] == ["over"]
    await host.close()


async def collect_results(host: Hosted) -> list[str]:
    """The ids of all matches that are told to have finished, until the host closes."""
    return [match.id async for matches in host.finished(include_earlier=True) for match in matches]


async def test_closing_does_not_wait_for_a_store_that_cannot_be_written(tmp_path: Path) -> None:
    """One more attempt, and the store is lost; RETRY_S and patience are longer than this test."""
    host = await full_host(tmp_path / "store.db", patience_s=1000)
    match = await host.begin("a", options={"stones": "2000"})
    host.fill()
    play(host, match, {"a": host.connect("a")}, moves=850)
    await asyncio.wait_for(host.store_left(StoreState.WRITABLE), 10)
    await asyncio.wait_for(host.close(), 10)
    assert host.store_state is StoreState.LOST
