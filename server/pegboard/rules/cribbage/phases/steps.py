"""The steps of a deal, by options: a variant is a list of them."""

from __future__ import annotations

from functools import lru_cache

from pegboard.rules.cribbage.events import CribbageEvent
from pegboard.rules.cribbage.forms import (
    CANADIAN_DOUBLES,
    LONE_CRIB,
    SOLITAIRE,
    SQUARES,
    TEN_CARD,
)
from pegboard.rules.cribbage.phases.auction import Bidding
from pegboard.rules.cribbage.phases.deal import (
    deal_cards,
    deal_first_six,
    deal_second_six,
    turn_starter,
)
from pegboard.rules.cribbage.phases.discard import Discarding
from pegboard.rules.cribbage.phases.exchange import take_crib
from pegboard.rules.cribbage.phases.manual_play import ManualPlaying
from pegboard.rules.cribbage.phases.manual_show import begin_show
from pegboard.rules.cribbage.phases.phase import PhaseState, Step
from pegboard.rules.cribbage.phases.plain_play import PlainPlaying
from pegboard.rules.cribbage.phases.play import Playing
from pegboard.rules.cribbage.phases.second_choice import Giving, Splitting
from pegboard.rules.cribbage.phases.show import count_all, count_solitaire
from pegboard.rules.cribbage.phases.squares import count_lines, lay_out
from pegboard.rules.cribbage.scoring.show import NO_JOKERS
from pegboard.rules.cribbage.setup import Setup
from pegboard.rules.cribbage.table import Table


@lru_cache(maxsize=256)
def steps_of(setup: Setup, fast: bool = True) -> tuple[Step, ...]:
    """Return what happens in a deal, in order.

    Without `fast` the play is always the general one, with which a test compares the plain one.
    """
    form, game = setup.form.name, setup.game
    if form == SQUARES:
        return (lay_out, turn_starter, count_lines)
    if form == SOLITAIRE:
        return _SOLITAIRE
    return (
        deal_cards,
        *((_asking(Bidding),) if game.auction else ()),
        _asking(DISCARDING.get(form, Discarding)),
        *((take_crib,) if form == LONE_CRIB else ()),
        turn_starter,
        _asking(playing_of(setup, fast)),
        begin_show if game.muggins else count_all,
    )


DISCARDING: dict[str, type[PhaseState]] = {TEN_CARD: Splitting, CANADIAN_DOUBLES: Giving}


def playing_of(setup: Setup, fast: bool = True) -> type[Playing]:
    """Return the kind of play."""
    if setup.game.muggins:
        return ManualPlaying
    return PlainPlaying if fast and setup.game.jokers == NO_JOKERS else Playing


def _asking(kind: type[PhaseState]) -> Step:
    """Return a step that asks seats for moves."""

    def ask(table: Table, events: list[CribbageEvent]) -> PhaseState:
        phase = kind(table)
        phase.begin()
        return phase

    return ask


_SOLITAIRE = (
    deal_first_six,
    _asking(Discarding),
    deal_second_six,
    _asking(Discarding),
    turn_starter,
    count_solitaire,
)
