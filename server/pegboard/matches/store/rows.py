"""Matches as rows of any store, the JSON in them, and the lines of the journal."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import lru_cache
from sys import intern
from types import MappingProxyType
from typing import Any, NamedTuple

from pegboard.matches.log import lines_of
from pegboard.matches.spec import MatchSpec, TimeControl
from pegboard.rules.game import Seat
from pegboard.rules.results import Result, Termination

NO_OPTIONS: MappingProxyType[str, str] = MappingProxyType({})
NO_BANKS: MappingProxyType[Seat, int] = MappingProxyType({})


class Row(NamedTuple):
    """A match as stored. Of a running one `result` is "" and `moves` are those of the journal.

    `rated`: it has a result that counts for its block. `banks_ms` has what is left of the banks that
    the journal tells of, by seat. `damaged`: its deal could not be read, and stands empty here.
    """

    key: int
    id: str
    request_id: str
    label: str
    block: str
    spec: str
    seed: bytes
    rules_version: str
    create_time: float
    finish: int = 0
    end_time: float | None = None
    result: str = ""
    moves: str = ""
    event_count: int = 0
    events_digest: str = ""
    banks_ms: Mapping[Seat, int] = NO_BANKS
    damaged: bool = False


def journal_line(key: int, seat: Seat, move: str, bank_ms: int) -> str:
    """Return `KEY SEAT MOVE`, and if the seat has a bank (-1: none) a tab and what is left of it.

    A line of a snapshot that tells a bank has no move.
    """
    return f"{key} {seat} {move}" if bank_ms < 0 else f"{key} {seat} {move}\t{bank_ms}"


def read_journal(text: str) -> Iterator[tuple[int, Seat, str, int]]:
    """Yield what `journal_line` was given. Raises `ValueError` for other text."""
    for line in lines_of(text):
        key, seat, rest = line.split(" ", 2)
        move, _, bank_ms = rest.partition("\t")
        yield int(key), int(seat), move, int(bank_ms or -1)


def spec_text(spec: MatchSpec) -> str:
    """Return the spec as JSON, without label and seed, which have columns of their own."""
    control = spec.time_control
    fields = {
        "variant": spec.variant,
        "bots": spec.bots,
        "options": dict(spec.options),
        "time_control": {
            "bank_ms": control.bank_ms,
            "increment_ms": control.increment_ms,
            "move_ms": control.move_ms,
            "startup_ms": control.startup_ms,
            "match_ms": control.match_ms,
        },
        "nonce": spec.nonce,
        "withhold_seed": spec.withhold_seed,
        "illegal_move_limit": spec.illegal_move_limit,
        "block": spec.block,
        "block_matches": spec.block_matches,
    }
    return json.dumps(fields, separators=(",", ":"))


def read_spec(text: str, label: str) -> MatchSpec:
    """Read the spec of a row; equal parts are shared, since ten thousand matches may be running."""
    fields = json.loads(text)
    return shared(
        MatchSpec(
            variant=fields["variant"],
            bots=tuple(fields["bots"]),
            options=fields["options"],
            time_control=TimeControl(**fields["time_control"]),
            label=label,
            nonce=fields["nonce"],
            withhold_seed=fields["withhold_seed"],
            illegal_move_limit=fields["illegal_move_limit"],
            block=fields["block"],
            block_matches=fields["block_matches"],
        )
    )


def shared(spec: MatchSpec) -> MatchSpec:
    """Return an equal spec whose common parts are shared with other matches."""
    return replace(
        spec,
        variant=intern(spec.variant),
        bots=_bots(tuple(spec.bots)),
        options=_options(tuple(sorted(spec.options.items()))),
        time_control=_time_control(spec.time_control),
        label=intern(spec.label),
    )


@lru_cache(maxsize=4096)
def _bots(bots: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(map(intern, bots))


@lru_cache(maxsize=4096)
def _options(items: tuple[tuple[str, str], ...]) -> MappingProxyType[str, str]:
    return MappingProxyType(dict(items)) if items else NO_OPTIONS


@lru_cache(maxsize=256)
def _time_control(control: TimeControl) -> TimeControl:
    return control


def result_text(result: Result) -> str:
    """Return the result as JSON."""
    return json.dumps(result._asdict(), separators=(",", ":"))


def read_result(text: str) -> Result:
    """Read the result of a row."""
    fields: dict[str, Any] = json.loads(text)
    return Result(
        termination=Termination(fields["termination"]),
        seat_at_fault=fields["seat_at_fault"],
        points=tuple(fields["points"]),
        scores=tuple(fields["scores"]),
        games_won=tuple(fields["games_won"]),
        detail=fields["detail"],
    )
