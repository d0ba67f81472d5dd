"""Bytes that have changed in a store: one sentence, or everything that is intact goes on."""

from __future__ import annotations

import os
import random
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.matches.fakes import Hosted, opened, play, request

from pegboard.errors import InvalidRequest, StoreError
from pegboard.matches.host import HostSettings
from pegboard.matches.running import RunningMatch
from pegboard.matches.store.opening import open_store
from pegboard.matches.store.protocol import Durability
from pegboard.matches.store.query import MatchQuery
from pegboard.rules.results import Termination

RUNNING = ("r0", "r1", "r2")
OVER = ("o0", "o1", "o2")
SETTINGS = HostSettings(store_patience_s=0)

State = dict[str, Any]


async def make_store(path: Path) -> State:
    """Three matches that run and three that are over, and what can be told of them."""
    host = await opened(path, Durability.BATCHED)
    boxes = {"a": host.connect("a")}
    for name in (*OVER, *RUNNING):
        block = {"block": "b", "block_matches": 2} if name in ("o0", "r0") else {}
        await host.begin("a", "a", id=name, label="cup", options={"stones": "20"}, **block)
    for _ in range(3):
        assert play(host, host.get("r0"), boxes, moves=20) >= 6
        await host.stored()
    for name in OVER:
        await host.forfeit(name, 0, "gone")
    state = told(host)
    await host.close()
    return state


def told(host: Hosted) -> State:
    """What the store tells of every match."""
    state: State = {}
    for name in (*OVER, *RUNNING):
        try:
            match = host.host.get(name)
        except (StoreError, ValueError):
            state[name] = None
            continue
        over = match.finished
        moves = match.log.moves() if isinstance(match, RunningMatch) else match.archive.moves
        state[name] = (match.seed, match.spec, match.create_time, over and over.result, moves)
    return state


async def check(path: Path, before: State) -> None:
    """Open it: nothing may be told that differs, but for matches that end by a server fault."""
    with sentences(path):
        host = await opened(path, Durability.BATCHED, SETTINGS)
        try:
            with sentences(path):
                await look_around(host, before)
        finally:
            await host.close()


@contextmanager
def sentences(path: Path) -> Iterator[None]:
    """Let a `StoreError` be raised that names the file, in one line."""
    try:
        yield
    except StoreError as error:
        if str(path) not in str(error) or "\n" in str(error):
            raise AssertionError(str(error)) from error


async def look_around(host: Hosted, before: State) -> None:
    """Read everything."""
    await host.stored()
    for name, now in told(host).items():
        faulty = now is None or (
            now[3] is not None and now[3].termination is Termination.SERVER_FAULT
        )
        assert faulty or now == before[name], name
    host.list(MatchQuery(sealed=False), page_size=1000)
    async for matches in host.finished(include_earlier=True):
        if not matches:
            break


@pytest.fixture
async def made(tmp_path: Path) -> tuple[Path, State, bytes]:
    """A store that was closed well, what it tells, and its bytes."""
    path = tmp_path / "store.db"
    state = await make_store(path)
    return path, state, path.read_bytes()


def change(path: Path, sql: str, *values: Any) -> None:
    """Change a store behind its back."""
    connection = sqlite3.connect(path)
    with connection:
        assert connection.execute(sql, values).rowcount == 1
    connection.close()


async def test_an_untouched_store_comes_back_whole(
    made: tuple[Path, State, bytes],
) -> None:
    """The check itself: all is as it was."""
    path, before, _ = made
    host = await opened(path, Durability.BATCHED)
    assert told(host) == before
    await host.close()


@pytest.mark.parametrize(
    "sql",
    [
        "UPDATE journal SET lines = replace(lines, 'GUARD 0', 'GUARD 1') WHERE number = 1",
        "UPDATE journal SET lines = 'noise' WHERE number = 1",
        "UPDATE journal SET lines = x'ff00ff' WHERE number = 1",
        "UPDATE journal SET sum = sum + 1 WHERE number = 1",
        "DELETE FROM journal WHERE number = 1",
    ],
)
async def test_a_damaged_journal_is_a_sentence(sql: str, made: tuple[Path, State, bytes]) -> None:
    """A digit that has changed still reads well, so only a checksum finds it."""
    path, _, _ = made
    change(path, sql)
    with pytest.raises(StoreError, match=r"store\.db is damaged .* restore a copy") as caught:
        await opened(path, Durability.BATCHED)
    assert "\n" not in str(caught.value)
    open_store(path).close()  # its lock is given back


DEALS = {
    "spec": "UPDATE matches SET spec = replace(spec, '20', '21') WHERE id = 'r1'",
    "spec is no JSON": "UPDATE matches SET spec = substr(spec, 2) WHERE id = 'r1'",
    "seed": "UPDATE matches SET seed = replace(seed, '00', '01') WHERE id = 'r1'",
    "seed is no hex": "UPDATE matches SET seed = 'x' || seed WHERE id = 'r1'",
    "seed is null": "UPDATE matches SET seed = x'ff' WHERE id = 'r1'",
    "version": "UPDATE matches SET rules_version = '0' WHERE id = 'r1'",
    "time": "UPDATE matches SET create_ms = create_ms + 1 WHERE id = 'r1'",
    "sum": "UPDATE matches SET deal_sum = deal_sum + 1 WHERE id = 'r1'",
}


@pytest.mark.parametrize("kind", DEALS)
async def test_a_match_whose_deal_is_damaged_ends_alone(
    kind: str, made: tuple[Path, State, bytes]
) -> None:
    """By a server fault, which is told now and after another start."""
    path, before, _ = made
    change(path, DEALS[kind])
    for _ in range(2):
        host = await opened(path, Durability.BATCHED)
        await host.stored()
        now = told(host)
        assert {name: now[name] for name in now if name != "r1"} == {
            name: before[name] for name in before if name != "r1"
        }
        match = host.get("r1")
        assert match.finished is not None
        assert match.finished.result.termination is Termination.SERVER_FAULT
        assert "damaged" in match.finished.result.detail
        assert match.spec.label == "cup"
        assert match.spec.bots == ()
        match.finished.record(True)
        await host.close()
    host = await opened(path, Durability.BATCHED)
    names = [match.id for match in await anext(host.finished("cup", include_earlier=True))]
    assert names[-1] == "r1"
    await host.close()


@pytest.mark.parametrize("column", ["id", "label", "block", "request_id"])
async def test_a_match_whose_name_is_damaged_stays_away(
    column: str, made: tuple[Path, State, bytes]
) -> None:
    """Its id, label, block and request cannot be trusted, so no caller is told of it."""
    path, before, _ = made
    change(path, f"UPDATE matches SET {column} = 'x' WHERE id = 'r1'")
    host = await opened(path, Durability.BATCHED)
    now = told(host)
    assert now.pop("r1") is None
    assert now == {name: before[name] for name in now}
    await host.create([request("a", id="new")])
    await host.close()


RESULTS = {
    "finish": "UPDATE matches SET finish = 77 WHERE id = 'o1'",
    "no finish": "UPDATE matches SET finish = 0 WHERE id = 'o1'",
    "result": "UPDATE matches SET result = replace(result, '1.0', '0.0') WHERE id = 'o1'",
    "no JSON": "UPDATE matches SET result = 'x' WHERE id = 'o1'",
    "moves": "UPDATE matches SET moves = replace(moves, 'TAKE 1', 'TAKE 2') WHERE id = 'o1'",
    "count": "UPDATE matches SET event_count = event_count + 1 WHERE id = 'o1'",
    "digest": "UPDATE matches SET events_digest = 'ab' WHERE id = 'o1'",
    "seed": "UPDATE matches SET seed = replace(seed, '00', '01') WHERE id = 'o1'",
}


@pytest.mark.parametrize("kind", RESULTS)
async def test_a_result_that_is_damaged_is_not_told(
    kind: str, made: tuple[Path, State, bytes]
) -> None:
    """Asked for by name it is a sentence; lists leave it out and are complete otherwise."""
    path, before, _ = made
    change(path, RESULTS[kind])
    host = await opened(path, Durability.BATCHED)
    with pytest.raises(StoreError, match="match 'o1' has changed"):
        host.get("o1")
    now = told(host)
    assert now.pop("o1") is None
    assert now == {name: before[name] for name in now}
    pages, token = [], ""
    while True:
        page, token = host.list(page_size=1, page_token=token)
        pages += [match.id for match in page]
        if not token:
            break
    assert pages == ["r2", "r1", "r0", "o2", "o0"]
    finished = [match.id for match in await anext(host.finished(include_earlier=True))]
    assert finished == ["o0", "o2"]
    await host.close()


async def test_a_block_that_is_damaged_stays_sealed(made: tuple[Path, State, bytes]) -> None:
    """The numbers of a block say whether its deals may be read; organisers read them all the same."""
    path, before, _ = made
    change(path, "UPDATE blocks SET rated = 2, running = 0 WHERE block = 'b'")
    host = await opened(path, Durability.BATCHED)
    assert told(host) == before
    assert host.is_sealed(host.get("o0"))
    await host.cancel("r0")
    assert host.is_sealed(host.get("o0")), "a change of the block does not mend it"
    names = [match.id for match in host.list(MatchQuery(sealed=False))[0]]
    assert names == ["r2", "r1", "o2", "o1"]
    with pytest.raises(InvalidRequest, match="block 'b' is damaged in the store; use another"):
        await host.begin("a", id="new", block="b", block_matches=2)
    await host.close()


async def test_an_index_that_is_damaged_is_made_anew(made: tuple[Path, State, bytes]) -> None:
    """A match that no index knows would be lost without a word."""
    path, before, _ = made
    connection = sqlite3.connect(path)
    (root,) = connection.execute(
        "SELECT rootpage FROM sqlite_master WHERE name = 'matches_running'"
    ).fetchone()
    (size,) = connection.execute("PRAGMA page_size").fetchone()
    connection.close()
    data = bytearray(path.read_bytes())
    start = (root - 1) * size
    cells = data[start + 3 : start + 5]
    assert int.from_bytes(cells, "big") == len(RUNNING)
    data[start + 3 : start + 5] = (1).to_bytes(2, "big")
    put_back(path, bytes(data))
    host = await opened(path, Durability.BATCHED)
    assert told(host) == before
    await host.close()


def put_back(path: Path, data: bytes) -> None:
    """Make the store what it was when it was closed, but for these bytes."""
    for suffix in ("-wal", "-shm"):
        Path(f"{path}{suffix}").unlink(missing_ok=True)
    path.write_bytes(data)


async def fuzz(path: Path, before: State, data: bytes, seeds: range) -> None:
    """Flip one to four bytes, open, check."""
    for seed in seeds:
        rng = random.Random(seed)
        changed = bytearray(data)
        for _ in range(rng.choice((1, 1, 1, 4))):
            changed[rng.randrange(len(changed))] ^= 1 << rng.randrange(8)
        put_back(path, bytes(changed))
        try:
            await check(path, before)
        except Exception as error:
            raise AssertionError(f"seed {seed}: {error!r}") from error


FIRST = int(os.environ.get("SEED", "0"))


async def test_flipped_bytes_are_told_or_cost_nothing(made: tuple[Path, State, bytes]) -> None:
    """`SEED=n` begins at that one."""
    await fuzz(*made, range(FIRST, FIRST + 150))


@pytest.mark.long
async def test_many_flipped_bytes(made: tuple[Path, State, bytes]) -> None:
    """The same for longer."""
    await fuzz(*made, range(10_000, 14_000))
