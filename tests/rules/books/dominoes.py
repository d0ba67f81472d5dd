"""Draw: what its events show, what is conserved, how the past of a sampled state went."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pegboard.rules.dominoes.events import Dealt, Drawn, GameStarted, Placed, RoundEnded
from pegboard.rules.dominoes.hands import tiles_of
from pegboard.rules.dominoes.state import DominoesState
from pegboard.rules.game import Game, Seat
from pegboard.rules.tiles import HALVES, HIDDEN, PIPS, SET, Tile, places_of, tile_text

if TYPE_CHECKING:
    from tests.rules.secrecy import Story

PIECES = [tile_text(tile) for tile in SET]
LAYING = frozenset({"Placed"})


def visible(event: Any, seat: Seat | None) -> Any:
    """Hands and drawn tiles are hidden from all but their owner (R-D14); the rest is open."""
    if isinstance(event, Dealt):
        hands = tuple(
            hand if owner == seat else (HIDDEN,) * len(hand)
            for owner, hand in enumerate(event.hands)
        )
        return event._replace(hands=hands)
    if isinstance(event, Drawn) and seat != event.seat:
        return event._replace(tile=HIDDEN)
    return event


def orders_of(deal: str, seats: int) -> list[str]:
    """Return the label of the round and those of the orders by which the seats draw (X-21)."""
    if not deal.startswith("round/"):  # a match that its start scores decide ends before (R-D29)
        return [deal]
    return [deal, *(f"{deal.replace('round/', 'draw/')}/{seat}" for seat in range(seats))]


def audit(game: Game, seats: int, state: Any) -> DominoesAudit:
    """Return the audit of a match."""
    return DominoesAudit(game, seats, state)


class DominoesAudit:
    """Twenty-eight tiles: in hands, on the line, in the stock (R-D2)."""

    def __init__(self, game: Any, seats: int, state: Any) -> None:
        self.seats = seats
        self.state = state
        self.hands: list[set[Tile]] = [set() for _ in range(seats)]
        self.line: list[Tile] = []
        self.stock = 0
        self.dealt = 0
        self.scores = [0] * seats

    def moved(self, seat: Seat, move: Any) -> None:
        """Book a move that shows in no event: there is none in Draw."""

    def note(self, event: Any) -> None:
        """Book one event."""
        if isinstance(event, GameStarted):
            self.scores = list(event.scores)
        elif isinstance(event, Dealt):
            self.hands = [set(hand) for hand in event.hands]
            assert [list(hand) for hand in event.hands] == [sorted(hand) for hand in self.hands]
            self.line = []
            self.stock = event.stock
            self.dealt = 28
        elif isinstance(event, Drawn):
            assert event.tile not in self.line
            assert all(event.tile not in hand for hand in self.hands)
            self.hands[event.seat].add(event.tile)
            self.stock -= 1
            assert event.stock == self.stock >= 2
        elif isinstance(event, Placed):
            self.hands[event.seat].remove(event.tile)
            self.line.insert(0 if event.end == 1 else len(self.line), event.tile)
        elif isinstance(event, RoundEnded):
            self._settle(event)

    def _settle(self, event: RoundEnded) -> None:
        assert event.hands == tuple(tuple(sorted(hand)) for hand in self.hands)
        pips = [sum(PIPS[tile] for tile in hand) for hand in self.hands]
        assert list(event.pips) == pips
        assert event.blocked == all(self.hands)
        order = sorted(range(self.seats), key=lambda seat: (pips[seat], bool(self.hands[seat])))
        first, second = order[:2]
        if event.blocked and pips[first] == pips[second]:
            assert (event.winner, event.points) == (None, 0)
        else:
            assert event.winner == first
            # An empty hand is worth 0, so that one formula covers both ends of a round.
            assert event.points == sum(pips) - 2 * pips[first]
            self.scores[first] += event.points
        assert list(event.scores) == self.scores

    def check(self) -> None:
        """Compare the book with the state."""
        held = [tile for hand in self.hands for tile in hand]
        assert len(set(held + self.line)) == len(held) + len(self.line) == self.dealt - self.stock
        self._check_path()
        for seat in (*range(self.seats), None):
            view = self.state.view(seat)
            assert view.hand == (() if seat is None else tuple(sorted(self.hands[seat])))
            assert view.hand_sizes == tuple(map(len, self.hands))
            assert view.stock == self.stock
            assert list(view.line) == self.line
            assert list(view.scores) == self.scores

    def _check_path(self) -> None:
        """Neighbours touch with equal halves, and what is open at the ends is what is offered."""
        if not self.line:
            assert self.state.view(None).continuations == ()
            return
        left, right = (end.pips for end in self.state.view(None).continuations)
        open_half = left
        for tile in self.line:
            low, high = HALVES[tile]
            assert open_half in (low, high)
            open_half = low + high - open_half
        assert open_half == right


def past(
    story: Story, reader: Seat, sample: DominoesState
) -> tuple[dict[str, list[int]], list[tuple[Seat, Any]]]:
    """Return the orders of the sample's tiles; the moves of Draw hide nothing."""
    return _orders(story, reader, sample), story.moves


def _orders(story: Story, reader: Seat, sample: DominoesState) -> dict[str, list[int]]:
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
