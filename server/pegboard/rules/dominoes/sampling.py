"""Full states that agree with what a seat of Draw has seen: where the hidden tiles may lie.

Hidden are the hands of the other seats and the stock. What the acts of the round tell of a hand:

- A seat that passed held no tile that fitted an end (R-D12). No seat draws after a pass, as the stock
  is down to two, so this holds for the tiles that the seat has now.
- A seat that drew is taken to have drawn because it had to (R-D10): no tile that it held fitted an end.
  A tile that fitted was drawn then or later, or was not among the tiles held. The rules also allow a
  draw with a tile that fits (R-D9). If what was seen cannot be explained by forced draws alone, or if
  the caller says so, draws tell nothing.

Every way to lay the hidden tiles into the hands and the stock that this allows is equally likely. The
ways are counted and one of them is taken by its number, so there is no attempt that may fail.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import product
from math import comb, factorial
from typing import Final, NamedTuple

from pegboard.rules.dominoes.hands import FITS, WHOLE_SET, Hand, hand_of, tiles_of
from pegboard.rules.dominoes.line import Line
from pegboard.rules.dominoes.scoring import hand_size, leaders
from pegboard.rules.dominoes.state import DominoesState, Terms
from pegboard.rules.dominoes.view import Act, DominoesView
from pegboard.rules.errors import ViewError
from pegboard.rules.game import Chance, Seat
from pegboard.rules.tiles import SET, Tile

TILES: Final = len(SET)
ORDERS: Final = factorial(TILES)

NEVER: Final = -1
"""The level of a tile that a seat cannot hold."""

Room = tuple[int, ...]
"""By level: how many tiles of that level or a higher one a hand still takes; level 0 is all of it."""


class Group(NamedTuple):
    """Hidden tiles that are alike to all hidden hands: `levels` is by hand."""

    levels: tuple[int, ...]
    size: int


def sample_state(
    terms: Terms, view: DominoesView, seat: Seat | None, chance: Chance, forced_draws: bool = True
) -> DominoesState:
    """Return a state that the view may be of. Raises `ViewError` if there is none."""
    others = [other for other in range(terms.seats) if other != seat]
    hands = [0] * terms.seats
    if seat is not None:
        hands[seat] = hand_of(view.hand)
    # A match that its start scores decide ends before a deal (R-D29): then no tile lies anywhere.
    stock = hidden = WHOLE_SET ^ hand_of((*view.line, *view.hand)) if view.round else 0
    told = [what_acts_tell(view.acts, other) for other in others]
    sizes = sum(view.hand_sizes[other] for other in others) + view.stock
    if hidden.bit_count() != sizes:
        raise ViewError(f"{hidden.bit_count()} tiles are hidden, but the view tells of {sizes}")
    for other, hand in zip(
        others, _lay(view, others, told, hidden, chance, forced_draws), strict=True
    ):
        hands[other] = hand
        stock ^= hand
    return _state(terms, view, hands, stock, chance)


def _lay(
    view: DominoesView,
    others: Sequence[Seat],
    told: Sequence[Told],
    hidden: Hand,
    chance: Chance,
    forced_draws: bool,
) -> list[Hand]:
    """Return the hands of the other seats."""
    for forced in (True, False) if forced_draws else (False,):
        rooms = [
            seen.room(view.hand_sizes[other], hand_size(len(view.hand_sizes)), forced)
            for other, seen in zip(others, told, strict=True)
        ]
        if None not in rooms:
            groups = _grouped(hidden, [seen.levels(hidden, forced) for seen in told])
            hands = _take_one(groups, tuple(filter(None, rooms)), chance)
            if hands is not None:
                return hands
    raise ViewError(
        "no tiles can lie so that the seat sees this; give a view of a match of this game"
    )


def _state(
    terms: Terms, view: DominoesView, hands: list[Hand], stock: Hand, chance: Chance
) -> DominoesState:
    state = DominoesState(terms, chance, view.opener)
    state.game, state.round, state.rounds = view.game, view.round, view.round
    state.scores, state.games_won = view.scores, view.games_won
    state.hands, state.stock, state.stock_left = hands, stock, view.stock
    state.orders = ((),) * terms.seats
    state.line = _line(view)
    state.passes, state.turn = view.passes, view.seat_to_act
    state.acts = list(view.acts)
    state.over = bool(leaders(view.scores, terms.target))
    return state


def _line(view: DominoesView) -> Line:
    line = Line()
    line.tiles = list(view.line)
    line.connections = list(view.connections)
    if view.continuations:
        left, right = view.continuations
        line.ends = left, right
    return line


# What the acts tell


class Told(NamedTuple):
    """What a seat's acts tell: `voids` are tiles that it cannot hold now.

    `draws` has, for each draw of the seat in order, the tiles that fitted the line then; `placed` each
    tile that it placed, with the number of draws that it had made before.
    """

    voids: Hand
    draws: tuple[Hand, ...]
    placed: tuple[tuple[Tile, int], ...]

    def level(self, tile: Hand, draws: int) -> int:
        """Return the last of so many draws at which the tile fitted, counted from 1; 0 for none.

        A seat that held the tile got it by that draw or a later one.
        """
        while draws and not self.draws[draws - 1] & tile:
            draws -= 1
        return draws

    def levels(self, hidden: Hand, forced: bool) -> dict[Tile, int]:
        """Return the level of each hidden tile for this hand."""
        draws = len(self.draws) if forced else 0
        return {
            tile: NEVER if self.voids & hand_of((tile,)) else self.level(hand_of((tile,)), draws)
            for tile in tiles_of(hidden)
        }

    def room(self, size: int, dealt: int, forced: bool) -> Room | None:
        """Return the room of a hand of `size`; None if the placed tiles tell of a draw by choice.

        A seat got `dealt` tiles before its draws, then one by each draw. The placed tiles are given to
        these places as early as they can have come: that leaves most room for late ones among the
        tiles that it holds, whatever they are.
        """
        if not forced:
            return (size,)
        waiting = [(before, self.level(hand_of((tile,)), before)) for tile, before in self.placed]
        free = []
        for place in range(len(self.draws) + 1):
            capacity = 1 if place else dealt
            ready = sorted(item for item in waiting if item[1] <= place)[:capacity]
            if any(before < place for before, _ in ready):
                return None
            for item in ready:
                waiting.remove(item)
            free.append(capacity - len(ready))
        return None if waiting else tuple(sum(free[place:]) for place in range(len(free)))


def what_acts_tell(acts: Sequence[Act], seat: Seat) -> Told:
    """Return what the acts of the round tell of the seat's hand."""
    line = Line()
    voids = 0
    draws: list[Hand] = []
    placed: list[tuple[Tile, int]] = []
    for act in acts:
        fitting = FITS[line.ends[0].pips] | FITS[line.ends[1].pips] if line.ends else 0
        if act.tile is not None:
            line.place(act.tile, act.end)
            if act.seat == seat:
                placed.append((act.tile, len(draws)))
        elif act.seat == seat:
            if act.passed:
                voids |= fitting
            else:
                draws.append(fitting)
    return Told(voids, tuple(draws), tuple(placed))


# Counting the ways


def _grouped(hidden: Hand, levels: Sequence[dict[Tile, int]]) -> dict[tuple[int, ...], list[Tile]]:
    """Return the hidden tiles by their levels, high levels first: those settle most."""
    groups: dict[tuple[int, ...], list[Tile]] = {}
    for tile in tiles_of(hidden):
        groups.setdefault(tuple(level[tile] for level in levels), []).append(tile)
    return dict(sorted(groups.items(), reverse=True))


def _take_one(
    groups: dict[tuple[int, ...], list[Tile]], rooms: tuple[Room, ...], chance: Chance
) -> list[Hand] | None:
    """Return the hands of one way, each as likely as any other; None if there is no way."""
    ways = ways_of(tuple(Group(levels, len(tiles)) for levels, tiles in groups.items()))
    total = ways.count(0, rooms)
    if not total:
        return None
    number = number_below(chance, "sample/counts", total)
    rank = {SET[place]: at for at, place in enumerate(chance.order("sample/tiles", TILES, TILES))}
    hands = [0] * len(rooms)
    for place, tiles in enumerate(groups.values()):
        counts, rooms, number = ways.split(place, rooms, number)
        left = sorted(tiles, key=rank.__getitem__)
        for hand, count in enumerate(counts):
            hands[hand] |= hand_of(left[:count])
            left = left[count:]
    return hands


class Ways:
    """Counts the ways to lay groups of tiles into hands with room, what is left into the stock."""

    def __init__(self, groups: tuple[Group, ...]) -> None:
        self.groups = groups
        places = range(len(groups) + 1)
        self._left = [sum(group.size for group in groups[place:]) for place in places]
        self._highest = [
            tuple(map(max, zip(*(group.levels for group in groups[place:]), strict=True)))
            for place in places
        ]
        self._counted: dict[tuple[int, tuple[Room, ...]], int] = {}

    def count(self, place: int, rooms: tuple[Room, ...]) -> int:
        """Return the ways to lay the groups from `place` on so that every hand is full."""
        wanted = sum(room[0] for room in rooms)
        if not wanted or wanted > self._left[place]:
            return int(not wanted)
        tight = tuple(map(_tightened, rooms, self._highest[place]))
        known = self._counted.get((place, tight))
        if known is None:
            known = sum(ways for _, _, ways, _ in self._splits(place, tight))
            self._counted[place, tight] = known
        return known

    def split(
        self, place: int, rooms: tuple[Room, ...], number: int
    ) -> tuple[tuple[int, ...], tuple[Room, ...], int]:
        """Return how many tiles of the group each hand gets in the way of this number.

        With them the rooms that are left, and the number of the way among those of the groups after.
        """
        for counts, after, ways, below in self._splits(place, rooms):
            if number < ways:
                return counts, after, number % below
            number -= ways
        raise AssertionError("a number beyond the ways that were counted")

    def _splits(
        self, place: int, rooms: tuple[Room, ...]
    ) -> Iterator[tuple[tuple[int, ...], tuple[Room, ...], int, int]]:
        """Yield (counts, rooms after, ways, ways of the groups after) of every split of a group."""
        levels, size = self.groups[place]
        most = [
            0 if level == NEVER else min(size, *room[: level + 1])
            for level, room in zip(levels, rooms, strict=True)
        ]
        # The last group has to fill the hands.
        least = most if place + 1 == len(self.groups) else (0,) * len(most)
        for counts in product(*map(range, least, (bound + 1 for bound in most))):
            if sum(counts) <= size:
                after = tuple(map(_fill, rooms, levels, counts))
                below = self.count(place + 1, after)
                if below:
                    yield counts, after, _choices(size, counts) * below, below


@lru_cache(maxsize=64)
def ways_of(groups: tuple[Group, ...]) -> Ways:
    """Return the ways of these groups; kept, as a search bot samples the same turn many times."""
    return Ways(groups)


def _tightened(room: Room, highest: int) -> Room:
    """Return the room without levels that no group left has: equal rooms are counted once."""
    return tuple(min(room[0], most) for most in room[: max(highest, 0) + 1])


def _fill(room: Room, level: int, count: int) -> Room:
    """Return what is left of a room after `count` tiles of a level."""
    return (*(most - count for most in room[: level + 1]), *room[level + 1 :]) if count else room


def _choices(size: int, counts: Sequence[int]) -> int:
    """Return in how many ways the hands can choose so many tiles of a group."""
    ways = 1
    for count in counts:
        ways *= comb(size, count)
        size -= count
    return ways


def number_below(chance: Chance, label: str, limit: int) -> int:
    """Return a random number from 0 to `limit` - 1, for limits up to 10^18.

    It is the number of an order of the set among all orders (3 x 10^29), scaled down, so no number is
    more likely than another by more than one part in 10^11.
    """
    number = 0
    left = [*range(TILES)]
    for place in chance.order(label, TILES, TILES):
        number = number * len(left) + left.index(place)
        left.remove(place)
    return number * limit // ORDERS
