"""Cases of a whole play, from given hands to the last card (kind peg_game)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from pegboard.rules.cards import PACK, RANK, RANKS, Card, parse_rank
from pegboard.rules.cribbage.events import (
    CardPlayed,
    CountEnded,
    Reason,
    Scored,
    WentGo,
)
from pegboard.rules.cribbage.forms import FIVE_CARD, STANDARD
from pegboard.rules.cribbage.game import Cribbage
from pegboard.rules.cribbage.moves import PLAYS
from pegboard.rules.cribbage.phases.plain_play import PlainPlaying
from pegboard.rules.cribbage.scoring.items import ItemKind
from pegboard.rules.cribbage.setup import setup_of
from pegboard.rules.cribbage.table import Table
from pegboard.rules.errors import NotationError
from pegboard.rules.shuffle import ScriptedChance
from pegboard.rules.vectors.case import Case, expect, field, numbers, texts

_FORMS = {"standard": STANDARD, "five_card": FIVE_CARD}
_ITEM_WORDS = {
    ItemKind.FIFTEEN: "15",
    ItemKind.PAIR: "pair",
    ItemKind.RUN: "run",
    ItemKind.THIRTY_ONE: "31",
}


def run_play(case: Case) -> None:
    """Play all cards as told; compare whose turn it is, the points, and the log if there is one."""
    table = _table(case)
    phase = PlainPlaying(table)
    phase.begin()
    log: list[str] = []
    done = False
    for seat, rank in field(case, "plays"):
        expect(f"end of the play before {rank} of seat {seat}", done, False)
        expect(f"seat to play {rank}", phase.to_act(), (seat,))
        events: list[Any] = []
        done = phase.apply(seat, PLAYS[_held(table.hands[seat], rank)], events)
        log += _log_lines(events)
        if not done and any(isinstance(event, CountEnded) for event in events):
            log.append(f"reset, lead P{phase.to_act()[0]}")
    expect("end of the play after the last card", done, True)
    expect("points", table.scores, numbers(case, "points"))
    if "log" in case:
        expect("log", log, texts(case, "log"))


def _table(case: Case) -> Table:
    """Return a table where the hands are held and the leader is next."""
    hands = field(case, "hands")
    seats = len(hands)
    form = _FORMS.get(case.get("variant", "standard"))
    if form is None:
        raise NotationError(f"no variant {case['variant']!r}; write one of {', '.join(_FORMS)}")
    table = Table(setup_of(Cribbage(form), seats), ScriptedChance({}))
    table.dealer = (field(case, "leader") - 1) % seats
    pack = list(PACK)
    table.hands = [sorted(_take(pack, rank) for rank in hand) for hand in hands]
    return table


def _take(pack: list[Card], rank: str) -> Card:
    """Take the next card of a rank out of the pack: suits do not matter in the play."""
    wanted = parse_rank(rank)
    for card in pack:
        if RANK[card] == wanted:
            pack.remove(card)
            return card
    raise NotationError(f"a pack has four cards of rank {rank}")


def _held(hand: Sequence[Card], rank: str) -> Card:
    """Return a card of that rank in the hand."""
    wanted = parse_rank(rank)
    for card in hand:
        if RANK[card] == wanted:
            return card
    raise NotationError(f"the hand has no {rank} left to play")


def _log_lines(events: Iterable[Any]) -> list[str]:
    """Return a line for each card, go, and point for the last card."""
    lines: list[str] = []
    for event in events:
        if isinstance(event, CardPlayed):
            lines.append(f"P{event.seat} {RANKS[RANK[event.card] - 1]} ({event.count})")
        elif isinstance(event, WentGo):
            lines.append(f"P{event.seat} go")
        elif isinstance(event, Scored) and event.reason == Reason.PLAY:
            items = {_ITEM_WORDS[item.kind]: item.points for item in event.explain()}
            lines[-1] += f" +{event.points} {items}"
        elif isinstance(event, Scored):
            lines.append(f"P{event.seat} +{event.points} {event.reason.name.lower()}")
    return lines
