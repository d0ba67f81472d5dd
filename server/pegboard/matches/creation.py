"""Creating matches: all of a batch or none, and one match for one request id.

Ids are reserved before anything is awaited, so that two creations at the same time cannot both have
one; a request id that is being created gives a promise of its match.
"""

from __future__ import annotations

import asyncio
import re
import secrets
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from pegboard.matches.match import Match
from pegboard.matches.registry import Registry
from pegboard.matches.rows import Row, shared, spec_text
from pegboard.matches.settings import HostSettings
from pegboard.matches.spec import MatchSpec
from pegboard.rules import catalog
from pegboard.rules.errors import AlreadyExists, InvalidRequest
from pegboard.rules.shuffle import SEED_BYTES

_ID = re.compile(r"[a-z0-9][a-z0-9-]{0,62}")
_DEALS_AT_ONCE = 32
"""Then the loop has a turn: dealing a thousand matches would stop all clocks."""


class CreateRequest(NamedTuple):
    """A match to create; ids "" for none."""

    spec: MatchSpec
    match_id: str = ""
    request_id: str = ""


class Batch:
    """What one call creates: `rows` for the store, `matches` dealt, `wanted` by request."""

    def __init__(self) -> None:
        self.rows: list[Row] = []
        self.matches: list[Match] = []
        self.wanted: list[Match | asyncio.Future[Match]] = []
        self.promises: dict[str, asyncio.Future[Match]] = {}

    async def result(self) -> list[Match]:
        """Return the matches by request."""
        return [await each if isinstance(each, asyncio.Future) else each for each in self.wanted]


class Creation:
    """Reserves ids and deals matches; storing and starting them is the host's affair."""

    def __init__(self, registry: Registry, settings: HostSettings) -> None:
        self._registry = registry
        self._settings = settings
        self._ids: set[str] = set()
        self._requests: dict[str, asyncio.Future[Match]] = {}

    async def prepare(self, requests: Sequence[CreateRequest]) -> Batch:
        """Check all requests, reserve their ids and deal; `settle` must follow.

        Raises `UnknownVariant`, `OptionError`, `SeatsError`, `InvalidRequest`, `AlreadyExists`, and
        then nothing is reserved.
        """
        most = self._settings.batch_max
        if len(requests) > most:
            raise InvalidRequest(f"at most {most} matches at once, not {len(requests)}")
        batch = Batch()
        try:
            for request in requests:
                batch.wanted.append(self._reserve(CreateRequest(*request), batch))
            for number, match in enumerate(batch.matches, 1):
                match.begin()
                if number % _DEALS_AT_ONCE == 0:
                    await asyncio.sleep(0)
        except BaseException as error:
            self.settle(batch, error)
            raise
        return batch

    def settle(self, batch: Batch, error: BaseException | None = None) -> None:
        """Keep the promises of a batch whose matches run, or break them."""
        for row in batch.rows:
            self._ids.discard(row.id)
            self._requests.pop(row.request_id, None)
        for match in batch.matches:
            promise = batch.promises[match.id]
            if error is None:
                promise.set_result(match)
            else:
                promise.set_exception(error)
                promise.exception()  # for whoever waits; nobody need

    def _reserve(self, request: CreateRequest, batch: Batch) -> Match | asyncio.Future[Match]:
        """Add a match to the batch, or return the one this request has created before."""
        if request.request_id:
            before = self._requests.get(request.request_id)
            if before is not None:
                return before
            found = self._registry.by_request(request.request_id)
            if found is not None:
                return found
        match_id = request.match_id or secrets.token_hex(8)
        self._check_id(match_id)
        row, match = self._match(match_id, request)
        batch.rows.append(row)
        batch.matches.append(match)
        promise: asyncio.Future[Match] = asyncio.get_running_loop().create_future()
        batch.promises[match_id] = promise
        self._ids.add(match_id)
        if request.request_id:
            self._requests[request.request_id] = promise
        return promise

    def _check_id(self, match_id: str) -> None:
        if not _ID.fullmatch(match_id):
            raise InvalidRequest(
                f"no match id {match_id[:80]!r}; use at most 63 lower-case letters, digits and hyphens"
            )
        registry = self._registry
        taken = match_id in registry.running or match_id in self._ids
        if taken or registry.store.find(match_id) is not None:
            raise AlreadyExists(f"match {match_id} exists; choose another id")

    def _match(self, match_id: str, request: CreateRequest) -> tuple[Row, Match]:
        spec = self._spec(request.spec, match_id)
        game = self._registry.game(spec)
        seed = request.spec.seed or secrets.token_bytes(SEED_BYTES)
        if len(seed) != SEED_BYTES:
            raise InvalidRequest(f"a seed has {SEED_BYTES} bytes, not {len(seed)}")
        self._registry.last_key += 1
        key, now, version = self._registry.last_key, time.time(), catalog.RULES_VERSION
        row = Row(
            key, match_id, request.request_id, spec.label, spec_text(spec), seed, version, now
        )
        return row, Match(match_id, key, spec, seed, game, now, version)

    def _spec(self, spec: MatchSpec, match_id: str) -> MatchSpec:
        """Return the spec with defaults filled in and the seed taken out."""
        settings = self._settings
        if not spec.bots or not all(spec.bots):
            raise InvalidRequest("a match needs a bot at every seat")
        control = spec.time_control
        if min(control.bank_ms, control.increment_ms, control.move_ms, control.startup_ms) < 0:
            raise InvalidRequest("times are milliseconds, 0 or more")
        if not (control.move_ms and control.startup_ms):
            control = replace(
                control,
                move_ms=control.move_ms or settings.move_ms,
                startup_ms=control.startup_ms or settings.startup_ms,
            )
        return shared(
            replace(
                spec,
                time_control=control,
                nonce=spec.nonce or match_id,
                seed=None,
                illegal_move_limit=spec.illegal_move_limit or settings.illegal_move_limit,
            )
        )
