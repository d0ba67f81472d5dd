"""Properties of every variant under random play, with every combination of options."""

from __future__ import annotations

from random import Random
from typing import Any, NamedTuple

import pytest
from hypothesis import HealthCheck, Phase, assume, given, settings
from hypothesis import strategies as st
from tests.rules.books.book import Audit, book_of
from tests.rules.secrecy import Leak, check_secrecy, told
from tests.rules.strategies import (
    VARIANTS,
    Case,
    cases,
    random_turn,
    sampled,
    snapshot,
    started,
)

from pegboard.rules import catalog
from pegboard.rules.errors import ClaimTooHigh, IllegalMove, MatchOver, MustGoOut, NotYourTurn
from pegboard.rules.game import Game, Seat, State
from pegboard.rules.record import (
    Record,
    events_digest,
    replay,
    verify,
)
from pegboard.rules.results import Result, Termination, forfeit_points

MOVES_MAX = 20_000
LISTED_MAX = 128
PROBES_MAX = 6
PROBED = 0.1
"""Share of the turns at which everything is checked."""

few = settings(
    max_examples=6,
    deadline=None,
    derandomize=True,
    phases=(Phase.explicit, Phase.generate, Phase.shrink),
    suppress_health_check=list(HealthCheck),
)
each_variant = pytest.mark.parametrize("variant", VARIANTS)


def check_choices(game: Game, state: State, seats: int) -> None:
    """Exactly the seats that are asked have moves: listed once, readable, at most 128 (X-15)."""
    asked = state.to_act()
    assert list(asked) == sorted(set(asked))
    assert (state.outcome() is None) == bool(asked)
    for seat in range(seats):
        choices = state.choices(seat)
        assert bool(choices.moves) == (seat in asked)
        assert len(choices.moves) <= LISTED_MAX
        assert len(set(choices.moves)) == len(choices.moves)
        # A host tells by the object whether a question stands while other seats answer theirs.
        assert state.choices(seat) is choices or len(asked) < 2


def check_legal(game: Game, state: State, seats: int, rng: Random) -> None:
    """Every listed move applies on a copy, which is independent, and reads back from its text."""
    before = snapshot(state, seats)
    for seat in state.to_act():
        choices = state.choices(seat)
        for move in sampled(choices, rng, PROBES_MAX):
            assert game.parse_move(move.text()) == move
            try:
                state.copy().apply(seat, move)
            except (ClaimTooHigh, MustGoOut):
                # The range of a claim is wider than the truth, so that it tells nothing (R-C8.6).
                assert choices.number is not None
    assert snapshot(state, seats) == before


def check_illegal(state: State, seats: int, made: list[tuple[Seat, Any]], rng: Random) -> None:
    """Moves of other phases, hands and seats are refused, and then nothing has changed."""
    before = snapshot(state, seats)
    asked = state.to_act()
    for seat in range(seats):
        legal = set(state.choices(seat).expand())
        for _, move in rng.sample(made, min(PROBES_MAX, len(made))):
            if move not in legal:
                refusals = (IllegalMove,) if seat in asked else (NotYourTurn, MatchOver)
                with pytest.raises(refusals):
                    state.apply(seat, move)
    assert snapshot(state, seats) == before


class Played(NamedTuple):
    """A match that is over."""

    state: State
    moves: list[tuple[Seat, Any]]
    events: list[Any]


def played(case: Case) -> Played:
    """Play the case to its end, checking as it goes."""
    game, state, new = started(case)
    rng = case.rng
    book = book_of(game.family)
    audit = book.audit(game, case.seats, state)
    moves: list[tuple[Seat, Any]] = []
    events: list[Any] = []
    while True:
        events += new
        for event in new:
            audit.note(event)
            for reader in (*range(case.seats), None):
                assert game.redact(event, reader) == book.visible(event, reader)
        if rng.random() < PROBED or not state.to_act():
            audit.check()
            check_choices(game, state, case.seats)
            check_legal(game, state, case.seats, rng)
            check_illegal(state, case.seats, moves, rng)
        if not state.to_act():
            return Played(state, moves, events)
        copy = state.copy()
        seat, move, new = random_turn(state, rng)
        assert copy.apply(seat, move) == new
        moves.append((seat, move))
        audit.moved(seat, move)
        assert len(moves) < MOVES_MAX, "the match does not end"


def record_of(case: Case, match: Played, result: Result) -> Record:
    """Return the match as a host would record it."""
    return Record(
        match="property",
        variant=case.variant,
        options=case.options,
        bots=tuple(f"bot-{seat}" for seat in range(case.seats)),
        nonce=case.chance.nonce,
        seed=case.chance.seed,
        commitment=case.chance.commitment(),
        moves=tuple(f"{seat} {move.text()}" for seat, move in match.moves),
        result=result,
        events_digest=events_digest(match.events),
    )


@each_variant
@few
@given(data=st.data())
def test_random_play_keeps_every_rule(variant: str, data: st.DataObject) -> None:
    """Conserved, refused or applied, capped, ended, redacted, copied, recorded and replayed."""
    case = data.draw(cases(variant))
    match = played(case)
    outcome = match.state.outcome()
    assert outcome is not None
    assert outcome == match.state.standing()
    sides = case.game.sides(case.seats)
    by_side = dict(zip(sides, outcome.points, strict=True))
    assert sum(by_side.values()) == pytest.approx(max(len(by_side), 2) / 2)
    result = Result(Termination.NORMAL, None, *outcome)
    record = Record.from_json(record_of(case, match, result).to_json())
    verify(record)
    assert [event for _, events in replay(record) for event in events] == match.events


@pytest.mark.long
@each_variant
@settings(few, max_examples=80)
@given(data=st.data())
def test_many_matches_keep_every_rule(variant: str, data: st.DataObject) -> None:
    """The two tests above and below, on more combinations of options."""
    case = data.draw(cases(variant))
    played(case)
    check_secrecy(case, data.draw(st.integers(0, 200)))


@each_variant
@few
@given(data=st.data())
def test_a_match_cut_short_is_recorded_as_a_forfeit(variant: str, data: st.DataObject) -> None:
    """The seat at fault is last, the others by the scores as they were; the record verifies."""
    case = data.draw(cases(variant))
    story = told(case, data.draw(st.integers(0, 60)))
    assume(story.state.to_act())
    seat = data.draw(st.integers(0, case.seats - 1))
    standing = story.state.standing()
    points = forfeit_points(case.game, case.seats, standing, seat)
    sides = case.game.sides(case.seats)
    assert all(points[seat] <= other for other in points)
    assert all(
        points[other] > points[seat] for other in range(case.seats) if sides[other] != sides[seat]
    )
    match = Played(story.state, story.moves, story.events)
    result = Result(Termination.TIMEOUT, seat, points, standing.scores, standing.games_won, "late")
    verify(record_of(case, match, result))


@each_variant
@few
@given(data=st.data())
def test_no_view_leaks(variant: str, data: st.DataObject) -> None:
    """A seat's view and events are equal for any two states that differ only in what it can't see."""
    check_secrecy(data.draw(cases(variant)), data.draw(st.integers(0, 120)))


def plain(variant: str, seed: int = 1) -> Case:
    """Return the variant as the catalog has it, with the fewest seats."""
    return Case(variant, {}, catalog.find(variant).game.seats[0], seed)


@each_variant
def test_worlds_are_really_compared(variant: str) -> None:
    """The test above is not empty: many other worlds are possible at most points of a match."""
    lengths = (0, 1, 2, 3, 4, 5, 6, 12, 20, 33)
    compared = [check_secrecy(plain(variant, length), length) for length in lengths]
    assert sum(compared) > 40
    assert sum(count > 0 for count in compared) > len(compared) / 2


SECRETIVE = [variant for variant in VARIANTS if max(catalog.find(variant).game.seats) > 1]


@pytest.mark.parametrize("variant", SECRETIVE)
def test_a_leaking_view_is_caught(variant: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The harness notices when everybody is shown the largest hand."""
    case = plain(variant)
    _, state, _ = started(case)
    kind = type(state)
    view = kind.view
    owner = max(range(case.seats), key=state.view(None).hand_sizes.__getitem__)
    monkeypatch.setattr(kind, "view", lambda self, seat: view(self, owner))
    with pytest.raises(Leak, match="views"):
        check_secrecy(case, 0, attempts=20)


@pytest.mark.parametrize("variant", SECRETIVE)
def test_a_leaking_event_is_caught(variant: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The harness notices when nothing is redacted."""
    case = plain(variant)
    monkeypatch.setattr(type(case.game), "redact", lambda self, event, seat: event)
    with pytest.raises(Leak, match="events"):
        check_secrecy(case, 0, attempts=20)


@each_variant
def test_a_lost_card_is_caught(variant: str) -> None:
    """The audit notices an event that books a card which is not there."""
    case = plain(variant)
    game, state, events = started(case)
    book = book_of(game.family)
    audit = book.audit(game, case.seats, state)
    for event in events:
        audit.note(event)
    rng, laid = case.rng, None
    while laid is None:
        seat, move, new = random_turn(state, rng)
        audit.moved(seat, move)
        for event in new:
            audit.note(event)
            laid = event if type(event).__name__ in book.LAYING else laid
    with pytest.raises((AssertionError, KeyError)):
        _note_twice(audit, laid)


def _note_twice(audit: Audit, event: Any) -> None:
    audit.note(event)
    audit.check()
