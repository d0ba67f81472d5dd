"""Properties that hold for every hand, crib and count."""

from __future__ import annotations

from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st

from pegboard.rules import catalog
from pegboard.rules.cards import PACK, RANK, SUIT, VALUE, Card, parse_card
from pegboard.rules.cribbage.events import Dealt, Reason, Scored
from pegboard.rules.cribbage.scoring.pegging import peg_points
from pegboard.rules.cribbage.scoring.show import show_points
from pegboard.rules.shuffle import SEED_BYTES, SeededChance

FIVE = 5
TWOS = [card for card in PACK if RANK[card] == 2]
five_cards = st.lists(st.sampled_from(PACK), min_size=5, max_size=5, unique=True).map(tuple)
many_fives = st.tuples(
    st.lists(
        st.sampled_from([card for card in PACK if RANK[card] == FIVE]),
        min_size=1,
        max_size=4,
        unique=True,
    ),
    st.lists(
        st.sampled_from([card for card in PACK if RANK[card] != FIVE]),
        min_size=4,
        max_size=4,
        unique=True,
    ),
    st.randoms(use_true_random=False),
)
RANGE_BY_FIVES = [(0, 24), (2, 24), (2, 24), (8, 23), (20, 29)]


def hand_points(cards: tuple[Card, ...], crib: bool = False) -> int:
    """Score the first four, the fifth being the starter."""
    return show_points(cards[:4], cards[4], crib)


@given(five_cards, st.booleans())
def test_no_hand_scores_nineteen(cards: tuple[Card, ...], crib: bool) -> None:
    """0 to 29 without 19, 25, 26, 27 (R-C4.7)."""
    assert hand_points(cards, crib) in {*range(30)} - {19, 25, 26, 27}


@given(many_fives)
def test_fives_are_worth_what_they_are(drawn: tuple[list[Card], list[Card], object]) -> None:
    """The range of points by number of fives."""
    fives, others, rng = drawn
    cards = [*fives, *others][:5]
    rng.shuffle(cards)  # type: ignore[attr-defined]
    low, high = RANGE_BY_FIVES[sum(RANK[card] == FIVE for card in cards)]
    assert low <= hand_points(tuple(cards)) <= high


@given(five_cards, st.sampled_from(TWOS))
def test_a_two_keeps_a_hand_at_twenty(cards: tuple[Card, ...], two: Card) -> None:
    """No hand with a 2 scores more than 20."""
    with_two = cards if two in cards else (two, *cards[1:])
    assert hand_points(with_two) <= 20


@given(five_cards, st.permutations(range(1, 5)), st.permutations(range(4)), st.booleans())
def test_suits_and_order_do_not_matter(
    cards: tuple[Card, ...], suits: list[int], order: list[int], crib: bool
) -> None:
    """The score is the same under any exchange of suits and any order of the hand cards."""
    exchanged = [Card(10 * RANK[card] + suits[SUIT[card] - 1]) for card in cards]
    hand = tuple(exchanged[place] for place in order)
    assert show_points(hand, exchanged[4], crib) == hand_points(cards, crib)


def test_the_starter_does_matter() -> None:
    """A Jack is worth a nob in the hand only, and a flush needs the four of the hand."""
    jack, club, others = (
        parse_card("JC"),
        parse_card("6C"),
        tuple(map(parse_card, ["2D", "4H", "8S"])),
    )
    assert show_points((jack, *others), club, crib=False) == 1
    assert show_points((club, *others), jack, crib=False) == 0


@given(five_cards)
def test_a_crib_scores_as_a_hand_or_a_flush_less(cards: tuple[Card, ...]) -> None:
    """The difference is 0, or 4 for the flush that does not include the starter (R-C4.5)."""
    assert hand_points(cards) - hand_points(cards, crib=True) in (0, 4)


@given(st.permutations(PACK))
def test_no_card_pegs_more_than_fifteen(pack: list[Card]) -> None:
    """At most 14, and 1 for the last card."""
    played: list[Card] = []
    count = 0
    for card in pack[:8]:
        if count + VALUE[card] > 31:
            played, count = [], 0
        played.append(card)
        count += VALUE[card]
        assert peg_points(played, count) <= 14


def test_fifteen_on_one_card() -> None:
    """7 2 2 2 2: four twos 12, fifteen 2, and 1 if it is the last card."""
    assert peg_points([parse_card(text) for text in ["7C", "2C", "2D", "2H", "2S"]], 15) == 14


def test_the_best_deal_is_seventy_seven() -> None:
    """Dealer's hand 29 and crib 24, pone's hand 24."""
    pone, dealer, crib = (
        tuple(map(parse_card, text.split()))
        for text in ("4H 4S 6H 6S", "5C 5D 5H JS", "4C 4D 6C 6D")
    )
    starter = parse_card("5S")
    shown = [show_points(hand, starter, crib=False) for hand in (pone, dealer)]
    assert [*shown, show_points(crib, starter, crib=True)] == [24, 29, 24]


@given(st.binary(min_size=SEED_BYTES, max_size=SEED_BYTES))
@settings(max_examples=20, deadline=None)
def test_the_dealer_pegs_in_every_deal(seed: bytes) -> None:
    """Two players, no early win: the dealer has at least the last card or a go (R-C3.5)."""
    rng = Random(seed)
    state, events = catalog.game("cribbage", {"target": "999"}).start(2, SeededChance(seed, ""))
    while sum(isinstance(event, Dealt) for event in events) < 10:
        seat = rng.choice(state.to_act())
        events += state.apply(seat, rng.choice(state.choices(seat).moves))
    pegged: dict[int, int] = {}
    deal = dealer = 0
    for event in events:
        if isinstance(event, Dealt):
            deal, dealer = event.deal, event.dealer
            pegged[deal] = 0
        elif isinstance(event, Scored) and event.seat == dealer:
            pegged[deal] += event.points * (event.reason in (Reason.PLAY, Reason.GO, Reason.LAST))
    assert all(pegged[number] >= 1 for number in range(1, 10))
