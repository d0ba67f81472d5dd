"""Decisions a second of the whole stack, beside a one-message-a-decision grpc.aio echo.

A server process and two external Python bots that play at random over a Unix socket, many matches at
once, events logged and stored; pure Python, and compiled where `make compiled` has been run. The
reference has the same three processes, 32 streams of 64-byte messages, and no work at all (`_echo.py`).
"""

from __future__ import annotations

import argparse
import asyncio

from _echo import echoes_per_second
from _stack import Played, play, pythons, stack

CLIENTS = 2
STREAMS = 16


async def measure(python: str, variant: str, matches: int, at_once: int, durability: str) -> Played:
    """Play a warm-up, then the measured matches."""
    async with stack(("one", "two"), durability, python) as running:
        await play(running, variant, max(8, matches // 10), at_once, "warm-up")
        return await play(running, variant, matches, at_once, "measured")


def main() -> None:
    """Measure the echo, then each game with each build, and print the ratios."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--durability", default="batched")
    parser.add_argument("--at-once", type=int, default=1024)
    arguments = parser.parse_args()
    echo = echoes_per_second(CLIENTS, STREAMS, 1 if arguments.quick else 3)
    print(f"echo, one message a decision: {echo:,.0f}/s")
    for variant, matches in (("cribbage", 3000), ("draw", 1500)):
        count = matches // 10 if arguments.quick else matches
        for build, python in pythons().items():
            run = measure(python, variant, count, arguments.at_once, arguments.durability)
            played = asyncio.run(run)
            print(
                f"{variant}, {build}: {played.per_second:,.0f} decisions/s,"
                f" {played.per_second / echo:.2f}x the echo;"
                f" {played.matches / played.seconds:,.0f} matches/s;"
                f" server {played.server_cpu_s / played.decisions * 1e6:.1f} us CPU a decision",
                flush=True,
            )


if __name__ == "__main__":
    main()
