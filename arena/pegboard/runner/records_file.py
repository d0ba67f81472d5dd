"""`records.jsonl`: every finished match, one a line. All tables are made of it."""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec

from pegboard.arena.results import EndedMatch, bot_of, match_id
from pegboard.rules.names import BOTS
from pegboard.rules.record import PREFIX, Record
from pegboard.rules.results import Result, Termination
from pegboard.runner.errors import FolderError
from pegboard.runner.private_files import cannot_write

SYNC_S = 0.5


class _ResultFields(msgspec.Struct, frozen=True, rename="camel"):
    termination: str
    seat_at_fault: int | None = None
    points: tuple[float, ...] = ()
    scores: tuple[int, ...] = ()
    games_won: tuple[int, ...] = ()
    detail: str = ""


class _ResultLine(msgspec.Struct, frozen=True):
    """What tables need of a record (`rules.record.Record`); the rest is skipped, not read."""

    match: str
    bots: tuple[str, ...]
    result: _ResultFields


class _MovesLine(msgspec.Struct, frozen=True):
    """Who has moved in a match."""

    bots: tuple[str, ...]
    moves: tuple[str, ...] = ()


_MOVES_LINES = msgspec.json.Decoder(_MovesLine)
_RESULT_LINES = msgspec.json.Decoder(_ResultLine)


class RecordsFile:
    """The records of a run, read at its begin and appended to by one process."""

    def __init__(self, path: Path) -> None:
        """Take the path of the file; the first `append` makes it."""
        self.path = path
        self._file = -1
        self._dirty = False

    def read(self) -> Iterator[EndedMatch]:
        """Yield all finished matches. Cuts off a last line that was not written whole.

        Raises `FolderError` for a damaged line elsewhere.
        """
        if self.path.exists():
            _cut_torn_line(self.path)
            yield from read_records(self.path)

    def append(self, records: Iterable[Record]) -> None:
        """Write finished matches; the next `sync` brings them to disk. Raises `FolderError`."""
        data = memoryview("".join(f"{record.to_json()}\n" for record in records).encode())
        try:
            if self._file < 0:
                flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC
                self._file = os.open(self.path, flags, 0o600)
            while data:
                data = data[os.write(self._file, data) :]
        except OSError as error:
            raise cannot_write(self.path, error) from None
        self._dirty = True

    async def sync_now_and_then(self) -> None:
        """Call fsync for what was appended, every `SYNC_S` until cancelled."""
        while True:
            await asyncio.sleep(SYNC_S)
            if self._dirty:
                await asyncio.to_thread(self.sync)

    def sync(self) -> None:
        """Bring what was appended to disk. Raises `FolderError`."""
        self._dirty = False
        if self._file >= 0:
            try:
                os.fsync(self._file)
            except OSError as error:
                raise cannot_write(self.path, error) from None

    def close(self) -> None:
        """Bring everything to disk and close the file. Raises `FolderError`."""
        if self._file >= 0:
            try:
                self.sync()
            finally:
                os.close(self._file)
                self._file = -1


def read_records(path: Path) -> Iterator[EndedMatch]:
    """Yield the finished matches of a records file. Raises `FolderError` for a damaged line."""
    with path.open("rb") as file:
        for number, line in enumerate(file, start=1):
            try:
                ended = _ended(_RESULT_LINES.decode(line))
            except (msgspec.DecodeError, ValueError, RecursionError) as error:
                raise FolderError(
                    f"{path}, line {number}: not a record: {error}; remove the line and the match "
                    "is played again"
                ) from None
            yield ended


def _ended(line: _ResultLine) -> EndedMatch:
    fields = line.result
    termination = Termination(fields.termination.removeprefix(PREFIX))
    return EndedMatch(
        match_id(line.match),
        tuple([bot.removeprefix(BOTS) for bot in line.bots]),
        Result(
            termination,
            fields.seat_at_fault,
            fields.points,
            fields.scores,
            fields.games_won,
            fields.detail,
        ),
    )


def motionless(path: Path, bots: Iterable[str]) -> set[str]:
    """Return those of the bots that have not moved in any match of a records file."""
    found = set(bots)
    with contextlib.suppress(FileNotFoundError), path.open("rb") as file:
        for line in file:
            if not found:
                break
            match = _MOVES_LINES.decode(line)
            found -= {
                bot_of(match.bots[int(move.partition(" ")[0])].removeprefix(BOTS))
                for move in match.moves
            }
    return found


def _cut_torn_line(path: Path) -> None:
    """Cut half a line off that a killed run has left; the server tells that match again."""
    with path.open("rb+") as file:
        size = file.seek(0, os.SEEK_END)
        end = size
        while end > 0:
            start = max(end - 65536, 0)
            file.seek(start)
            found = file.read(end - start).rfind(b"\n")
            if found >= 0:
                file.truncate(start + found + 1)
                return
            end = start
        file.truncate(0)
