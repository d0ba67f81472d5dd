"""Creating matches: all of a batch or none, and one match for one request id.

Ids are reserved before the first await, so that two creations at the same time cannot both have one; a
request id whose match is being created gives a promise of that match.
"""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from pegboard.errors import AlreadyExists, InvalidRequest
from pegboard.matches.clock import MILLISECOND
from pegboard.matches.match import Match, MatchIdentity
from pegboard.matches.registry import MATCH_ID, Registry
from pegboard.matches.running import AnyMatch, RunningMatch
from pegboard.matches.settings import HostSettings
from pegboard.matches.spec import MatchSpec
from pegboard.matches.store.batch import BlockChange
from pegboard.matches.store.rows import Row, shared, spec_text
from pegboard.rules import catalog
from pegboard.rules.game import Game
from pegboard.rules.plain import quoted
from pegboard.rules.shuffle import SEED_BYTES

NAME_CHARACTERS = 64
"""The longest name of a bot or a variant, or key of an option."""
TEXT_CHARACTERS = 200
"""The longest label, nonce, block or request id, or value of an option."""
OPTIONS_MAX = 64
BLOCK_MATCHES_MAX = 1_000_000

_DEALS_AT_ONCE = 32
"""Matches dealt in one pass of the event loop: dealing a thousand would delay all other work."""


class CreateRequest(NamedTuple):
    """A match to create; ids "" for none."""

    spec: MatchSpec
    match_id: str = ""
    request_id: str = ""


class PlannedMatch(NamedTuple):
    """A match that is to be dealt."""

    match: Match
    game: Game


class NewMatches:
    """What one call creates: `rows` for the store, `planned` ones to deal, `matches` dealt.

    `wanted` is by request; `begun` tells what the matches change in their blocks.
    """

    def __init__(self) -> None:
        self.rows: list[Row] = []
        self.begun: list[BlockChange] = []
        self.planned: list[PlannedMatch] = []
        self.matches: list[RunningMatch] = []
        self.wanted: list[AnyMatch | asyncio.Future[RunningMatch]] = []
        self.promises: dict[str, asyncio.Future[RunningMatch]] = {}

    async def result(self) -> list[AnyMatch]:
        """Return the matches by request."""
        return [await each if isinstance(each, asyncio.Future) else each for each in self.wanted]


class Creation:
    """Reserves ids and deals matches; the host stores and starts them."""

    def __init__(self, registry: Registry, settings: HostSettings) -> None:
        self._registry = registry
        self._settings = settings
        self._ids: set[str] = set()
        self._requests: dict[str, asyncio.Future[RunningMatch]] = {}
        self._spare_ns = settings.lag_ms * MILLISECOND

    async def prepare(self, requests: Sequence[CreateRequest]) -> NewMatches:
        """Check all requests, reserve their ids and deal; `settle` must follow.

        Raises `UnknownVariant`, `OptionError`, `SeatsError`, `InvalidRequest`, `AlreadyExists`, and
        then nothing is reserved.
        """
        most = self._settings.batch_max
        if len(requests) > most:
            raise InvalidRequest(f"at most {most} matches at once, not {len(requests)}")
        batch = NewMatches()
        try:
            for request in requests:
                batch.wanted.append(self._reserve(CreateRequest(*request), batch))
            for number, (match, game) in enumerate(batch.planned, 1):
                batch.matches.append(RunningMatch(match, game, self._spare_ns))
                if number % _DEALS_AT_ONCE == 0:
                    await asyncio.sleep(0)
        except BaseException as error:
            self.settle(batch, error)
            raise
        return batch

    def settle(self, batch: NewMatches, error: BaseException | None = None) -> None:
        """Resolve the promises of a batch: its matches run, or `error` says why they do not."""
        for row in batch.rows:
            self._ids.discard(row.id)
            self._requests.pop(row.request_id, None)
        if error is None:
            for match in batch.matches:
                batch.promises[match.id].set_result(match)
            return
        for promise in batch.promises.values():
            promise.set_exception(error)
            promise.exception()  # or asyncio warns if no caller waits

    def _reserve(
        self, request: CreateRequest, batch: NewMatches
    ) -> AnyMatch | asyncio.Future[RunningMatch]:
        """Add a match to the batch, or return the one this request has created before."""
        _check_text("a request_id", request.request_id, TEXT_CHARACTERS)
        if request.request_id:
            before = self._requests.get(request.request_id)
            if before is not None:
                return before
            found = self._registry.by_request(request.request_id)
            if found is not None:
                return found
        match_id = request.match_id or secrets.token_hex(8)
        self._check_id(match_id)
        row, deal = self._plan(match_id, request)
        spec = deal.match.spec
        if spec.block:
            batch.begun.append(self._begin_in_block(spec, batch))
        batch.rows.append(row)
        batch.planned.append(deal)
        promise: asyncio.Future[RunningMatch] = asyncio.get_running_loop().create_future()
        batch.promises[match_id] = promise
        self._ids.add(match_id)
        if request.request_id:
            self._requests[request.request_id] = promise
        return promise

    def _check_id(self, match_id: str) -> None:
        if not MATCH_ID.fullmatch(match_id):
            raise InvalidRequest(
                f"no match id {quoted(match_id)}; use at most 63 lower-case letters, digits and hyphens"
            )
        registry = self._registry
        taken = match_id in registry.running or match_id in self._ids
        if taken or registry.store.find(match_id) is not None:
            raise AlreadyExists(f"match {match_id} exists; choose another id")

    def _begin_in_block(self, spec: MatchSpec, batch: NewMatches) -> BlockChange:
        """Return what a match changes in its block. Raises `InvalidRequest` if it does not fit in."""
        standing = self._registry.block(spec.block)
        sizes = [each.matches for each in batch.begun if each.block == spec.block]
        if standing is not None:
            sizes.append(standing.matches)
        if any(size != spec.block_matches for size in sizes):
            raise InvalidRequest(
                f"block {quoted(spec.block)} has {sizes[0]} matches, not {spec.block_matches}; give all"
                " its matches the same block_matches"
            )
        if standing is not None and standing.damaged:
            raise InvalidRequest(
                f"block {quoted(spec.block)} is damaged in the store; use another block"
            )
        if standing is not None and standing.is_over:
            raise InvalidRequest(
                f"block {quoted(spec.block)} is over and its deals can be read; use another block"
            )
        return BlockChange(spec.block, spec.block_matches, rated=0, running=1)

    def _plan(self, match_id: str, request: CreateRequest) -> tuple[Row, PlannedMatch]:
        spec = self._spec(request.spec, match_id)
        game = self._registry.game(spec)
        seed = request.spec.seed or secrets.token_bytes(SEED_BYTES)
        if len(seed) != SEED_BYTES:
            raise InvalidRequest(f"a seed has {SEED_BYTES} bytes, not {len(seed)}")
        self._registry.last_key += 1
        key, version = self._registry.last_key, catalog.RULES_VERSION
        now = round(time.time(), 3)  # the store keeps milliseconds
        row = Row(
            key=key,
            id=match_id,
            request_id=request.request_id,
            label=spec.label,
            block=spec.block,
            spec=spec_text(spec),
            seed=seed,
            rules_version=version,
            create_time=now,
        )
        identity = MatchIdentity(match_id, key, spec, seed, now, version)
        return row, PlannedMatch(Match(identity), game)

    def _spec(self, spec: MatchSpec, match_id: str) -> MatchSpec:
        """Return the spec with defaults filled in and the seed taken out."""
        settings = self._settings
        if not spec.bots or not all(spec.bots):
            raise InvalidRequest("a match needs a bot at every seat")
        _check_texts(spec)
        _check_block(spec)
        control = spec.time_control
        times_ms = (control.bank_ms, control.increment_ms, control.move_ms, control.startup_ms)
        if min(*times_ms, control.match_ms) < 0:
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


def _check_texts(spec: MatchSpec) -> None:
    """Raise `InvalidRequest` for text that is too long or cannot be printed."""
    _check_text("a variant", spec.variant, NAME_CHARACTERS)
    for name in spec.bots:
        _check_text("a bot's name", name, NAME_CHARACTERS)
    if len(spec.options) > OPTIONS_MAX:
        raise InvalidRequest(f"at most {OPTIONS_MAX} options, not {len(spec.options)}")
    for key, value in spec.options.items():
        _check_text("an option's key", key, NAME_CHARACTERS)
        _check_text("an option's value", value, TEXT_CHARACTERS)
    _check_text("a label", spec.label, TEXT_CHARACTERS)
    _check_text("a nonce", spec.nonce, TEXT_CHARACTERS)
    _check_text("a block", spec.block, TEXT_CHARACTERS)


def _check_text(what: str, text: str, most: int) -> None:
    if len(text) > most:
        raise InvalidRequest(f"{what} has at most {most} characters, not {len(text)}")
    if not text.isprintable():
        raise InvalidRequest(f"{what} cannot hold control characters: {quoted(text)}")


def _check_block(spec: MatchSpec) -> None:
    if spec.block and not 1 <= spec.block_matches <= BLOCK_MATCHES_MAX:
        raise InvalidRequest(
            f"a match with a block needs block_matches from 1 to {BLOCK_MATCHES_MAX}, not"
            f" {spec.block_matches}"
        )
    if spec.block_matches and not spec.block:
        raise InvalidRequest("block_matches needs a block")
