"""The folder of a run: everything that a stopped run is continued from, and its products.

tournament.toml   the file as it was when the run began, or when its blocks grew
run.json          the run's secret, from which all deals follow; digest and blocks of that file;
                  label of the run's matches
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

from pegboard.arena.config import blocks_of, changed_key, lasting
from pegboard.arena.records import match_id
from pegboard.arena.results import Finished, Results, bot_of
from pegboard.arena.schedule import SECRET_BYTES, secret_of
from pegboard.rules.errors import PegboardError
from pegboard.rules.record import PREFIX, Record

EARLIER = "earlier-"
OWN_NAMES = ("server.log", "bots", "results.json", "records.jsonl", "tournament.toml", "run.json")
TAKE_OVER_S = 15.0
SYNC_S = 0.5
RUN_VERSION = 2


class FolderError(PegboardError):
    """A folder that this run may not use; the sentence says what to do."""


class _RunFile(msgspec.Struct, frozen=True):
    """What run.json holds. `secret` in hexadecimal digits, `blocks` by event."""

    version: int
    digest: str
    label: str
    secret: str
    blocks: dict[str, int]


class _AnyRunFile(msgspec.Struct, frozen=True):
    version: int


class _RecordResult(msgspec.Struct, frozen=True, rename="camel"):
    termination: str
    seat_at_fault: int | None = None
    points: tuple[float, ...] = ()
    scores: tuple[int, ...] = ()
    detail: str = ""


class _RecordLine(msgspec.Struct, frozen=True):
    """What tables need of a record (`rules.record.Record`); the rest is skipped, not read."""

    match: str
    bots: tuple[str, ...]
    result: _RecordResult


class _MovedLine(msgspec.Struct, frozen=True):
    """Who has moved in a match."""

    bots: tuple[str, ...]
    moves: tuple[str, ...] = ()


_MOVED_LINES = msgspec.json.Decoder(_MovedLine)
_RECORD_LINES = msgspec.json.Decoder(_RecordLine)
_RUN_VERSIONS = msgspec.json.Decoder(_AnyRunFile)
_RUN_FILES = msgspec.json.Decoder(_RunFile)
_RESULTS = msgspec.json.Decoder(Results)


def digest(raw: dict[str, Any]) -> str:
    """Return SHA-256 of a tournament file's content, without what may change during a run."""
    text = json.dumps(lasting(raw), sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()


class RunFolder:
    """A folder locked for this run. Use as a context manager.

    `secret` is what all deals of the run follow from. It is drawn when the run begins, or follows
    from the file's `seed` and `name`; a run that continues keeps its own.
    """

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
            run = _new_run(raw, self.digest)
            write_atomically(self.path / "tournament.toml", text.encode())
            self._write_run(run)
        else:
            run = _read_run_file(self.path / "run.json")
            if run.digest != self.digest:
                raise FolderError(self._what_changed(raw))
            self._let_blocks_grow(run, raw, text)
        self.label = run.label
        self.secret = bytes.fromhex(run.secret)

    def _let_blocks_grow(self, run: _RunFile, raw: dict[str, Any], text: str) -> None:
        blocks = blocks_of(raw)
        for event, before in run.blocks.items():
            if blocks[event] < before:
                raise FolderError(
                    f"{self.path} was begun with another file: blocks of {event} is "
                    f"{blocks[event]} and was {before}; blocks may be added, but not taken away"
                )
        if blocks != run.blocks:
            self._write_run(msgspec.structs.replace(run, blocks=blocks))
            write_atomically(self.path / "tournament.toml", text.encode())

    def _write_run(self, run: _RunFile) -> None:
        write_atomically(self.path / "run.json", msgspec.json.encode(run))

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
    except (OSError, msgspec.DecodeError, RecursionError) as error:
        raise FolderError(f"{file} cannot be read: {error}") from None


def read_records(path: Path) -> Iterator[Finished]:
    """Yield the finished matches of a records file. Raises `FolderError` for a damaged line."""
    with path.open("rb") as file:
        for number, line in enumerate(file, start=1):
            try:
                record = _RECORD_LINES.decode(line)
            except (msgspec.DecodeError, RecursionError) as error:
                raise FolderError(
                    f"{path}, line {number}: not a record: {error}; remove the line and the match "
                    "is played again"
                ) from None
            result = record.result
            yield Finished(
                match_id(record.match),
                record.bots,
                result.termination.removeprefix(PREFIX),
                result.seat_at_fault,
                result.points,
                result.scores,
                result.detail,
            )


def write_atomically(path: Path, data: bytes) -> None:
    """Replace a file so that a reader, or a crash, sees the old content or the new."""
    spare = path.with_name(f".{path.name}.new")
    spare.unlink(missing_ok=True)  # it could have another mode
    with open_private(spare, "xb") as file:
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


def _new_run(raw: dict[str, Any], file_digest: str) -> _RunFile:
    seed = raw.get("seed")
    secret = secrets.token_bytes(SECRET_BYTES) if seed is None else secret_of(seed, raw["name"])
    return _RunFile(
        version=RUN_VERSION,
        digest=file_digest,
        label=f"arena-{secrets.token_hex(8)}",
        secret=secret.hex(),
        blocks=blocks_of(raw),
    )


def _read_run_file(path: Path) -> _RunFile:
    try:
        data = path.read_bytes()
        version = _RUN_VERSIONS.decode(data).version
        if version == RUN_VERSION:
            run = _RUN_FILES.decode(data)
            bytes.fromhex(run.secret)
            return run
    except (OSError, ValueError, msgspec.DecodeError, RecursionError) as error:
        raise FolderError(f"{path} cannot be read: {error}; play in another folder") from None
    raise FolderError(
        f"{path} is of version {version}, and this program continues runs of version "
        f"{RUN_VERSION}; play anew with --fresh, or in another folder with --out"
    )


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
