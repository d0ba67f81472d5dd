"""`pegboard replay`: tells the story of a record, or verifies records."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pegboard.cli.arguments import read_text
from pegboard.cli.output import print_line
from pegboard.client.testing import ScriptedMatch
from pegboard.errors import InvalidRequest
from pegboard.rules.cribbage.board import Pegs
from pegboard.rules.cribbage.events import Dealt, GameEnded
from pegboard.rules.cribbage.game import Cribbage
from pegboard.rules.errors import PegboardError, RecordError
from pegboard.rules.game import Seat, explained
from pegboard.rules.names import MATCHES
from pegboard.rules.record import (
    Record,
    game_of,
    parse_turn,
    records_in,
    replay,
    seats_of,
    verify,
)


def records(path: Path, match: str | None) -> Iterator[Record]:
    """Yield the records of a file, one a line or printed over several. Raises `RecordError`."""
    wanted = None if match is None else match.removeprefix(MATCHES)
    found = False
    text = read_text(path)
    try:
        for _, record in records_in(text):
            if wanted is None or record.match == wanted:
                found = True
                yield record
    except PegboardError as error:
        raise RecordError(f"{path}, {error}") from None
    if not found:
        raise InvalidRequest(f"{path} holds no record{f' of match {match}' if match else ''}")


def verify_file(path: Path, match: str | None) -> int:
    """Verify every record; print those that fail; return 1 if any does."""
    good = bad = 0
    for record in records(path, match):
        try:
            verify(record)
            good += 1
        except PegboardError as error:
            bad += 1
            print_line(f"{record.match}: {error}")
    print(f"{good} records verified" + (f", {bad} failed" if bad else ""))
    return 1 if bad else 0


def tell(path: Path, match: str | None, board: bool) -> int:
    """Print moves and events of each record, the way the playthroughs are written.

    `board` draws the cribbage board at the end of every deal; Draw has none.
    """
    for record in records(path, match):
        seats = ", ".join(f"{seat} {bot}" for seat, bot in enumerate(record.bots))
        print_line(f"{record.match}: {record.variant}; {seats}")
        pegs = _pegs(record) if board else None
        for move, events in replay(record):
            if move is not None:
                print_line(f"> {move}")
            for event in events:
                _tell_event(event, pegs)
        print_line(f"= {record.result}")
    return 0


def show_turn(path: Path, match: str | None, seat: int | None, at: int) -> int:
    """Print a turn of a record as the bot of that seat saw it, and the move that it made.

    `at` is the number of a move of the record, from 1: the turn is the one just before that move. One
    more than there are moves is the turn that was open at the end. `seat` None: the seat that made the
    move `at`. Raises `InvalidRequest` for a turn that the record does not have.
    """
    record, *others = records(path, match)
    if others:
        raise InvalidRequest(f"{path} holds {len(others) + 1} records; choose one with --match")
    made = len(record.moves)
    if not 1 <= at <= made + 1:
        raise InvalidRequest(
            f"there is no move {at}; the record has {made}, and --at may be one more"
        )
    played = ScriptedMatch.from_record(record, at - 1)
    asked = played.state.to_act()
    if not asked:
        raise InvalidRequest(f"the match was over after move {made}")
    chosen = _seat_before(record, played) if seat is None else seat
    if chosen not in asked:
        seats = ", ".join(map(str, asked))
        raise InvalidRequest(f"seat {chosen} is not asked before move {at}, but only {seats}")
    print_line(f"{record.match}: {record.variant}; before move {at} of {made}")
    for line in str(played.turn(chosen)).splitlines():
        print_line(line)
    pegs = _pegs(record)
    if pegs is not None:
        for event in played.events:
            pegs.note(event)
        print(pegs.text())
    print_line(_what_came(record, played, chosen))
    return 0


def _seat_before(record: Record, played: ScriptedMatch) -> Seat:
    """Return the seat that makes the next move; after the last one the seat at fault, or the first."""
    if len(played.moves) < len(record.moves):
        return parse_turn(played.game, record.moves[len(played.moves)])[0]
    asked = played.state.to_act()
    fault = None if record.result is None else record.result.seat_at_fault
    return fault if fault is not None and fault in asked else asked[0]


def _what_came(record: Record, played: ScriptedMatch, seat: Seat) -> str:
    """Return the line of the move that answered the turn, or what ended the turn instead."""
    turn_id = played.turn(seat).turn_id
    for number, text in enumerate(record.moves[len(played.moves) :], len(played.moves) + 1):
        mover, move = parse_turn(played.game, text)
        if mover == seat:
            return f"> {text} (move {number})"
        played.apply(mover, move)
        if seat not in played.state.to_act() or played.turn(seat).turn_id != turn_id:
            return f"= move {number}, {text}, ended the turn"
    return f"= {record.result}"


def _pegs(record: Record) -> Pegs | None:
    """Return the pegs to move, None for a game without a board."""
    game = game_of(record)
    return Pegs(game.targets(seats_of(record))) if isinstance(game, Cribbage) else None


def _tell_event(event: Any, pegs: Pegs | None) -> None:
    if pegs is not None and isinstance(event, Dealt) and event.deal > 1:
        print(pegs.text())
    print_line(f"    {explained(event)}")
    if pegs is not None:
        pegs.note(event)
        if isinstance(event, GameEnded):
            print(pegs.text())
