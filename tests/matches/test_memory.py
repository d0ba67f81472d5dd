"""What is kept in memory is bounded, and what is not kept is freed without the cycle collector.

The server lets that collector run rarely (`service.app.tune_collector`), so objects are counted here
while it rests.
"""

from __future__ import annotations

import asyncio
import gc
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.matches.fakes import Hosted, opened, play, request, settle

from pegboard.matches.host import HostSettings
from pegboard.matches.spec import TimeControl
from pegboard.matches.store.protocol import Durability

KINDS = (
    "RunningMatch",
    "FinishedMatch",
    "SeatedBot",
    "OpenTurn",
    "BotState",
    "Mailbox",
    "SeatClock",
    "Log",
    "Future",
    "Task",
)
SETTINGS = HostSettings(finished_kept=8, events_kept=4, reconnect_s=2)
A_DAY = TimeControl(move_ms=86_400_000, startup_ms=86_400_000)


@pytest.fixture
def resting_collector() -> Iterator[None]:
    """Count what reference counting alone leaves."""
    gc.collect()
    gc.disable()
    yield
    gc.enable()


def counts() -> Counter[str]:
    """How many objects of ours there are."""
    return Counter(name for each in gc.get_objects() if (name := type(each).__name__) in KINDS)


async def churn(host: Hosted, rounds: range) -> None:
    """Bots of new names come, play, and leave; watchers and pollers go away in the middle."""
    for number in rounds:
        names = (f"left{number}", f"right{number}")
        never = f"never{number}"
        boxes = {name: host.connect(name, events=number % 2 == 0) for name in names}
        match, given_up, _ = await host.create(
            [
                request(*names, time_control=A_DAY, label=f"l{number}"),
                request(names[0], never, time_control=A_DAY),
                request(never, id=f"n{number}", time_control=A_DAY),
            ]
        )
        watcher = asyncio.create_task(anext(host.watch(match.id, 10**6)))
        results = host.finished()
        assert await anext(results) == []
        subscriber = asyncio.create_task(anext(results))
        poller = asyncio.create_task(host.next_turn(f"poll{number}", "", 60))
        assert await host.next_turn(f"poll{number}", "", 0) is None
        await settle()
        for task in (watcher, subscriber, poller):
            task.cancel()
        await asyncio.gather(watcher, subscriber, poller, return_exceptions=True)
        play(host, match, boxes)
        for box in boxes.values():
            box.take()
            box.close()
        await host.cancel(given_up.id)
        await host.cancel(f"n{number}")
        await host.stored()
        await host.pass_s(3)


async def grown(path: Path | None, rounds: int) -> Counter[str]:
    """Return by how much the counts grow from some rounds to as many more."""
    durability = Durability.MEMORY if path is None else Durability.BATCHED
    host = await opened(path, durability, SETTINGS)
    await churn(host, range(rounds))
    before = counts()
    await churn(host, range(rounds, 2 * rounds))
    after = counts()
    assert len(host._bots.known) == 0
    assert len(host.deadlines) < 300
    await host.close()
    return after - before


@pytest.mark.usefixtures("resting_collector")
@pytest.mark.parametrize("stored", [False, True])
async def test_nothing_grows_while_bots_and_matches_come_and_go(
    stored: bool, tmp_path: Path
) -> None:
    """Clocks of a day keep no match that is over, and no name is remembered."""
    growth = await grown(tmp_path / "store.db" if stored else None, rounds=60)
    assert all(count < 60 for count in growth.values()), growth


@pytest.mark.long
@pytest.mark.usefixtures("resting_collector")
async def test_nothing_grows_for_long(tmp_path: Path) -> None:
    """The same for three thousand matches."""
    growth = await grown(tmp_path / "store.db", rounds=500)
    assert all(count < 300 for count in growth.values()), growth


async def test_who_waits_no_longer_is_not_remembered() -> None:
    """Also if nothing happens that would wake the others."""
    host = await opened()
    match = await host.begin("a", time_control=A_DAY)
    results = [host.finished() for _ in range(3)]
    assert [await anext(each) for each in results] == [[], [], []]
    waiting = [
        asyncio.create_task(each)
        for each in (
            *(anext(each) for each in results),
            *(anext(host.watch("m", match.event_count)) for _ in range(3)),
            *(host.next_turn("b", "", 60) for _ in range(3)),
            host.store_left(host.store_state),
        )
    ]
    await settle()
    bot = host._bots.known["b"]
    assert len(host._subscriptions._waiters) == len(match.log.waiters) == len(bot.pollers) == 3
    for task in waiting:
        task.cancel()
    await asyncio.gather(*waiting, return_exceptions=True)
    left = (
        host._subscriptions._waiters,
        match.log.waiters,
        bot.pollers,
        host._commits._state_waiters,
    )
    assert not any(left)
    assert "b" not in host._bots.known
    await host.close()


async def test_few_finished_matches_are_kept_where_they_are_large() -> None:
    """By the bytes of their moves."""
    settings = HostSettings(finished_kept=1000, finished_kept_bytes=5000, events_kept=2)
    host = await opened(settings=settings)
    box = {"a": host.connect("a")}
    for number in range(20):
        play(host, await host.begin("a", id=f"m{number}", options={"stones": "100"}), box)
        await host.stored()
    kept = host._registry._finished
    size = len(host.get("m19").archive.moves)
    assert len(kept) == 5000 // size
    assert host.get("m0").record(True).moves == host.get("m19").record(True).moves
    await host.close()
