"""`run.json`: what a run is continued, or repeated, from."""

from __future__ import annotations

import hashlib
import json
import secrets
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from pegboard.arena.continuation import blocks_of, lasting
from pegboard.arena.schedule import SECRET_BYTES, secret_of
from pegboard.runner.errors import FolderError
from pegboard.runner.private_files import write_atomically

RUN_VERSION = 3


class RunFile(msgspec.Struct, frozen=True):
    """What run.json holds.

    `secret` in hexadecimal digits: all deals of the run follow from it. `label` is that of the
    run's matches. `lasting` is the part of the tournament that may not change, `digest` its
    SHA-256; `blocks` are by event and may grow.
    """

    version: int
    digest: str
    label: str
    secret: str
    blocks: dict[str, int]
    lasting: dict[str, Any]


class _AnyRunFile(msgspec.Struct, frozen=True):
    version: int


_ANY_RUN_FILE = msgspec.json.Decoder(_AnyRunFile)
_RUN_FILE = msgspec.json.Decoder(RunFile)


def new_run(raw: Mapping[str, Any]) -> RunFile:
    """Return a run of this tournament; its secret is drawn, or follows from `seed` and `name`."""
    seed = raw.get("seed")
    secret = secrets.token_bytes(SECRET_BYTES) if seed is None else secret_of(seed, raw["name"])
    return RunFile(
        version=RUN_VERSION,
        digest=digest(raw),
        label=f"arena-{secrets.token_hex(8)}",
        secret=secret.hex(),
        blocks=blocks_of(raw),
        lasting=json.loads(_lasting_text(raw)),
    )


def digest(raw: Mapping[str, Any]) -> str:
    """Return SHA-256 of a tournament's content, without what may change during a run."""
    return hashlib.sha256(_lasting_text(raw).encode()).hexdigest()


def _lasting_text(raw: Mapping[str, Any]) -> str:
    return json.dumps(lasting(raw), sort_keys=True, default=str)


def read_run_file(path: Path) -> RunFile:
    """Read run.json. Raises `FolderError` if it is damaged, or of another version."""
    try:
        data = path.read_bytes()
        version = _ANY_RUN_FILE.decode(data).version
        if version == RUN_VERSION:
            run = _RUN_FILE.decode(data)
            bytes.fromhex(run.secret)
            return run
    except (OSError, ValueError, msgspec.DecodeError, RecursionError) as error:
        raise FolderError(f"{path} cannot be read: {error}; play in another folder") from None
    raise FolderError(
        f"{path} is of version {version}, and this program continues runs of version "
        f"{RUN_VERSION}; play anew with --fresh, or in another folder with --out"
    )


def write_run_file(path: Path, run: RunFile) -> None:
    """Replace run.json. Raises `FolderError`."""
    write_atomically(path, msgspec.json.encode(run))
