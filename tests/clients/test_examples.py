"""The example bots: legal in every variant, the same for the same seed, and as strong as they say."""

from __future__ import annotations

import asyncio
import importlib.util
import os
import sys
from pathlib import Path
from random import Random
from typing import Any

import pytest
from tests.service.rig import serving, token_of
from tests.toolchains import require_node_bot

from pegboard.client.testing import ScriptedMatch, play_match, random_choice
from pegboard.rules.cards import PACK, parse_card
from pegboard.rules.catalog import CATALOG
from pegboard.rules.cribbage.moves import Discard, Play
from pegboard.rules.cribbage.scoring.show import show_points
from pegboard.rules.dominoes.moves import Draw, Place
from pegboard.rules.shuffle import SeededChance
from pegboard.rules.tiles import PIPS
from pegboard.v1 import match_pb2

BOTS = Path(__file__).resolve().parents[2] / "examples" / "bots"
NODE = BOTS / "node_random"
EVERY_FORM = [(variant.id, seats) for variant in CATALOG.values() for seats in variant.game.seats]


def load(name: str) -> Any:
    """Import an example bot."""
    spec = importlib.util.spec_from_file_location(name, BOTS / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


greedy = load("greedy_bot")
random_bot = load("random_bot")
search_bot = load("search_bot")
search_bot.PLAYOUTS = 12


@pytest.mark.parametrize(("variant", "seats"), EVERY_FORM)
def test_greedy_and_random_play_every_variant_to_its_end(variant: str, seats: int) -> None:
    """Every choice is legal; what is not raises."""
    bots = [greedy.choose if seat % 2 == 0 else random_bot.choose for seat in range(seats)]
    played = play_match(variant, bots, seed=seats)
    assert played.outcome is not None


@pytest.mark.parametrize(
    ("variant", "seats", "options"),
    [
        ("draw", 3, {"target": "20"}),
        ("cribbage-muggins", 2, {"target": "31"}),
        ("cribbage-auction", 2, {"target": "31"}),
        ("cribbage-lone-crib", 3, {"target": "31"}),
        ("cribbage-jokers-wild", 2, {"target": "21"}),
        ("cribbage-squares", 1, {}),
    ],
)
def test_search_plays_to_the_end(variant: str, seats: int, options: dict[str, str]) -> None:
    played = play_match(variant, [search_bot.choose] * seats, options=options, seed=2)
    assert played.outcome is not None


def test_search_beats_random_in_draw() -> None:
    points = [
        play_match("draw", bots, options={"target": "40"}, seed=seed).outcome
        for seed in range(5)
        for bots in ([search_bot.choose, random_bot.choose],)
    ]
    assert sum(outcome.points[0] for outcome in points if outcome) >= 4


@pytest.mark.parametrize("variant", ["cribbage", "cribbage-muggins", "draw"])
def test_the_same_seed_is_the_same_game(variant: str) -> None:
    """Another seed is another game."""
    one, two = (play_match(variant, [random_bot.choose] * 2, seed=5) for _ in range(2))
    assert one.moves == two.moves
    random_bot.SEED = "another"
    assert play_match(variant, [random_bot.choose] * 2, seed=5).moves != one.moves
    random_bot.SEED = "1"


@pytest.mark.parametrize(
    ("variant", "seats", "least"),
    [("cribbage", 2, 0.9), ("draw", 2, 0.65), ("cribbage-lowball", 2, 0.8)],
)
def test_greedy_beats_random(variant: str, seats: int, least: float) -> None:
    """Mean points over duplicate deals."""
    total = 0.0
    for seed in range(10):
        for place in range(seats):
            bots = [random_choice] * seats
            bots[place] = greedy.choose
            outcome = play_match(variant, bots, seed=seed).outcome
            assert outcome is not None
            total += outcome.points[place]
    assert total / (10 * seats) >= least


def test_greedy_keeps_the_best_hand() -> None:
    """Three fives and the Jack, with any starter."""
    hand = ["5C", "5D", "5H", "JS", "2C", "9D"]
    other = ["AC", "AD", "3H", "4S", "6C", "7D"]
    order = [card for pair in zip(hand, other, strict=True) for card in pair]
    match = ScriptedMatch("cribbage", 2, {"cut/1": ["KC", "AS"], "deal/1/1": order})
    turn = match.turn(0)
    chosen = turn.moves[greedy.choose(turn)]
    assert chosen == Discard((parse_card("2C"), parse_card("9D")))


def test_greedy_hands_average_what_they_should() -> None:
    """Best expected hand: 8.297 over 400,000 deals of an independent simulation."""
    rng = Random(2026)
    rules = greedy.rules_of("cribbage", ())
    total = 0
    deals = 1500
    for _ in range(deals):
        *hand, starter = rng.sample(PACK, 7)
        hand.sort()
        kept = [greedy.without(hand, (a, b)) for n, a in enumerate(hand) for b in hand[n + 1 :]]
        best = max(kept, key=lambda cards: rules.hand_value(cards, hand))
        total += show_points(best, starter, False)
    assert total / deals == pytest.approx(8.297, abs=0.4)  # three standard errors


def test_greedy_pegs_the_most_and_then_the_highest() -> None:
    """Fifteen before the higher card; without points the highest."""
    hands = (["5C", "6D", "QH", "KS", "2C", "9D"], ["AC", "AD", "3H", "4S", "TC", "7D"])
    order = [card for pair in zip(*hands, strict=True) for card in pair]
    match = ScriptedMatch("cribbage", 2, {"cut/1": ["KC", "AS"], "deal/1/1": order})
    match.play("0 DISCARD 2C 9D", "1 DISCARD AC AD")
    first = match.turn(0)
    index, claim = greedy.choose(first)
    assert (first.moves[index], claim) == (Play(parse_card("KS")), None)
    match.play("0 PLAY 6D", "1 PLAY 4S")
    turn = match.turn(0)
    assert turn.moves[greedy.choose(turn)[0]] == Play(parse_card("5C")), "15 and a run of three"


def test_greedy_draws_only_when_it_must() -> None:
    """Along whole games: the heaviest tile that fits, a draw only if nothing else is listed."""
    seen = set()

    def watched(turn: Any) -> int:
        chosen: int = greedy.choose(turn)
        move = turn.moves[chosen]
        places = [each for each in turn.moves if isinstance(each, Place)]
        if isinstance(move, Place):
            assert PIPS[move.tile] == max(PIPS[each.tile] for each in places)
        else:
            assert not places
        seen.add(type(move))
        return chosen

    for seed in range(5):
        play_match("draw", [watched, watched], seed=seed)
    assert {Place, Draw} <= seen


def test_greedy_claims_and_calls_what_is_there() -> None:
    """Muggins between two greedy bots: no claim is refused, no call finds points."""
    played = play_match("cribbage-muggins", [greedy.choose, greedy.choose], seed=3)
    assert not any(type(event).__name__ == "Called" for event in played.events)


@pytest.mark.polyglot
@pytest.mark.parametrize("variant", [*CATALOG])
async def test_the_node_bot_plays_every_variant(variant: str) -> None:
    require_node_bot()
    seats = CATALOG[variant].game.seats[0]
    async with serving() as rig:
        rig.play("alice")
        process = await asyncio.create_subprocess_exec(
            "node",
            str(NODE / "bot.js"),
            env={**os.environ, "PEGBOARD_ADDRESS": rig.address, "PEGBOARD_TOKEN": token_of("bob")},
        )
        try:
            bots = ["bob", *["alice"] * (seats - 1)]
            result = await rig.result(await rig.match(*bots, variant=variant), 60)
            assert result.termination == match_pb2.TERMINATION_NORMAL, result
            process.terminate()
            assert await process.wait() == 0
        finally:
            if process.returncode is None:
                process.kill()
                await process.wait()


def test_seeds_of_scripted_matches_are_numbers() -> None:
    """What is not scripted comes from the seed."""
    one, two = (ScriptedMatch("draw", 2, seed=seed) for seed in (1, 2))
    assert one.events != two.events
    chance = SeededChance((1).to_bytes(32, "big"), "scripted")
    state, events = one.game.start(2, chance)
    assert events == one.events
    assert sys.getsizeof(state) > 0
