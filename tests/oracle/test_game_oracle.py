"""Whole games: our engine beside a referee made of two oracles.

OpenSpiel deals, plays and pegs; `cribbage-scorer` counts its hands and cribs in the order of R-C2.3.
The referee stops at 121 (R-C2.4), as OpenSpiel does not: it counts all hands and lets the lowest seat
that got there win. Its four-card flushes in cribs are left out, so a few games are not over by then.
"""

from __future__ import annotations

import random
import re
from typing import Any, NamedTuple

import cribbage_scorer.cribbage_scorer as scorer
import pyspiel
import pytest

from pegboard.rules import catalog
from pegboard.rules.cards import PACK, RANK, SUIT, SUITS, Card, parse_card, places_of
from pegboard.rules.cribbage.events import Scored
from pegboard.rules.cribbage.moves import PLAYS, Discard
from pegboard.rules.shuffle import ScriptedChance

pytestmark = pytest.mark.oracle

GAMES = 150
PASS = 2756
TARGET = 121
VARIANTS = {2: "cribbage", 3: "cribbage-3p", 4: "cribbage-partners"}
_FIELD = re.compile(r"^(Scores|Crib|Starter|P\d Hand): *(.*)$", re.MULTILINE)


class Peg(NamedTuple):
    """Points that a seat got."""

    seat: int
    points: int


class Deal(NamedTuple):
    """What happened in a deal; `pegs` are those before the show, `complete` if it came to that."""

    hands: list[list[Card]]
    crib_dealt: list[Card]
    discards: list[tuple[Card, ...]]
    starter: list[Card]
    plays: list[tuple[int, Card]]
    pegs: list[Peg]
    complete: list[bool]


def fields(state: Any) -> dict[str, list[str]]:
    """Return the words of each line of a state's text."""
    return {name: words.split() for name, words in _FIELD.findall(str(state))}


def cards(words: list[str]) -> list[Card]:
    """Read cards."""
    return list(map(parse_card, words))


def record_game(players: int, rng: random.Random) -> tuple[list[Deal], list[float]]:
    """Let OpenSpiel play a random game; return its deals and returns."""
    state = pyspiel.load_game(f"cribbage(players={players})").new_initial_state()
    deals: list[Deal] = []
    while not state.is_terminal():
        deals.append(record_deal(state, players, rng))
    return deals, state.returns()


def record_deal(state: Any, players: int, rng: random.Random) -> Deal:
    """Play one deal to its end, or that of the game."""
    while state.is_chance_node():
        draw(state, rng)
    now = fields(state)
    hands = [cards(now[f"P{seat} Hand"]) for seat in range(players)]
    deal = Deal(hands, cards(now["Crib"]), [()] * players, [], [], [], [])
    while not state.is_chance_node():
        seat = state.current_player()
        before = fields(state)[f"P{seat} Hand"]
        state.apply_action(rng.choice(state.legal_actions()))
        kept = fields(state)[f"P{seat} Hand"]
        deal.discards[seat] = tuple(cards([word for word in before if word not in kept]))
    before = fields(state)["Scores"]
    deal.starter.append(draw(state, rng))
    note_pegs(deal, before, fields(state)["Scores"], players)
    record_play(state, deal, players, rng)
    return deal


def draw(state: Any, rng: random.Random) -> Card:
    """Take a random card of theirs, which go suit by suit."""
    action = rng.choice([action for action, _ in state.chance_outcomes()])
    state.apply_action(action)
    return PACK[int(action) % 13 * 4 + int(action) // 13]


def record_play(state: Any, deal: Deal, players: int, rng: random.Random) -> None:
    """Play until the show; what the last card got is told by the other oracle."""
    count: list[Card] = []
    last = -1
    while not state.is_terminal():
        seat, before = state.current_player(), fields(state)["Scores"]
        action = rng.choice(state.legal_actions())
        state.apply_action(action)
        if action != PASS:
            card = PACK[action % 13 * 4 + action // 13]
            deal.plays.append((seat, card))
            count.append(card)
            last = seat
        if "Phase: Play" not in str(state):
            _, points, _ = scorer.play_score_ongoing([theirs(card) for card in count], True)
            deal.pegs.append(Peg(last, points if action != PASS else 1))
            deal.complete.append(True)
            return
        note_pegs(deal, before, fields(state)["Scores"], players)
        if "Played cards: \n" in str(state) or "Played cards:\n" in str(state):
            count = []


def note_pegs(deal: Deal, before: list[str], after: list[str], players: int) -> None:
    """Note who got points; partners show one total, so the first seat of the two stands for it."""
    for seat in range(2 if players == 4 else players):
        points = int(after[seat]) - int(before[seat])
        if points:
            deal.pegs.append(Peg(seat, points))


def theirs(card: Card) -> tuple[int, str]:
    """Return a card as `cribbage-scorer` has it."""
    return RANK[card], SUITS[SUIT[card] - 1]


def shown(deal: Deal, dealer: int, players: int) -> list[Peg]:
    """Count hands from the dealer's left, then the crib."""
    starter = theirs(deal.starter[0])
    order = [(dealer + step) % players for step in range(1, players + 1)]
    pegs = []
    for seat in order:
        hand = [theirs(card) for card in deal.hands[seat] if card not in deal.discards[seat]]
        pegs.append(Peg(seat, scorer.show_calc_score(starter, hand)[0]))
    crib = [theirs(card) for some in (*deal.discards, deal.crib_dealt) for card in some]
    return [*pegs, Peg(dealer, scorer.show_calc_score(starter, crib, True)[0])]


def referee(deals: list[Deal], players: int) -> tuple[list[Peg], list[int]]:
    """Return all points in order, up to the one that wins if any does, and the scores by side."""
    sides = 2 if players == 4 else players
    scores = [0] * sides
    pegs: list[Peg] = []
    for number, deal in enumerate(deals):
        show = shown(deal, number % players, players) if deal.complete else []
        for seat, points in [*deal.pegs, *show]:
            if points:
                pegs.append(Peg(seat % sides, points))
                scores[seat % sides] += points
            if scores[seat % sides] >= TARGET:
                return pegs, [min(score, TARGET) for score in scores]
    return pegs, scores


def orders(deals: list[Deal], players: int) -> dict[str, list[int]]:
    """Return the orders of the pack that deal these hands; seat 0 deals first."""
    found = {"cut/1": [0, 51, 50, 49][:players]}
    for number, deal in enumerate(deals):
        dealer = number % players
        left = [(dealer + step) % players for step in range(1, players + 1)]
        dealt = [
            hand[place]
            for place in range(len(deal.hands[0]))
            for hand in (deal.hands[seat] for seat in left)
        ]
        found[f"deal/1/{number + 1}"] = places_of([*dealt, *deal.crib_dealt, *deal.starter])
    return found


def replay(deals: list[Deal], players: int) -> tuple[list[Peg], Any]:
    """Make the same moves in our engine; return its points by side, zeros left out, and its state."""
    game = catalog.game(VARIANTS[players])
    state, events = game.start(players, ScriptedChance(orders(deals, players)))
    moves: list[tuple[int, Any]] = []
    for deal in deals:
        moves += [(seat, Discard(some)) for seat, some in enumerate(deal.discards)]
        moves += [(seat, PLAYS[card]) for seat, card in deal.plays]
    for seat, move in moves:
        if not state.to_act():
            break
        events += state.apply(seat, move)
    scored = [event for event in events if isinstance(event, Scored) and event.points]
    return [Peg(event.side, event.points) for event in scored], state


@pytest.mark.parametrize("players", [2, 3, 4])
def test_games_score_point_by_point_like_the_referee(players: int) -> None:
    """Heels, play, gos, hands, crib and the end: every point in its order."""
    rng = random.Random(players)
    decided = wrong_winners = 0
    for _ in range(GAMES):
        deals, returns = record_game(players, rng)
        pegs, scores = referee(deals, players)
        our_pegs, state = replay(deals, players)
        assert our_pegs[: len(pegs)] == pegs
        if TARGET not in scores:
            continue
        decided += 1
        outcome = state.outcome()
        assert outcome is not None
        assert len(our_pegs) == len(pegs)
        assert list(outcome.scores[: len(scores)]) == scores
        winner = scores.index(TARGET)
        assert outcome.points[winner] == 1.0
        wrong_winners += returns.index(max(returns)) % len(scores) != winner
    assert decided > 0.9 * GAMES
    if players == 2:
        assert wrong_winners > 0, "OpenSpiel stops at 121 now: tell the docstring"
