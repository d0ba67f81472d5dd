"""A whole match as a story, with moves that anyone can choose again: golden files and demonstrations.

The rule of choice, for the n-th move (from 1) of a match with a seed: h = SHA-256 of the text
`SEED/n`, the seed in lower-case hexadecimal, read as four big-endian numbers of 8 bytes. The first,
mod the number of seats to act, is the seat's place among them; the second, mod the number of its
listed moves, the move. An open number is its least value (1 for a call) plus the third, mod 8 or the
size of the range if that is smaller, so that bids and claims stay low. If a claim is refused the
next number is tried, after the highest the lowest, and after all numbers the next move.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from struct import Struct
from typing import Any, NamedTuple

from pegboard.rules import catalog
from pegboard.rules.errors import IllegalMove
from pegboard.rules.game import Seat, State, explained
from pegboard.rules.record import events_digest
from pegboard.rules.shuffle import SeededChance

NUMBERS_FIRST = 8
_NUMBERS = Struct(">4Q")


class Turn(NamedTuple):
    """A move made and what it caused."""

    seat: Seat
    move: Any
    events: list[Any]

    def text(self) -> str:
        """Return `SEAT MOVE`."""
        return f"{self.seat} {self.move.text()}"


def make_turn(state: State, seed: bytes, number: int) -> Turn:
    """Make the move that the rule of choice gives for this number, on a state that is not over."""
    digest = hashlib.sha256(f"{seed.hex()}/{number}".encode()).digest()
    for_seat, for_move, for_number, _ = _NUMBERS.unpack(digest)
    asked = state.to_act()
    seat = asked[for_seat % len(asked)]
    choices = state.choices(seat)
    for step in range(len(choices.moves)):
        listed = choices.moves[(for_move + step) % len(choices.moves)]
        for move in _filled_in(listed, choices.number, for_number):
            try:
                return Turn(seat, move, state.apply(seat, move))
            except IllegalMove:  # a claim that is too high, or too low to go out
                continue
    raise AssertionError(f"no move of seat {seat} is accepted")


def _filled_in(move: Any, span: tuple[int, int] | None, number: int) -> Iterator[Any]:
    """Yield the move with its numbers, in the order in which they are tried."""
    if span is None or not move.is_open:
        yield move
        return
    low, high = max(span[0], move.LEAST), span[1]
    size = high - low + 1
    first = number % min(size, NUMBERS_FIRST)
    for step in range(size):
        yield move.with_number(low + (first + step) % size)


def make_turns(state: State, seed: bytes) -> Iterator[Turn]:
    """Make moves by the rule of choice until the match is over."""
    number = 0
    while state.to_act():
        number += 1
        yield make_turn(state, seed, number)


def story(
    variant: str, options: Mapping[str, str], seats: int, seed: bytes, nonce: str
) -> Iterator[str]:
    """Yield the lines of a match: a header, then each move with its events indented below it."""
    chance = SeededChance(seed, nonce)
    state, events = catalog.game(variant, options).start(seats, chance)
    settings = " ".join(f"{key}={value}" for key, value in options.items())
    yield f"variant: {variant}"
    yield f"options: {settings or 'those of the variant'}"
    yield f"seats: {seats}"
    yield f"seed: {seed.hex()}"
    yield f"nonce: {nonce}"
    yield f"commitment: {chance.commitment().hex()}"
    yield "moves: chosen by the rule of pegboard/rules/playthrough.py"
    yield ""
    yield from (f"  {explained(event)}" for event in events)
    told = list(events)
    for turn in make_turns(state, seed):
        yield turn.text()
        yield from (f"  {explained(event)}" for event in turn.events)
        told += turn.events
    outcome = state.outcome()
    assert outcome is not None
    yield ""
    yield f"points: {' '.join(f'{points:.4f}' for points in outcome.points)}"
    yield f"scores: {' '.join(map(str, outcome.scores))}"
    yield f"games won: {' '.join(map(str, outcome.games_won))}"
    yield f"events digest: {events_digest(told)}"
