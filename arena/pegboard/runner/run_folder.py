"""The folder of a run: everything that a stopped run is continued from, and its products.

tournament.toml   a copy of the file, as it was when the run began or its blocks grew
run.json          the run's secret, from which all deals follow, and what may not change (`run_file`)
records.jsonl     every finished match, one a line: all tables are made of it (`records_file`)
results.json      the tables (`arena.results.Results`)
bots/, server.log what bots and server printed
earlier-1/...     what `--fresh` has set aside
server.db         the matches under way; removed when all are finished
lock              held while a run is at work here; names its process
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any

import msgspec

from pegboard.arena.continuation import blocks_of, changed_key
from pegboard.arena.results import Results
from pegboard.runner.errors import FolderError
from pegboard.runner.folder_lock import lock_folder
from pegboard.runner.private_files import write_atomically
from pegboard.runner.records_file import RecordsFile
from pegboard.runner.run_file import RunFile, digest, new_run, read_run_file, write_run_file

EARLIER = "earlier-"
OWN_NAMES = ("server.log", "bots", "results.json", "records.jsonl", "tournament.toml", "run.json")

_RESULTS = msgspec.json.Decoder(Results)


class RunFolder:
    """A folder locked for this run. Use as a context manager.

    `secret` is what all deals of the run follow from. It is drawn when the run begins, or follows
    from the tournament's `seed` and `name`; a run that continues keeps its own.
    """

    def __init__(
        self, path: Path, raw: Mapping[str, Any], text: str = "", *, fresh: bool = False
    ) -> None:
        """Lock `path` for a tournament as it was written; make the folder or continue in it.

        `text` is kept as a copy for people. With `fresh` the files of an earlier run are moved to
        `set_aside`, a folder within. Raises `FolderError` if another run is at work, the tournament
        has changed since the run began, or the folder holds something else.
        """
        self.path = path
        if path.exists() and not path.is_dir():
            raise FolderError(f"{path} is a file; name a folder with --out")
        if path.exists() and not _is_ours(path):
            raise FolderError(f"{path} holds other files; choose an empty or new folder with --out")
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._lock = lock_folder(path)
        try:
            path.chmod(0o700)  # seeds of running matches and the bots' output are in it
            self.set_aside = _set_aside(path) if fresh else None
            self.continued = (path / "run.json").exists()
            run = self._continue(raw, text) if self.continued else self._begin(raw, text)
        except BaseException:
            os.close(self._lock)
            raise
        self.digest = run.digest
        self.label = run.label
        self.secret = bytes.fromhex(run.secret)
        self.records = RecordsFile(path / "records.jsonl")

    def _begin(self, raw: Mapping[str, Any], text: str) -> RunFile:
        run = new_run(raw)
        self._copy(text)
        write_run_file(self.path / "run.json", run)
        return run

    def _continue(self, raw: Mapping[str, Any], text: str) -> RunFile:
        run = read_run_file(self.path / "run.json")
        if run.digest != digest(raw):
            change = changed_key(run.lasting, raw) or "run.json in that folder was edited"
            raise FolderError(
                f"{self.path} was begun with another file: {change}; undo the change to continue it, "
                "or play anew with --fresh, or in another folder with --out"
            )
        blocks = blocks_of(raw)
        for event, before in run.blocks.items():
            if blocks[event] < before:
                raise FolderError(
                    f"{self.path} was begun with another file: blocks of {event} is "
                    f"{blocks[event]} and was {before}; blocks may be added, but not taken away"
                )
        if blocks != run.blocks:
            run = msgspec.structs.replace(run, blocks=blocks)
            write_run_file(self.path / "run.json", run)
            self._copy(text)
        return run

    def _copy(self, text: str) -> None:
        if text:
            write_atomically(self.path / "tournament.toml", text.encode())

    def __enter__(self) -> RunFolder:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            self.records.close()
        except FolderError:
            if error is None:
                raise
        finally:
            os.close(self._lock)

    @property
    def lock(self) -> int:
        """The descriptor of the lock, which the reaper inherits."""
        return self._lock

    @property
    def store(self) -> Path:
        """The server's database."""
        return self.path / "server.db"

    def log(self, name: str) -> Path:
        """Return where a bot's process writes."""
        return self.path / "bots" / f"{name}.log"

    def write_results(self, results: Results) -> None:
        """Replace `results.json`. Raises `FolderError`."""
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


def _is_ours(path: Path) -> bool:
    """A run's folder, an empty one, or one in which a run was stopped before it had begun."""
    return (path / "run.json").exists() or all(
        entry.name in {"lock", "tournament.toml"} or entry.name.startswith((".", EARLIER))
        for entry in path.iterdir()
    )


def _set_aside(path: Path) -> Path | None:
    """Move the files of an earlier run, and no others, to a new folder within; return that.

    `run.json` goes last, so that a half-moved run is still recognised as one.
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
