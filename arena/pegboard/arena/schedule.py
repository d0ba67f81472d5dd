"""Who meets whom, on which deals: pure and lazy; any fixture is computed from its place alone.

    Schedule                 the whole tournament
    └── Pairing              bots that meet in one event: one lane, played block by block
        └── block            one seed: every seat order is played on the same deals
            └── Fixture      one match to be played

The block is the unit of statistics: luck of the deal that helps a seat in one order helps another
bot in the next. A fixture's id, seed and nonce follow from the run's secret, the name of its event,
the names of its bots and its place, so a run that continues asks for the very same matches, and a
bot that joins leaves the deals of the others alone. Without the secret they tell nothing: neither
the seed nor whether two matches of a pairing belong to one block.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import accumulate, combinations, combinations_with_replacement, permutations
from typing import NamedTuple

from pegboard.arena.config import Config, Contest
from pegboard.arena.scramble import Scramble
from pegboard.rules import catalog

SECRET_BYTES = 32
RUN_ID_DIGITS = 10
TAG_DIGITS = 16
_ATTEMPTS = 1 << 8
_MATCH_ID = re.compile(r"(?P<run>[0-9a-f]+)-(?P<tag>[0-9a-f]{16})-(?P<code>[0-9a-f]{16})")

Orders = tuple[tuple[int, ...], ...]
"""The seat orders of a block, one for each match: by seat, an index into the bots of the pairing."""


class Seating(NamedTuple):
    """The seat orders of the blocks in turn: block b has `blocks[b % len(blocks)]`.

    `starts` are the indices of their first matches, and at last the number of all: after so many
    matches the same seat orders come again.
    """

    blocks: tuple[Orders, ...]
    starts: tuple[int, ...]

    def orders(self, block: int) -> Orders:
        """Return the seat orders of a block."""
        return self.blocks[block % len(self.blocks)]

    def start(self, block: int) -> int:
        """Return the index of the first match of a block."""
        rounds, rest = divmod(block, len(self.blocks))
        return rounds * self.starts[-1] + self.starts[rest]

    def place(self, index: int) -> tuple[int, int]:
        """Return block and order of the match at `index`."""
        rounds, rest = divmod(index, self.starts[-1])
        number = bisect_right(self.starts, rest) - 1
        return rounds * len(self.blocks) + number, rest - self.starts[number]


class Fixture(NamedTuple):
    """One match to be played. `bots` by seat; `place` is its index within the pairing."""

    pairing: Pairing
    place: int
    block: int
    order: int
    bots: tuple[str, ...]

    @property
    def seed(self) -> bytes:
        """The 32 bytes that the deals of its block follow from."""
        return hmac.digest(self.pairing.key, f"seed/{self.block}".encode(), "sha256")

    @property
    def nonce(self) -> str:
        """The public text of its block: the same for all matches of the block and of no other."""
        text = hmac.digest(self.pairing.key, f"nonce/{self.block}".encode(), "sha256")
        return f"{self.pairing.run}-{text.hex()[:16]}"

    @property
    def block_matches(self) -> int:
        """How many matches its block has."""
        return len(self.pairing.seating.orders(self.block))

    @property
    def id(self) -> str:
        """The id under which it is played for the first time."""
        return self.pairing.match_id(self.place)


class Pairing(NamedTuple):
    """Bots that meet in one event, ascending by name. `sides` gives the side of each seat.

    In an event for one seat all bots meet in one pairing: each plays the same deals alone.
    """

    number: int
    event: int
    contest: Contest
    bots: tuple[str, ...]
    seating: Seating
    sides: tuple[int, ...]
    blocks: int
    run: str
    tag: str
    key: bytes
    scramble: Scramble

    @property
    def total(self) -> int:
        """How many matches it has."""
        return self.seating.start(self.blocks)

    @property
    def together(self) -> int:
        """How many bots sit in one of its matches."""
        return 1 if len(self.sides) == 1 else len(set(self.bots))

    def fixture(self, index: int) -> Fixture:
        """Return the match at `index`, from 0, block by block. Raises `IndexError`."""
        if not 0 <= index < self.total:
            raise IndexError(index)
        block, order = self.seating.place(index)
        seated = self.seating.orders(block)[order]
        return Fixture(self, index, block, order, tuple(self.bots[i] for i in seated))

    def match_id(self, index: int, attempt: int = 0) -> str:
        """Return the id under which a match is played; attempt 0 is the first.

        At most 63 of `a-z0-9-`. Run and pairing can be read from it, block, order and attempt
        only with the run's secret.
        """
        return f"{self.run}-{self.tag}-{self.scramble.hide(index * _ATTEMPTS + attempt):016x}"


class Found(NamedTuple):
    """Where a match id belongs."""

    pairing: Pairing
    place: int
    attempt: int


class Schedule:
    """All pairings of a tournament. The order of the bots in the file does not matter."""

    def __init__(self, config: Config, secret: bytes) -> None:
        """Lay out the pairings of a run with this secret."""
        self.run = _derived(secret, "run").hex()[:RUN_ID_DIGITS]
        self.bots = tuple(sorted(bot.name for bot in config.bots))
        self.contests = config.events
        self.pairings = tuple(_pairings(config, self.bots, self.run, secret))
        self._by_tag = {pairing.tag: pairing for pairing in self.pairings}
        assert len(self._by_tag) == len(self.pairings), "two pairings have one tag"

    def total(self) -> int:
        """Return the number of matches."""
        return sum(pairing.total for pairing in self.pairings)

    def __iter__(self) -> Iterator[Fixture]:
        """All fixtures, block by block, so that all pairings advance together."""
        for block in range(max((pairing.blocks for pairing in self.pairings), default=0)):
            for pairing in self.pairings:
                if block < pairing.blocks:
                    places = range(*map(pairing.seating.start, (block, block + 1)))
                    yield from map(pairing.fixture, places)

    def find(self, match_id: str) -> Found | None:
        """Return the place of a match id, or None for one of another schedule.

        It takes the same time whatever the number of matches: no id is kept.
        """
        found = _MATCH_ID.fullmatch(match_id)
        if found is None or found["run"] != self.run:
            return None
        pairing = self._by_tag.get(found["tag"])
        if pairing is None:
            return None
        index, attempt = divmod(pairing.scramble.show(int(found["code"], 16)), _ATTEMPTS)
        return Found(pairing, index, attempt) if index < pairing.total else None


def secret_of(seed: int | str, name: str) -> bytes:
    """Return the secret of a run that can be repeated: from seed and name alone.

    Anyone who knows the seed, or guesses it, can compute all deals of the run.
    """
    return hashlib.sha256(f"pegboard-arena/2\0{name}\0{seed}".encode()).digest()


def _derived(secret: bytes, *label: object) -> bytes:
    """Return 32 bytes that tell nothing of the secret. Labels differ in JSON, so in every part."""
    return hmac.digest(secret, json.dumps(label).encode(), "sha256")


def _pairings(config: Config, names: Sequence[str], run: str, secret: bytes) -> Iterator[Pairing]:
    number = 0
    for event, contest in enumerate(config.events):
        sides = catalog.game(contest.variant, contest.options).sides(contest.seats)
        for bots in _meetings(names, contest, sides):
            key = _derived(secret, "pairing", contest.name, bots)
            yield Pairing(
                number=number,
                event=event,
                contest=contest,
                bots=bots,
                seating=_seating(tuple(map(bots.index, bots)), contest, sides),
                sides=sides,
                blocks=contest.blocks,
                run=run,
                tag=_derived(key, "tag").hex()[:TAG_DIGITS],
                key=key,
                scramble=Scramble(_derived(key, "ids")),
            )
            number += 1


def _meetings(
    names: Sequence[str], contest: Contest, sides: tuple[int, ...]
) -> Iterator[tuple[str, ...]]:
    """Yield every choice of bots that meets; with `repeat` a bot may be in it several times."""
    if contest.seats == 1:
        yield tuple(names)
        return
    places = max(sides) + 1 if contest.teams else contest.seats
    choose = combinations_with_replacement if contest.repeat else combinations
    # A match of one bot against itself compares nothing.
    yield from (chosen for chosen in choose(names, places) if len(set(chosen)) > 1)


def _seating(chosen: tuple[int, ...], contest: Contest, sides: tuple[int, ...]) -> Seating:
    """Return the seat orders of bots for which numbers stand, equal ones for the same bot."""
    if contest.seats == 1:
        return _in_turn((tuple((place,) for place in chosen),))
    return _seat_orders(chosen, contest.orders, sides if contest.teams else None)


@lru_cache(maxsize=256)
def _seat_orders(chosen: tuple[int, ...], which: str, sides: tuple[int, ...] | None) -> Seating:
    """Return the seat orders. Pairings of equal shape share the answer.

    With `all` a block has all distinct orders. With `rotations` it has those of one circle, the next
    block those of the next, so that no bot always has the same neighbours: (n-1)! circles, fewer
    if a bot holds several seats and circles coincide.
    """
    blocks: tuple[Orders, ...]
    if which == "rotations":
        circles = (_rotations((chosen[0], *rest)) for rest in permutations(chosen[1:]))
        distinct: dict[frozenset[tuple[int, ...]], Orders] = {}
        for orders in circles:
            distinct.setdefault(frozenset(orders), orders)
        blocks = tuple(distinct.values())
    else:
        blocks = (tuple(dict.fromkeys(permutations(chosen))),)
    if sides is not None:
        blocks = tuple(
            tuple(tuple(order[side] for side in sides) for order in orders) for orders in blocks
        )
    return _in_turn(blocks)


def _in_turn(blocks: tuple[Orders, ...]) -> Seating:
    return Seating(blocks, (0, *accumulate(map(len, blocks))))


def _rotations(circle: tuple[int, ...]) -> Orders:
    """The distinct rotations of a circle, beginning with it."""
    return tuple(dict.fromkeys(circle[i:] + circle[:i] for i in range(len(circle))))
