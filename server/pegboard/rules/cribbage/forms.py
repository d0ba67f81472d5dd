"""The forms of cribbage as data: who is dealt how many cards, what goes to the crib, who plays whom.

A form says what is dealt; the scoring variants (jokers, muggins, lowball and so on) are options that
combine with it.
"""

from __future__ import annotations

from typing import NamedTuple

STANDARD = "standard"
PARTNERS = "partners"
TWO_ON_ONE = "two-on-one"
LONE_CRIB = "lone-crib"
DEALER_SIX = "dealer-six"
FIVE_CARD = "five-card"
SHORT_DEALER = "short-dealer"
FIVE_CRIB = "five-crib"
TEN_CARD = "ten-card"
NINE_CARD = "nine-card"
CANADIAN_DOUBLES = "canadian-doubles"
SOLITAIRE = "solitaire"
SQUARES = "squares"


class Deal(NamedTuple):
    """What is dealt and discarded with a number of seats.

    `dealt` and `discards` are by place: 0 is the dealer, 1 the dealer's left, and so on. Cards go one
    at a time in rounds from the dealer's left, passing over who has all; before the first round the
    dealer gets `dealer_first` cards of its own. The cards dealt to the crib follow, then the starter.
    """

    dealt: tuple[int, ...]
    discards: tuple[int, ...]
    crib_dealt: int = 0
    dealer_first: int = 0

    @property
    def size(self) -> int:
        """How many cards leave the pack, without the starter."""
        return sum(self.dealt) + self.crib_dealt


class Form(NamedTuple):
    """One form.

    `deals` is by number of seats. `target` wins a game; `lone_target` is the lone seat's, 0 for the
    same. `teams` None: each seat for itself; "partners": opposite seats; "lone": one against the rest.
    """

    name: str
    deals: dict[int, Deal]
    target: int = 121
    lone_target: int = 0
    teams: str | None = None
    pone_start: int = 0
    """Points that the first non-dealer of a game starts with (R-C6.2)."""
    play_once: bool = False
    """Whether the play is over with the first count (R-C6.3)."""
    crib_without_starter: bool = False
    """Whether the crib is counted on its own cards (R-C5.5P2)."""

    @property
    def alone(self) -> bool:
        """Whether it is played by one (R-C7)."""
        return 1 in self.deals


_TWO = Deal((6, 6), (2, 2))
_THREE = Deal((5, 5, 5), (1, 1, 1), crib_dealt=1)
_FOUR = Deal((5, 5, 5, 5), (1, 1, 1, 1))

_FORMS = (
    Form(STANDARD, {2: _TWO, 3: _THREE, 4: _FOUR}),
    Form(PARTNERS, {4: _FOUR}, teams="partners"),
    Form(TWO_ON_ONE, {3: _THREE}, lone_target=61, teams="lone"),
    Form(LONE_CRIB, {3: _THREE}, teams="lone"),
    Form(DEALER_SIX, {3: Deal((6, 5, 5), (2, 1, 1), dealer_first=1)}),
    Form(FIVE_CARD, {2: Deal((5, 5), (2, 2))}, target=61, pone_start=3, play_once=True),
    Form(SHORT_DEALER, {5: Deal((4, 5, 5, 5, 5), (0, 1, 1, 1, 1))}),
    Form(FIVE_CRIB, {5: Deal((5,) * 5, (1,) * 5)}, crib_without_starter=True),
    Form(TEN_CARD, {2: Deal((10, 10), (2, 2))}),
    Form(NINE_CARD, {2: Deal((9, 9), (3, 3))}, target=181),
    Form(CANADIAN_DOUBLES, {4: Deal((10, 10, 0, 0), (2, 2, 0, 0))}, teams="partners"),
    Form(SOLITAIRE, {1: Deal((6,), (2,))}, target=0),
    Form(SQUARES, {1: Deal((0,), (0,))}, target=0),
)

FORMS: dict[str, Form] = {form.name: form for form in _FORMS}
"""All forms by name."""
