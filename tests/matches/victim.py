"""A process that plays matches until it is killed: `python victim.py STORE DURABILITY`.

Each line it prints was acknowledged: `M id moves` (so many moves of the match were
stored when `stored()` returned) or `R id termination` (a result was published).
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.matches.fakes import find_game, request

from pegboard.matches.answers import Answer
from pegboard.matches.host import MatchHost
from pegboard.matches.store.opening import open_store
from pegboard.matches.store.protocol import Durability


async def main(path: Path, durability: Durability) -> None:
    """Play 16 matches at a time, without end."""
    host = MatchHost(open_store(path, durability), find_game=find_game)
    await host.open()
    box = host.connect("a")
    running = len(host.running())
    while True:
        if running < 16:
            new = [request("a", "a", options={"stones": "30"}) for _ in range(16 - running)]
            running += len(await host.create(new))
        await box.wait()
        delivery = box.take()
        for match in delivery.ended:
            assert match.finished is not None
            print("R", match.id, match.finished.result.termination.name)
            running -= 1
        for turn in delivery.turns:
            assert (
                host.answer("a", Answer(turn.match.id, turn.seat, turn.turn_id, move_index=0))
                is None
            )
        if delivery.turns:
            moves = {match.id: match.log.move_count for match in host.running()}
            await host.stored()
            print(*[f"M {match_id} {count}\n" for match_id, count in moves.items()], sep="", end="")
        sys.stdout.flush()


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), Durability(sys.argv[2])))
