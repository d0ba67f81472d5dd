"""Draw as a set of options."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar, cast

from pegboard.rules.dominoes.events import Dealt, DominoesEvent, Drawn, OpenerDrawn
from pegboard.rules.dominoes.moves import DRAW, PASS, PLACES, DominoesMove, End
from pegboard.rules.dominoes.sampling import sample_state
from pegboard.rules.dominoes.scoring import target_for
from pegboard.rules.dominoes.state import DominoesState, Terms
from pegboard.rules.dominoes.view import DominoesView
from pegboard.rules.errors import NotationError, OptionError, SeatsError
from pegboard.rules.game import Chance, Option, Seat
from pegboard.rules.tiles import HIDDEN, PIPS, SET, Tile, parse_tile, places_of
from pegboard.rules.versions import EDITION, Edition

Some = TypeVar("Some", bound=DominoesEvent)

MAX_SCORE = 999
MAX_GAMES = 99
_ENDS = {"": End.NONE, "L": End.LEFT, "R": End.RIGHT}


@dataclass(frozen=True, slots=True)
class Dominoes:
    """Implements `rules.game.Game`.

    `target` None: 100 for two seats, 61 for more (R-D27). `start_scores` (): all 0. `first_opener`
    None: drawn by lot (R-D6).
    """

    target: int | None = None
    match_games: int = 1
    start_scores: tuple[int, ...] = ()
    first_opener: Seat | None = None

    @property
    def family(self) -> str:
        """Return `dominoes`."""
        return "dominoes"

    @property
    def seats(self) -> tuple[int, ...]:
        """Two to four (R-D1)."""
        return (2, 3, 4)

    def start(
        self, seats: int, chance: Chance, edition: Edition = EDITION
    ) -> tuple[DominoesState, list[DominoesEvent]]:
        """Draw for the first opener and deal. Raises `SeatsError` and `OptionError`."""
        terms = self._terms(seats, edition)
        events: list[DominoesEvent] = []
        opener = self.first_opener
        if opener is None:
            opener = _draw_opener(seats, chance, events)
        state = DominoesState(terms, chance, opener)
        state.begin_game(events)
        return state, events

    def _terms(self, seats: int, edition: Edition) -> Terms:
        if seats not in self.seats:
            raise SeatsError(f"draw has 2, 3 or 4 seats, not {seats}")
        if seats == 2 and self.match_games % 2 == 0:
            raise OptionError(f"match_games {self.match_games} is even; give an odd number")
        scores = self.start_scores or (0,) * seats
        if len(scores) != seats:
            raise OptionError(
                f"start_scores has {len(scores)} numbers for {seats} seats; give {seats}"
            )
        if self.first_opener is not None and self.first_opener >= seats:
            raise OptionError(
                f"first_opener {self.first_opener} is not a seat; seats are 0 to {seats - 1}"
            )
        target = target_for(seats) if self.target is None else self.target
        return Terms(seats, target, self.match_games, scores, edition)

    def sample(
        self, view: DominoesView, seat: Seat | None, chance: Chance, forced_draws: bool = True
    ) -> DominoesState:
        """Return a full state that the view may be of (`dominoes.sampling` tells the distribution).

        `forced_draws`: whether a seat that drew is taken to have held no tile that fitted.
        """
        terms = self._terms(len(view.hand_sizes), EDITION)
        return sample_state(terms, view, seat, chance, forced_draws)

    def redact(self, event: Some, seat: Seat | None) -> Some:
        """Hide the hands dealt to others and the tiles that others draw (R-D14)."""
        return cast("Some", self._redacted(event, seat))

    def _redacted(self, event: DominoesEvent, seat: Seat | None) -> DominoesEvent:
        if isinstance(event, Drawn):
            return event if event.seat == seat else event._replace(tile=HIDDEN)
        if isinstance(event, Dealt):
            return event._replace(
                hands=tuple(
                    hand if owner == seat else (HIDDEN,) * len(hand)
                    for owner, hand in enumerate(event.hands)
                )
            )
        return event

    def sides(self, seats: int) -> tuple[int, ...]:
        """Return a side a seat: there are no partners (R-D1)."""
        return tuple(range(seats))

    def parse_move(self, text: str) -> DominoesMove:
        """Read `PLACE 3|5@L`, `PLACE 3|5`, `DRAW` or `PASS`. Raises `NotationError`."""
        word, _, rest = text.strip().upper().partition(" ")
        if word == "PLACE":
            tile, at, end = rest.strip().partition("@")
            if bool(at) == bool(end) and end in _ENDS:
                return PLACES[parse_tile(tile), _ENDS[end]]
        elif not rest and word in ("DRAW", "PASS"):
            return DRAW if word == "DRAW" else PASS
        raise NotationError(
            f"no move {text!r}; write PLACE 3|5@L, PLACE 3|5@R, PLACE 3|5 to open, DRAW or PASS"
        )

    def places(self, words: Sequence[str]) -> list[int]:
        """Return the places of tiles in the set. Raises `NotationError`."""
        return places_of(map(parse_tile, words))

    def options(self) -> tuple[Option, ...]:
        """Return what a match may set; a number is also allowed if words are listed."""
        target = "auto" if self.target is None else str(self.target)
        opener = "draw" if self.first_opener is None else str(self.first_opener)
        return (
            Option(
                "target",
                "score that wins a game; auto: 100 with two seats, 61 with more",
                target,
                values=("auto",),
                low=1,
                high=MAX_SCORE,
            ),
            Option(
                "match_games",
                "games of a match, odd with two seats",
                str(self.match_games),
                low=1,
                high=MAX_GAMES,
            ),
            Option(
                "start_scores",
                "scores at the start of every game, by seat, like 0,15; empty: all 0",
                ",".join(map(str, self.start_scores)),
            ),
            Option(
                "first_opener",
                "who opens the first round: draw by lot, or a seat",
                opener,
                values=("draw", "0", "1", "2", "3"),
            ),
        )

    def with_options(self, options: Mapping[str, str]) -> Dominoes:
        """Return the game with options changed. Raises `OptionError`."""
        game = self
        for key, value in options.items():
            game = game._with_option(key, value.strip().lower())
        return game

    def _with_option(self, key: str, value: str) -> Dominoes:
        if key == "target":
            target = None if value == "auto" else _number(key, value, 1, MAX_SCORE)
            return replace(self, target=target)
        if key == "match_games":
            return replace(self, match_games=_number(key, value, 1, MAX_GAMES))
        if key == "start_scores":
            parts = value.split(",") if value else []
            scores = tuple(_number(key, part.strip(), 0, MAX_SCORE) for part in parts)
            return replace(self, start_scores=scores)
        if key == "first_opener":
            opener = None if value == "draw" else _number(key, value, 0, max(self.seats) - 1)
            return replace(self, first_opener=opener)
        keys = ", ".join(option.key for option in self.options())
        raise OptionError(f"draw has no option {key!r}; it has {keys}")


def _number(key: str, value: str, low: int, high: int) -> int:
    if re.fullmatch(r"[0-9]{1,4}", value) and low <= int(value) <= high:
        return int(value)
    raise OptionError(f"{key} {value!r} is out of range; give a number from {low} to {high}")


def _draw_opener(seats: int, chance: Chance, events: list[DominoesEvent]) -> Seat:
    """Let each seat draw a tile: the heaviest opens, those tied for it draw again (R-D6)."""
    drawing = list(range(seats))
    attempt = 0
    while len(drawing) > 1:
        attempt += 1
        places = chance.order(f"opener/{attempt}", len(SET), len(drawing))
        drawn = [SET[place] for place in places]
        tiles: list[Tile | None] = [None] * seats
        for seat, tile in zip(drawing, drawn, strict=True):
            tiles[seat] = tile
        events.append(OpenerDrawn(tuple(tiles)))
        heaviest = max(PIPS[tile] for tile in drawn)
        drawing = [
            seat for seat, tile in zip(drawing, drawn, strict=True) if PIPS[tile] == heaviest
        ]
    return drawing[0]
