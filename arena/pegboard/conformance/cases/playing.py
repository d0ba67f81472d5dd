"""Matches as they mostly go: every variant, many at once, and a turn that comes alone."""

from __future__ import annotations

from functools import partial

from pegboard.conformance.check import Case, Check, listing
from pegboard.conformance.findings import Failed
from pegboard.conformance.table import Table
from pegboard.rules import catalog

MANY = 100
MANY_TURNS_S = 3.0
SLOW_SHARE = 0.5


def seatings(variant: str) -> list[tuple[int, tuple[int, ...]]]:
    """Return numbers of seats, each with the seats of the bot: one, and all."""
    counts = catalog.find(variant).game.seats
    ends = dict.fromkeys((counts[0], counts[-1]))
    return [(seats, own) for seats in ends for own in dict.fromkeys(((0,), tuple(range(seats))))]


def variant_case(variant: str) -> Case:
    """Return the case of a variant."""
    return partial(play_variant, variant=variant)


async def play_variant(check: Check, variant: str) -> str:
    """Whole matches with the fewest and the most seats: the bot at one seat, and at all."""
    stream = await check.stream()
    table = check.table()
    for seed, (seats, own) in enumerate(seatings(variant)):
        table.add(check.name(), variant, seats, own, seed)
    await check.play(stream, table)
    note_pace(check, table)
    over = sum(not each.match.state.to_act() for each in table.matches.values())
    return (
        f"{table.answered:,} turns answered, {over} of {len(table.matches)} matches to the end; "
        f"slowest {table.slowest_s * 1000:.0f} ms"
    )


def note_pace(check: Check, table: Table) -> None:
    """Warn of answers that took most of their clock."""
    limit_s = check.settings.clock_ms / 1000
    if table.slowest_s > limit_s * SLOW_SHARE:
        check.warn(
            f"an answer took {table.slowest_s:.1f} s of a clock of {limit_s:g} s",
            "leave some of `clock.turn_ms` unused, or take fewer turns (Hello.max_open_turns): the "
            "clocks of all open turns run",
        )


async def lonely_turn(check: Check) -> str:
    """One turn that comes alone is answered: bots must not wait until more have come."""
    stream = await check.stream()
    table = check.table()
    variant = check.settings.variants[0]
    match = table.add(check.name(), variant, catalog.find(variant).game.seats[0], (0,), seed=0)
    response = table.news()
    assert response.turns, f"seat 0 is not asked at the start of {match.variant}"
    await stream.send(response)
    table.take(await check.answers(stream, table))
    if table.open:
        raise Failed("sent a message without the answer to its only turn", "answer the turn")
    await check.finish(stream, table)
    return f"answered within {table.slowest_s * 1000:.0f} ms"


async def many_matches(check: Check) -> str:
    """A hundred matches at once, their turns together in each message."""
    stream = await check.stream()
    table = check.table()
    variants = check.settings.variants
    for number in range(MANY):
        variant = variants[number % len(variants)]
        seats, own = seatings(variant)[-1]
        table.add(check.name(), variant, seats, own, seed=number)
    most = check.hello.max_open_turns
    await check.play(stream, table, min(MANY_TURNS_S, check.settings.play_s))
    note_pace(check, table)
    taken = f"{most} turns" if most else "any number of turns"
    return (
        f"{table.answered:,} turns of {MANY} matches of {listing(variants[:5])} answered; "
        f"takes {taken} at once"
    )
