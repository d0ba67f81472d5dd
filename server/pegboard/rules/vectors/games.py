"""Scripted games: chance and moves are given, events and scores expected (kind game)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from enum import IntEnum
from typing import Any

from pegboard.rules import catalog
from pegboard.rules import errors as all_errors
from pegboard.rules.errors import NotationError, PegboardError
from pegboard.rules.game import Chance, Game, State, explained
from pegboard.rules.shuffle import ScriptedChance, SeededChance
from pegboard.rules.vectors.case import Case, Mismatch, expect, field, numbers, texts


def run_game(case: Case) -> None:
    """Play a scripted match and compare all that the case expects (docs/vectors.md)."""
    game = catalog.game(field(case, "variant"), case.get("options", {}))
    script = _Script(game, case)
    script.play()
    wanted = field(case, "expect")
    unknown = set(wanted) - {"events", "contains", "absent", "scores", "outcome", "to_act"}
    if unknown or not wanted:
        raise NotationError(f"'expect' does not take {sorted(unknown) or 'nothing'}")
    _check_events(script.events, wanted)
    state = script.state
    if "scores" in wanted:
        expect("scores", list(state.standing().scores), numbers(wanted, "scores"))
    if "to_act" in wanted:
        expect("to_act", list(state.to_act()), numbers(wanted, "to_act"))
    if "outcome" in wanted:
        _check_outcome(state, wanted["outcome"])


class _Script:
    """A match that follows a case; `events` are the texts of all events so far."""

    def __init__(self, game: Game, case: Case) -> None:
        self.game = game
        self.moves = texts(case, "moves")
        self.stops: dict[int, list[Callable[[], None]]] = {}
        seats = case.get("seats", game.seats[0])
        self.state: State
        self.state, events = game.start(seats, _chance(game, case))
        self.events = [explained(event) for event in events]
        for refusal in case.get("refused", ()):
            self._at(refusal, lambda refusal=refusal: self._refuse(refusal))  # type: ignore[misc]
        for check in case.get("checks", ()):
            self._at(check, lambda check=check: self._check(check))  # type: ignore[misc]

    def _at(self, item: Case, stop: Callable[[], None]) -> None:
        after = field(item, "after")
        if not 0 <= after <= len(self.moves):
            raise NotationError(f"'after' {after} is not a number of moves made")
        self.stops.setdefault(after, []).append(stop)

    def play(self) -> None:
        """Make all moves, and at each stop the checks that belong there."""
        for number in range(len(self.moves) + 1):
            for stop in self.stops.get(number, ()):
                stop()
            if number < len(self.moves):
                self._move(self.moves[number], f"move {number + 1}")

    def _move(self, text: str, name: str) -> None:
        seat, _, move = text.partition(" ")
        try:
            events = self.state.apply(int(seat), self.game.parse_move(move))
        except PegboardError as error:
            raise Mismatch(f"{name}, {text!r}, is refused: {error}") from None
        self.events += [explained(event) for event in events]

    def _refuse(self, refusal: Case) -> None:
        """Try a move that has to be refused, with nothing changed."""
        seat, text, name = field(refusal, "seat"), field(refusal, "move"), field(refusal, "error")
        kind = getattr(all_errors, name, None)
        if kind is None:
            raise NotationError(f"no error {name!r}; docs/vectors.md has them")
        before = self._picture()
        try:
            self.state.apply(seat, self.game.parse_move(text))
        except PegboardError as error:
            expect(f"error of {text!r}", type(error).__name__, kind.__name__)
        else:
            raise Mismatch(f"{text!r} of seat {seat} is accepted, not refused")
        expect(f"state after the refused {text!r}", self._picture(), before)

    def _picture(self) -> tuple[object, ...]:
        """Return all that anyone can see, and who may do what."""
        seats = range(len(self.state.standing().points))
        views = [self.state.view(seat) for seat in (None, *seats)]
        return (views, [self.state.choices(seat) for seat in seats], self.state.standing())

    def _check(self, check: Case) -> None:
        """Compare questions, scores and the public view at one point of the match."""
        unknown = set(check) - {"after", "to_act", "legal", "number", "scores", "view"}
        if unknown:
            raise NotationError(f"a check does not take {sorted(unknown)}")
        at = f"after move {check['after']}"
        if "to_act" in check:
            expect(f"to_act {at}", list(self.state.to_act()), numbers(check, "to_act"))
        if "scores" in check:
            expect(f"scores {at}", list(self.state.standing().scores), numbers(check, "scores"))
        for seat, moves in check.get("legal", {}).items():
            listed = [move.text() for move in self.state.choices(int(seat)).moves]
            expect(f"legal moves of seat {seat} {at}", listed, moves)
        for seat, span in check.get("number", {}).items():
            number = self.state.choices(int(seat)).number
            expect(f"range of seat {seat} {at}", list(number or ()), span)
        view = self.state.view(None)
        for name, value in check.get("view", {}).items():
            expect(f"{name} {at}", _plain(getattr(view, name, "not there")), value)


def _chance(game: Game, case: Case) -> Chance:
    """Return chance from `orders`, from `seed` and `nonce`, or both, the orders first."""
    seeded = None
    if "seed" in case:
        seeded = SeededChance(bytes.fromhex(case["seed"]), field(case, "nonce"))
    if "orders" not in case:
        if seeded is None:
            raise NotationError("the case has neither 'orders' nor 'seed' and 'nonce'")
        return seeded
    orders = {label: game.places(words) for label, words in case["orders"].items()}
    return ScriptedChance(orders, seeded)


def _check_events(events: Sequence[str], wanted: Mapping[str, Any]) -> None:
    if "events" in wanted:
        _check_all_events(events, texts(wanted, "events"))
    place = 0
    for text in wanted.get("contains", ()):
        while place < len(events) and not _matches(events[place], text):
            place += 1
        if place == len(events):
            raise Mismatch(f"event {text!r} is missing, or not in this order")
        place += 1
    for start in wanted.get("absent", ()):
        found = [event for event in events if event.startswith(start)]
        if found:
            raise Mismatch(f"event {found[0]!r} should not be there")


def _check_all_events(events: Sequence[str], wanted: Sequence[str]) -> None:
    for number, (event, text) in enumerate(zip(events, wanted, strict=False), 1):
        if not _matches(event, text):
            raise Mismatch(f"event {number} is {event!r}, not {text!r}")
    expect("number of events", len(events), len(wanted))


def _matches(event: str, text: str) -> bool:
    """Whether an event is the expected one; what follows ` / ` may be left out."""
    return event == text or event.startswith(f"{text} / ")


def _check_outcome(state: State, wanted: Mapping[str, Any] | None) -> None:
    outcome = state.outcome()
    if wanted is None or outcome is None:
        expect("outcome", outcome, wanted)
        return
    for name, value in wanted.items():
        expect(name, _plain(getattr(outcome, name, "not there")), value)


def _plain(value: object) -> object:
    """Return a value of a view as JSON has it: lists, and names for numbered words."""
    if isinstance(value, IntEnum):
        return value.name
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    return value
