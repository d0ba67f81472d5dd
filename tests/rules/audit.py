"""A second book of every match, kept from its events alone, and compared with the state's views.

It knows the cards or tiles from the deal, moves them as the events say, and so notices whatever is
lost, doubled or shown to the wrong seat. It shares no code with the engines.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from pegboard.rules import tiles
from pegboard.rules.cards import HIDDEN, JOKER
from pegboard.rules.cribbage import events as cribbage
from pegboard.rules.cribbage.moves import Gift
from pegboard.rules.dominoes import events as dominoes
from pegboard.rules.game import Game, Seat, State
from pegboard.rules.tiles import HALVES, PIPS, Tile

# What is hidden, from whom: this table is the specification of secrecy (R-C1.7, R-D14), written
# apart from `redact`, so that the two can be compared. Every other event is open to all.


def visible(event: Any, seat: Seat | None) -> Any:
    """Return the event as `seat` may see it, None for a spectator."""
    if isinstance(event, cribbage.Dealt | dominoes.Dealt):
        hands: Any = tuple(
            hand if owner == seat else (HIDDEN,) * len(hand)
            for owner, hand in enumerate(event.hands)
        )
        event = event._replace(hands=hands)
        return _hide(event, "crib") if isinstance(event, cribbage.Dealt) else event
    if isinstance(event, cribbage.Discarded | cribbage.CribTaken | cribbage.Exchanged):
        return event if seat == event.seat else _hide(event, "cards")
    if isinstance(event, cribbage.SplitMade):
        return event if seat == event.seat else _hide(event, "hand", "second_hand")
    if isinstance(event, cribbage.Gifted):
        return event if seat in (event.seat, event.to) else _hide(event, "cards")
    if isinstance(event, dominoes.Drawn):
        return event if seat == event.seat else event._replace(tile=tiles.HIDDEN)
    return event


def _hide(event: Any, *fields: str) -> Any:
    return event._replace(**{name: (HIDDEN,) * len(getattr(event, name)) for name in fields})


def audit_of(game: Game, seats: int, state: State) -> CribbageAudit | DominoesAudit:
    """Return an audit for the game's family."""
    if game.family == "dominoes":
        return DominoesAudit(game, seats, state)
    return CribbageAudit(game, seats, state)


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
        if isinstance(event, dominoes.GameStarted):
            self.scores = list(event.scores)
        elif isinstance(event, dominoes.Dealt):
            self.hands = [set(hand) for hand in event.hands]
            assert [list(hand) for hand in event.hands] == [sorted(hand) for hand in self.hands]
            self.line = []
            self.stock = event.stock
            self.dealt = 28
        elif isinstance(event, dominoes.Drawn):
            assert event.tile not in self.line
            assert all(event.tile not in hand for hand in self.hands)
            self.hands[event.seat].add(event.tile)
            self.stock -= 1
            assert event.stock == self.stock >= 2
        elif isinstance(event, dominoes.Placed):
            self.hands[event.seat].remove(event.tile)
            self.line.insert(0 if event.end == 1 else len(self.line), event.tile)
        elif isinstance(event, dominoes.RoundEnded):
            self._settle(event)

    def _settle(self, event: dominoes.RoundEnded) -> None:
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


class CribbageAudit:
    """A pack of cards: in hands, crib, on the table, or not dealt."""

    def __init__(self, game: Any, seats: int, state: Any) -> None:
        self.game = game
        self.seats = seats
        self.sides = game.sides(seats)
        self.state = state
        self.hands: list[Counter[int]] = [Counter() for _ in range(seats)]
        self.kept: list[Counter[int]] = [Counter() for _ in range(seats)]
        self.second: list[Counter[int]] = [Counter() for _ in range(seats)]
        self.limbo: list[Counter[int]] = [Counter() for _ in range(seats)]
        self.crib: Counter[int] = Counter()
        self.seen: Counter[int] = Counter()
        self.grid: set[tuple[int, int]] = set()
        self.scores: list[int] = []
        self.won = False
        self.deal = 0

    def moved(self, seat: Seat, move: Any) -> None:
        """Book a move that shows in no event yet: a gift leaves the hand before it arrives (X-15)."""
        if isinstance(move, Gift):
            self._move(move.cards, self.hands[seat], self.limbo[seat])

    def note(self, event: Any) -> None:
        """Book one event."""
        name = type(event).__name__
        assert not self.won or name == "GameEnded", f"{name} after the target was reached (R-C2.4)"
        handler = getattr(self, f"_{name}", None)
        if handler is not None:
            handler(event)

    def _GameStarted(self, event: cribbage.GameStarted) -> None:  # noqa: N802 - named by its event
        self.scores = list(event.scores)
        self.seen = Counter()

    def _GameEnded(self, event: cribbage.GameEnded) -> None:  # noqa: N802
        assert list(event.scores) == self.scores
        self.won = False

    def _Dealt(self, event: cribbage.Dealt) -> None:  # noqa: N802
        if self.seats == 1:
            self._deal_alone(event)
            return
        self._new_pack([*event.crib, *(card for hand in event.hands for card in hand)])
        self.hands = [Counter(hand) for hand in event.hands]
        self.second = [Counter() for _ in range(self.seats)]
        self.kept = [Counter(hand) for hand in event.hands]
        self.crib = Counter(event.crib)

    def _deal_alone(self, event: cribbage.Dealt) -> None:
        """Two hands of six a deal, four deals through one pack (R-C7.1)."""
        self.seen.update(event.hands[0])
        self._check_pack()
        if event.deal == self.deal:
            self.second[0] = self.kept[0]
        else:
            self.second[0] = Counter()
            self.crib = Counter()
        self.deal = event.deal
        self.hands[0] = Counter(event.hands[0])

    def _new_pack(self, cards: list[int]) -> None:
        """Check that no card is there twice, both jokers being alike."""
        self.seen = Counter(cards)
        self._check_pack()

    def _check_pack(self) -> None:
        assert all(number <= (2 if card == JOKER else 1) for card, number in self.seen.items()), (
            "a card is there twice"
        )

    def _Discarded(self, event: cribbage.Discarded) -> None:  # noqa: N802
        self._move(event.cards, self.hands[event.seat], self.crib)
        self.kept[event.seat] = self.hands[event.seat].copy()

    def _SplitMade(self, event: cribbage.SplitMade) -> None:  # noqa: N802
        self._move(event.second_hand, self.hands[event.seat], self.second[event.seat])
        assert self.hands[event.seat] == Counter(event.hand)
        self.kept[event.seat] = Counter(event.hand)

    def _Gifted(self, event: cribbage.Gifted) -> None:  # noqa: N802
        self._move(event.cards, self.limbo[event.seat], self.hands[event.to])
        for seat in (event.seat, event.to):
            self.kept[seat] = self.hands[seat].copy()

    def _CribTaken(self, event: cribbage.CribTaken) -> None:  # noqa: N802
        self._move(event.cards, self.crib, self.hands[event.seat])
        assert not +self.crib, "the lone seat takes the whole crib (R-C5.3T2)"

    def _Exchanged(self, event: cribbage.Exchanged) -> None:  # noqa: N802
        self._move(event.cards, self.hands[event.seat], self.crib)
        self.kept[event.seat] = self.hands[event.seat].copy()

    def _StarterTurned(self, event: cribbage.StarterTurned) -> None:  # noqa: N802
        self.seen[event.card] += 1
        self._check_pack()

    def _CardPlayed(self, event: cribbage.CardPlayed) -> None:  # noqa: N802
        self._move((event.card,), self.hands[event.seat], Counter())
        assert 0 <= event.count <= 31

    def _HandShown(self, event: cribbage.HandShown) -> None:  # noqa: N802
        if self.grid:
            assert len(event.cards) == 4
        elif (event.hand == 0) == (self.seats > 1):
            # Alone, the hand that was put aside is shown first.
            assert +self.kept[event.seat] == Counter(event.cards)
            if self.seats == 1:
                self.hands[0] = Counter()
        else:
            assert +self.second[event.seat] == Counter(event.cards)

    def _CribShown(self, event: cribbage.CribShown) -> None:  # noqa: N802
        assert +self.crib == Counter(event.cards)

    def _CardTurned(self, event: cribbage.CardTurned) -> None:  # noqa: N802
        self.seen[event.card] += 1
        self._check_pack()

    def _CardPlaced(self, event: cribbage.CardPlaced) -> None:  # noqa: N802
        cell = (event.row, event.column)
        assert cell not in self.grid
        assert 0 <= event.row < 4
        assert 0 <= event.column < 4
        self.grid.add(cell)

    def _Scored(self, event: cribbage.Scored) -> None:  # noqa: N802
        assert event.side == self.sides[event.seat]
        target = self.target(event.side)
        before = self.scores[event.side]
        after = before + event.points if target is None else min(before + event.points, target)
        if event.reason == cribbage.Reason.BACK_UP:
            after = max(after, 0)  # R-C9.12: there is no hole below 0
        assert event.score == after
        items = event.explain()
        assert not items or sum(item.points for item in items) == event.points
        self.scores[event.side] = after
        self.won = target is not None and after == target

    def target(self, side: int) -> int | None:
        """Return the side's target; None in a game for one, which has none (R-C7)."""
        return None if self.seats == 1 else int(self.game.target_of(side, self.seats))

    def _move(self, cards: tuple[int, ...], source: Counter[int], to: Counter[int]) -> None:
        for card in cards:
            assert source[card] > 0, "a card that is not there"
            source[card] -= 1
            to[card] += 1

    def check(self) -> None:
        """Compare the book with the state."""
        for seat in (*range(self.seats), None):
            view = self.state.view(seat)
            assert list(view.scores) == self.scores
            if not self.grid:
                assert view.hand_sizes == tuple(hand.total() for hand in self.hands)
                own = () if seat is None else tuple(sorted(self.hands[seat].elements()))
                assert view.hand == own
                if self.seats == 1 and not own:
                    continue  # both hands lie open
                assert view.second_hand == (
                    () if seat is None else tuple(sorted(self.second[seat].elements()))
                )
