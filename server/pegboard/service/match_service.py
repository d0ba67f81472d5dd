"""`MatchService`: create, watch and end matches; their records."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator, Sequence
from typing import Any

import grpc

from pegboard.errors import InvalidRequest, MatchRunning, PermissionDenied, Unavailable, UnknownSeat
from pegboard.matches.finished import FinishedMatch
from pegboard.matches.host import CreateRequest, MatchHost
from pegboard.matches.running import AnyMatch
from pegboard.rpc.calls import service_handler
from pegboard.rpc.gate import Access, Call, Gate
from pegboard.rpc.names import read_id
from pegboard.rpc.tokens import Caller
from pegboard.rules.game import Seat
from pegboard.rules.names import MATCHES
from pegboard.rules.plain import sentence
from pegboard.service.catalog_service import page_size
from pegboard.service.listing import read_query
from pegboard.service.messages import (
    check_text,
    event_messages,
    match_message,
    read_spec,
)
from pegboard.v1 import match_pb2
from pegboard.wire.records import record_message

SERVICE = match_pb2.DESCRIPTOR.services_by_name["MatchService"]
CALLS = {
    "CreateMatch": Call(Access.ORGANISER),
    "BatchCreateMatches": Call(Access.ORGANISER),
    "CancelMatch": Call(Access.ORGANISER),
    "ForfeitMatch": Call(Access.ORGANISER),
    "WatchFinishedMatches": Call(Access.ORGANISER),
    "GetMatch": Call(Access.READER),
    "GetMatchRecord": Call(Access.READER, 5),
    "ListMatches": Call(Access.READER),  # and one for ten of the page
    "WatchMatch": Call(Access.READER, 20),
}
BATCH_MAX = 1000
RESULTS_PER_MESSAGE = 200
RESULTS_BYTES = 256 * 1024
"""A message with results is not larger, unless one match alone is."""
_MATCHES_PER_UNIT = 10
_MESSAGES_AT_ONCE = 64
"""Then the loop has a turn: a page of a thousand takes some 50 ms."""


async def _messages(matches: Sequence[AnyMatch]) -> list[match_pb2.Match]:
    messages: list[match_pb2.Match] = []
    for start in range(0, len(matches), _MESSAGES_AT_ONCE):
        messages += map(match_message, matches[start : start + _MESSAGES_AT_ONCE])
        await asyncio.sleep(0)
    return messages


class MatchService:
    """Reading needs any token; creating, ending and results need an organiser's (`CALLS`)."""

    def __init__(self, host: MatchHost, gate: Gate) -> None:
        self._host = host
        self._gate = gate
        self._limits = gate.limits

    def handler(self) -> grpc.GenericRpcHandler:
        """Return what to register."""
        return service_handler(SERVICE, self, CALLS, self._gate)

    def _caller(self, context: Any) -> Caller:
        return self._gate.caller(context)

    async def CreateMatch(
        self, request: match_pb2.CreateMatchRequest, context: Any
    ) -> match_pb2.CreateMatchResponse:
        """Create one match."""
        (match,) = await self._create([request])
        return match_pb2.CreateMatchResponse(match=match_message(match))

    async def BatchCreateMatches(
        self, request: match_pb2.BatchCreateMatchesRequest, context: Any
    ) -> match_pb2.BatchCreateMatchesResponse:
        """Create all or none."""
        if not 1 <= len(request.requests) <= BATCH_MAX:
            raise InvalidRequest(
                f"a batch has 1 to {BATCH_MAX} requests, not {len(request.requests)}"
            )
        matches = await self._create(request.requests)
        return match_pb2.BatchCreateMatchesResponse(matches=await _messages(matches))

    async def _create(self, requests: Sequence[match_pb2.CreateMatchRequest]) -> list[AnyMatch]:
        made = [self._request(request) for request in requests]
        for bot in sorted({bot for request in made for bot in request.spec.bots if bot}):
            self._gate.tokens.check_bot(bot)
        return await self._host.create(made)

    def _request(self, request: match_pb2.CreateMatchRequest) -> CreateRequest:
        check_text("request_id", request.request_id)
        return CreateRequest(read_spec(request.spec), request.match_id, request.request_id)

    async def GetMatch(
        self, request: match_pb2.GetMatchRequest, context: Any
    ) -> match_pb2.GetMatchResponse:
        """Return one match."""
        match = self._readable(context, request.name)
        return match_pb2.GetMatchResponse(match=match_message(match))

    async def ListMatches(
        self, request: match_pb2.ListMatchesRequest, context: Any
    ) -> match_pb2.ListMatchesResponse:
        """Return a page of the matches that fit."""
        check_text("page_token", request.page_token)
        query = read_query(request)._replace(sealed=self._caller(context).organiser is not None)
        size = page_size(request.page_size)
        self._gate.charge(context, size // _MATCHES_PER_UNIT)
        matches, token = self._host.list(query, page_size=size, page_token=request.page_token)
        return match_pb2.ListMatchesResponse(
            matches=await _messages(matches), next_page_token=token
        )

    async def CancelMatch(
        self, request: match_pb2.CancelMatchRequest, context: Any
    ) -> match_pb2.CancelMatchResponse:
        """End a match without a result."""
        match = await self._host.cancel(read_id(MATCHES, request.name))
        return match_pb2.CancelMatchResponse(match=match_message(match))

    async def ForfeitMatch(
        self, request: match_pb2.ForfeitMatchRequest, context: Any
    ) -> match_pb2.ForfeitMatchResponse:
        """End a match because a bot is gone."""
        detail = sentence(request.detail)
        match = await self._host.forfeit(read_id(MATCHES, request.name), request.seat, detail)
        return match_pb2.ForfeitMatchResponse(match=match_message(match))

    async def GetMatchRecord(
        self, request: match_pb2.GetMatchRecordRequest, context: Any
    ) -> match_pb2.GetMatchRecordResponse:
        """Return the record of a finished match."""
        match = self._readable(context, request.name)
        finished = match.finished
        if finished is None:
            raise MatchRunning(f"match {match.id} is still running; its record comes with its end")
        reveal = not match.spec.withhold_seed or self._caller(context).organiser is not None
        return match_pb2.GetMatchRecordResponse(record=record_message(finished.record(reveal)))

    async def WatchMatch(
        self, request: match_pb2.WatchMatchRequest, context: Any
    ) -> AsyncIterator[match_pb2.WatchMatchResponse]:
        """Yield the events of one match as the caller may see them."""
        match = self._host.get(read_id(MATCHES, request.name))
        caller = self._caller(context)
        seat = self._seat(request, match, caller)
        # What a bot sees of its own running match comes to it anyway.
        own = seat is not None and match.finished is None and caller.bot == match.spec.bots[seat]
        if not own:
            self._require_open(match, caller)
        limit = self._limits.events_per_message
        async for events in self._host.watch(match.id, request.after):
            for start in range(0, len(events), limit):
                chunk = event_messages(match, events[start : start + limit], seat)
                yield match_pb2.WatchMatchResponse(events=chunk)
        if match.finished is None:
            raise Unavailable("the server is stopping; watch on from the last event")

    def _readable(self, context: Any, name: str) -> AnyMatch:
        """Return a match that the caller may read. Raises `UnknownMatch` or `PermissionDenied`."""
        match = self._host.get(read_id(MATCHES, name))
        self._require_open(match, self._caller(context))
        return match

    def _require_open(self, match: AnyMatch, caller: Caller) -> None:
        """Raise `PermissionDenied` for a sealed match: it tells the deals of its block."""
        if caller.organiser is None and self._host.is_sealed(match):
            raise PermissionDenied(
                f"match {match.id} is sealed: bots and spectators may read it when all"
                f" {match.spec.block_matches} matches of its block have ended"
            )

    def _seat(
        self, request: match_pb2.WatchMatchRequest, match: AnyMatch, caller: Caller
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

    async def WatchFinishedMatches(
        self, request: match_pb2.WatchFinishedMatchesRequest, context: Any
    ) -> AsyncIterator[match_pb2.WatchFinishedMatchesResponse]:
        """Yield matches with their records as they finish."""
        async for matches in self._host.finished(request.label, request.include_earlier):
            if not matches:
                yield match_pb2.WatchFinishedMatchesResponse(caught_up=True)
            for finished in finished_messages(matches):
                yield match_pb2.WatchFinishedMatchesResponse(finished=finished)
        raise Unavailable("the server is stopping; watch again")


def finished_messages(matches: Sequence[FinishedMatch]) -> Iterator[list[match_pb2.FinishedMatch]]:
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
