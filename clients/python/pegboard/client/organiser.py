"""An organiser's side of a server: create matches, watch them, fetch their records.

    async with Organiser("unix:/run/pegboard.sock", token) as organiser:
        match = await organiser.create(new_match("cribbage", ["alice", "bob"]))
        async for sequence, event in organiser.watch(match.name):
            print(sequence, event)
        record = await organiser.record(match.name)

clients/python/README.md has a whole program. Every method raises the `PegboardError` that the server
raised (`UnknownVariant`, `AlreadyExists`...), and `Unavailable` if no server can be reached. Matches
are named as on the wire: `matches/{id}`.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Mapping, Sequence
from datetime import datetime
from types import TracebackType
from typing import Any, NamedTuple, TypeAlias, overload

from pegboard.client.channel import bearer, open_channel, server_errors
from pegboard.errors import Unavailable
from pegboard.rules.catalog import Event
from pegboard.rules.names import BOTS, VARIANTS
from pegboard.rules.record import Record
from pegboard.rules.results import Result
from pegboard.v1 import catalog_pb2, catalog_pb2_grpc, match_pb2, match_pb2_grpc
from pegboard.wire.codec import read_event
from pegboard.wire.records import read_record, read_result

BATCH_LIMIT = 1000
"""Matches that one call creates, and that one page lists, at most."""


TimeSpan: TypeAlias = tuple[datetime | None, datetime | None]
"""From the first time, included, to the second, excluded; None sets no bound, no zone means UTC."""

ANY_TIME: TimeSpan = (None, None)


class FinishedMatches(NamedTuple):
    """Matches that finished, in the order of finishing.

    `caught_up` is set once all earlier ones have been told; from here on they are live.
    """

    finished: Sequence[match_pb2.FinishedMatch]
    caught_up: bool


class WatchedEvent(NamedTuple):
    """An event of a match and its number: from 1, without gaps, the same for all who watch.

    The last one of a match is its result.
    """

    sequence: int
    event: Event | Result


def new_match(
    variant: str,
    bots: Sequence[str],
    *,
    options: Mapping[str, str] | None = None,
    time_control: match_pb2.TimeControl | None = None,
    label: str = "",
    nonce: str = "",
    seed: bytes = b"",
    withhold_seed: bool = False,
    illegal_move_limit: int = 0,
    block: str = "",
    block_matches: int = 0,
    match_id: str = "",
    request_id: str = "",
) -> match_pb2.CreateMatchRequest:
    """Return a request for `Organiser.create`; fields as in match.proto, empty for the default.

    Variant and bots are ids: `cribbage`, `alice`.
    """
    spec = match_pb2.MatchSpec(
        variant=VARIANTS + variant,
        bots=[BOTS + bot for bot in bots],
        options=options,
        time_control=time_control,
        label=label,
        nonce=nonce,
        seed=seed,
        withhold_seed=withhold_seed,
        illegal_move_limit=illegal_move_limit,
        block=block,
        block_matches=block_matches,
    )
    return match_pb2.CreateMatchRequest(spec=spec, match_id=match_id, request_id=request_id)


class Organiser:
    """A connection with an organiser's token. Use it in one event loop, from any number of tasks."""

    def __init__(self, address: str = "", token: str = "") -> None:
        """Take an address (default `PEGBOARD_ADDRESS`) and a token (default `PEGBOARD_TOKEN`)."""
        self._channel = open_channel(address)
        self._metadata: Any = bearer(token or os.environ.get("PEGBOARD_TOKEN", ""))
        self._matches: match_pb2_grpc.MatchServiceAsyncStub
        self._matches = match_pb2_grpc.MatchServiceStub(self._channel)
        self._catalog: catalog_pb2_grpc.CatalogServiceAsyncStub
        self._catalog = catalog_pb2_grpc.CatalogServiceStub(self._channel)

    async def __aenter__(self) -> Organiser:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Close the connection; calls that wait end with an error."""
        await self._channel.close()

    async def ready(self, timeout_s: float = 10.0) -> None:
        """Wait until the server answers. Raises `Unavailable` after `timeout_s`."""
        try:
            await asyncio.wait_for(self._channel.channel_ready(), timeout_s)
        except TimeoutError:
            raise Unavailable(
                f"no server answered within {timeout_s:g} s; is `pegboard serve` running there?"
            ) from None

    async def list_variants(self) -> list[catalog_pb2.Variant]:
        """Return the whole catalog, in its order."""
        variants: list[catalog_pb2.Variant] = []
        token = ""
        while True:
            request = catalog_pb2.ListVariantsRequest(page_size=BATCH_LIMIT, page_token=token)
            with server_errors():
                page = await self._catalog.ListVariants(request, metadata=self._metadata)
            variants.extend(page.variants)
            token = page.next_page_token
            if not token:
                return variants

    async def get_variant(self, variant_id: str) -> catalog_pb2.Variant:
        """Return one variant. Raises `UnknownVariant`."""
        request = catalog_pb2.GetVariantRequest(name=VARIANTS + variant_id)
        with server_errors():
            return (await self._catalog.GetVariant(request, metadata=self._metadata)).variant

    @overload
    async def create(self, requests: match_pb2.CreateMatchRequest) -> match_pb2.Match: ...

    @overload
    async def create(
        self, requests: Sequence[match_pb2.CreateMatchRequest]
    ) -> list[match_pb2.Match]: ...

    async def create(
        self, requests: match_pb2.CreateMatchRequest | Sequence[match_pb2.CreateMatchRequest]
    ) -> match_pb2.Match | list[match_pb2.Match]:
        """Create one match, or several in order: all or none of each 1000. Stored when this returns.

        A request with a `request_id` that was created before gives that match again. Raises
        `AlreadyExists`, `UnknownVariant`, `OptionError`, `SeatsError`, `InvalidRequest`.
        """
        if isinstance(requests, match_pb2.CreateMatchRequest):
            with server_errors():
                answer = await self._matches.CreateMatch(requests, metadata=self._metadata)
            return answer.match
        return await self._create_all(requests)

    async def _create_all(
        self, requests: Sequence[match_pb2.CreateMatchRequest]
    ) -> list[match_pb2.Match]:
        made: list[match_pb2.Match] = []
        for start in range(0, len(requests), BATCH_LIMIT):
            chunk = requests[start : start + BATCH_LIMIT]
            request = match_pb2.BatchCreateMatchesRequest(requests=chunk)
            with server_errors():
                answer = await self._matches.BatchCreateMatches(request, metadata=self._metadata)
            made.extend(answer.matches)
        return made

    async def get(self, name: str) -> match_pb2.Match:
        """Return a match. Raises `UnknownMatch`."""
        request = match_pb2.GetMatchRequest(name=name)
        with server_errors():
            return (await self._matches.GetMatch(request, metadata=self._metadata)).match

    async def list_matches(
        self,
        label: str = "",
        state: match_pb2.MatchState.ValueType = match_pb2.MATCH_STATE_UNSPECIFIED,
        limit: int | None = None,
        *,
        variant: str = "",
        bot: str = "",
        created: TimeSpan = ANY_TIME,
        ended: TimeSpan = ANY_TIME,
        order: match_pb2.MatchOrder.ValueType = match_pb2.MATCH_ORDER_UNSPECIFIED,
    ) -> AsyncIterator[match_pb2.Match]:
        """Yield the matches that fit all filters, newest first or in `order`; `limit` at most.

        Raises `InvalidRequest` for filters that no match can fit.
        """
        request = match_pb2.ListMatchesRequest(
            label=label,
            state=state,
            variant=VARIANTS + variant if variant else "",
            bot=BOTS + bot if bot else "",
            create_time=_time_range(created),
            end_time=_time_range(ended),
            order=order,
        )
        left = limit
        while left is None or left > 0:
            request.page_size = BATCH_LIMIT if left is None else min(left, BATCH_LIMIT)
            with server_errors():
                page = await self._matches.ListMatches(request, metadata=self._metadata)
            for match in page.matches:
                yield match
            left = None if left is None else left - len(page.matches)
            request.page_token = page.next_page_token
            if not request.page_token:
                return

    async def cancel(self, name: str) -> match_pb2.Match:
        """End a running match without a result; a finished one stays as it is."""
        request = match_pb2.CancelMatchRequest(name=name)
        with server_errors():
            return (await self._matches.CancelMatch(request, metadata=self._metadata)).match

    async def forfeit(self, name: str, seat: int, detail: str) -> match_pb2.Match:
        """End a running match because the seat's bot is gone for good (TERMINATION_CRASH)."""
        request = match_pb2.ForfeitMatchRequest(name=name, seat=seat, detail=detail)
        with server_errors():
            return (await self._matches.ForfeitMatch(request, metadata=self._metadata)).match

    async def record(self, name: str) -> Record:
        """Return the record of a finished match: `to_json` of it is what `pegboard replay` reads.

        Raises `MatchRunning` while the match runs.
        """
        request = match_pb2.GetMatchRecordRequest(name=name)
        with server_errors():
            answer = await self._matches.GetMatchRecord(request, metadata=self._metadata)
        return read_record(answer.record)

    async def result(self, name: str) -> Result:
        """Wait for the end of a match and return how it ended."""
        async for messages in self.watch_messages(name):
            if messages and messages[-1].HasField("match_ended"):
                return read_result(messages[-1].match_ended)
        raise Unavailable(f"the server ended the events of {name} before the match was over")

    async def watch(
        self, name: str, after: int = 0, seat: int | None = None
    ) -> AsyncIterator[WatchedEvent]:
        """Yield the events of a match after number `after`, until its end.

        They are those that `seat` sees; None is a spectator. Events of a kind that this version of
        the kit does not know are left out.
        """
        async for messages in self.watch_messages(name, after, seat):
            for message in messages:
                event = (
                    read_result(message.match_ended)
                    if message.HasField("match_ended")
                    else read_event(message)
                )
                if event is not None:
                    yield WatchedEvent(message.sequence, event)

    async def watch_messages(
        self, name: str, after: int = 0, seat: int | None = None
    ) -> AsyncIterator[Sequence[match_pb2.MatchEvent]]:
        """Yield the events as the messages of the contract, as many at a time as have come."""
        request = match_pb2.WatchMatchRequest(name=name, after=after, seat=seat)
        with server_errors():
            async for answer in self._matches.WatchMatch(request, metadata=self._metadata):
                yield answer.events

    async def watch_finished(
        self, label: str = "", *, include_earlier: bool = False
    ) -> AsyncIterator[FinishedMatches]:
        """Yield matches as they finish, several at a time, until the server stops.

        Ends by raising `Unavailable` when the server stops or dies; start again with
        `include_earlier=True` and skip what you know.
        """
        request = match_pb2.WatchFinishedMatchesRequest(
            label=label, include_earlier=include_earlier
        )
        call = self._matches.WatchFinishedMatches(request, metadata=self._metadata)
        try:
            with server_errors():
                async for answer in call:
                    yield FinishedMatches(answer.finished, answer.caught_up)
            raise Unavailable("the server has stopped; start it again and watch again")
        finally:
            call.cancel()


def _time_range(span: TimeSpan) -> match_pb2.TimeRange | None:
    first, end = span
    if first is None and end is None:
        return None
    message = match_pb2.TimeRange()
    if first is not None:
        message.start_time.FromDatetime(first)
    if end is not None:
        message.end_time.FromDatetime(end)
    return message
