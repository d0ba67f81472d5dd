"""A sampled state's own past: the running deal played again so that it ends in the sampled state.

The cards or tiles of the sample are put back to where they were dealt, the moves of the deal are made
again, hidden ones with the cards of the sample, and the engine says what each seat would have seen.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tests.rules.secrecy import Story
from tests.rules.strategies import Case, started

from pegboard.rules.cards import Card
from pegboard.rules.cribbage.forms import LONE_CRIB
from pegboard.rules.cribbage.moves import Discard, Exchange, Gift, Split
from pegboard.rules.cribbage.state import CribbageState
from pegboard.rules.cribbage.table import Table
from pegboard.rules.cribbage.view import Phase
from pegboard.rules.dominoes.events import Dealt, Drawn
from pegboard.rules.dominoes.hands import tiles_of
from pegboard.rules.dominoes.state import DominoesState
from pegboard.rules.game import Seat, State
from pegboard.rules.shuffle import ScriptedChance
from pegboard.rules.tiles import places_of


def past_of(case: Case, story: Story, reader: Seat, sample: Any) -> tuple[State, list[Any]]:
    """Play the story again with the cards of the sample in the running deal."""
    label = next(iter(story.orders))
    if isinstance(sample, DominoesState):
        orders = draw_orders(story, reader, sample)
        moves = story.moves
    else:
        assert isinstance(sample, CribbageState)
        past = CribbagePast(story, reader, sample)
        orders = {label: past.order(story.orders[label])}
        moves = [
            (seat, move if number < story.moves_before_deal else past.move(seat, move))
            for number, (seat, move) in enumerate(story.moves)
        ]
    chance = ScriptedChance(orders, otherwise=case.chance)
    _, state, events = started(case, chance)
    for seat, move in moves:
        events += state.apply(seat, move)
    return state, events


def draw_orders(story: Story, reader: Seat, sample: DominoesState) -> dict[str, list[int]]:
    """Return the orders of the round and of each seat's draws that lead to the sample."""
    labels = list(story.orders)
    seats = sample.terms.seats
    events = story.events[story.deal_from :]
    dealt = next(event for event in events if isinstance(event, Dealt))
    size = len(dealt.hands[0])
    order = [-1] * (size * seats)
    orders: dict[str, list[int]] = {}
    for seat in range(seats):
        if seat == reader:
            own = list(dealt.hands[seat])
            drawn = [e.tile for e in events if isinstance(e, Drawn) and e.seat == seat]
        else:
            placed = [act.tile for act in sample.acts if act.seat == seat and act.tile is not None]
            tiles = [*placed, *tiles_of(sample.hands[seat])]  # the earlier placed, the earlier got
            own, drawn = tiles[:size], tiles[size:]
        order[(seat - sample.opener) % seats :: seats] = places_of(own)
        orders[labels[1 + seat]] = places_of(drawn)
    return {labels[0]: order, **orders}


class CribbagePast:
    """The running deal of a sampled state of cribbage."""

    def __init__(self, story: Story, reader: Seat, sample: CribbageState) -> None:
        self.reader = reader
        self.sample = sample
        self.table: Table = sample.table
        setup = self.table.setup
        self.lone = setup.lone if setup.form.name == LONE_CRIB else -1
        self.events = story.events[story.deal_from :]
        self.own_moves = [
            move for seat, move in story.moves[story.moves_before_deal :] if seat == reader
        ]
        self.picked: list[Card] = []
        in_play = sample.phase.name in (Phase.PLAY, Phase.SHOW)
        self.taken = self.lone >= 0 and (in_play or sample.phase.name == Phase.EXCHANGE)
        if self.taken:
            # The lone seat's own five and the card dealt to the crib, in any order.
            hand = self.table.kept[self.lone] or self.table.hands[self.lone]
            self.picked = [*hand, *self.table.crib]
            for seat in range(setup.seats):
                if seat != self.lone:
                    self.picked.remove(self.table.discards[seat][0])
            crib = [*self.table.seen[self.lone]]
            for seat in range(setup.seats):
                if seat != self.lone:
                    crib.remove(self.table.discards[seat][0])
            self.picked.remove(crib[0])
            self.picked.append(crib[0])

    def order(self, true: Sequence[int]) -> list[int]:
        """Return the order of the pack that deals the cards of the sample."""
        table = self.table
        setup = table.setup
        pack = list(setup.pack)
        if setup.form.alone:
            return [
                *true[: table.place],
                *_places(pack, table.order[table.place :], true[: table.place]),
            ]
        order = [-1] * setup.size
        free: list[int | None] = list(pack)
        for seat in range(setup.seats):
            for place, card in zip(setup.picks[table.dealer][seat], self.dealt(seat), strict=True):
                order[place] = _take(free, card)
        for place, card in zip(range(setup.first_crib, setup.size), self.crib(), strict=True):
            order[place] = _take(free, card)
        if table.starter > 0:
            order.append(_take(free, table.starter))
        return order

    def dealt(self, seat: Seat) -> list[Card]:
        """Return the cards that the seat was dealt."""
        table = self.table
        if seat == self.lone and self.taken:
            return self.picked[:5]
        hand = table.kept[seat] or tuple(table.hands[seat])
        size = table.setup.deal.dealt[(seat - table.dealer) % table.setup.seats]
        if not size:
            return []
        cards = [*hand, *table.discards[seat], *table.second_hands[seat]]
        return [*cards, *table.seen[seat]] if len(cards) < size else cards

    def crib(self) -> list[Card]:
        """Return the cards that were dealt to the crib."""
        table = self.table
        if self.taken:
            return self.picked[5:]
        crib = [*table.crib]
        if len(crib) > table.setup.deal.crib_dealt:
            for card in (card for cards in table.discards for card in cards):
                crib.remove(card)
        return crib

    def move(self, seat: Seat, move: Any) -> Any:
        """Return the move that the seat made in the past of the sample."""
        table = self.table
        if seat == self.reader:
            return move
        if isinstance(move, Exchange):
            return Exchange(table.crib)
        if isinstance(move, Discard):
            mine = tuple(self.picked[:1]) if seat == self.lone and self.taken else None
            return Discard(mine or table.discards[seat])
        if isinstance(move, Split):
            return Split(table.kept[seat] or tuple(table.hands[seat]))
        if isinstance(move, Gift):
            return Gift(table.seen[seat])
        return move


def _take(free: list[int | None], card: int) -> int:
    place = free.index(card)
    free[place] = None
    return place


def _places(pack: Sequence[int], cards: Sequence[int], used: Sequence[int]) -> list[int]:
    free: list[int | None] = [
        None if place in set(used) else card for place, card in enumerate(pack)
    ]
    return [_take(free, card) for card in cards]
