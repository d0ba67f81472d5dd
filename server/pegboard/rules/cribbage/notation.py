"""Moves as text: what `text()` of every move writes, read back."""

from __future__ import annotations

import re

from pegboard.rules.cards import JOKER, NO_CARD, Card, parse_card
from pegboard.rules.cribbage.moves import (
    GO,
    PASS,
    PLAYS,
    Bid,
    Call,
    Claim,
    CribbageMove,
    Discard,
    Exchange,
    Gift,
    Place,
    Play,
    Split,
)
from pegboard.rules.errors import NotationError

_CARDS = {kind.WORD: kind for kind in (Discard, Split, Gift, Exchange)}
_NUMBERS = {kind.WORD: kind for kind in (Bid, Claim, Call)}
_WORDS: dict[str, CribbageMove] = {"GO": GO, "PASS": PASS}
_PLAY = re.compile(r"(\S+?)(?:=(\S+))?(?: +CLAIM +([0-9]{1,3}))?")
_PLACE = re.compile(r"([0-3]) +([0-3])")
_NUMBER = re.compile(r"[0-9]{1,3}")


def parse_move(text: str) -> CribbageMove:
    """Read a move in canonical notation, in either case. Raises `NotationError`."""
    word, _, rest = text.strip().upper().partition(" ")
    rest = rest.strip()
    if word in _WORDS and not rest:
        return _WORDS[word]
    if word in _CARDS and rest:
        return _CARDS[word](tuple(sorted(map(parse_card, rest.split()))))
    if word in _NUMBERS and _NUMBER.fullmatch(rest):
        return _NUMBERS[word](int(rest))
    if word == "PLACE" and (place := _PLACE.fullmatch(rest)):
        return Place(int(place[1]), int(place[2]))
    if word == "PLAY" and (play := _PLAY.fullmatch(rest)):
        return _play(parse_card(play[1]), play[2], play[3])
    raise NotationError(
        f"no move {text!r}; write DISCARD 5C TD, SPLIT, GIFT or EXCHANGE and four cards, PLAY 5C, "
        "PLAY JK=5C, PLAY 5C CLAIM 2, GO, PASS, BID 3, CLAIM 8, CALL 2 or PLACE 0 3"
    )


def _play(card: Card, declared: str | None, claim: str | None) -> Play:
    stands_for = NO_CARD if declared is None else parse_card(declared)
    if stands_for != NO_CARD and (card != JOKER or stands_for == JOKER):
        raise NotationError("only a joker declares a card, and not another joker: PLAY JK=5C")
    if stands_for == NO_CARD and claim is None:
        return PLAYS[card]
    return Play(card, stands_for, None if claim is None else int(claim))
