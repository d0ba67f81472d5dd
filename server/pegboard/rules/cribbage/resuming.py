"""A state taken up in the middle of a deal: the table and the phase that a view shows, with all cards.

What a view does not show follows from it: the first dealer of the game from the number of the deal,
what a claim left out from the cards that lie open.
"""

from __future__ import annotations

from typing import cast

from pegboard.rules.cards import JOKER, NO_CARD, RANK, VALUE, Card
from pegboard.rules.cribbage.events import Claimed, Reason
from pegboard.rules.cribbage.forms import SOLITAIRE
from pegboard.rules.cribbage.phases.auction import Bidding
from pegboard.rules.cribbage.phases.claims import Window, open_window
from pegboard.rules.cribbage.phases.discard import Discarding
from pegboard.rules.cribbage.phases.exchange import Exchanging
from pegboard.rules.cribbage.phases.manual_play import ManualPlaying
from pegboard.rules.cribbage.phases.manual_show import Showing
from pegboard.rules.cribbage.phases.phase import Over, PhaseState
from pegboard.rules.cribbage.phases.plain_play import PlainPlaying
from pegboard.rules.cribbage.phases.second_choice import Giving, TwoChoices
from pegboard.rules.cribbage.phases.squares import Filling
from pegboard.rules.cribbage.phases.steps import DISCARDING, playing_of, steps_of
from pegboard.rules.cribbage.sampling import Deal, Layout, lay_cards
from pegboard.rules.cribbage.scoring.pegging import peg_points
from pegboard.rules.cribbage.setup import Setup
from pegboard.rules.cribbage.state import CribbageState
from pegboard.rules.cribbage.table import Table
from pegboard.rules.cribbage.view import Counting, CribbageView, Phase, PlayedCard
from pegboard.rules.game import Chance, Seat


def sample_state(
    setup: Setup, view: CribbageView, seat: Seat | None, chance: Chance
) -> CribbageState:
    """Return a full state that the view may be of. Raises `ViewError` if there is none."""
    deal, layout = lay_cards(setup, view, seat, chance)
    table = _table(deal, layout, chance)
    phase = _phase(deal, layout, table)
    return CribbageState.resumed(table, phase, _steps_done(setup, view))


def _steps_done(setup: Setup, view: CribbageView) -> int:
    """Return how many steps of the deal are done with the phase of the view."""
    steps = len(steps_of(setup))
    if view.phase == Phase.GRID:
        return 1
    if setup.form.name == SOLITAIRE:
        return 4 if view.second_hand else 2
    before_play = {Phase.BID: 2, Phase.DISCARD: 2 + setup.game.auction}
    before_play[Phase.EXCHANGE] = before_play[Phase.DISCARD] + 1
    return before_play.get(view.phase, steps - 1 if view.phase == Phase.PLAY else steps)


# The table


def _table(deal: Deal, layout: Layout, chance: Chance) -> Table:
    setup, view = deal.setup, deal.view
    table = Table(setup, chance)
    table.game, table.deal, table.pack = view.game, view.deal, view.deal
    table.dealer = view.dealer
    table.first_dealer = (view.dealer - (view.deal - 1)) % setup.seats
    table.crib_owner = view.dealer if view.crib_owner is None else view.crib_owner
    table.over = view.phase == Phase.OVER
    table.scores = list(view.scores)
    table.rear_pegs = list(view.rear_pegs)
    table.games_won = list(view.games_won)
    table.match_points = list(view.match_points)
    table.clear()
    table.bid, table.bidder = view.bid or 0, view.bidder or 0
    table.starter, table.grid = view.starter, view.grid
    table.played = list(deal.plays)
    _lay_out(deal, layout, table)
    _stack(deal, layout, table)
    return table


def _lay_out(deal: Deal, layout: Layout, table: Table) -> None:
    """Put the cards of the deal where they lie."""
    everyone = range(deal.setup.seats)
    table.hands = layout.hands
    table.second_hands = layout.second_hands
    table.discards = layout.discards
    table.seen = [_seen(deal, layout, seat) for seat in everyone]
    if deal.in_play:
        table.kept = [tuple(sorted([*layout.hands[s], *deal.played_by(s)])) for s in everyone]
        table.crib = layout.crib or ()
        if deal.setup.bound_jokers():
            for seat, card, declared in deal.plays:
                if card == JOKER:
                    table.bound[seat] += (declared,)
    elif not deal.taken:
        table.crib = layout.dealt_crib


def _seen(deal: Deal, layout: Layout, seat: Seat) -> tuple[Card, ...]:
    """Return what the view of the seat has as `seen`."""
    setup = deal.setup
    if seat == deal.seat:
        return deal.view.seen
    if deal.taken and seat == setup.lone:
        others = (layout.discards[other] for other in range(setup.seats) if other != setup.lone)
        cards = [*layout.dealt_crib, *(card for cards in others for card in cards)]
        return tuple(sorted(cards))
    if layout.gifts[seat]:
        return layout.gifts[seat]
    if deal.in_play and deal.canadian and deal.discarded(seat):
        partner = (seat + 2) % setup.seats
        return tuple(sorted([*layout.hands[partner], *deal.played_by(partner)]))
    return ()


def _stack(deal: Deal, layout: Layout, table: Table) -> None:
    """Stack the pack: what has left it, then the rest in random order."""
    view = deal.view
    rest = layout.rest if view.next_card == NO_CARD else [view.next_card, *layout.rest]
    gone = [*view.seen, *view.hand] if deal.setup.form.name == SOLITAIRE else []
    gone += [card for card in view.grid if card != NO_CARD]
    place = len(deal.setup.pack) - len(rest)
    others = [*deal.setup.pack]
    for card in (*rest, *gone):
        others.remove(card)
    table.order = [*gone[: len(view.seen)], *others, *gone[len(view.seen) :], *rest]
    table.place = place


# The phases


def _phase(deal: Deal, layout: Layout, table: Table) -> PhaseState:
    """Return the phase that the view shows, as it stands."""
    phase = deal.view.phase
    if phase == Phase.BID:
        return _bidding(deal, table)
    if phase == Phase.DISCARD:
        return _discarding(deal, layout, table)
    if phase == Phase.PLAY:
        return _playing(deal, table)
    if phase == Phase.SHOW:
        return _showing(deal, table)
    return {Phase.EXCHANGE: Exchanging, Phase.GRID: Filling, Phase.OVER: Over}[phase](table)


def _bidding(deal: Deal, table: Table) -> Bidding:
    phase = Bidding(table)
    phase.turn = deal.view.seats_to_act[0]
    phase.bidding = tuple(seat for seat in phase.bidding if seat not in deal.view.passed)
    return phase


def _discarding(deal: Deal, layout: Layout, table: Table) -> Discarding:
    phase = cast("Discarding", DISCARDING.get(deal.setup.form.name, Discarding)(table))
    phase.pending = deal.view.seats_to_act
    if isinstance(phase, TwoChoices):
        phase.second = tuple(seat for seat in phase.pending if deal.discarded(seat))
    if isinstance(phase, Giving):
        phase.gifts = {seat: gift for seat, gift in enumerate(layout.gifts) if gift}
    return phase


def _playing(deal: Deal, table: Table) -> PhaseState:
    view = deal.view
    phase = playing_of(deal.setup)(table)
    phase.cards = [_effective(played) for played in view.count_cards]
    phase.running = view.count
    phase.gone = sum(1 << seat for seat in view.said_go)
    phase.last = deal.plays[-1].seat if deal.plays else view.dealer
    turn = deal.turn(table.hands)
    assert turn is not None
    phase.turn = turn
    if isinstance(phase, PlainPlaying):
        for card in phase.cards:
            phase.key = phase.key * 14 + RANK[card]
    if isinstance(phase, ManualPlaying):
        _add_claims(deal, table, phase)
    return phase


def _effective(played: PlayedCard) -> Card:
    return played.card if played.declared == NO_CARD else played.declared


def _add_claims(deal: Deal, table: Table, phase: ManualPlaying) -> None:
    """Add the claim that may be called, and that which is due (R-C8)."""
    view = deal.view
    counting = view.counting
    if view.count_over:
        due = phase._settlement()
        claimed = counting is not None and counting.claim is not None
        settled = claimed and counting is not None and counting.subject != Reason.PLAY
        if due[1] and not settled:
            phase.due = due
        else:
            phase.ended = True
    if counting is not None and counting.claim is not None:
        cards = phase.cards
        if counting.cards:  # those of the count before
            cards = [_effective(played) for played in view.played[-len(counting.cards) :]]
        count = sum(VALUE[card] for card in cards)
        points = _points_of_play(deal, counting, cards, count)
        phase.window = _window(deal, table, counting, points)


def _points_of_play(deal: Deal, counting: Counting, cards: list[Card], count: int) -> int:
    """Return the true points of a claim in the play."""
    if counting.subject == Reason.PLAY:
        return peg_points(cards, count, deal.setup.rules)
    return 2 if counting.subject == Reason.THIRTY_ONE else 1


def _window(deal: Deal, table: Table, counting: Counting, points: int) -> Window:
    assert counting.claim is not None
    claimed = Claimed(counting.seat, counting.subject, counting.claim)
    window = open_window(table, claimed, counting.cards, points)
    return window._replace(callers=deal.view.seats_to_act)


def _showing(deal: Deal, table: Table) -> Showing:
    view = deal.view
    phase = Showing(table)
    phase.begin()
    phase.place = len(view.shown) - 1
    phase.points = phase.current.points(table)
    if view.counting is not None and view.counting.claim is not None:
        phase.window = _window(deal, table, view.counting, phase.points)
    return phase
