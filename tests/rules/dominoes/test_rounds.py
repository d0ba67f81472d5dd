"""Deals, the end of a round, its points, and the way to the target (R-D4, R-D6, R-D19 to R-D29)."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

import pytest

from pegboard.rules.dominoes.events import Dealt, Drawn, GameStarted, OpenerDrawn
from pegboard.rules.dominoes.game import Dominoes
from pegboard.rules.dominoes.hands import BIT, tiles_of
from pegboard.rules.dominoes.scoring import block_points, block_winner, leaders, out_points
from pegboard.rules.dominoes.state import DominoesState
from pegboard.rules.errors import OptionError, SeatsError
from pegboard.rules.shuffle import ScriptedChance, SeededChance
from pegboard.rules.tiles import HIDDEN, SET, Tile, parse_tile, places_of

SEED = bytes(range(32))


def tiles(text: str) -> list[Tile]:
    """Read tiles separated by blanks."""
    return [parse_tile(tile) for tile in text.split()]


def play(state: DominoesState, *moves: str) -> list[str]:
    """Make the moves of whoever is on turn; return the texts of the last move's events."""
    events: list[str] = []
    for move in moves:
        events = [event.text() for event in state.apply(state.turn, Dominoes().parse_move(move))]
    return events


def dealt(game: Dominoes, *hands: str, last: str = "") -> DominoesState:
    """Start with these hands by seat (seat 0 opens); all draw ascending, the tiles of `last` last."""
    columns = [tiles(hand) for hand in hands]
    order = [tile for row in zip(*columns, strict=True) for tile in row]
    never = tiles(last)
    order += [tile for tile in SET if tile not in order and tile not in never]
    labels = ["round/1/1", *(f"draw/1/1/{seat}" for seat in range(len(hands)))]
    state, _ = game.start(
        len(hands), ScriptedChance(dict.fromkeys(labels, places_of(order + never)))
    )
    return state


@pytest.mark.parametrize(("seats", "hand", "stock"), [(2, 7, 14), (3, 7, 7), (4, 6, 4)])
def test_the_deal(seats: int, hand: int, stock: int) -> None:
    """D-32: R-D4, R-D5; one at a time from the opener's seat onward, then the stock."""
    chance = SeededChance(SEED, "deal")
    opener = seats - 1
    state, events = Dominoes(first_opener=opener).start(seats, chance)
    order = [SET[place] for place in chance.order("round/1/1", 28, 28)]
    deal = events[-1]
    assert isinstance(deal, Dealt)
    assert deal.stock == stock
    for place in range(seats):
        seat = (opener + place) % seats
        assert deal.hands[seat] == tuple(sorted(order[place : seats * hand : seats]))
    assert tiles_of(state.stock) == tuple(sorted(order[seats * hand :]))
    assert state.stock_left == stock


class Asked:
    """Chance that remembers the labels that it was asked for."""

    def __init__(self, nonce: str) -> None:
        self.chance = SeededChance(SEED, nonce)
        self.labels: list[str] = []

    def order(self, label: str, size: int, count: int) -> Sequence[int]:
        """Return the order and remember its label."""
        self.labels.append(label)
        return self.chance.order(label, size, count)


@pytest.mark.parametrize("seats", [2, 3, 4])
def test_each_seat_draws_the_first_tile_of_its_own_order_that_is_in_the_stock(seats: int) -> None:
    """X-21, over a match of three games at random, from what docs/deals.md says alone."""
    chance = Asked("own orders")
    state, events = Dominoes(match_games=3).start(seats, chance)
    rng = Random(7)
    round_of = {0: 0}
    drawn = 0
    stock: set[Tile] = set()
    game = 0
    while True:
        for event in events:
            if isinstance(event, GameStarted):
                game = event.game
            elif isinstance(event, Dealt):
                round_of[game] = event.round
                stock = set(SET).difference(*event.hands)
            elif isinstance(event, Drawn):
                label = f"draw/{game}/{round_of[game]}/{event.seat}"
                order = chance.chance.order(label, 28, 28)
                assert event.tile == next(SET[place] for place in order if SET[place] in stock)
                stock.remove(event.tile)
                drawn += 1
        if not state.to_act():
            break
        events = state.apply(state.turn, rng.choice(state.choices(state.turn).moves))
    assert drawn >= 15
    assert game == 3 or seats == 2
    own = [label for label in chance.labels if label.startswith("draw/")]
    assert len(own) < 1.5 * len(set(own)), "an order is made when it is needed, mostly once"
    rounds = [label for label in chance.labels if label.startswith("round/")]
    assert rounds == [
        f"round/{number}/{one}"
        for number in range(1, game + 1)
        for one in range(1, round_of[number] + 1)
    ]


@pytest.mark.parametrize("seats", [2, 3, 4])
def test_every_tile_of_the_stock_is_drawn_as_often(seats: int) -> None:
    """X-21: a draw is uniform over the stock, also after another seat's draws; five standard errors."""
    counts = dict.fromkeys(SET, 0)
    times = 6000
    for number in range(times):
        state, _ = Dominoes(first_opener=0).start(seats, SeededChance(SEED, f"uniform/{number}"))
        place = state.choices(0).moves[0]
        state.apply(0, Dominoes().parse_move("DRAW"))
        state.apply(0, place)
        (drawn,) = state.apply(1, Dominoes().parse_move("DRAW"))
        assert isinstance(drawn, Drawn)
        counts[drawn.tile] += 1
    assert all(abs(count - times / 28) < 5 * (times / 28) ** 0.5 for count in counts.values())


def test_what_one_seat_draws_leaves_the_next_draws_of_the_other_alone() -> None:
    """X-21: in a mirrored match one different draw does not deal the rest anew."""
    found: set[tuple[int, ...]] = set()
    for extra in (0, 3):
        state, _ = Dominoes(first_opener=0).start(2, SeededChance(SEED, "alone"))
        for _ in range(extra):
            state.apply(0, Dominoes().parse_move("DRAW"))
        state.apply(0, state.choices(0).moves[0])
        taken = {tile for tile in SET if not state.stock & BIT[tile]}
        draws = [state.apply(1, Dominoes().parse_move("DRAW"))[0] for _ in range(3)]
        order = SeededChance(SEED, "alone").order("draw/1/1/1", 28, 28)
        expected = [SET[place] for place in order if SET[place] not in taken][:3]
        assert [draw.tile for draw in draws if isinstance(draw, Drawn)] == expected
        found.add(tuple(expected))
    assert len(set.intersection(*map(set, found))) >= 2, "most of what is drawn stays the same"


def test_a_copy_draws_for_itself() -> None:
    """The orders that a copy makes are its own, and the same ones."""
    state, _ = Dominoes(first_opener=0).start(2, SeededChance(SEED, "copy"))
    other = state.copy()
    draw = Dominoes().parse_move("DRAW")
    theirs = [other.apply(0, draw) for _ in range(3)]
    assert state.stock_left == 14
    assert [state.apply(0, draw) for _ in range(3)] == theirs


@pytest.mark.parametrize(
    ("orders", "seats", "opener", "texts"),
    [
        ({"opener/1": "3|5 2|2"}, 2, 0, ["OPENER 3|5 2|2"]),
        ({"opener/1": "0|1 0|0 6|6"}, 3, 2, ["OPENER 0|1 0|0 6|6"]),
        (
            {"opener/1": "1|5 0|0 3|3 2|4", "opener/2": "0|0 1|1 0|2", "opener/3": "0|0 0|1"},
            4,
            3,
            ["OPENER 1|5 -- 3|3 2|4", "OPENER -- -- 0|0 0|1"],
        ),
    ],
)
def test_the_heaviest_tile_opens_and_ties_draw_again(
    orders: dict[str, str], seats: int, opener: int, texts: list[str]
) -> None:
    """R-D6: fair lot; only those tied for the heaviest draw again."""
    chance = ScriptedChance({label: places_of(tiles(text)) for label, text in orders.items()})
    state, events = Dominoes().start(seats, chance)
    drawn = [event for event in events if isinstance(event, OpenerDrawn)]
    assert state.opener == state.turn == opener
    assert drawn[-1].text() == texts[-1]
    assert len(drawn) == len(orders)


def test_every_seat_opens_as_often() -> None:
    """R-D6: the lot favours nobody: 3,000 draws among three, five standard errors."""
    openers = [0, 0, 0]
    for number in range(3000):
        state, _ = Dominoes().start(3, SeededChance(SEED, str(number)))
        openers[state.opener] += 1
    assert all(abs(count - 1000) < 130 for count in openers)


@pytest.mark.parametrize(
    ("pips", "winner", "points"),
    [
        ((3, 8, 10), 0, 15),
        ((3, 3, 10), None, 0),
        ((7, 12), 0, 5),
        ((6, 6), None, 0),
        ((0, 0, 9), None, 0),
        ((9, 8, 7, 6), 3, 18),
    ],
)
def test_a_block(pips: tuple[int, ...], winner: int | None, points: int) -> None:
    """D-16 to D-21, R-D23: the one lowest hand, its own pips once; shared, nobody scores."""
    assert block_winner(pips) == winner
    if winner is not None:
        assert block_points(pips, winner) == points


@pytest.mark.parametrize(
    ("pips", "points"), [((0, 0, 8), 8), ((0, 0), 0), ((0, 12, 12), 24), ((0, 1, 2, 3), 6)]
)
def test_going_out(pips: tuple[int, ...], points: int) -> None:
    """D-23 to D-25, R-D22: all that the rivals hold; [0|0] does not tie with an empty hand."""
    assert out_points(pips, 0) == points


OUT_HANDS = ("0|1 1|2 2|3 3|4 4|5 5|6 6|6", "0|0 0|6 1|6 1|1 1|3 3|3 4|4")
OUT_MOVES = (
    *("PLACE 0|1", "PLACE 0|0@L", "PLACE 1|2@R", "PLACE 0|6@L", "PLACE 2|3@R", "PLACE 1|6@L"),
    *("PLACE 3|4@R", "PLACE 1|1@L", "PLACE 4|5@R", "PLACE 1|3@L", "PLACE 5|6@R", "PLACE 3|3@L"),
    "PLACE 6|6@R",
)
BLOCK_HANDS = ("0|1 0|2 3|4 0|0 6|6 5|5 4|4", "1|2 0|3 0|4 1|1 2|2 1|3 2|3")
BLOCK_MOVES = (
    *["DRAW"] * 12,
    *("PLACE 0|1", "PLACE 1|2@R", "PLACE 0|2@R", "PLACE 0|3@R", "PLACE 3|4@R", "PLACE 0|4@R"),
    *("PLACE 0|0@L", "PASS", "PASS"),
)


def test_a_round_won_by_going_out() -> None:
    """R-D19, R-D22, R-D26: seat 1 keeps 4|4; the next seat opens, whoever won."""
    events = play(dealt(Dominoes(first_opener=0), *OUT_HANDS), *OUT_MOVES)
    assert events[0] == "PLACED 0 6|6@R 5|6:high-6|6:A / 3|3:B:3 6|6:B:6"
    assert events[1] == "ROUND_ENDED 1 OUT WINNER 0 POINTS 8 SCORES 8 0 /  / 4|4"
    assert events[2].startswith("DEAL 2 OPENER 1 / ")


def test_a_dead_line_does_not_end_the_round() -> None:
    """R-D20: all zeros but the last two are out, both ends are 0, and still two passes are due."""
    state = dealt(Dominoes(first_opener=0), *BLOCK_HANDS, last="0|5 0|6")
    assert not any(text.startswith("ROUND") for text in play(state, *BLOCK_MOVES[:-2]))
    assert play(state, "PASS") == ["PASSED 1"]
    assert state.view(None).passes == 1


def test_a_blocked_round() -> None:
    """R-D23: seat 1 has 2 + 4 + 4 + 5 = 15, seat 0 the rest: 168 - 20 laid - 11 stock - 15 = 122."""
    state = dealt(Dominoes(first_opener=0, target=107), *BLOCK_HANDS, last="0|5 0|6")
    events = play(state, *BLOCK_MOVES)
    assert events[0] == "PASSED 0"
    assert events[1].startswith("ROUND_ENDED 1 BLOCKED WINNER 1 POINTS 107 SCORES 0 107 / ")
    assert events[1].endswith(" / 1|1 1|3 2|2 2|3")
    assert events[2] == "GAME_ENDED 1 SCORES 0 107 WINNERS 1"


def test_the_target_is_reached_exactly_or_not() -> None:
    """R-D27: the game goes on one point below the target."""
    assert dealt(Dominoes(first_opener=0), *OUT_HANDS).outcome() is None
    for target, over in ((8, True), (9, False)):
        state = dealt(Dominoes(first_opener=0, target=target), *OUT_HANDS)
        play(state, *OUT_MOVES)
        assert state.over == over


@pytest.mark.parametrize(
    ("seats", "before", "award", "winners"),
    [
        (2, (98, 40), 1, ()),
        (2, (98, 40), 2, (0,)),
        (3, (60, 0, 0), 1, (0,)),
        (3, (60, 0, 0), 0, ()),
        (4, (0, 0, 0, 0), 61, (0,)),
    ],
)
def test_the_target(
    seats: int, before: tuple[int, ...], award: int, winners: tuple[int, ...]
) -> None:
    """D-26, D-27, R-D27: 100 with two, 61 with three or four, reached or passed."""
    target = 100 if seats == 2 else 61
    after = (before[0] + award, *before[1:])
    assert leaders(after, target) == winners


@pytest.mark.parametrize(
    ("scores", "points"),
    [
        ((61, 0, 0, 0), (1.0, 1 / 3, 1 / 3, 1 / 3)),
        ((100, 100), (0.5, 0.5)),
        ((70, 61, 70), (0.75, 0.0, 0.75)),
    ],
)
def test_start_scores_can_decide_a_game(scores: tuple[int, ...], points: tuple[float, ...]) -> None:
    """D-29, D-30, R-D28, R-D29: no round is dealt; equal leaders tie, with no extra difference."""
    state, events = Dominoes(start_scores=scores, first_opener=0).start(
        len(scores), SeededChance(SEED, "start")
    )
    outcome = state.outcome()
    assert outcome is not None
    assert outcome.points == pytest.approx(points)
    assert outcome.scores == scores
    assert [type(event).__name__ for event in events] == ["GameStarted", "GameEnded"]


def finished(game: Dominoes, seats: int, nonce: str) -> tuple[DominoesState, list[str]]:
    """Play a match by its first choices and return its end and the texts of its events."""
    state, events = game.start(seats, SeededChance(SEED, nonce))
    texts = [event.text() for event in events]
    while not state.over:
        move = state.choices(state.turn).moves[0]
        texts += [event.text() for event in state.apply(state.turn, move)]
    return state, texts


def test_the_opening_goes_round_the_table() -> None:
    """D-31, R-D26: clockwise from the opener, through the games of a match."""
    _, texts = finished(Dominoes(first_opener=2, match_games=3), 4, "rotation")
    openers = [int(text.split()[3]) for text in texts if text.startswith("DEAL ")]
    assert len(openers) > 4
    assert openers == [(2 + number) % 4 for number in range(len(openers))]


def test_a_match_between_two_ends_with_the_majority() -> None:
    """Best of three, five games: over as soon as nothing can change who leads."""
    for number in range(12):
        state, texts = finished(Dominoes(match_games=5, target=30), 2, f"best/{number}")
        assert max(state.games_won) == 3
        assert sum(text.startswith("GAME_ENDED") for text in texts) == sum(state.games_won)
        outcome = state.outcome()
        assert outcome is not None
        assert outcome.points[state.games_won.index(3)] == 1.0


def test_a_match_among_three_plays_all_its_games() -> None:
    """X-07: after N games it is over; most wins, ties share."""
    state, _ = finished(Dominoes(match_games=3, target=20), 3, "three")
    assert sum(state.games_won) == 3
    outcome = state.outcome()
    assert outcome is not None
    for one in range(3):
        for other in range(3):
            assert (outcome.points[one] > outcome.points[other]) == (
                state.games_won[one] > state.games_won[other]
            )


def test_a_tied_game_counts_for_all_its_leaders() -> None:
    """R-D28 within a match: three tied games, nobody is ahead."""
    state, events = Dominoes(match_games=3, start_scores=(100, 100)).start(
        2, SeededChance(SEED, "tie")
    )
    assert state.games_won == (3, 3)
    assert events[-1].text() == "GAME_ENDED 3 SCORES 100 100 WINNERS 0 1"
    outcome = state.outcome()
    assert outcome is not None
    assert outcome.points == (0.5, 0.5)


def test_the_excess_is_kept_and_scores_never_fall() -> None:
    """R-D24, R-D27: exact awards add up to the final score."""
    state, texts = finished(Dominoes(), 2, "excess")
    scores = [0, 0]
    for text in texts:
        if text.startswith("ROUND_ENDED"):
            words = text.split()
            if words[4] != "-":
                scores[int(words[4])] += int(words[6])
    assert tuple(scores) == state.scores
    assert max(scores) >= 100


@pytest.mark.parametrize("seats", [2, 3, 4])
def test_only_your_own_tiles_are_shown(seats: int) -> None:
    """R-D14: a hand and a draw are seen by their owner alone; their number by all."""
    game = Dominoes(first_opener=0)
    state, events = game.start(seats, SeededChance(SEED, "hidden"))
    deal = events[-1]
    assert isinstance(deal, Dealt)
    drawn = state.apply(0, game.parse_move("DRAW"))[0]
    assert isinstance(drawn, Drawn)
    for reader in (*range(seats), None):
        seen = game.redact(deal, reader)
        for seat in range(seats):
            own = seat == reader
            assert seen.hands[seat] == (
                deal.hands[seat] if own else (HIDDEN,) * len(deal.hands[seat])
            )
        assert (game.redact(drawn, reader).tile == HIDDEN) == (reader != 0)
        assert game.redact(drawn, reader).stock == state.stock_left


@pytest.mark.parametrize(
    ("options", "seats", "error", "says"),
    [
        ({}, 5, SeatsError, "2, 3 or 4 seats, not 5"),
        ({}, 1, SeatsError, "2, 3 or 4 seats, not 1"),
        ({"start_scores": "1,2,3"}, 2, OptionError, "3 numbers for 2 seats"),
        ({"first_opener": "3"}, 3, OptionError, "seats are 0 to 2"),
        ({"match_games": "2"}, 2, OptionError, "odd"),
        ({"match_games": "0"}, 2, OptionError, "1 to 99"),
        ({"target": "-5"}, 2, OptionError, "1 to 999"),
        ({"target": "²"}, 2, OptionError, "1 to 999"),
        ({"start_scores": "1,,2"}, 2, OptionError, "0 to 999"),
        ({"spinner": "on"}, 2, OptionError, "no option 'spinner'; it has target, match_games"),
    ],
)
def test_options_that_make_no_sense_are_refused(
    options: dict[str, str], seats: int, error: type[Exception], says: str
) -> None:
    """Each with a sentence that says what to give."""
    with pytest.raises(error, match=says):
        Dominoes().with_options(options).start(seats, SeededChance(SEED, "options"))


def test_options_travel_as_text() -> None:
    """What `options` lists as defaults gives the same game back."""
    game = Dominoes(target=50, match_games=3, start_scores=(5, 0), first_opener=1)
    defaults = {option.key: option.default for option in game.options()}
    assert Dominoes().with_options(defaults) == game
    assert Dominoes().with_options({o.key: o.default for o in Dominoes().options()}) == Dominoes()
