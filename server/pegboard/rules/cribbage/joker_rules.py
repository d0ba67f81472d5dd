"""What may be played, by the kind of joker: none, wild (R-C9.2, R-C9.3) or zero (R-C9.4, R-C9.5)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from pegboard.rules.cards import JOKER, NO_CARD, PACK, VALUE, Card
from pegboard.rules.cribbage.moves import PLAYS, Play
from pegboard.rules.cribbage.scoring.show import NO_JOKERS, WILD, ZERO
from pegboard.rules.errors import IllegalMove

LIMIT: Final = 31
"""The count never passes it (R-C3.1)."""


class NoJokers:
    """The ordinary pack, and the base of the others. Hands are ascending, the joker last."""

    __slots__ = ()

    late_31 = False
    """Whether 31 scores only when the count is over (R-C9.4)."""

    def plays(self, hand: Sequence[Card], count: int) -> list[Play]:
        """Return the plays that stay within 31, cards ascending."""
        return [PLAYS[card] for card in hand if VALUE[card] + count <= LIMIT]

    def can_play(self, hand: Sequence[Card], count: int) -> bool:
        """Whether a card of the hand stays within 31: the lowest, if any."""
        return VALUE[hand[0]] + count <= LIMIT

    def effective(self, move: Play) -> Card:
        """Return the card that counts. Raises `IllegalMove` for a card declared without need."""
        if move.declared != NO_CARD:
            raise IllegalMove(f"{move.text()}: only a wild joker declares a card; play it plain")
        return move.card


_DECLARED: Final = tuple(Play(JOKER, card) for card in PACK)
_IDENTITIES: Final = frozenset(PACK)


class WildJokers(NoJokers):
    """A joker is declared when it is played."""

    __slots__ = ()

    def plays(self, hand: Sequence[Card], count: int) -> list[Play]:
        """Return the plays; a joker as each card that stays within 31."""
        plays = [PLAYS[card] for card in hand if card != JOKER and VALUE[card] + count <= LIMIT]
        if JOKER in hand:
            plays += [play for play in _DECLARED if VALUE[play.declared] + count <= LIMIT]
        return plays

    def can_play(self, hand: Sequence[Card], count: int) -> bool:
        """Below 31 a joker can always be an ace."""
        if hand[-1] == JOKER:
            return count < LIMIT
        return VALUE[hand[0]] + count <= LIMIT

    def effective(self, move: Play) -> Card:
        """Return the declared card of a joker. Raises `IllegalMove` if it is missing."""
        if move.card != JOKER:
            return super().effective(move)
        if move.declared not in _IDENTITIES:
            raise IllegalMove(f"{move.text()}: say which card the joker is, like PLAY JK=5C")
        return move.declared


class ZeroJokers(NoJokers):
    """A joker is worth 0 and always playable."""

    __slots__ = ()

    late_31 = True

    def plays(self, hand: Sequence[Card], count: int) -> list[Play]:
        """Return the plays; two jokers are the same card, so the play of either is listed once."""
        plays = super().plays(hand, count)
        return plays[:-1] if hand[-2:].count(JOKER) == 2 else plays

    def can_play(self, hand: Sequence[Card], count: int) -> bool:
        """A joker always fits, also at 31."""
        return hand[-1] == JOKER or VALUE[hand[0]] + count <= LIMIT


RULES: dict[str, NoJokers] = {NO_JOKERS: NoJokers(), WILD: WildJokers(), ZERO: ZeroJokers()}
