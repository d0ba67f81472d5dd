"""`pegboard replay`: tells the story of a record, or verifies records."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pegboard.cli.arguments import read_text
from pegboard.cli.output import print_line
from pegboard.errors import InvalidRequest
from pegboard.rules.cribbage.board import Pegs
from pegboard.rules.cribbage.events import Dealt, GameEnded
from pegboard.rules.cribbage.game import Cribbage
from pegboard.rules.errors import PegboardError, RecordError
from pegboard.rules.game import explained
from pegboard.rules.names import MATCHES
from pegboard.rules.record import (
    Record,
    game_of,
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
