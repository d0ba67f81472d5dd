"""Full states that agree with what a seat of cribbage has seen: where the hidden cards may lie.

Hidden are the cards of the other seats, their discards, what was dealt to the crib, and the rest of the
pack. What was seen restricts them so:

- A seat that the play passed over, by a go or at the end of a count, held no card that fitted the count
  (R-C3.2). Hands only shrink in the play, so this holds for the cards that the seat has now.
- A seat that is on turn can play, unless gos are not automatic.
- With discard-fives a seat that keeps a five has laid only fives away (R-C9.6, R-C9.7).
- In lone-crib the discard of another seat lies among the eight cards that the lone seat picked from.

Every way to lay the hidden cards that this allows is equally likely: a random way that respects the
first restriction (and the fives of a seat that has shown one) is drawn until one respects the others.
After `ATTEMPTS` ways that do not, the next ones are built so that they do: the seat on turn gets a card
to play, the loose discard goes to the crib, fives stay out of hands. Those are not drawn evenly.
Of 29,000 samples in random play over the catalog 2 were built so, both in lone-crib.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from pegboard.rules.cards import NO_CARD, RANK, VALUE, Card
from pegboard.rules.cribbage.forms import CANADIAN_DOUBLES, LONE_CRIB, TEN_CARD
from pegboard.rules.cribbage.joker_rules import LIMIT
from pegboard.rules.cribbage.setup import Setup
from pegboard.rules.cribbage.view import CribbageView, Phase, PlayedCard
from pegboard.rules.errors import ViewError
from pegboard.rules.game import Chance, Seat

ATTEMPTS: Final = 100
HAND, SECOND, GIFT, DISCARD, DEALT_CRIB, CRIB = range(6)
"""What hidden cards may be: of a seat, or (the last two) dealt to the crib, or all of the crib."""

_FIVE: Final = 5
_EIGHT: Final = 8
"""No crib, and no hand with a crib picked up, has more cards."""
_NO_SEAT: Final = -1


class Slot(NamedTuple):
    """A place for `size` hidden cards; `allowed` are the cards that may lie there, None for any."""

    kind: int
    seat: Seat
    size: int
    allowed: frozenset[Card] | None = None


class Layout:
    """Where all cards of the deal lie. Lists are by seat; `crib` is None while it is not complete.

    `gifts` are cards given to a partner that does not hold them yet.
    """

    def __init__(self, seats: int) -> None:
        self.hands: list[list[Card]] = [[] for _ in range(seats)]
        self.second_hands: list[tuple[Card, ...]] = [()] * seats
        self.gifts: list[tuple[Card, ...]] = [()] * seats
        self.discards: list[tuple[Card, ...]] = [()] * seats
        self.dealt_crib: tuple[Card, ...] = ()
        self.crib: tuple[Card, ...] | None = None
        self.rest: list[Card] = []

    def put(self, slot: Slot, cards: Sequence[Card]) -> None:
        """Lay cards into a place."""
        seat = slot.seat
        if slot.kind == HAND:
            self.hands[seat] = sorted([*self.hands[seat], *cards])
        elif slot.kind == SECOND:
            self.second_hands[seat] = tuple(sorted(cards))
        elif slot.kind == GIFT:
            self.gifts[seat] = tuple(sorted(cards))
        elif slot.kind == DISCARD:
            self.discards[seat] = tuple(sorted(cards))
        elif slot.kind == CRIB:
            self.crib = tuple(sorted(cards))
        else:
            self.dealt_crib = tuple(cards)


class Deal:
    """What a seat knows of the running deal, and what is hidden from it.

    `unknown` are the hidden cards, `slots` where they may lie. `loose` is the own discard if the lone
    seat has picked the crib up (lone-crib) and the card has not been seen since, else NO_CARD.
    """

    def __init__(self, setup: Setup, view: CribbageView, seat: Seat | None) -> None:
        self.setup = setup
        self.view = view
        self.seat = _NO_SEAT if seat is None else seat
        self.plays = (*view.played, *view.count_cards)
        self.in_play = view.phase in (Phase.PLAY, Phase.SHOW, Phase.OVER)
        self.canadian = setup.form.name == CANADIAN_DOUBLES
        self.lone_crib = setup.form.name == LONE_CRIB
        self.taken = self.lone_crib and (self.in_play or view.phase == Phase.EXCHANGE)
        self.kept: dict[Seat, tuple[Card, ...]] = {}
        self.seconds: dict[Seat, tuple[Card, ...]] = {}
        self.crib: tuple[Card, ...] | None = None
        self._note_shown()
        self.loose = self._loose()
        self.unknown = self._unknown()
        self.rooms = passed_over(self)
        self.slots = tuple(slot for slot in self._slots() if slot.size)

    def played_by(self, seat: Seat) -> list[Card]:
        """Return the cards that the seat has played."""
        return [played.card for played in self.plays if played.seat == seat]

    def discarded(self, seat: Seat) -> int:
        """Return how many cards the seat has laid away."""
        setup, view = self.setup, self.view
        dealt = setup.deal.dealt[(seat - view.dealer) % setup.seats]
        done = self.in_play or (view.phase != Phase.BID and view.hand_sizes[seat] != dealt)
        return setup.discards[view.dealer][seat] if done else 0

    def chosen(self, seat: Seat) -> bool:
        """Whether a seat that gets ten cards has made its second choice."""
        return self.discarded(seat) > 0 and self.view.hand_sizes[seat] <= 4

    def _note_shown(self) -> None:
        """Read what was laid open in a manual show."""
        ten_card = self.setup.form.name == TEN_CARD
        shown = iter(self.view.shown)
        for step in range(1, self.setup.seats + 1):
            seat = (self.view.dealer + step) % self.setup.seats
            for hands in (self.kept, self.seconds) if ten_card else (self.kept,):
                cards = next(shown, None)
                if cards is not None:
                    hands[seat] = cards
        self.crib = next(shown, None)
        if self.in_play and self.lone_crib and self.seat == self.setup.lone:
            self.crib = self.view.discards
        if self.canadian and self.in_play and self.view.seen:
            self.kept[(self.seat + 2) % self.setup.seats] = self.view.seen

    def _loose(self) -> Card:
        lone = self.setup.lone
        if not self.taken or self.seat == lone or not self.view.discards:
            return NO_CARD
        card = self.view.discards[0]
        seen = (*self.played_by(lone), *self.kept.get(lone, ()), *(self.crib or ()))
        return NO_CARD if card in seen else card

    def _unknown(self) -> list[Card]:
        """Return the cards of the pack that the seat has not seen. Raises `ViewError`."""
        unknown = [*self.setup.pack]
        try:
            for card in self._known():
                unknown.remove(card)
        except ValueError:
            raise ViewError("a card is there twice; give a view of a match of this game") from None
        return unknown

    def _known(self) -> Iterator[Card]:
        view = self.view
        yield from (played.card for played in self.plays)
        yield from (*view.hand, *view.second_hand)
        yield from (card for card in (view.starter, view.next_card) if card != NO_CARD)
        yield from (card for card in view.grid if card != NO_CARD)
        if not self.lone_crib:
            yield from view.seen if not self.canadian else ()
        if self.crib is not None:
            yield from self.crib
        elif not (self.taken and self.seat != self.setup.lone):
            yield from view.discards
        if not self.in_play and self.canadian:
            yield from view.seen
        for seat, cards in self.kept.items():
            if seat != self.seat:
                yield from without(cards, self.played_by(seat))
        for seat, cards in self.seconds.items():
            if seat != self.seat:
                yield from cards

    def _slots(self) -> Iterator[Slot]:
        """Yield the places of hidden cards."""
        for seat in range(self.setup.seats):
            if seat != self.seat:
                yield from self._slots_of(seat)
        if self.in_play and self.taken:
            yield Slot(CRIB, _NO_SEAT, 0 if self.crib else 4)
        elif self.crib is None and not self.taken:
            yield Slot(DEALT_CRIB, _NO_SEAT, self.setup.deal.crib_dealt)

    def _slots_of(self, seat: Seat) -> Iterator[Slot]:
        form = self.setup.form.name
        if seat not in self.kept:
            yield Slot(HAND, seat, self.view.hand_sizes[seat], self._allowed(seat))
        if form == TEN_CARD and seat not in self.seconds and self.chosen(seat):
            yield Slot(SECOND, seat, 4)
        if form == CANADIAN_DOUBLES and not self.in_play and self.chosen(seat):
            yield Slot(GIFT, seat, 4)
        if self.crib is None and not self.taken:
            fives = frozenset(card for card in self.unknown if RANK[card] == _FIVE)
            shown = self.setup.fives and any(RANK[card] == _FIVE for card in self._seen_of(seat))
            yield Slot(DISCARD, seat, self.discarded(seat), fives if shown else None)

    def _seen_of(self, seat: Seat) -> list[Card]:
        """Return the cards seen that the seat kept, or gave to its partner."""
        cards = [*self.played_by(seat), *self.kept.get(seat, ()), *self.seconds.get(seat, ())]
        if self.canadian:
            partner = (seat + 2) % self.setup.seats
            cards += self.played_by(partner)
            if partner == self.seat and self.in_play:
                cards += self.view.hand
        return cards

    def _allowed(self, seat: Seat) -> frozenset[Card] | None:
        """Return the cards that the seat may hold; None: any."""
        room = self.rooms.get(seat)
        if room is None:
            return None
        can_play = self.setup.joker_rules.can_play
        return frozenset(card for card in self.unknown if not can_play((card,), room))

    # What is checked of a layout

    def agrees(self, layout: Layout) -> bool:
        """Whether the seat can have seen what it has if the cards lie so."""
        return (
            self._loose_is_there(layout)
            and (not self.setup.fives or all(map(layout_keeps_fives, self._dealt(layout))))
            and (self.view.phase != Phase.PLAY or self.turn(layout.hands) is not None)
        )

    def _loose_is_there(self, layout: Layout) -> bool:
        if self.loose == NO_CARD:
            return True
        return self.loose in layout.hands[self.setup.lone] or self.loose in (layout.crib or ())

    def _dealt(self, layout: Layout) -> Iterator[tuple[list[Card], tuple[Card, ...]]]:
        """Yield what each seat kept (or gave away) and laid away, if discard-fives binds it."""
        setup = self.setup
        for seat in range(setup.seats):
            if seat == self.seat or not self.discarded(seat):
                continue
            kept = [*layout.hands[seat], *self.played_by(seat)]
            kept += (*layout.second_hands[seat], *layout.gifts[seat])
            if self.canadian and self.in_play:
                partner = (seat + 2) % setup.seats
                kept += (*layout.hands[partner], *self.played_by(partner))
            if self.lone_crib and seat == setup.lone:
                if self.in_play and layout.crib is not None:
                    yield kept, layout.crib
            elif not self.taken or self.view.phase != Phase.EXCHANGE:
                yield kept, layout.discards[seat]

    def turn(self, hands: Sequence[Sequence[Card]]) -> Seat | None:
        """Return who plays next with these hands; None if that is not what the seat has seen."""
        view, setup = self.view, self.setup
        last = self.plays[-1].seat if self.plays else view.dealer
        if view.count_over:
            return last
        seat = last
        for _ in range(setup.seats):
            seat = setup.lefts[seat]
            if hands[seat] and seat not in view.said_go:
                if not view.count_cards or setup.joker_rules.can_play(hands[seat], view.count):
                    return seat if self._asked(seat) else None
                if seat != last and view.count < LIMIT:
                    return seat if not setup.auto_go and self._asked(seat) else None
        return None

    def _asked(self, seat: Seat) -> bool:
        """Whether the seat may be the one on turn; open calls may hide who is."""
        return self.view.counting is not None or self.view.seats_to_act == (seat,)


def layout_keeps_fives(dealt: tuple[list[Card], tuple[Card, ...]]) -> bool:
    """Whether what was kept and laid away obeys discard-fives (R-C9.6, R-C9.7)."""
    kept, away = dealt
    return all(RANK[card] == _FIVE for card in away) or all(RANK[card] != _FIVE for card in kept)


def without(cards: Iterable[Card], others: Iterable[Card]) -> list[Card]:
    """Return the cards without the others that are among them."""
    left = [*cards]
    for card in others:
        if card in left:
            left.remove(card)
    return left


def passed_over(deal: Deal) -> dict[Seat, int]:
    """Return, for each seat that the play passed over with cards in hand, the lowest count of these."""
    view, setup = deal.view, deal.setup
    held = list(view.hand_sizes)
    for played in deal.plays:
        held[played.seat] += 1
    lowest: dict[Seat, int] = {}
    running = 0
    last = _NO_SEAT

    def pass_over(seats: Iterable[Seat]) -> None:
        for seat in seats:
            if held[seat]:
                lowest[seat] = min(lowest.get(seat, LIMIT), running)

    for played in deal.plays:
        value = card_value(played)
        if running + value > LIMIT:
            pass_over(range(setup.seats))
            running = 0
        elif last != _NO_SEAT:
            pass_over(_between(last, played.seat, setup.seats))
        running += value
        held[played.seat] -= 1
        last = played.seat
    if deal.plays and view.phase in (Phase.PLAY, Phase.SHOW):
        over = view.phase == Phase.SHOW or view.count_over or not view.count_cards
        pass_over(range(setup.seats) if over else view.said_go)
    return lowest


def card_value(played: PlayedCard) -> int:
    """Return what a card on the table counts."""
    return VALUE[played.card if played.declared == NO_CARD else played.declared]


def _between(last: Seat, seat: Seat, seats: int) -> list[Seat]:
    """Return the seats left of `last` that come before `seat`; all others if they are the same."""
    steps = (seat - last) % seats or seats
    return [(last + step) % seats for step in range(1, steps)]


# Laying the cards


def lay_cards(
    setup: Setup, view: CribbageView, seat: Seat | None, chance: Chance
) -> tuple[Deal, Layout]:
    """Return a layout that agrees with the view. Raises `ViewError` if there is none."""
    deal = Deal(setup, view, seat)
    for attempt in range(1, ATTEMPTS + 1):
        cards, crib = _shuffled(deal, chance, attempt)
        layout = _laid(deal, deal.slots, {}, cards, crib)
        if layout is not None and deal.agrees(layout):
            return deal, layout
    for attempt in range(ATTEMPTS + 1, 2 * ATTEMPTS + 1):
        cards, crib = _shuffled(deal, chance, attempt)
        slots = tuple(_without_fives(deal, slot) for slot in deal.slots)
        layout = _laid(deal, slots, _wanted(deal, cards), cards, crib)
        if layout is not None and deal.agrees(layout):
            return deal, layout
    raise ViewError(
        "no cards can lie so that the seat sees this; give a view of a match of this game"
    )


def _shuffled(deal: Deal, chance: Chance, attempt: int) -> tuple[list[Card], Sequence[int]]:
    """Return the unknown cards in random order, and an order by which eight cards are divided."""
    count = len(deal.unknown)
    cards = [deal.unknown[place] for place in chance.order(f"sample/{attempt}", count, count)]
    divides = deal.taken or deal.crib is not None
    return cards, chance.order(f"sample/{attempt}/crib", _EIGHT, _EIGHT) if divides else ()


def _laid(
    deal: Deal,
    slots: Sequence[Slot],
    wanted: dict[int, Card],
    cards: list[Card],
    crib: Sequence[int],
) -> Layout | None:
    """Lay shuffled cards, into places of few allowed cards first; None if they do not go.

    The sets of allowed cards lie within each other or apart (cards above a count, the fives, all), so
    each place has the same number of cards to choose from whatever the places before got: every way is
    equally likely.
    """
    layout = Layout(deal.setup.seats)
    filled: dict[int, list[Card]] = {}
    for place, card in wanted.items():
        cards.remove(card)
        filled[place] = [card]
    order = sorted(range(len(slots)), key=lambda place: len(slots[place].allowed or deal.unknown))
    for place in order:
        slot = slots[place]
        got = filled.setdefault(place, [])
        for card in cards if slot.allowed is None else [c for c in cards if c in slot.allowed]:
            if len(got) == slot.size:
                break
            got.append(card)
        if len(got) < slot.size:
            return None
        cards = without(cards, got[1:] if place in wanted else got)
    for place, slot in enumerate(slots):
        layout.put(slot, filled[place])
    layout.rest = cards
    _complete(deal, layout, crib)
    return layout


def _complete(deal: Deal, layout: Layout, order: Sequence[int]) -> None:
    """Add what the seat knows, and divide what was picked up or shown among those it came from."""
    view = deal.view
    if deal.seat != _NO_SEAT:
        layout.hands[deal.seat] = list(view.hand)
        layout.second_hands[deal.seat] = view.second_hand
        layout.discards[deal.seat] = view.discards
        if deal.canadian and not deal.in_play:
            layout.gifts[deal.seat] = view.seen
    for seat, cards in deal.kept.items():
        if seat != deal.seat:
            layout.hands[seat] = without(cards, deal.played_by(seat))
    for seat, cards in deal.seconds.items():
        layout.second_hands[seat] = cards
    if deal.crib is not None:
        layout.crib = deal.crib
    if deal.taken:
        _divide(deal, layout, _picked_from(deal, layout), order)
    elif deal.crib is not None:
        _divide(deal, layout, without(deal.crib, view.discards), order)
    elif deal.in_play:
        crib = [*layout.dealt_crib, *(card for cards in layout.discards for card in cards)]
        layout.crib = tuple(sorted(crib))


def _picked_from(deal: Deal, layout: Layout) -> list[Card]:
    """Return the cards the lone seat picked from, without those that no other seat laid away."""
    lone, view = deal.setup.lone, deal.view
    if deal.seat == lone:
        return [*view.seen]
    crib = layout.crib or ()
    layout.discards[lone] = crib
    return without([*layout.hands[lone], *deal.played_by(lone), *crib], view.discards)


def _divide(deal: Deal, layout: Layout, cards: list[Card], order: Sequence[int]) -> None:
    """Give the other seats their discards out of these cards, in random order."""
    setup = deal.setup
    cards = [cards[place] for place in order if place < len(cards)]
    for seat in range(setup.seats):
        size = setup.discards[deal.view.dealer][seat]
        if seat != deal.seat and not (deal.taken and seat == setup.lone):
            layout.discards[seat] = tuple(sorted(cards[:size]))
            cards = cards[size:]
    layout.dealt_crib = tuple(cards[: setup.deal.crib_dealt])


# Building a layout where drawing one has failed


def _wanted(deal: Deal, cards: Sequence[Card]) -> dict[int, Card]:
    """Return a card that a place must have: a card to play, or the own discard in the crib."""
    wanted: dict[int, Card] = {}
    crib = [slot for slot in deal.slots if slot.kind == CRIB]
    lone = [slot for slot in deal.slots if (slot.kind, slot.seat) == (HAND, deal.setup.lone)]
    loose_slot = (crib + lone + [None])[0]
    for place, slot in enumerate(deal.slots):
        if deal.loose != NO_CARD and slot == loose_slot:
            wanted[place] = deal.loose
        elif slot.kind == HAND and deal.view.phase == Phase.PLAY and slot.seat == _on_turn(deal):
            can_play = deal.setup.joker_rules.can_play
            fits = [
                card
                for card in cards
                if can_play((card,), deal.view.count)
                and card != deal.loose
                and (slot.allowed is None or card in slot.allowed)
            ]
            if fits and not deal.view.count_over:
                wanted[place] = fits[0]
    return wanted


def _on_turn(deal: Deal) -> Seat:
    """Return the seat on turn: the one asked, else the first that has cards and has not said go."""
    view = deal.view
    if view.counting is None:
        return view.seats_to_act[0]
    seat = deal.plays[-1].seat if deal.plays else view.dealer
    for _ in range(deal.setup.seats):
        seat = deal.setup.lefts[seat]
        if view.hand_sizes[seat] and seat not in view.said_go:
            return seat
    return _NO_SEAT


def _without_fives(deal: Deal, slot: Slot) -> Slot:
    """Return the place without fives, which a seat may have had to lay away."""
    if not deal.setup.fives or slot.kind not in (HAND, SECOND, GIFT):
        return slot
    allowed = slot.allowed if slot.allowed is not None else frozenset(deal.unknown)
    return slot._replace(allowed=frozenset(card for card in allowed if RANK[card] != _FIVE))
