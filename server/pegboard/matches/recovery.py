"""Running matches of the store, taken up where they were: their moves are played again."""

from __future__ import annotations

from traceback import format_exc

import structlog

from pegboard.errors import InvalidRequest, StoreError
from pegboard.matches.clock import MILLISECOND
from pegboard.matches.endings import ending_now
from pegboard.matches.log import lines_of
from pegboard.matches.registry import Registry, match_of
from pegboard.matches.running import LostMatch, RunningMatch
from pegboard.matches.store.rows import Row
from pegboard.rules.results import Result, Termination

log = structlog.get_logger(__name__)


def recovered(row: Row, registry: Registry, spare_ns: int) -> RunningMatch | LostMatch:
    """Return the match of a row as it stands after its moves, or as lost if they cannot be played."""
    match = match_of(row)
    try:
        if row.damaged:
            raise StoreError("it is damaged in the store")
        running = RunningMatch(match, registry.game(match.spec), spare_ns)
        _replay(running, row)
    except Exception as error:
        log.error("match cannot be recovered", match=row.id, traceback=format_exc())
        detail = f"match {row.id} cannot be recovered: {error}"
        ending = ending_now(Result(Termination.SERVER_FAULT, None, (), (), (), detail))
        return LostMatch(match, ending, row.moves)
    return running


def _replay(match: RunningMatch, row: Row) -> None:
    for line in lines_of(row.moves):
        text, _, move = line.partition(" ")
        seated = match.seats[int(text)]
        turn = seated.turn
        if turn is None and not match.state.to_act():
            raise StoreError(f"the journal has the move {line!r} after the end of the match")
        if turn is None:
            raise InvalidRequest(f"seat {text} is not asked for {move!r}")
        match.play(seated, turn, match.game.parse_move(move))
        match.ask(match.state.to_act())
    for seat, bank_ms in row.banks_ms.items():
        match.seats[seat].clock.bank_ns = bank_ms * MILLISECOND
