"""A greedy bot for every variant: the best it can see now, no plan.

Cribbage: keeps the hand that is worth most on average over all starters it cannot see, whoever owns the
crib, and plays the card that scores most, of equal ones the highest. Where counting is manual it claims
what is there and calls what is left out. Dominoes: places the heaviest tile that fits and draws only
when it must.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cache, lru_cache
from typing import Any

from pegboard.client import CribbageView, Turn, run
from pegboard.rules import catalog
from pegboard.rules.cards import JOKER, NO_CARD, PACK, VALUE, Card
from pegboard.rules.cribbage import moves as cribbage
from pegboard.rules.cribbage.events import Reason
from pegboard.rules.cribbage.forms import FORMS
from pegboard.rules.cribbage.game import Cribbage
from pegboard.rules.cribbage.scoring.pegging import peg_points
from pegboard.rules.cribbage.scoring.show import WILD, ShowRules, show_points, show_points_many
from pegboard.rules.dominoes import moves as dominoes
from pegboard.rules.tiles import PIPS

Choice = int | tuple[int, int | None]
Cards = tuple[Card, ...]

BID_MOST = 3
"""What a crib is worth to a bot that lays nothing good away."""


class Rules:
    """What a variant of cribbage changes for a greedy bot."""

    def __init__(self, game: Cribbage) -> None:
        self.show = ShowRules(game.three_runs, game.jokers)
        self.sign = -1 if game.lowball else 1
        self.crib_without_starter = FORMS[game.form].crib_without_starter

    def hand_value(self, kept: Sequence[Card], hand: Sequence[Card]) -> float:
        """Return the average of a hand over all starters, or its points alone with a wild joker."""
        if self.show.jokers == WILD and JOKER in kept:
            return float(show_points(kept, NO_CARD, False, self.show))
        starters = unseen(tuple(hand))
        return sum(show_points_many(kept, starters, False, self.show)) / len(starters)


@lru_cache(maxsize=1 << 10)
def rules_of(variant: str, options: tuple[tuple[str, str], ...]) -> Rules:
    """Return the rules of a match."""
    game = catalog.game(variant, dict(options))
    assert isinstance(game, Cribbage)
    return Rules(game)


@lru_cache(maxsize=1 << 8)
def unseen(hand: Cards) -> Cards:
    """Return the cards of the pack that are not in the hand."""
    held = frozenset(hand)
    return tuple(card for card in PACK if card not in held)


def best(values: Iterable[float]) -> int:
    """Return the index of the greatest value, the first of equal ones."""
    listed = list(values)
    return listed.index(max(listed))


# --- cribbage ----------------------------------------------------------------------------------


def without(hand: Sequence[Card], cards: Sequence[Card]) -> Cards:
    """Return the hand without these cards."""
    rest = list(hand)
    for card in cards:
        rest.remove(card)
    return tuple(rest)


def seen(turn: Turn) -> CribbageView:
    """Return the view of a turn of cribbage."""
    assert isinstance(turn.view, CribbageView)
    return turn.view


def card_sets(turn: Turn) -> list[Cards]:
    """Return the cards of each listed move; all of them are moves of cards."""
    return [move.cards for move in turn.moves if isinstance(move, cribbage.CardsMove)]


def discard(turn: Turn, rules: Rules) -> Choice:
    """Keep the best hand. Of more cards than a hand, keep those that combine most."""
    hand = seen(turn).hand
    kept = [without(hand, cards) for cards in card_sets(turn)]
    if len(kept[0]) > 6:
        return best(rules.sign * show_points(cards, NO_CARD, True, rules.show) for cards in kept)
    return best(rules.sign * rules.hand_value(cards, hand) for cards in kept)


def split(turn: Turn, rules: Rules) -> Choice:
    """Make the best two hands of eight cards: one's own two, or one's own and the partner's."""
    hand = seen(turn).hand

    @cache
    def value(cards: Cards) -> float:
        return rules.hand_value(cards, hand)

    return best(
        rules.sign * (value(cards) + value(without(hand, cards))) for cards in card_sets(turn)
    )


def play(turn: Turn, rules: Rules) -> Choice:
    """Play the card that scores most, of equal ones the highest; claim what it scores."""
    view = seen(turn)
    table = [effective(played.card, played.declared) for played in view.count_cards]

    plays = [move for move in turn.moves if isinstance(move, cribbage.Play)]
    cards = [effective(move.card, move.declared) for move in plays]
    scores = [peg_points([*table, card], view.count + VALUE[card], rules.show) for card in cards]
    index = best(
        rules.sign * (100_000 * score + 1000 * VALUE[card] + card)
        for score, card in zip(scores, cards, strict=True)
    )
    return index, within(turn, scores[index])


def effective(card: Card, declared: Card) -> Card:
    """Return what a card counts as."""
    return card if declared < 0 else declared


def within(turn: Turn, wanted: int) -> int | None:
    """Return the number nearest to the wanted one within the range, None where none is asked for."""
    if turn.number is None:
        return None
    low, high = turn.number
    return max(low, min(high, wanted))


def claim(turn: Turn, rules: Rules) -> Choice:
    """Claim what is there."""
    return 0, within(turn, true_points(turn, rules))


def call(turn: Turn, rules: Rules) -> Choice:
    """Call what a claim left out; else pass, or play on where it is one's turn."""
    counting = seen(turn).counting
    missing = 0
    if counting is not None and counting.claim is not None:
        missing = true_points(turn, rules) - counting.claim
    if missing > 0:
        return turn.move_count - 1, missing  # refused claims have not narrowed this range
    return play(turn, rules) if isinstance(turn.moves[0], cribbage.Play) else 0


def true_points(turn: Turn, rules: Rules) -> int:
    """Return what the hand, the crib or the card that is being counted is worth."""
    view = seen(turn)
    counting = view.counting
    assert counting is not None
    if counting.subject in (Reason.HAND, Reason.CRIB):
        crib = counting.subject == Reason.CRIB
        starter = NO_CARD if crib and rules.crib_without_starter else view.starter
        return show_points(counting.cards, starter, crib, rules.show)
    if counting.subject == Reason.PLAY:
        cards = [effective(played.card, played.declared) for played in view.count_cards]
        return peg_points(cards, view.count, rules.show) if cards else 0
    return 2 if counting.subject == Reason.THIRTY_ONE else 1


def bid(turn: Turn, rules: Rules) -> Choice:
    """Bid the least while it is little."""
    low = turn.number[0] if turn.number else 0
    cheap = rules.sign > 0 and low <= BID_MOST
    for index, move in enumerate(turn.moves):
        if isinstance(move, cribbage.Bid) == cheap:
            return index, low
    return 0, low


def place(turn: Turn, rules: Rules) -> Choice:
    """Put the card where its row and its column gain most."""
    view = seen(turn)

    def gain(move: cribbage.Place) -> int:
        row = [view.grid[4 * move.row + column] for column in range(4)]
        column = [view.grid[4 * row + move.column] for row in range(4)]
        return sum(
            line_points([*line, view.next_card], rules) - line_points(line, rules)
            for line in (row, column)
        )

    cells = [move for move in turn.moves if isinstance(move, cribbage.Place)]
    return best(rules.sign * gain(move) for move in cells)


def line_points(line: Sequence[Card], rules: Rules) -> int:
    """Return what the cards of a line make so far."""
    cards = [card for card in line if card != NO_CARD]
    return show_points(cards, NO_CARD, True, rules.show) if len(cards) > 1 else 0


def only(turn: Turn, rules: Rules) -> Choice:
    """Do the one thing there is."""
    return 0


CRIBBAGE: dict[type[Any], Callable[[Turn, Rules], Choice]] = {
    cribbage.Discard: discard,
    cribbage.Exchange: discard,
    cribbage.Split: split,
    cribbage.Gift: split,
    cribbage.Play: play,
    cribbage.Claim: claim,
    cribbage.Call: call,
    cribbage.Bid: bid,
    cribbage.Place: place,
    cribbage.Go: only,
    cribbage.Pass: only,
}
"""What to do by the kind of the last listed move: a pass or plays are listed before a bid or a call."""


# --- dominoes ----------------------------------------------------------------------------------


def place_tile(turn: Turn) -> Choice:
    """Place the heaviest tile that fits; draw or pass, listed last, only when none does."""
    return best(PIPS[move.tile] if isinstance(move, dominoes.Place) else -1 for move in turn.moves)


def choose(turn: Turn) -> Choice:
    """Choose for the family; the first legal move in a game that this bot does not know."""
    if turn.family == "dominoes":
        return place_tile(turn)
    if turn.family != "cribbage" or (turn.move_count == 1 and turn.number is None):
        return 0
    rules = rules_of(turn.info.variant, tuple(turn.info.options.items()))
    return CRIBBAGE[type(turn.moves[-1])](turn, rules)


if __name__ == "__main__":
    run(choose)
