"""The folder of a run: everything that a stopped run is continued from, and its products.

tournament.toml   the file as it was when the run began
run.json          digest of that file, label of the run's matches
records.jsonl     every finished match, one a line: the truth that tables are made of
results.json      the tables (`results.Results`)
bots/, server.log what bots and server printed
earlier-1/...     what `--fresh` has set aside
server.db         the matches under way; removed when all are finished
lock              held while a run is at work here; names its process
"""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import hashlib
import json
import os
import secrets
import time
import tomllib
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import TracebackType
from typing import IO, Any

import msgspec

from pegboard.arena.config import FREE_KEYS, changed_key
from pegboard.arena.results import Finished, Results, bot_of
from pegboard.rules.errors import PegboardError
from pegboard.rules.record import Record

EARLIER = "earlier-"
OWN_NAMES = ("server.log", "bots", "results.json", "records.jsonl", "tournament.toml", "run.json")
TAKE_OVER_S = 15.0
SYNC_S = 0.5


class FolderError(PegboardError):
    """A folder that this run may not use; the sentence says what to do."""


class _RunFile(msgspec.Struct, frozen=True):
    version: int
    digest: str
    label: str


class _RecordResult(msgspec.Struct, frozen=True):
    termination: str
    seat_at_fault: int | None
    points: tuple[float, ...]
    scores: tuple[int, ...]
    detail: str


class _RecordLine(msgspec.Struct, frozen=True):
    """What tables need of a record (`rules.record.Record`); the rest is skipped, not read."""

    match: str
    bots: tuple[str, ...]
    result: _RecordResult


class _MovedLine(msgspec.Struct, frozen=True):
    """Who has moved in a match."""

    bots: tuple[str, ...]
    moves: tuple[str, ...]


_MOVED_LINES = msgspec.json.Decoder(_MovedLine)
_RECORD_LINES = msgspec.json.Decoder(_RecordLine)
_RUN_FILES = msgspec.json.Decoder(_RunFile)
_RESULTS = msgspec.json.Decoder(Results)


def digest(raw: dict[str, Any]) -> str:
    """Return SHA-256 of a tournament file's content, without what may change during a run."""
    kept = {key: value for key, value in raw.items() if key not in FREE_KEYS}
    return hashlib.sha256(json.dumps(kept, sort_keys=True, default=str).encode()).hexdigest()


class RunFolder:
    """A folder locked for this run. Use as a context manager."""

    def __init__(self, path: Path, text: str, *, fresh: bool = False) -> None:
        """Lock `path` for the tournament file with this text; make it or continue in it.

        With `fresh` the files of an earlier run are moved to `set_aside`, a folder within.
        Raises `FolderError` where another run is at work, the file has changed since the run
        began, or the folder holds something else.
        """
        self.path = path
        if path.exists() and not path.is_dir():
            raise FolderError(f"{path} is a file; name a folder with --out")
        if path.exists() and not _is_ours(path):
            raise FolderError(f"{path} holds other files; choose an empty or new folder with --out")
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._lock = _locked(path / "lock", path)
        try:
            path.chmod(0o700)  # seeds of running matches and the bots' output are in it
            self.set_aside = _set_aside(path) if fresh else None
            self.continued = (path / "run.json").exists()
            self._begin(text)
        except BaseException:
            os.close(self._lock)
            raise
        self._records: IO[bytes] | None = None
        self._dirty = False

    def _begin(self, text: str) -> None:
        raw = tomllib.loads(text)
        self.digest = digest(raw)
        if not self.continued:
            write_atomically(self.path / "tournament.toml", text.encode())
            self.label = f"arena-{secrets.token_hex(8)}"
            run = _RunFile(version=1, digest=self.digest, label=self.label)
            write_atomically(self.path / "run.json", msgspec.json.encode(run))
            return
        run = _read_run_file(self.path / "run.json")
        self.label = run.label
        if run.digest != self.digest:
            raise FolderError(self._what_changed(raw))

    def _what_changed(self, raw: dict[str, Any]) -> str:
        try:
            old = tomllib.loads((self.path / "tournament.toml").read_text(encoding="utf-8"))
        except (OSError, ValueError):
            old = raw
        change = changed_key(old, raw) or "tournament.toml in that folder was edited"
        return (
            f"{self.path} was begun with another file: {change}; undo the change to continue it, "
            "or play anew with --fresh, or in another folder with --out"
        )

    def __enter__(self) -> RunFolder:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._records is not None:
            self._sync()
            self._records.close()
        os.close(self._lock)

    @property
    def lock(self) -> int:
        """The descriptor of the lock, for the warden to inherit."""
        return self._lock

    @property
    def store(self) -> Path:
        """The server's database."""
        return self.path / "server.db"

    def log(self, name: str) -> Path:
        """Return where a bot's process writes."""
        return self.path / "bots" / f"{name}.log"

    def read_records(self) -> Iterator[Finished]:
        """Yield all finished matches. Cuts off a last line that was not written whole.

        Raises `FolderError` for a damaged line elsewhere.
        """
        path = self.path / "records.jsonl"
        if not path.exists():
            return
        _cut_torn_line(path)
        yield from read_records(path)

    def append(self, records: Iterable[Record]) -> None:
        """Write finished matches down. They are on disk for good after the next `sync`."""
        if self._records is None:
            self._records = open_private(self.path / "records.jsonl", "ab")
        data = "".join(f"{record.to_json()}\n" for record in records)
        self._records.write(data.encode())
        self._records.flush()
        self._dirty = True

    async def sync_now_and_then(self) -> None:
        """Bring records to disk in groups, for ever."""
        while True:
            await asyncio.sleep(SYNC_S)
            if self._dirty:
                await asyncio.to_thread(self._sync)

    def _sync(self) -> None:
        self._dirty = False
        if self._records is not None:
            os.fsync(self._records.fileno())

    def write_results(self, results: Results) -> None:
        """Replace `results.json`."""
        data = msgspec.json.format(msgspec.json.encode(results), indent=2)
        write_atomically(self.path / "results.json", data + b"\n")

    def remove_store(self) -> None:
        """Drop the server's database: all matches are in the records."""
        for path in self.path.glob(f"{self.store.name}*"):
            path.unlink(missing_ok=True)


def read_results(path: Path) -> Results:
    """Read the tables of a run's folder. Raises `FolderError`."""
    file = path / "results.json"
    try:
        return _RESULTS.decode(file.read_bytes())
    except FileNotFoundError:
        raise FolderError(
            f"{file}: no such file; `pegboard tournament run FILE.toml --out {path}` makes it"
        ) from None
    except (OSError, msgspec.DecodeError) as error:
        raise FolderError(f"{file} cannot be read: {error}") from None


def read_records(path: Path) -> Iterator[Finished]:
    """Yield the finished matches of a records file. Raises `FolderError` for a damaged line."""
    with path.open("rb") as file:
        for number, line in enumerate(file, start=1):
            try:
                record = _RECORD_LINES.decode(line)
            except msgspec.DecodeError as error:
                raise FolderError(
                    f"{path}, line {number}: not a record: {error}; remove the line and the match "
                    "is played again"
                ) from None
            result = record.result
            yield Finished(
                record.match,
                record.bots,
                result.termination,
                result.seat_at_fault,
                result.points,
                result.scores,
                result.detail,
            )


def write_atomically(path: Path, data: bytes) -> None:
    """Replace a file so that a reader, or a crash, sees the old content or the new."""
    spare = path.with_name(f".{path.name}.new")
    with open_private(spare, "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    spare.replace(path)


def open_private(path: Path, mode: str) -> IO[bytes]:
    """Open a file that, if it is made now, only this user can read."""
    return open(path, mode, opener=lambda name, flags: os.open(name, flags, 0o600))


def motionless(records: Path, bots: Iterable[str]) -> set[str]:
    """Return those of the bots that have not moved in any match of a records file."""
    found = set(bots)
    if not records.exists():
        return found
    with records.open("rb") as file:
        for line in file:
            if not found:
                break
            match = _MOVED_LINES.decode(line)
            found -= {bot_of(match.bots[int(move.partition(" ")[0])]) for move in match.moves}
    return found


def _is_ours(path: Path) -> bool:
    """A run's folder, an empty one, or one where a run was stopped before it had begun."""
    return (path / "run.json").exists() or all(
        entry.name in {"lock", "tournament.toml"} or entry.name.startswith((".", EARLIER))
        for entry in path.iterdir()
    )


def _set_aside(path: Path) -> Path | None:
    """Move the files of an earlier run, and no others, to a new folder within; return that.

    `run.json` goes last, so that a half-moved run is still known for one.
    """
    left = [path / name for name in OWN_NAMES if (path / name).exists()]
    left[:0] = path.glob("server.db*")
    if not left:
        return None
    number = 1
    while (path / f"{EARLIER}{number}").exists():
        number += 1
    aside = path / f"{EARLIER}{number}"
    aside.mkdir(mode=0o700)
    for each in left:
        each.rename(aside / each.name)
    return aside


def _read_run_file(path: Path) -> _RunFile:
    try:
        return _RUN_FILES.decode(path.read_bytes())
    except (OSError, msgspec.DecodeError) as error:
        raise FolderError(f"{path} cannot be read: {error}; play in another folder") from None


def _locked(path: Path, folder: Path) -> int:
    """Lock the folder. A run that was killed holds on until its warden has swept; wait for that."""
    lock = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    deadline = time.monotonic() + TAKE_OVER_S
    while True:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = os.pread(lock, 32, 0).decode(errors="replace").strip()
            if _is_alive(holder) or time.monotonic() > deadline:
                os.close(lock)
                raise FolderError(
                    f"{folder} is in use by process {holder or 'unknown'}; wait for it or stop it "
                    "first, or choose another folder with --out"
                ) from None
            time.sleep(0.05)
            continue
        os.ftruncate(lock, 0)
        os.pwrite(lock, f"{os.getpid()}\n".encode(), 0)
        return lock


def _is_alive(holder: str) -> bool:
    if not holder.isdecimal():
        return False
    with contextlib.suppress(OSError):
        status = Path(f"/proc/{holder}/stat").read_text(encoding="utf-8", errors="replace")
        return status.rpartition(")")[2].split()[:1] != ["Z"]
    try:
        os.kill(int(holder), 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _cut_torn_line(path: Path) -> None:
    """A run that was killed while it wrote leaves half a line; that match is told again."""
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
