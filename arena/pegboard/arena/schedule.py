"""Who meets whom, on which deals: pure and lazy; any fixture is computed from its place alone.

    Schedule                 the whole tournament
    └── Pairing              bots that meet in one event: one lane, played block by block
        └── block            one seed: every seat order is played on the same deals
            └── Fixture      one match to be played

The block is the unit of statistics: luck of the deal that helps a seat in one order helps another
bot in the next. A fixture's id, seed and nonce are pure functions of the tournament's seed and the
fixture's place, so a run that continues asks for the very same matches.
"""

from __future__ import annotations

import hashlib
import hmac
import re
from collections.abc import Iterator, Sequence
from itertools import combinations, combinations_with_replacement, permutations
from typing import NamedTuple

from pegboard.arena.config import Config, Contest
from pegboard.rules import catalog

RUN_ID_DIGITS = 10
_MATCH_ID = re.compile(
    r"(?P<run>[0-9a-f]+)-(?P<pairing>\d+)-(?P<block>\d+)-(?P<order>\d+)(-again\d+)?"
)


class Fixture(NamedTuple):
    """One match to be played. `bots` by seat; `id` names it, at most 63 of `a-z0-9-`."""

    id: str
    pairing: Pairing
    block: int
    order: int
    bots: tuple[str, ...]
    seed: bytes
    nonce: str


class Pairing(NamedTuple):
    """Bots that meet in one event. `orders`: who sits where, for each match of a block.

    `sides` gives the side of each seat. In an event for one seat all bots meet in one pairing: each
    plays the same deals alone.
    """

    number: int
    event: int
    contest: Contest
    bots: tuple[str, ...]
    orders: tuple[tuple[str, ...], ...]
    sides: tuple[int, ...]
    blocks: int
    run: str
    key: bytes

    @property
    def total(self) -> int:
        """How many matches it has."""
        return self.blocks * len(self.orders)

    def fixture(self, index: int) -> Fixture:
        """Return the match at `index`, from 0, block by block. Raises `IndexError`."""
        if not 0 <= index < self.total:
            raise IndexError(index)
        block, order = divmod(index, len(self.orders))
        return Fixture(
            id=f"{self.run}-{self.number}-{block}-{order}",
            pairing=self,
            block=block,
            order=order,
            bots=self.orders[order],
            seed=hmac.digest(self.key, f"seed/{block}".encode(), "sha256"),
            nonce=f"{self.run}-{self.number}-{block}",
        )


class Schedule:
    """All pairings of a tournament."""

    def __init__(self, config: Config) -> None:
        self.run = run_id(config)
        self.bots = tuple(bot.name for bot in config.bots)
        self.contests = config.events
        self.pairings = tuple(_pairings(config, self.run))

    def total(self) -> int:
        """Return the number of matches."""
        return sum(pairing.total for pairing in self.pairings)

    def __iter__(self) -> Iterator[Fixture]:
        """All fixtures, block by block, so that all pairings advance together."""
        for block in range(max((pairing.blocks for pairing in self.pairings), default=0)):
            for pairing in self.pairings:
                if block < pairing.blocks:
                    size = len(pairing.orders)
                    yield from map(pairing.fixture, range(block * size, (block + 1) * size))

    def find(self, match_id: str) -> tuple[Pairing, int] | None:
        """Return the pairing and the index of a match id, or None for one of another schedule.

        A replay (`again`) has the place of what it replaces.
        """
        found = _MATCH_ID.fullmatch(match_id)
        if found is None or found["run"] != self.run:
            return None
        number, block, order = int(found["pairing"]), int(found["block"]), int(found["order"])
        if number >= len(self.pairings):
            return None
        pairing = self.pairings[number]
        if block >= pairing.blocks or order >= len(pairing.orders):
            return None
        return pairing, block * len(pairing.orders) + order


def again(match_id: str, attempt: int) -> str:
    """Return the id under which a fixture is played again; attempt 0 is the first."""
    first = match_id.partition("-again")[0]
    return f"{first}-again{attempt}" if attempt else first


def attempt_of(match_id: str) -> int:
    """Return which playing of its fixture this is, 0 for the first."""
    return int(match_id.partition("-again")[2] or 0)


def run_id(config: Config) -> str:
    """Return what starts the ids of all matches: from name and seed alone.

    Bots that draw their luck from the match id thus play a repeated tournament the same way.
    """
    text = f"pegboard-arena/1\0{config.name}\0{config.seed}"
    return hashlib.sha256(text.encode()).hexdigest()[:RUN_ID_DIGITS]


def _pairings(config: Config, run: str) -> Iterator[Pairing]:
    root = hashlib.sha256(f"pegboard-arena-seed/1\0{config.seed}".encode()).digest()
    names = [bot.name for bot in config.bots]
    number = 0
    for event, contest in enumerate(config.events):
        sides = catalog.game(contest.variant, contest.options).sides(contest.seats)
        for bots, orders in _meetings(names, contest, sides):
            label = f"{event}/{contest.name}/{'/'.join(bots)}"
            yield Pairing(
                number=number,
                event=event,
                contest=contest,
                bots=bots,
                orders=orders,
                sides=sides,
                blocks=contest.blocks,
                run=run,
                key=hmac.digest(root, label.encode(), "sha256"),
            )
            number += 1


def _meetings(
    names: Sequence[str], contest: Contest, sides: tuple[int, ...]
) -> Iterator[tuple[tuple[str, ...], tuple[tuple[str, ...], ...]]]:
    """Every set of bots that meets, with the seatings of its block."""
    if contest.seats == 1:
        yield tuple(names), tuple((name,) for name in names)
        return
    places = max(sides) + 1 if contest.teams else contest.seats
    choose = combinations_with_replacement if contest.repeat else combinations
    for chosen in choose(names, places):
        if len(set(chosen)) == 1:
            continue  # a bot against itself says nothing
        seatings = _orders(chosen, contest.orders)
        if contest.teams:
            seatings = tuple(tuple(order[side] for side in sides) for order in seatings)
        yield chosen, seatings


def _orders(chosen: tuple[str, ...], which: str) -> tuple[tuple[str, ...], ...]:
    """The distinct seat orders, in a fixed order."""
    if which == "rotations":
        turned = (chosen[i:] + chosen[:i] for i in range(len(chosen)))
        return tuple(dict.fromkeys(turned))
    return tuple(dict.fromkeys(permutations(chosen)))
