"""The deal (R-C1.4): cards from the next order of the pack, and the starter (R-C2.1)."""

from __future__ import annotations

from typing import Final

from pegboard.rules.cards import JOKER, NO_CARD, PACK, RANK, Card
from pegboard.rules.cribbage.events import (
    Counted,
    CribbageEvent,
    CutForDeal,
    Reason,
    dealt_of,
)
from pegboard.rules.cribbage.made_once import STARTER_TURNED
from pegboard.rules.cribbage.table import Table
from pegboard.rules.errors import NotationError
from pegboard.rules.game import Chance, Seat

_JACK: Final = 11
_MOST_CUTS: Final = 200
"""So many ties come from scripted chance only; seeded chance does not tie so often."""
SOLITAIRE_DEALS: Final = 4
"""Four deals of 13 cards go through one pack (R-C7.1)."""


def cut_for_deal(seats: int, chance: Chance, events: list[CribbageEvent]) -> Seat:
    """Let all seats cut: the lowest rank deals, those tied for it cut again (R-C1.2).

    Jokers are left out of this cut. A seat that is alone deals without one. Raises `NotationError`
    if scripted chance ties for ever.
    """
    cutting = list(range(seats))
    attempt = 0
    while len(cutting) > 1:
        attempt += 1
        if attempt > _MOST_CUTS:
            raise NotationError(f"the cut never ends; give {seats} cards for cut/1, one the lowest")
        places = chance.order(f"cut/{attempt}", len(PACK), len(cutting))
        drawn = [PACK[place] for place in places]
        cards: list[Card] = [NO_CARD] * seats
        for seat, card in zip(cutting, drawn, strict=True):
            cards[seat] = card
        events.append(CutForDeal(tuple(cards)))
        lowest = RANK[min(drawn)]
        cutting = [seat for seat in cutting if RANK[cards[seat]] == lowest]
    return cutting[0]


def deal_cards(table: Table, events: list[CribbageEvent]) -> None:
    """Pass the deal on (R-C1.3), shuffle and deal."""
    setup = table.setup
    if table.deal:
        table.dealer = setup.lefts[table.dealer]
    table.deal += 1
    table.crib_owner = table.dealer
    size = setup.size
    shuffle(table, size + 1)
    order = table.order
    table.clear()
    hands = [sorted(pick(order)) for pick in setup.pickers[table.dealer]]
    table.crib = tuple(order[setup.first_crib : size])
    table.hands = hands
    table.place = size
    dealt = tuple([tuple(hand) for hand in hands])
    events.append(dealt_of((table.deal, table.dealer, dealt, table.crib)))


def shuffle(table: Table, count: int) -> None:
    """Take the next order of the pack, labelled by game and deal (X-20).

    So the deals of a mirrored match stay the same however long its games are.
    """
    table.pack += 1
    pack = table.setup.pack
    by_game = table.setup.labels_by_game
    label = f"deal/{table.game}/{table.pack}" if by_game else f"deal/{table.pack}"
    places = table.chance.order(label, len(pack), count)
    table.order = [pack[place] for place in places]
    table.place = 0


def deal_first_six(table: Table, events: list[CribbageEvent]) -> None:
    """Solitaire: the first hand of a deal; every fourth deal has used up the pack (R-C7.1)."""
    if table.deal % SOLITAIRE_DEALS == 0:
        shuffle(table, len(PACK))
    else:
        table.pack += 1
    table.deal += 1
    table.clear()
    table.seen[0] = tuple(sorted(table.order[: table.place]))
    _deal_six(table, events)


def deal_second_six(table: Table, events: list[CribbageEvent]) -> None:
    """Solitaire: put the first hand aside and deal the second."""
    table.crib = ()
    table.second_hands[0] = tuple(table.hands[0])
    _deal_six(table, events)


def _deal_six(table: Table, events: list[CribbageEvent]) -> None:
    table.hands[0] = sorted(table.order[table.place : table.place + 6])
    table.place += 6
    events.append(dealt_of((table.deal, table.dealer, (tuple(table.hands[0]),), ())))


def turn_starter(table: Table, events: list[CribbageEvent]) -> None:
    """Turn the next card of the pack; the dealer may get his heels and win by them (R-C2.2)."""
    table.kept = [tuple(hand) for hand in table.hands]
    card = table.starter = table.order[table.place]
    table.place += 1
    events.append(STARTER_TURNED[card])
    points = heels(card, table.setup.joker_rules.late_31)
    if points:
        counted = Counted((card,), NO_CARD, 0, table.setup.rules)
        table.peg(table.dealer, points, Reason.HEELS, counted, events)


def heels(card: Card, zero_jokers: bool) -> int:
    """Return what a starter gives the dealer: a Jack 2, a wild joker 2, a zero joker 1 (R-C9.2)."""
    if card == JOKER:
        return 1 if zero_jokers else 2
    return 2 if RANK[card] == _JACK else 0
