"""The options of cribbage as text: what a match may set, how it is read, what does not go together."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import NamedTuple

from pegboard.rules.cribbage.forms import FORMS, STANDARD
from pegboard.rules.cribbage.scoring.show import NO_JOKERS, WILD, ZERO
from pegboard.rules.errors import OptionError
from pegboard.rules.game import Option, Seat

ALTERNATE, LOSER, WINNER = "alternate", "loser", "winner"
MAX_SCORE = 999
MAX_GAMES = 99
_FLAG = ("off", "on")


@dataclass(frozen=True, slots=True)
class CribbageOptions:
    """What a variant of cribbage sets; `FIELDS` explains each of them.

    `players` 0: every number of seats that the form has. `target` and `lone_target` None: the form's.
    `start_scores` (): all 0. `Cribbage` adds what a game does, so that the phases of a deal, which need
    the options, do not import the game that is made of them.
    """

    form: str = STANDARD
    players: int = 0
    target: int | None = None
    lone_target: int | None = None
    lone_seat: Seat = 0
    match_games: int = 1
    first_deal: str = ALTERNATE
    skunks: bool = False
    start_scores: tuple[int, ...] = ()
    auto_go: bool = True
    jokers: str = NO_JOKERS
    bind_jokers: bool = True
    muggins: bool = False
    lowball: bool = False
    discard_fives: bool = False
    three_runs: bool = False
    auction: bool = False
    zero_penalty: bool = False
    back_up_10: bool = False

    def sides(self, seats: int) -> tuple[int, ...]:
        """Return the side of each seat, numbered in the order of their first seat."""
        return sides_of(self, seats)

    def target_of(self, side: int, seats: int) -> int:
        """Return the score that wins for a side; 0 if there is none (R-C7)."""
        form = FORMS[self.form]
        lone = form.lone_target if self.lone_target is None else self.lone_target
        if lone and self.sides(seats)[self.lone_seat] == side:
            return lone
        return form.target if self.target is None else self.target


class Field(NamedTuple):
    """An option: `values` for words, else a number from `low` to `high`, several where `many`."""

    key: str
    help: str
    values: tuple[str, ...] = ()
    low: int = 0
    high: int = 0
    many: bool = False

    def read(self, text: str) -> object:
        """Return the value for `Cribbage`. Raises `OptionError`."""
        word = text.strip().lower()
        if self.many:
            return tuple(self._number(part) for part in word.split(",")) if word else ()
        if not self.values:
            return self._number(word)
        if word not in self.values:
            raise OptionError(f"{self.key} {text!r} is not one of {', '.join(self.values)}")
        return word == "on" if self.values == _FLAG else word

    def _number(self, text: str) -> int:
        word = text.strip()
        if re.fullmatch(r"[0-9]{1,4}", word) and self.low <= int(word) <= self.high:
            return int(word)
        raise OptionError(
            f"{self.key} {text!r} is out of range; give a number from {self.low} to {self.high}"
        )

    def option(self, value: object) -> Option:
        """Return the option with this value as its default."""
        low, high = (0, 0) if self.many else (self.low, self.high)  # a list is text
        if isinstance(value, bool):
            default = _FLAG[value]
        elif isinstance(value, tuple):
            default = ",".join(map(str, value))
        else:
            default = str(value)
        return Option(self.key, self.help, default, self.values, low, high)


_FIELDS = (
    Field("form", "what is dealt and who plays whom", tuple(FORMS)),
    Field("target", "score that wins a game", low=1, high=MAX_SCORE),
    Field("lone_target", "the lone seat's target in two-on-one", low=1, high=MAX_SCORE),
    Field("lone_seat", "who plays against the two others", low=0, high=2),
    Field("match_games", "games of a match, odd between two sides", low=1, high=MAX_GAMES),
    Field("first_deal", "who deals first in the next game", (ALTERNATE, LOSER, WINNER)),
    Field("skunks", "a win by 31 counts 2 in the match, by 61 it counts 3", _FLAG),
    Field(
        "start_scores",
        "scores at the start of every game, by side, like 0,15; empty: all 0",
        low=0,
        high=MAX_SCORE,
        many=True,
    ),
    Field("auto_go", "the server says a forced go", _FLAG),
    Field("jokers", "two jokers: wild, or worth zero", (NO_JOKERS, WILD, ZERO)),
    Field("bind_jokers", "a wild joker shows as the card it was played as", _FLAG),
    Field("muggins", "players count, opponents take what they leave out", _FLAG),
    Field("lowball", "who reaches the target loses", _FLAG),
    Field("discard_fives", "fives go to the crib", _FLAG),
    Field("three_runs", "runs of exactly three only, each of them", _FLAG),
    Field("auction", "players bid for the crib", _FLAG),
    Field("zero_penalty", "a hand or crib of 0 gives the opponents 1", _FLAG),
    Field("back_up_10", "a hand or crib of 0 moves its owner back 10", _FLAG),
)
FIELDS: dict[str, Field] = {field.key: field for field in _FIELDS}
"""All options by key, which is also the field of `Cribbage`."""

ALONE_KEYS = ("form", "three_runs")
"""What a game for one may set (R-C9.13)."""


def keys_of(game: CribbageOptions) -> tuple[str, ...]:
    """Return the keys of the options that the game has."""
    if FORMS[game.form].alone:
        return ALONE_KEYS
    return tuple(FIELDS)


def check(game: CribbageOptions, seats: int) -> None:
    """Raise `OptionError` if options do not go together with this number of seats (R-C9.13)."""
    form = FORMS[game.form]
    if form.alone:
        _check_alone(game)
        return
    if game.lowball:
        _check_lowball(game)
    if form.teams != "lone" and game.lone_seat:
        raise OptionError(f"lone_seat: no seat plays alone in {form.name}; leave it out")
    if game.lone_target is not None and not form.lone_target:
        raise OptionError(
            f"lone_target: all sides of {form.name} have the same target; set target instead"
        )
    if game.skunks and form.lone_target:
        raise OptionError(
            "skunks do not go with two-on-one: its sides have different targets, so a lead "
            "of 31 means nothing"
        )
    if not game.bind_jokers and game.jokers != WILD:
        raise OptionError("bind_jokers=off goes with jokers=wild only; other jokers bind nothing")
    _check_numbers(game, seats)


def _check_alone(game: CribbageOptions) -> None:
    plain = type(game)(form=game.form, three_runs=game.three_runs)
    changed = [key for key in FIELDS if getattr(plain, key) != getattr(game, key)]
    if changed:
        raise OptionError(
            f"{changed[0]} does not go with {game.form}: a game for one takes three_runs only"
        )


def _check_lowball(game: CribbageOptions) -> None:
    for key in ("auction", "muggins", "zero_penalty", "back_up_10"):
        if getattr(game, key):
            raise OptionError(
                f"lowball does not go with {key}: who wants to stay low would gain by it"
            )


def _check_numbers(game: CribbageOptions, seats: int) -> None:
    """Check what is counted by side."""
    sides = game.sides(seats)
    count = max(sides) + 1
    if count == 2 and game.match_games % 2 == 0:
        raise OptionError(f"match_games {game.match_games} is even; give an odd number")
    scores = game.start_scores
    if scores and len(scores) != count:
        raise OptionError(f"start_scores has {len(scores)} numbers for {count} sides; give {count}")
    given = FORMS[game.form].pone_start
    for side, score in enumerate(scores or (0,) * count):
        target = game.target_of(side, seats)
        if score + given >= target:
            raise OptionError(
                f"start_scores {score} leaves side {side} nothing to play for; give less "
                f"than {target - given}"
                if score
                else f"target {target} is too low; give more than {given}"
            )


def seats_of(game: CribbageOptions) -> tuple[int, ...]:
    """Return the numbers of seats, ascending."""
    return (game.players,) if game.players else tuple(FORMS[game.form].deals)


def sides_of(game: CribbageOptions, seats: int) -> tuple[int, ...]:
    """Return the side of each seat; sides are numbered in the order of their first seat."""
    teams = FORMS[game.form].teams
    if teams == "partners":
        return tuple(seat % 2 for seat in range(seats))
    if teams == "lone":
        lone = [int(seat == game.lone_seat) for seat in range(seats)]
        return tuple(side ^ lone[0] for side in lone)
    return tuple(range(seats))
