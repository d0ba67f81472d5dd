"""Cribbage as a set of options."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from pegboard.rules.cards import parse_card, places_of
from pegboard.rules.cribbage import options as settings
from pegboard.rules.cribbage.events import CribbageEvent
from pegboard.rules.cribbage.forms import FORMS
from pegboard.rules.cribbage.moves import CribbageMove
from pegboard.rules.cribbage.notation import parse_move
from pegboard.rules.cribbage.redaction import Some, redact
from pegboard.rules.cribbage.resuming import sample_state
from pegboard.rules.cribbage.setup import setup_of
from pegboard.rules.cribbage.state import CribbageState
from pegboard.rules.cribbage.view import CribbageView
from pegboard.rules.errors import OptionError, SeatsError
from pegboard.rules.game import Chance, Option, Seat
from pegboard.rules.versions import EDITION, Edition


@dataclass(frozen=True, slots=True)
class Cribbage(settings.CribbageOptions):
    """Implements `rules.game.Game`; its fields are those of `CribbageOptions`."""

    @property
    def family(self) -> str:
        """Return `cribbage`."""
        return "cribbage"

    @property
    def seats(self) -> tuple[int, ...]:
        """The numbers of seats it can have, ascending."""
        return settings.seats_of(self)

    def start(
        self, seats: int, chance: Chance, edition: Edition = EDITION
    ) -> tuple[CribbageState, list[CribbageEvent]]:
        """Cut for the first deal and deal. Raises `SeatsError` and `OptionError`."""
        if seats not in self.seats:
            allowed = " or ".join(map(str, self.seats))
            raise SeatsError(f"{self.form} cribbage is for {allowed} seats, not {seats}")
        settings.check(self, seats)
        return CribbageState.start(setup_of(self, seats, edition), chance)

    def sample(self, view: CribbageView, seat: Seat | None, chance: Chance) -> CribbageState:
        """Return a full state that the view may be of (`cribbage.sampling` tells the distribution)."""
        return sample_state(setup_of(self, len(view.hand_sizes)), view, seat, chance)

    def redact(self, event: Some, seat: Seat | None) -> Some:
        """Return the event as the seat may see it: others' hidden cards are HIDDEN."""
        return redact(event, seat)

    def targets(self, seats: int) -> tuple[int, ...]:
        """Return the target of each side, 0 if there is none."""
        sides = max(self.sides(seats)) + 1
        return tuple(self.target_of(side, seats) for side in range(sides))

    def parse_move(self, text: str) -> CribbageMove:
        """Read a move in canonical notation. Raises `NotationError`."""
        return parse_move(text)

    def places(self, words: Sequence[str]) -> list[int]:
        """Return the places of cards in the pack. Raises `NotationError`."""
        return places_of(map(parse_card, words))

    def options(self) -> tuple[Option, ...]:
        """Return what a match may set, with this game's values as defaults."""
        form = FORMS[self.form]
        defaults = {"target": form.target, "lone_target": form.lone_target or None}
        found = []
        for key in settings.keys_of(self):
            value = getattr(self, key)
            value = defaults.get(key) if value is None else value
            if value is not None:
                found.append(settings.FIELDS[key].option(value))
        return tuple(found)

    def with_options(self, options: Mapping[str, str]) -> Cribbage:
        """Return the game with options changed. Raises `OptionError`."""
        changes: dict[str, Any] = {}
        for key, text in options.items():
            if key not in settings.FIELDS:
                keys = ", ".join(option.key for option in self.options())
                raise OptionError(f"cribbage has no option {key!r}; it has {keys}")
            changes[key] = settings.FIELDS[key].read(text)
        if changes.get("form", self.form) != self.form:
            changes["players"] = 0
        game = replace(self, **changes)
        game._check_some_seats()
        return game

    def _check_some_seats(self) -> None:
        """Refuse options that fit no number of seats; `start` checks the number that comes."""
        refused = []
        for seats in self.seats:
            try:
                settings.check(self, seats)
            except OptionError as error:
                refused.append(error)
        if len(refused) == len(self.seats):
            raise refused[0]
