"""Both stores answer alike: what one writes and reads, the other does too."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

from pegboard.matches.spec import MatchSpec
from pegboard.matches.store.batch import Batch, BlockChange
from pegboard.matches.store.opening import open_store
from pegboard.matches.store.protocol import Durability, Store
from pegboard.matches.store.rows import Row, result_text, spec_text
from pegboard.rules.results import Result, Termination

RESULT = result_text(Result(Termination.NORMAL, None, (1.0,), (31,), (1,)))


def batches(rng: random.Random) -> list[Batch]:
    """Creations and endings of some matches, in any order, of labels, blocks and requests."""
    keys = list(range(1, 30))
    rng.shuffle(keys)
    waiting: list[Row] = []
    made, finish = [], 0
    while keys or waiting:
        batch = Batch()
        for _ in range(min(rng.randrange(4), len(keys))):
            row = new_row(keys.pop(), rng)
            batch.created.append(row)
            waiting.append(row)
            if row.block:
                batch.begun.append(BlockChange(row.block, 8, 0, 1))
        ready = [row for row in waiting if row not in batch.created]
        for row in rng.sample(ready, min(len(ready), rng.randrange(4))):
            waiting.remove(row)
            finish += 1
            moves = "0 DRAW\n" * rng.randrange(50)
            batch.finished.append(
                row._replace(
                    finish=finish,
                    end_time=row.create_time + 5.25,
                    result=RESULT,
                    moves=moves.strip(),
                    event_count=finish,
                    events_digest="ab",
                )
            )
            if row.block:
                batch.ended.append(BlockChange(row.block, 8, rng.randrange(2), -1))
        made.append(batch)
    return made


def new_row(key: int, rng: random.Random) -> Row:
    """A match that begins."""
    return Row(
        key=key,
        id=f"m{key}",
        request_id=rng.choice(["", f"r{key}"]),
        label=rng.choice(["", "cup"]),
        block=rng.choice(["", "b1", "b2"]),
        spec=spec_text(MatchSpec("draw", ("a",))),
        seed=rng.randbytes(32),
        rules_version="2",
        create_time=1000.0 + key,
    )


def answers(store: Store) -> list[Any]:
    """What a store says of everything."""
    told: list[Any] = [store.last(), store.block("b1"), store.block("b2"), store.block("b3")]
    told += [store.find(f"m{key}") for key in range(32)]
    told += [store.find_request(f"r{key}") for key in range(32)]
    told.append(store.find_request(""))
    for label in ("", "cup", "none"):
        for after in (0, 3, 10, 100):
            for size, most_bytes in ((1, 10**6), (7, 10**6), (7, 200), (7, 1)):
                told.append(store.finished(label, after, size, most_bytes))
    return told


@pytest.mark.parametrize("seed", range(8))
async def test_memory_answers_as_the_file_does(seed: int, tmp_path: Path) -> None:
    memory = open_store(None, Durability.MEMORY)
    file = open_store(tmp_path / "store.db", Durability.BATCHED)
    for batch in batches(random.Random(seed)):
        await memory.write(batch, snapshot=False, sync=False)
        await file.write(batch, snapshot=False, sync=False)
        assert answers(memory) == answers(file)
    assert memory.last() == (29, 29)
    memory.close()
    file.close()
