"""Decisions a second of the whole stack, beside a one-message-a-decision grpc.aio echo.

A server process and two external Python bots that play at random over a Unix socket, many matches at
once, events logged and stored. The reference has the same three processes, 32 streams of 64-byte
messages, and no work at all (`_echo.py`).
"""

from __future__ import annotations

import argparse
import asyncio

from _echo import echoes_per_second
from _stack import Played, play, stack

CLIENTS = 2
STREAMS = 16


async def measure(variant: str, matches: int, at_once: int, durability: str) -> Played:
    """Play a warm-up, then the measured matches."""
    async with stack(("one", "two"), durability) as running:
        await play(running, variant, max(8, matches // 10), at_once, "warm-up")
        return await play(running, variant, matches, at_once, "measured")


def main() -> None:
    """Measure the echo, then each game, and print the ratios."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--durability", default="batched")
    parser.add_argument("--at-once", type=int, default=256)
    arguments = parser.parse_args()
    matches = 200 if arguments.quick else 2000
    echo = echoes_per_second(CLIENTS, STREAMS, 1 if arguments.quick else 3)
    print(f"echo, one message a decision: {echo:,.0f}/s")
    for variant in ("cribbage", "draw"):
        played = asyncio.run(measure(variant, matches, arguments.at_once, arguments.durability))
        print(
            f"{variant}: {played.per_second:,.0f} decisions/s, {played.per_second / echo:.2f}x the"
            f" echo; {played.matches / played.seconds:,.0f} matches/s;"
            f" server {played.server_cpu_s / played.decisions * 1e6:.1f} us CPU a decision"
        )


if __name__ == "__main__":
    main()
