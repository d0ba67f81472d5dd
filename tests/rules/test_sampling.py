"""Sampled states agree with what the seat has seen, can be played on, and are evenly spread."""

from __future__ import annotations

from collections import Counter
from itertools import combinations, permutations
from random import Random
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.rules.books.book import book_of
from tests.rules.secrecy import Story, told
from tests.rules.strategies import VARIANTS, Case, cases, random_turn, snapshot, started

from pegboard.rules import catalog
from pegboard.rules.cards import PACK, VALUE, parse_cards, places_of
from pegboard.rules.dominoes.hands import FITS, hand_of, tiles_of
from pegboard.rules.dominoes.line import Line
from pegboard.rules.errors import ViewError
from pegboard.rules.game import State
from pegboard.rules.shuffle import ScriptedChance, SeededChance
from pegboard.rules.tiles import SET, Tile

MOVES_MOST = 160
PLAYED_ON_MOST = 4000

each_variant = pytest.mark.parametrize("variant", VARIANTS)
few = settings(
    max_examples=12,
    deadline=None,
    suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow],
)


def luck(number: int) -> SeededChance:
    """Return the luck of a sample."""
    return SeededChance(number.to_bytes(32, "big"), "sample")


def check_sample(case: Case, story: Story, rng: Random) -> None:
    """Sample for every seat and a spectator: the same view and questions, a possible past, an end."""
    state = story.state
    for reader in (*range(case.seats), None):
        sample = story.game.sample(state.view(reader), reader, luck(rng.randrange(1 << 60)))
        assert sample.view(reader) == state.view(reader)
        assert sample.to_act() == state.to_act()
        assert sample.outcome() == state.outcome()
        assert sample.standing() == state.standing()
        if reader is not None:
            assert sample.choices(reader) == state.choices(reader)
            if state.to_act():
                check_past(case, story, reader, sample)
        play_on(sample, rng)


def check_past(case: Case, story: Story, reader: int, sample: State) -> None:
    """The deal can have gone so that the seat saw the same events and it ends in the sample."""
    book = book_of(story.game.family)
    orders, moves = book.past(story, reader, sample)
    _, past, events = started(case, ScriptedChance(orders, otherwise=case.chance))
    for seat, move in moves:
        events += past.apply(seat, move)
    assert [book.visible(event, reader) for event in events[story.deal_from :]] == [
        book.visible(event, reader) for event in story.events[story.deal_from :]
    ]
    assert snapshot(past, case.seats) == snapshot(sample, case.seats)


def play_on(state: State, rng: Random) -> None:
    """Play to the end of the match."""
    for _ in range(PLAYED_ON_MOST):
        if not state.to_act():
            return
        random_turn(state, rng)
    raise AssertionError("the match does not end")


@each_variant
@few
@given(data=st.data())
def test_a_sample_agrees_with_all_that_the_seat_has_seen(variant: str, data: st.DataObject) -> None:
    case = data.draw(cases(variant))
    check_sample(case, told(case, data.draw(st.integers(0, MOVES_MOST))), case.rng)


@pytest.mark.long
@each_variant
@settings(few, max_examples=150)
@given(data=st.data())
def test_many_samples_agree(variant: str, data: st.DataObject) -> None:
    case = data.draw(cases(variant))
    check_sample(case, told(case, data.draw(st.integers(0, 2 * MOVES_MOST))), case.rng)


SECRETIVE = [variant for variant in VARIANTS if max(catalog.find(variant).game.seats) > 1]


@pytest.mark.parametrize("variant", SECRETIVE)
def test_samples_differ_and_are_repeatable(variant: str) -> None:
    game = catalog.find(variant).game
    state, _ = game.start(game.seats[0], luck(1))
    view = state.view(0)
    others = [game.sample(view, 0, luck(number)).view(1).hand for number in range(20)]
    assert len(set(others)) > 15 or not any(others)
    assert game.sample(view, 0, luck(3)).view(1) == game.sample(view, 0, luck(3)).view(1)


def test_a_view_that_no_state_shows_is_refused() -> None:
    for variant in ("draw", "cribbage"):
        game = catalog.find(variant).game
        state, _ = game.start(2, luck(1))
        view = state.view(0)
        broken = view._replace(hand=view.hand[:1] * len(view.hand))
        with pytest.raises(ViewError):
            game.sample(broken, 0, luck(2))


# Distribution


def check_even(drawn: Counter[Any], possible: set[Any]) -> None:
    """Chi-square: five standard deviations above its mean are not reached by an even spread."""
    assert set(drawn) <= possible
    expected = drawn.total() / len(possible)
    assert expected > 15, "too few samples to tell"
    free = len(possible) - 1
    chi_square = sum((drawn[item] - expected) ** 2 / expected for item in possible)
    assert chi_square < free + 5 * (2 * free) ** 0.5


def draw_position(seats: int, seed: int, moves: int, chosen: bool) -> Any:
    """Return a state of Draw after moves that are forced draws only, or that also draw by choice."""
    game = catalog.find("draw").game
    state, _ = game.start(seats, luck(seed))
    rng = Random(seed)
    for _ in range(moves):
        seat = state.to_act()[0]
        legal = state.choices(seat).moves
        places = [move for move in legal if move.text().startswith("PLACE")]
        state.apply(seat, rng.choice(legal if chosen or not places else places))
    return state


def explained(view: Any, seat: int, hand: tuple[Tile, ...], forced: bool) -> bool:
    """Whether the seat can hold these tiles: every past of its tiles is tried."""
    draws: list[int] = []
    placed: list[tuple[Any, int]] = []
    voids = 0
    line = Line()
    for act in view.acts:
        fits = FITS[line.ends[0].pips] | FITS[line.ends[1].pips] if line.ends else 0
        if act.tile is not None:
            line.place(act.tile, act.end)
            if act.seat == seat:
                placed.append((act.tile, len(draws)))
        elif act.seat == seat and act.passed:
            voids |= fits
        elif act.seat == seat:
            draws.append(fits)
    if voids & hand_of(hand):
        return False
    if not forced:
        return True
    tiles = [*placed, *((tile, len(draws)) for tile in hand)]
    dealt = len(tiles) - len(draws)
    for later in permutations(range(len(tiles)), len(draws)):
        got = {place: number for number, place in enumerate(later, 1)}
        if all(
            got.get(at, 0) <= before
            and not any(draws[n] & hand_of((tile,)) for n in range(got.get(at, 0), before))
            for at, (tile, before) in enumerate(tiles)
        ):
            return True
    assert dealt >= 0
    return False


def hidden_of(view: Any) -> list[Tile]:
    """Return the tiles that the seat of the view does not see."""
    return [tile for tile in SET if tile not in (*view.hand, *view.line)]


@pytest.mark.parametrize(
    ("seed", "moves", "forced"),
    [(2, 24, True), (3, 16, True), (11, 16, True), (9, 20, False), (13, 24, False)],
)
def test_the_hand_of_an_opponent_in_draw_is_even(seed: int, moves: int, forced: bool) -> None:
    view = draw_position(2, seed, moves, chosen=not forced).view(0)
    assert view.hand_sizes[1] > 1
    possible = {
        hand
        for hand in combinations(hidden_of(view), view.hand_sizes[1])
        if explained(view, 1, hand, forced)
    }
    game: Any = catalog.find("draw").game
    drawn: Counter[Any] = Counter(
        tiles_of(game.sample(view, 0, luck(number), forced).hands[1])
        for number in range(25 * len(possible))
    )
    check_even(drawn, possible)


@pytest.mark.parametrize(("seats", "seed", "moves"), [(3, 5, 24), (3, 6, 20), (4, 1, 25)])
def test_the_hands_of_several_opponents_in_draw_are_even(seats: int, seed: int, moves: int) -> None:
    view = draw_position(seats, seed, moves, chosen=False).view(0)
    others = range(1, seats)
    possible: set[Any] = {()}
    for seat in others:
        possible = {
            (*hands, hand)
            for hands in possible
            for hand in combinations(
                [t for t in hidden_of(view) if not any(t in h for h in hands)],
                view.hand_sizes[seat],
            )
            if explained(view, seat, hand, True)
        }
    assert any(act.passed for act in view.acts)
    game: Any = catalog.find("draw").game
    drawn: Counter[Any] = Counter()
    for number in range(25 * len(possible)):
        hands = game.sample(view, 0, luck(number)).hands
        drawn[tuple(tiles_of(hands[seat]) for seat in others)] += 1
    check_even(drawn, possible)


def cribbage_position(orders: dict[str, str], moves: str, variant: str = "cribbage") -> State:
    """Return a state of two-handed cribbage, dealt and played as told; seat 0 deals."""
    scripted = {label: places_of(parse_cards(cards)) for label, cards in orders.items()}
    game = catalog.find(variant).game
    state, _ = game.start(2, ScriptedChance({"cut/1": [0, 50], **scripted}))
    for text in moves.split(", "):
        seat, _, move = text.partition(" ")
        state.apply(int(seat), game.parse_move(move))
    return state


DEAL = {"deal/1/1": "9C 2C 9D 2D 9H 3C TC 3D TD KS QS KH 7S"}
"""Seat 1 has 9C 9D 9H TC TD QS, seat 0 has 2C 2D 3C 3D KS KH; the starter is 7S."""
UP_TO_THE_GO = (
    "0 DISCARD KH KS, 1 DISCARD 9C QS, 1 PLAY TC, 0 PLAY 2C, 1 PLAY TD, 0 PLAY 3C,"
    " 0 PLAY 2D, 0 PLAY 3D"
)


def test_a_hand_of_cribbage_after_a_go_is_even() -> None:
    """Seat 1 said go at 25, so its two cards count 7 or more; its discards may be anything."""
    state: Any = cribbage_position(DEAL, UP_TO_THE_GO)
    view = state.view(0)
    assert view.hand_sizes == (0, 2)
    seen = {*view.discards, view.starter, *(played.card for played in view.played)}
    high = [card for card in PACK if card not in seen and VALUE[card] > 6]
    drawn: Counter[Any] = Counter()
    aside: Counter[Any] = Counter()
    for number in range(6000):
        sampled: Any = catalog.find("cribbage").game.sample(view, 0, luck(number))
        table = sampled.table
        drawn[tuple(table.hands[1])] += 1
        aside[table.discards[1][0]] += 1
    check_even(drawn, set(combinations(high, 2)))
    assert any(VALUE[card] < 7 for card in aside)
