"""`pegboard peg`: the points of the cards of one count, as they are played."""

from __future__ import annotations

from collections.abc import Sequence

from pegboard.cli.arguments import cribbage_rules
from pegboard.cli.output import columns, print_json
from pegboard.errors import InvalidRequest
from pegboard.rules.cards import JOKER, RANKS, VALUE, Card, parse_card
from pegboard.rules.cribbage.scoring.items import Item
from pegboard.rules.cribbage.scoring.pegging import peg_items
from pegboard.rules.cribbage.scoring.show import ShowRules

COUNT_MAX = 31
JOKERS_MOST = 2


def show_pegging(words: Sequence[str], variant: str, as_json: bool) -> None:
    """Print count and points of each card. Raises `InvalidRequest` beyond 31 (R-C3.1).

    The point for a go or the last card is not among them: it depends on the others' hands.
    """
    game = cribbage_rules(variant)
    names = [word for text in words for word in text.replace(",", " ").split()]
    cards = [parse_played(name) for name in names]
    if JOKER in cards and game.jokers != "zero":
        raise InvalidRequest(
            "in the play a wild joker is the card it is declared as; write that card"
        )
    if cards.count(JOKER) > JOKERS_MOST:
        raise InvalidRequest("a pack has two jokers at most")
    rules = ShowRules(game.three_runs, game.jokers)
    played: list[Card] = []
    count = 0
    rows: list[tuple[str, int, tuple[Item, ...]]] = []
    for name, card in zip(names, cards, strict=True):
        played.append(card)
        count += VALUE[card]
        if count > COUNT_MAX:
            raise InvalidRequest(f"{name} makes the count {count}; a count ends at {COUNT_MAX}")
        rows.append((name.upper(), count, peg_items(tuple(played), count, rules)))
    print_rows(rows, as_json)


def parse_played(word: str) -> Card:
    """Read a card; a rank alone is that rank of clubs, since suits do not matter in the play."""
    normal = word.strip().upper()
    return parse_card(f"{normal}C" if normal in (*RANKS, "10") else normal)


def print_rows(rows: Sequence[tuple[str, int, tuple[Item, ...]]], as_json: bool) -> None:
    """Print (card, count, items) as JSON or as aligned lines."""
    points = [sum(item.points for item in items) for _, _, items in rows]
    if as_json:
        print_json(
            [
                {"card": card, "count": count, "points": won}
                for (card, count, _), won in zip(rows, points, strict=True)
            ]
        )
        return
    reasons = [
        ", ".join(f"{item.kind.name.lower()} {item.points}" for item in items)
        for _, _, items in rows
    ]
    table = [
        (card, str(count), str(won) if won else "", why)
        for (card, count, _), won, why in zip(rows, points, reasons, strict=True)
    ]
    for line in columns([("card", "count", "points", ""), *table]):
        print(line)
