"""Round trip of a single match, one decision at a time, beside the same grpc.aio echo.

One match after the other, two external Python bots that answer at once, a Unix socket: a decision is a
turn out to a bot and its move back. The reference is one stream of 64-byte messages, echoed by gRPC as
it comes; ours are told to wait for their sockets directly (`wire.transport`), and what that alone
gives is printed.
"""

from __future__ import annotations

import argparse
import asyncio

from _echo import echoes_per_second
from _stack import AT_ONCE, play, pythons, stack


async def microseconds(python: str, matches: int, durability: str) -> float:
    """Return the mean time of a decision in matches played one after the other."""
    async with stack(("one", "two"), durability, python, AT_ONCE) as running:
        await play(running, "draw", 3, 1, "warm-up")
        played = await play(running, "draw", matches, 1, "measured")
        return played.seconds / played.decisions * 1e6


def main() -> None:
    """Measure both in turns and print the ratio."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--durability", default="batched")
    arguments = parser.parse_args()
    matches, seconds = (5, 1) if arguments.quick else (40, 3)
    echo = 1e6 / echoes_per_second(1, 1, seconds)
    direct = 1e6 / echoes_per_second(1, 1, seconds, direct=True)
    print(f"echo round trip: {echo:,.0f} us ({direct:,.0f} us where gRPC waits as it does in ours)")
    for build, python in pythons().items():
        ours = asyncio.run(microseconds(python, matches, arguments.durability))
        print(f"decision of a match, {build}: {ours:,.0f} us, {ours / echo:.2f}x the echo")


if __name__ == "__main__":
    main()
