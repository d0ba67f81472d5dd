"""The table: all that lasts longer than a phase. Scores, pegs, cards, whose crib it is."""

from __future__ import annotations

from collections.abc import Sequence

from pegboard.rules.cards import NO_CARD, Card
from pegboard.rules.cribbage.events import Counted, CribbageEvent, Reason, scored_of
from pegboard.rules.cribbage.setup import Setup
from pegboard.rules.cribbage.view import PlayedCard
from pegboard.rules.game import Chance, Seat


class Table:
    """One match's table, bare until a game begins. `scores`, `rear_pegs`, `games_won` are by side.

    `hands` holds what a seat still has in hand, ascending; `kept` what it shows. `order` is the pack,
    cards from `place` on are not dealt yet; `pack` numbers the deals of the game, under rules version 1
    those of the match. `over` says that the game is, and stops every phase.
    """

    __slots__ = (
        "bid",
        "bidder",
        "bound",
        "chance",
        "crib",
        "crib_owner",
        "deal",
        "dealer",
        "discards",
        "first_dealer",
        "game",
        "games_won",
        "grid",
        "hands",
        "kept",
        "match_points",
        "order",
        "over",
        "pack",
        "place",
        "played",
        "rear_pegs",
        "scores",
        "second_hands",
        "seen",
        "setup",
        "starter",
    )

    def __init__(self, setup: Setup, chance: Chance) -> None:
        self.setup = setup
        self.chance = chance
        self.game = 0
        self.deal = 0
        self.pack = 0
        self.first_dealer: Seat = 0
        self.dealer: Seat = 0
        self.crib_owner: Seat = 0
        self.over = False
        self.scores = list(setup.start_scores)
        self.rear_pegs = [0] * setup.side_count
        self.games_won = [0] * setup.side_count
        self.match_points = [0] * setup.side_count
        self.order: Sequence[Card] = ()
        self.place = 0
        self.hands: list[list[Card]] = []
        self.kept: list[tuple[Card, ...]] = []
        self.second_hands: list[tuple[Card, ...]] = []
        self.seen: list[tuple[Card, ...]] = []
        self.discards: list[tuple[Card, ...]] = []
        self.bound: list[tuple[Card, ...]] = []
        self.crib: tuple[Card, ...] = ()
        self.starter: Card = NO_CARD
        self.played: list[PlayedCard] = []
        self.bid = 0
        self.bidder: Seat = 0
        self.grid: tuple[Card, ...] = ()

    def copy(self) -> Table:
        """Return an independent table."""
        table = Table(self.setup, self.chance)
        table.game = self.game
        table.deal = self.deal
        table.pack = self.pack
        table.first_dealer = self.first_dealer
        table.dealer = self.dealer
        table.crib_owner = self.crib_owner
        table.over = self.over
        table.order = self.order
        table.place = self.place
        table.crib = self.crib
        table.starter = self.starter
        table.bid = self.bid
        table.bidder = self.bidder
        table.grid = self.grid
        table.scores = self.scores.copy()
        table.rear_pegs = self.rear_pegs.copy()
        table.games_won = self.games_won.copy()
        table.match_points = self.match_points.copy()
        table.kept = self.kept.copy()
        table.second_hands = self.second_hands.copy()
        table.seen = self.seen.copy()
        table.discards = self.discards.copy()
        table.bound = self.bound.copy()
        table.played = self.played.copy()
        table.hands = [hand.copy() for hand in self.hands]
        return table

    def peg(
        self,
        seat: Seat,
        points: int,
        reason: Reason,
        counted: Counted | None,
        events: list[CribbageEvent],
    ) -> bool:
        """Move a peg (R-C2.5, R-C2.9) and return whether the game is over at once (R-C2.4)."""
        setup = self.setup
        side = setup.sides[seat]
        score = self.scores[side]
        target = setup.targets[side]
        if points:
            self.rear_pegs[side] = score
            score += points
            if score >= target:
                score = target
                self.over = True
            self.scores[side] = score
        events.append(scored_of((seat, side, points, reason, counted, score)))
        return self.over

    def clear(self) -> None:
        """Take all cards off the table."""
        seats = self.setup.seats
        self.kept = [()] * seats
        self.second_hands = [()] * seats
        self.seen = [()] * seats
        self.discards = [()] * seats
        self.bound = [()] * seats
        self.crib = ()
        self.starter = NO_CARD
        self.played = []
        self.bid = self.bidder = 0
