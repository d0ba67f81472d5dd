"""A match of cribbage in progress: the phases of a deal, one after the other."""

from __future__ import annotations

from typing import Final

from pegboard.rules.cards import cards_text
from pegboard.rules.cribbage import games
from pegboard.rules.cribbage.events import CribbageEvent
from pegboard.rules.cribbage.moves import CribbageMove
from pegboard.rules.cribbage.phases.deal import cut_for_deal
from pegboard.rules.cribbage.phases.phase import Over, PhaseState, Step
from pegboard.rules.cribbage.phases.steps import steps_of
from pegboard.rules.cribbage.setup import Setup
from pegboard.rules.cribbage.table import Table
from pegboard.rules.cribbage.view import CribbageView, Phase
from pegboard.rules.game import Chance, Choices, Outcome, Seat, from_row

_view_of: Final = from_row(CribbageView)
_BID: Final = Phase.BID


class CribbageState:
    """Implements `rules.game.State`: a table, the phase that is going on, and the steps of a deal."""

    __slots__ = ("_step", "_steps", "phase", "table")

    def __init__(self, table: Table, phase: PhaseState, steps: tuple[Step, ...]) -> None:
        self.table = table
        self.phase = phase
        self._steps = steps
        self._step = 0

    @classmethod
    def start(
        cls, setup: Setup, chance: Chance, fast: bool = True
    ) -> tuple[CribbageState, list[CribbageEvent]]:
        """Cut for the first deal, begin the first game and deal. `fast`: see `steps_of`."""
        events: list[CribbageEvent] = []
        table = Table(setup, chance)
        state = cls(table, Over(table), steps_of(setup, fast))
        games.begin_game(table, cut_for_deal(setup.seats, chance, events), events)
        state._advance(events)
        return state, events

    @classmethod
    def resumed(cls, table: Table, phase: PhaseState, steps_done: int) -> CribbageState:
        """Take a match up in a phase; `steps_done` are the steps of the deal up to that phase."""
        state = cls(table, phase, steps_of(table.setup))
        state._step = steps_done % len(state._steps)
        return state

    def copy(self) -> CribbageState:
        """Return an independent state."""
        table = self.table.copy()
        state = CribbageState(table, self.phase.copy(table), self._steps)
        state._step = self._step
        return state

    def to_act(self) -> tuple[Seat, ...]:
        """Return the seats that are asked for a move, ascending; () when the match is over."""
        return self.phase.to_act()

    def choices(self, seat: Seat) -> Choices[CribbageMove]:
        """Return what `seat` may do; no moves if it is not asked.

        The same object as long as the question stands, so that asking again costs nothing and a host
        can tell by it whether an open turn is still good.
        """
        return self.phase.choices(seat)

    def apply(self, seat: Seat, move: CribbageMove) -> list[CribbageEvent]:
        """Make the move and return its events.

        Raises `NotYourTurn`, `MatchOver` or `IllegalMove` and then changes nothing.
        """
        events: list[CribbageEvent] = []
        if self.phase.apply(seat, move, events):
            self._advance(events)
        return events

    def _advance(self, events: list[CribbageEvent]) -> None:
        """Take steps until a phase has to ask a seat, or the match is over."""
        table = self.table
        steps = self._steps
        while True:
            if table.over:
                if games.end_game(table, events):
                    self.phase = Over(table)
                    return
                games.begin_game(table, games.next_dealer(table), events)
                self._step = 0
            step = steps[self._step]
            self._step = (self._step + 1) % len(steps)
            phase = step(table, events)
            if phase is not None and not table.over:
                self.phase = phase
                return

    def outcome(self) -> Outcome | None:
        """Return how the match came out, or None while it runs."""
        return self.standing() if self.phase.name == Phase.OVER else None

    def standing(self) -> Outcome:
        """Return how the match would come out by the scores as they are."""
        return games.standing_of(self.table)

    def __repr__(self) -> str:
        hands = "".join(
            f"\nseat {seat}: {cards_text(hand)}" for seat, hand in enumerate(self.table.hands)
        )
        return f"{self.view(None).text()}{hands}"

    def view(self, seat: Seat | None) -> CribbageView:
        """Return all that the seat can see: its own cards and what lies open."""
        table = self.table
        phase = self.phase
        running = phase.count_cards()
        played = table.played
        return _view_of(
            (
                phase.name,
                table.game,
                table.deal,
                table.dealer,
                None if phase.name is _BID or not table.setup.has_crib else table.crib_owner,
                tuple(table.scores),
                tuple(table.rear_pegs),
                tuple(table.games_won),
                () if seat is None else tuple(table.hands[seat]),
                () if seat is None else table.discards[seat],
                () if seat is None else table.second_hands[seat],
                tuple([len(hand) for hand in table.hands]),
                table.starter,
                tuple(played[: len(played) - len(running)]),
                running,
                phase.count(),
                phase.said_go(),
                table.bid or None,
                table.bidder if table.bid else None,
                phase.counting(),
                table.grid,
                phase.next_card(),
                phase.to_act(),
                phase.passed(),
                phase.count_over(),
                phase.shown(),
                () if seat is None else table.seen[seat],
                tuple(table.match_points),
            ),
        )
