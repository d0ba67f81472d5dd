"""What a match is played with: everything that follows from the options and the number of seats."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from operator import itemgetter

from pegboard.rules.cards import PACK, PACK_WITH_JOKERS, Card
from pegboard.rules.cribbage import joker_rules, options
from pegboard.rules.cribbage.forms import FORMS, NINE_CARD, SQUARES, Deal, Form
from pegboard.rules.cribbage.scoring.show import NO_JOKERS, PLAIN, WILD, ShowRules
from pegboard.rules.game import Seat
from pegboard.rules.versions import EDITION, Edition

Picker = Callable[[Sequence[Card]], Iterable[Card]]
_PEGGED: dict[bool, dict[int, int]] = {False: {}, True: {}}
"""Points of counts already met in the play without jokers, by the three-runs option."""
NO_TARGET = 1 << 30
CLAIM_PLAIN_PLAY, CLAIM_PLAIN_SHOW, CLAIM_MOST = 15, 29, 99
"""Bounds of claims and calls: by variant, never by the cards, so that they tell nothing (R-C8.6)."""


class Setup:
    """Shared by all states of a match, never changed. `sides` and `lefts` are by seat."""

    __slots__ = (
        "auto_go",
        "call_least",
        "claim_play",
        "claim_show",
        "deal",
        "discarding",
        "discards",
        "first_crib",
        "fives",
        "form",
        "game",
        "has_crib",
        "joker_rules",
        "labels_by_game",
        "lefts",
        "lone",
        "pack",
        "pegged",
        "pickers",
        "picks",
        "play_once",
        "rules",
        "seats",
        "side_count",
        "sides",
        "size",
        "start_scores",
        "targets",
    )

    def __init__(self, game: options.CribbageOptions, seats: int, edition: Edition) -> None:
        self.game = game
        self.seats = seats
        self.form: Form = FORMS[game.form]
        self.has_crib = self.form.name != SQUARES
        self.auto_go: bool = game.auto_go
        self.fives: bool = game.discard_fives
        self.play_once: bool = self.form.play_once
        self.deal: Deal = self.form.deals[seats]
        self.sides = options.sides_of(game, seats)
        self.side_count = max(self.sides) + 1
        self.targets = tuple(
            game.target_of(side, seats) or NO_TARGET for side in range(self.side_count)
        )
        self.start_scores = game.start_scores or (0,) * self.side_count
        self.lone: Seat = game.lone_seat
        self.lefts = tuple((seat + 1) % seats for seat in range(seats))
        self.discards = tuple(
            tuple(self.deal.discards[(seat - dealer) % seats] for seat in range(seats))
            for dealer in range(seats)
        )
        self.discarding = tuple(
            tuple(seat for seat in range(seats) if sizes[seat]) for sizes in self.discards
        )
        self.picks = tuple(_picks(self.deal, seats, dealer) for dealer in range(seats))
        self.pickers = tuple(tuple(map(_picker, picks)) for picks in self.picks)
        self.size = self.deal.size
        self.first_crib = self.size - self.deal.crib_dealt
        plain = game.jokers == NO_JOKERS
        self.pack: tuple[Card, ...] = PACK if plain else PACK_WITH_JOKERS
        self.rules = (
            PLAIN if plain and not game.three_runs else ShowRules(game.three_runs, game.jokers)
        )
        self.pegged = _PEGGED[game.three_runs]
        self.joker_rules = joker_rules.RULES[game.jokers]
        self.call_least: int = edition.call_least
        self.labels_by_game: bool = edition.labels_by_game
        self.claim_play = CLAIM_PLAIN_PLAY if plain else CLAIM_MOST
        four = self.form.name != NINE_CARD
        self.claim_show = CLAIM_PLAIN_SHOW if plain and four else CLAIM_MOST

    def opponents(self, seat: Seat) -> tuple[Seat, ...]:
        """Return the seats of other sides, in order from the left of `seat`."""
        around = [(seat + step) % self.seats for step in range(1, self.seats)]
        return tuple(other for other in around if self.sides[other] != self.sides[seat])

    def bound_jokers(self) -> bool:
        """Whether a joker is shown as the card that it was played as (R-C9.3)."""
        return self.game.jokers == WILD and self.game.bind_jokers


def _picks(deal: Deal, seats: int, dealer: Seat) -> tuple[tuple[int, ...], ...]:
    """Return, by seat, the places of its cards in the order of the pack (R-C1.4, R-C5.3D6)."""
    picks: list[list[int]] = [[] for _ in range(seats)]
    order = [dealer] * deal.dealer_first
    left = [deal.dealt[(seat - dealer) % seats] for seat in range(seats)]
    left[dealer] -= deal.dealer_first
    while any(left):
        for step in range(1, seats + 1):
            seat = (dealer + step) % seats
            if left[seat]:
                left[seat] -= 1
                order.append(seat)
    for place, seat in enumerate(order):
        picks[seat].append(place)
    return tuple(map(tuple, picks))


def _picker(places: tuple[int, ...]) -> Picker:
    """Return what takes the cards of these places out of an order."""
    if len(places) < 2:
        return lambda order: [order[place] for place in places]
    return itemgetter(*places)


@lru_cache(maxsize=256)
def setup_of(game: options.CribbageOptions, seats: int, edition: Edition = EDITION) -> Setup:
    """Return the shared setup."""
    return Setup(game, seats, edition)
