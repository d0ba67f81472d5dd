"""Games and matches: who has won, what it counts, who deals next, how the match came out (R-C2.6)."""

from __future__ import annotations

from pegboard.rules.cribbage.events import CribbageEvent, GameEnded, GameStarted
from pegboard.rules.cribbage.forms import SQUARES
from pegboard.rules.cribbage.options import ALTERNATE, WINNER
from pegboard.rules.cribbage.table import Table
from pegboard.rules.game import Outcome, Seat
from pegboard.rules.results import place_points

SKUNK, DOUBLE_SKUNK = 31, 61
SQUARES_WIN = 61
"""A grid of so many points is won (R-C7.2)."""


def begin_game(table: Table, dealer: Seat, events: list[CribbageEvent]) -> None:
    """Set the pegs. Start scores come first, then the three of the first non-dealer (X-12)."""
    setup = table.setup
    table.game += 1
    table.deal = 0
    if setup.labels_by_game:
        table.pack = 0
    table.first_dealer = table.dealer = table.crib_owner = dealer
    table.over = False
    table.scores = list(setup.start_scores)
    table.scores[setup.sides[setup.lefts[dealer]]] += setup.form.pone_start
    table.rear_pegs = [0] * setup.side_count
    table.hands = [[] for _ in range(setup.seats)]
    table.clear()
    events.append(GameStarted(table.game, dealer, tuple(table.scores)))


def end_game(table: Table, events: list[CribbageEvent]) -> bool:
    """Mark the game; return whether that was the match."""
    winners = winners_of(table)
    points = _match_points(table, winners)
    for side in winners:
        table.games_won[side] += 1
        table.match_points[side] += points
    events.append(GameEnded(table.game, tuple(table.scores), winners, points))
    return is_over(table)


def is_over(table: Table) -> bool:
    """Between two sides the majority decides; among more all games are played (X-07)."""
    games = table.setup.game.match_games
    if table.setup.side_count <= 2 and max(table.match_points) > games // 2:
        return True
    return table.over and table.game >= games and table.setup.side_count != 2


def winners_of(table: Table) -> tuple[int, ...]:
    """Return the sides that won the game that has just ended.

    In lowball all that share the lowest score (R-C9.1, X-07). A grid of squares with less
    than 61 points is lost.
    """
    setup = table.setup
    if setup.form.alone:
        lost = setup.form.name == SQUARES and table.scores[0] < SQUARES_WIN
        return () if lost else (0,)
    out = _gone_out(table)
    if not setup.game.lowball:
        return (out,)
    others = [side for side in range(setup.side_count) if side != out]
    lowest = min(table.scores[side] for side in others)
    return tuple(side for side in others if table.scores[side] == lowest)


def _gone_out(table: Table) -> int:
    """Return the side that has reached its target: only one can, as the game stops there."""
    targets = table.setup.targets
    return next(side for side, score in enumerate(table.scores) if score >= targets[side])


def _match_points(table: Table, winners: tuple[int, ...]) -> int:
    """Return what the game counts: 1, a skunk 2, a double skunk 3 (R-C2.6).

    The lead is measured over the next best side, in lowball under the next lowest.
    """
    if not table.setup.game.skunks or len(winners) != 1:
        return 1
    won = table.scores[winners[0]]
    lead = min(abs(score - won) for side, score in enumerate(table.scores) if side != winners[0])
    return 1 + (lead >= SKUNK) + (lead >= DOUBLE_SKUNK)


def next_dealer(table: Table) -> Seat:
    """Return who deals first in the next game (R-C2.7, X-08)."""
    setup = table.setup
    left = setup.lefts[table.first_dealer]
    rule = setup.game.first_deal
    if rule == ALTERNATE:
        return left
    sides = winners_of(table) if rule == WINNER else _losers(table)
    seat = left
    while setup.sides[seat] not in sides:
        seat = setup.lefts[seat]
    return seat


def _losers(table: Table) -> tuple[int, ...]:
    """Return the side that lost, else all with the lowest score."""
    if table.setup.game.lowball:
        return (_gone_out(table),)
    scores = table.scores
    out = _gone_out(table)
    others = [side for side in range(table.setup.side_count) if side != out]
    lowest = min(scores[side] for side in others)
    return tuple(side for side in others if scores[side] == lowest)


def standing_of(table: Table) -> Outcome:
    """Return how the match comes out by match points, then by the distance to the target.

    Once several games have been played to the end only the match points count (X-07).
    """
    setup = table.setup
    ended = is_over(table)
    sign = -1 if setup.game.lowball else 1
    standing = [
        (
            table.match_points[side],
            0
            if ended and setup.game.match_games > 1
            else sign * (table.scores[side] - setup.targets[side]),
        )
        for side in range(setup.side_count)
    ]
    return Outcome(
        place_points(standing, setup.sides),
        tuple(table.scores[side] for side in setup.sides),
        tuple(table.games_won[side] for side in setup.sides),
    )
