"""The steps of a deal, by options: a variant is a list of them."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

from pegboard.rules.cribbage.counts import count_all
from pegboard.rules.cribbage.deal import deal_cards, turn_starter
from pegboard.rules.cribbage.discards import Discarding
from pegboard.rules.cribbage.phase import PhaseState, Step
from pegboard.rules.cribbage.play import PlainPlaying, Playing
from pegboard.rules.cribbage.setup import Setup
from pegboard.rules.cribbage.show import NO_JOKERS
from pegboard.rules.cribbage.table import Table


@lru_cache(maxsize=256)
def steps_of(setup: Setup) -> tuple[Step, ...]:
    """Return what happens in a deal, in order."""
    playing = PlainPlaying if setup.game.jokers == NO_JOKERS else Playing
    return (
        _silent(deal_cards),
        _asking(Discarding),
        _silent(turn_starter),
        _asking(playing),
        _silent(count_all),
    )


def _asking(kind: type[PhaseState]) -> Step:
    """Return a step that asks seats for moves."""
    return lambda table, events: kind(table)


def _silent(action: Callable[[Table, list[Any]], None]) -> Step:
    """Return a step that asks nobody."""

    def step(table: Table, events: list[Any]) -> PhaseState | None:
        action(table, events)
        return None

    return step
