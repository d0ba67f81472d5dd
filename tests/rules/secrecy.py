"""The proof that no view leaks: worlds that differ only in what a seat can't see look alike to it.

A match is played to some point. For a reader, every card or tile that it has not seen in the running
deal may lie elsewhere: the unseen ones are permuted within the order of the deal, in Draw also within
the orders that the seats draw by (X-21), and the others' hidden moves name the permuted cards. Where
that world is possible and its open events are the same, the reader's view, its redacted events, its
choices, and who is to act have to be equal.

Which events are open is told by `Book.visible`, apart from the engines: an engine that shows too much
does not make its own leak look like an open difference.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from random import Random
from typing import Any, NamedTuple

from tests.rules.books.book import book_of
from tests.rules.strategies import Case, random_turn, started

from pegboard.rules.errors import PegboardError
from pegboard.rules.game import Game, Seat, State
from pegboard.rules.shuffle import ScriptedChance, SeededChance


class Leak(AssertionError):
    """A seat can tell two worlds apart that it must not."""


class RecordingChance:
    """Remembers the order of the running deal: the last one that was not a seat's own to draw by."""

    def __init__(self, chance: SeededChance) -> None:
        self.chance = chance
        self.label = ""
        self.size = 0

    def order(self, label: str, size: int, count: int) -> Sequence[int]:
        """Return the order and remember what it was for."""
        if not label.startswith("draw/"):
            self.label = label
            self.size = size
        return self.chance.order(label, size, count)


class Story(NamedTuple):
    """A match up to some point; `deal_from` is the number of events before the running deal.

    `orders` are those of the running deal, by label: of the pack, or of the tiles and of each seat.
    """

    game: Game
    state: State
    moves: list[tuple[Seat, Any]]
    events: list[Any]
    orders: dict[str, Sequence[int]]
    deal_from: int
    moves_before_deal: int


def told(case: Case, length: int) -> Story:
    """Play `length` moves of the case, or up to its end."""
    chance = RecordingChance(case.chance)
    game, state, first = started(case, chance)
    rng = case.rng
    events = list(first)
    moves: list[tuple[Seat, Any]] = []
    deal_from, moves_before = _dealt_at(events, 0), 0
    while state.to_act() and len(moves) < length:
        label = chance.label
        seat, move, new = random_turn(state, rng)
        moves.append((seat, move))
        if chance.label != label:
            deal_from, moves_before = _dealt_at(new, len(events)), len(moves)
        events += new
    labels = book_of(game.family).orders_of(chance.label, case.seats)
    orders = {label: case.chance.order(label, chance.size, chance.size) for label in labels}
    return Story(game, state, moves, events, orders, deal_from, moves_before)


def _dealt_at(events: list[Any], offset: int) -> int:
    """Return where in the story the last deal among these events is."""
    places = [place for place, event in enumerate(events) if type(event).__name__ == "Dealt"]
    return offset + (places[-1] if places else 0)


@cache
def naming(family: str) -> re.Pattern[str]:
    """Return what finds the cards or tiles that a text names."""
    names = "|".join(map(re.escape, book_of(family).PIECES))
    return re.compile(rf"\b(?:{names})(?![\w|])")


class World(NamedTuple):
    """Where the pieces lie instead: text for text, and the orders of the running deal."""

    renamed: dict[str, str]
    orders: dict[str, list[int]]


def alternative(story: Story, reader: Seat | None, rng: Random) -> World | None:
    """Permute some of what the reader has not seen; None where it has seen all but one."""
    book = book_of(story.game.family)
    names = book.PIECES
    seen = {
        piece
        for event in story.events[story.deal_from :]
        for piece in naming(story.game.family).findall(book.visible(event, reader).text())
    }
    unseen = [piece for piece, name in enumerate(names) if name not in seen]
    if len(unseen) < 2:
        return None
    count = min(len(unseen), rng.choice((2, 3, 8, 52)))
    moved = rng.sample(unseen, count)
    to = dict(zip(moved, [*moved[1:], moved[0]], strict=True))
    orders = {
        label: [to.get(piece, piece) for piece in order] for label, order in story.orders.items()
    }
    return World({names[piece]: names[other] for piece, other in to.items()}, orders)


def retold(case: Case, story: Story, world: World) -> tuple[State, list[Any]] | None:
    """Make the same moves in the other world; None where one of them is not possible there."""
    chance = ScriptedChance(world.orders, otherwise=case.chance)
    game, state, first = started(case, chance)
    events = list(first)
    for number, (seat, move) in enumerate(story.moves):
        if number >= story.moves_before_deal:
            text = naming(game.family).sub(
                lambda found: world.renamed.get(found[0], found[0]), move.text()
            )
            move = game.parse_move(text)
        try:
            events += state.apply(seat, move)
        except PegboardError:
            return None
    return state, events


def check_secrecy(case: Case, length: int, attempts: int = 6) -> int:
    """Compare worlds for every seat and a spectator; return how many were possible. Raises `Leak`."""
    story = told(case, length)
    rng = Random(case.seed + length)
    compared = 0
    for reader in (*range(case.seats), None):
        for _ in range(attempts):
            world = alternative(story, reader, rng)
            other = world and retold(case, story, world)
            if other and _look_alike(story.game, story.events, other[1], reader):
                _compare(story, *other, reader, rng)
                compared += 1
    return compared


def _look_alike(game: Game, events: list[Any], others: list[Any], reader: Seat | None) -> bool:
    """Whether nothing open to the reader tells the worlds apart."""
    visible = book_of(game.family).visible
    return [visible(event, reader) for event in events] == [
        visible(event, reader) for event in others
    ]


def _compare(
    story: Story, other: State, events: list[Any], reader: Seat | None, rng: Random
) -> None:
    _same(story.state.view(reader), other.view(reader), "views")
    redact = story.game.redact
    for mine, theirs in zip(story.events, events, strict=True):
        _same(redact(mine, reader), redact(theirs, reader), "events")
    _same(story.state.to_act(), other.to_act(), "seats to act")
    _same(story.state.standing(), other.standing(), "standings")
    if reader is None:
        return
    choices = story.state.choices(reader)
    _same(choices, other.choices(reader), "choices")
    if choices.moves:
        move = choices.complete(rng.randrange(len(choices.moves)), None)
        _compare_next(story, other, reader, move)


def _compare_next(story: Story, other: State, reader: Seat, move: Any) -> None:
    """Whether the reader's own move is taken or refused alike, and shows alike where it ends open."""
    results: list[list[Any] | type[PegboardError]] = []
    for state in (story.state.copy(), other.copy()):
        try:
            results.append(state.apply(reader, move))
        except PegboardError as error:
            results.append(type(error))
    mine, theirs = results
    if isinstance(mine, type) or isinstance(theirs, type):
        # A claim is judged by cards that lie open, so both worlds judge alike.
        _same(mine, theirs, "refusals")
    elif _look_alike(story.game, mine, theirs, reader):
        redact = story.game.redact
        _same([redact(e, reader) for e in mine], [redact(e, reader) for e in theirs], "next events")


def _same(mine: Any, theirs: Any, what: str) -> None:
    if mine != theirs:
        raise Leak(f"{what} tell the worlds apart: {mine} and {theirs}")
