"""Cribbage: what its events show, what is conserved, how the past of a sampled state went."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from pegboard.rules.cards import HIDDEN, JOKER, PACK, Card, card_text
from pegboard.rules.cribbage import events as cribbage
from pegboard.rules.cribbage.forms import LONE_CRIB
from pegboard.rules.cribbage.moves import Discard, Exchange, Gift, Split
from pegboard.rules.cribbage.state import CribbageState
from pegboard.rules.cribbage.table import Table
from pegboard.rules.cribbage.view import Phase
from pegboard.rules.game import Game, Seat

if TYPE_CHECKING:
    from tests.rules.secrecy import Story

PIECES = [card_text(card) for card in PACK]
"""Without jokers: two that are alike move nothing."""
LAYING = frozenset({"Discarded", "CardPlayed", "CardPlaced"})


def visible(event: Any, seat: Seat | None) -> Any:
    """Hands, the crib and what is laid away are hidden from all but their owner (R-C1.7)."""
    if isinstance(event, cribbage.Dealt):
        hands = tuple(
            hand if owner == seat else (HIDDEN,) * len(hand)
            for owner, hand in enumerate(event.hands)
        )
        return _hide(event._replace(hands=hands), "crib")
    if isinstance(event, cribbage.Discarded | cribbage.CribTaken | cribbage.Exchanged):
        return event if seat == event.seat else _hide(event, "cards")
    if isinstance(event, cribbage.SplitMade):
        return event if seat == event.seat else _hide(event, "hand", "second_hand")
    if isinstance(event, cribbage.Gifted):
        return event if seat in (event.seat, event.to) else _hide(event, "cards")
    return event


def _hide(event: Any, *fields: str) -> Any:
    return event._replace(**{name: (HIDDEN,) * len(getattr(event, name)) for name in fields})


def orders_of(deal: str, seats: int) -> list[str]:
    """Return the label of the deal alone."""
    return [deal]


def audit(game: Game, seats: int, state: Any) -> CribbageAudit:
    """Return the audit of a match."""
    return CribbageAudit(game, seats, state)


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


def past(
    story: Story, reader: Seat, sample: CribbageState
) -> tuple[dict[str, list[int]], list[tuple[Seat, Any]]]:
    """Return the order of the pack, and the moves, hidden ones with the cards of the sample."""
    deal = Past(story, reader, sample)
    moves = [
        (seat, move if number < story.moves_before_deal else deal.move(seat, move))
        for number, (seat, move) in enumerate(story.moves)
    ]
    return {label: deal.order(order) for label, order in story.orders.items()}, moves


class Past:
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
