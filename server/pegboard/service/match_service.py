"""`MatchService`: create, watch and end matches; their records."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Sequence
from typing import Any

from pegboard.matches.host import CreateRequest, MatchHost
from pegboard.matches.match import Match
from pegboard.rules.errors import (
    InvalidRequest,
    MatchRunning,
    PermissionDenied,
    Unavailable,
    UnknownSeat,
)
from pegboard.rules.game import Seat
from pegboard.service.catalog_service import page_size
from pegboard.service.errors import streaming, unary
from pegboard.service.messages import event_messages, match_id, match_message, read_spec
from pegboard.service.settings import Limits
from pegboard.service.tokens import Caller, Tokens, bearer_token
from pegboard.v1 import match_pb2, match_pb2_grpc
from pegboard.wire.records import record_message

BATCH_MAX = 1000
RESULTS_PER_MESSAGE = 200
RESULTS_BYTES = 256 * 1024
"""A message with results is not larger, unless one match alone is."""
_FINISHED = {
    match_pb2.MATCH_STATE_UNSPECIFIED: None,
    match_pb2.MATCH_STATE_RUNNING: False,
    match_pb2.MATCH_STATE_FINISHED: True,
}


class MatchService(match_pb2_grpc.MatchServiceServicer):
    """Reading is free for every caller, but for sealed matches; all else needs an organiser's token."""

    def __init__(self, host: MatchHost, tokens: Tokens, limits: Limits) -> None:
        self._host = host
        self._tokens = tokens
        self._limits = limits

    def _caller(self, context: Any) -> Caller:
        return self._tokens.caller(bearer_token(context.invocation_metadata()))

    @unary
    async def CreateMatch(
        self, request: match_pb2.CreateMatchRequest, context: Any
    ) -> match_pb2.CreateMatchResponse:
        """Create one match."""
        self._caller(context).require_organiser()
        (match,) = await self._create([request])
        return match_pb2.CreateMatchResponse(match=match_message(match))

    @unary
    async def BatchCreateMatches(
        self, request: match_pb2.BatchCreateMatchesRequest, context: Any
    ) -> match_pb2.BatchCreateMatchesResponse:
        """Create all or none."""
        self._caller(context).require_organiser()
        if not 1 <= len(request.requests) <= BATCH_MAX:
            raise InvalidRequest(
                f"a batch has 1 to {BATCH_MAX} requests, not {len(request.requests)}"
            )
        matches = await self._create(request.requests)
        return match_pb2.BatchCreateMatchesResponse(matches=map(match_message, matches))

    async def _create(self, requests: Sequence[match_pb2.CreateMatchRequest]) -> list[Match]:
        return await self._host.create(
            [
                CreateRequest(read_spec(request.spec), request.match_id, request.request_id)
                for request in requests
            ]
        )

    @unary
    async def GetMatch(
        self, request: match_pb2.GetMatchRequest, context: Any
    ) -> match_pb2.GetMatchResponse:
        """Return one match."""
        match = self._readable(context, request.name)
        return match_pb2.GetMatchResponse(match=match_message(match))

    @unary
    async def ListMatches(
        self, request: match_pb2.ListMatchesRequest, context: Any
    ) -> match_pb2.ListMatchesResponse:
        """Return a page of matches, newest first."""
        if request.state not in _FINISHED:
            raise InvalidRequest(f"no match state has the number {request.state}")
        matches, token = self._host.list(
            label=request.label,
            finished=_FINISHED[request.state],
            sealed=self._caller(context).organiser is not None,
            page_size=page_size(request.page_size),
            page_token=request.page_token,
        )
        return match_pb2.ListMatchesResponse(
            matches=map(match_message, matches), next_page_token=token
        )

    @unary
    async def CancelMatch(
        self, request: match_pb2.CancelMatchRequest, context: Any
    ) -> match_pb2.CancelMatchResponse:
        """End a match without a result."""
        self._caller(context).require_organiser()
        match = await self._host.cancel(match_id(request.name))
        return match_pb2.CancelMatchResponse(match=match_message(match))

    @unary
    async def ForfeitMatch(
        self, request: match_pb2.ForfeitMatchRequest, context: Any
    ) -> match_pb2.ForfeitMatchResponse:
        """End a match because a bot is gone."""
        self._caller(context).require_organiser()
        match = await self._host.forfeit(match_id(request.name), request.seat, request.detail)
        return match_pb2.ForfeitMatchResponse(match=match_message(match))

    @unary
    async def GetRecord(
        self, request: match_pb2.GetRecordRequest, context: Any
    ) -> match_pb2.GetRecordResponse:
        """Return the record of a finished match."""
        match = self._readable(context, request.name)
        if match.result is None:
            raise MatchRunning(f"match {match.id} is still running; its record comes with its end")
        reveal = not match.spec.withhold_seed or self._caller(context).organiser is not None
        return match_pb2.GetRecordResponse(record=record_message(match.record(reveal)))

    @streaming
    async def WatchMatch(
        self, request: match_pb2.WatchMatchRequest, context: Any
    ) -> AsyncIterator[match_pb2.WatchMatchResponse]:
        """Yield the events of one match as the caller may see them."""
        match = self._host.get(match_id(request.name))
        caller = self._caller(context)
        seat = self._seat(request, match, caller)
        # What a bot sees of its own running match comes to it anyway.
        own = seat is not None and match.result is None and caller.bot == match.spec.bots[seat]
        if not own:
            self._require_open(match, caller)
        limit = self._limits.events_per_message
        async for events in self._host.watch(match.id, request.after):
            for start in range(0, len(events), limit):
                chunk = event_messages(match, events[start : start + limit], seat)
                yield match_pb2.WatchMatchResponse(events=chunk)
        if match.result is None:
            raise Unavailable("the server is stopping; watch on from the last event")

    def _readable(self, context: Any, name: str) -> Match:
        """Return a match that the caller may read. Raises `UnknownMatch` or `PermissionDenied`."""
        match = self._host.get(match_id(name))
        self._require_open(match, self._caller(context))
        return match

    def _require_open(self, match: Match, caller: Caller) -> None:
        """Raise `PermissionDenied` for a sealed match: it tells the deals of its block."""
        if caller.organiser is None and self._host.is_sealed(match):
            raise PermissionDenied(
                f"match {match.id} is sealed: bots and spectators may read it when all"
                f" {match.spec.block_matches} matches of its block have ended"
            )

    def _seat(
        self, request: match_pb2.WatchMatchRequest, match: Match, caller: Caller
    ) -> Seat | None:
        """Return the seat to watch as. Raises `UnknownSeat` or `PermissionDenied`."""
        if not request.HasField("seat"):
            return None
        bots = match.spec.bots
        if request.seat >= len(bots):
            raise UnknownSeat(f"match {match.id} has seats 0 to {len(bots) - 1}")
        if caller.organiser is None and caller.bot != bots[request.seat]:
            raise PermissionDenied(
                f"seat {request.seat} of match {match.id} is {bots[request.seat]}'s: its hand is for"
                " that bot and for organisers; leave `seat` out to watch as a spectator"
            )
        return request.seat

    @streaming
    async def WatchFinishedMatches(
        self, request: match_pb2.WatchFinishedMatchesRequest, context: Any
    ) -> AsyncIterator[match_pb2.WatchFinishedMatchesResponse]:
        """Yield matches with their records as they finish."""
        self._caller(context).require_organiser()
        async for matches in self._host.finished(request.label, request.include_earlier):
            if not matches:
                yield match_pb2.WatchFinishedMatchesResponse(caught_up=True)
            for finished in finished_messages(matches):
                yield match_pb2.WatchFinishedMatchesResponse(finished=finished)
        raise Unavailable("the server is stopping; watch again")


def finished_messages(matches: Sequence[Match]) -> Iterator[list[match_pb2.FinishedMatch]]:
    """Yield finished matches with their records, in groups for one message each."""
    group: list[match_pb2.FinishedMatch] = []
    size = 0
    for match in matches:
        message = match_pb2.FinishedMatch(
            match=match_message(match), record=record_message(match.record(True))
        )
        message_bytes = message.ByteSize()
        full = len(group) == RESULTS_PER_MESSAGE or size + message_bytes > RESULTS_BYTES
        if group and full:
            yield group
            group, size = [], 0
        group.append(message)
        size += message_bytes
    if group:
        yield group
