"""`pegboard score`: the points of a hand or crib, and the cards that make them."""

from __future__ import annotations

from collections.abc import Sequence

from pegboard.cli.arguments import cribbage_rules, parse_cards
from pegboard.cli.output import columns, print_json
from pegboard.errors import InvalidRequest
from pegboard.rules.cards import JOKER, NO_CARD, Card, card_text, cards_text
from pegboard.rules.cribbage.forms import FIVE_CARD, FIVE_CRIB, FORMS, NINE_CARD, SQUARES
from pegboard.rules.cribbage.scoring.items import Item, ItemKind
from pegboard.rules.cribbage.scoring.show import ShowRules, best_identities, show_items

STANDARD_SIZE = 4
HAND_SIZES = {FIVE_CARD: 3, NINE_CARD: 6}
CRIB_SIZES = {FIVE_CRIB: 5, NINE_CARD: 6}
PARTS = {
    ItemKind.FIFTEEN: "fifteens",
    ItemKind.PAIR: "pairs",
    ItemKind.RUN: "runs",
    ItemKind.FLUSH: "flush",
    ItemKind.NOBS: "nobs",
}


def show_score(
    hand: Sequence[str], starter: str | None, crib: bool, variant: str, as_json: bool
) -> None:
    """Print the score. Raises `InvalidRequest` if the cards do not make a hand of the variant."""
    game = cribbage_rules(variant)
    cards = parse_cards(hand)
    turned = NO_CARD if starter is None else parse_cards([starter])[0]
    refuse_wrong_size(len(cards), variant, game.form, crib)
    bare = crib and FORMS[game.form].crib_without_starter
    if bare:
        turned = NO_CARD  # R-C5.5P2: that crib is counted on its own cards
    elif turned == NO_CARD:
        raise InvalidRequest("name the starter, e.g. --starter 5S")
    refuse_repeated([*cards, *([] if turned == NO_CARD else [turned])])
    if JOKER in (*cards, turned) and game.jokers == "none":
        raise InvalidRequest(f"{variant} has no jokers; try --variant cribbage-jokers-wild")
    rules = ShowRules(game.three_runs, game.jokers)
    items = show_items(cards, turned, crib, rules)
    if as_json:
        print_json(totals(items))
        return
    for line in explanation(items):
        print(line)
    wild = best_identities(cards, turned, crib, rules)
    if wild:
        print(f"joker as {cards_text(wild)}")


def refuse_wrong_size(count: int, variant: str, form: str, crib: bool) -> None:
    """Raise `InvalidRequest` for a number of cards that the variant never shows."""
    sizes, what = (CRIB_SIZES, "crib") if crib else (HAND_SIZES, "hand")
    if crib and form == SQUARES:
        raise InvalidRequest(f"{variant} has no crib; leave --crib out")
    wanted = sizes.get(form, STANDARD_SIZE)
    if count != wanted:
        raise InvalidRequest(
            f"a {what} of {variant} has {wanted} cards beside the starter, not {count}"
        )


def refuse_repeated(cards: Sequence[Card]) -> None:
    """Raise `InvalidRequest` if a card other than a joker is given twice."""
    for card in cards:
        if card != JOKER and cards.count(card) > 1:
            raise InvalidRequest(f"{card_text(card)} is there twice")
    if cards.count(JOKER) > 2:
        raise InvalidRequest("a pack has two jokers")


def totals(items: Sequence[Item]) -> dict[str, int]:
    """Return the points by kind, and `total`."""
    sums = {
        name: sum(item.points for item in items if item.kind == kind)
        for kind, name in PARTS.items()
    }
    return {**sums, "total": sum(sums.values())}


def explanation(items: Sequence[Item]) -> list[str]:
    """Return a line for each combination and one for the total."""
    rows = [(item.kind.name.lower(), cards_text(item.cards), str(item.points)) for item in items]
    total = sum(item.points for item in items)
    return columns([*rows, ("total", "", str(total))])
