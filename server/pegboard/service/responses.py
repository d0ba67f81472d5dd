"""Serialises what a bot has to be told: a `Delivery` becomes `PlayResponse`s."""

from __future__ import annotations

import time
from collections.abc import Iterator

from pegboard.matches.finished import FinishedMatch
from pegboard.matches.host import MatchHost
from pegboard.matches.mailbox import Delivery
from pegboard.matches.rejection import Rejection
from pegboard.matches.running import RunningMatch
from pegboard.rules.game import Seat
from pegboard.rules.names import MATCHES
from pegboard.service.account import StreamAccount
from pegboard.service.heartbeat import Heartbeat
from pegboard.service.messages import event_messages, rejected_message, started_message
from pegboard.service.turns import TurnEncoder
from pegboard.v1 import play_pb2
from pegboard.wire.records import result_message

SLICE_S = 0.005
"""How long events are put together in one pass of the event loop."""


class Responses:
    """Makes the responses of one stream."""

    def __init__(
        self,
        host: MatchHost,
        bot: str,
        account: StreamAccount,
        heartbeat: Heartbeat,
        events_most: int,
    ) -> None:
        """Take the bot and its stream's counts; a message has `events_most` events at most."""
        self._bot = bot
        self._account = account
        self._heartbeat = heartbeat
        self._events_most = events_most
        self._turns = TurnEncoder(host)

    def of(self, delivery: Delivery) -> Iterator[bytes]:
        """Yield the serialised responses that tell all of a delivery; b"" if the loop is due a pass."""
        if delivery.events:
            yield from self._event_messages(delivery)
            delivery = delivery._replace(started=[], events=[])
        started, _, rejected, ended, turns = delivery
        head = b""
        if started or rejected or ended or self._heartbeat.due:
            head = self._head(started, rejected, ended).SerializeToString()
        body = b""
        if turns:
            body = self._turns.encode(turns)
            self._account.turns_told(len(turns))
        if head or body:
            yield head + body

    def _head(
        self,
        started: list[RunningMatch],
        rejected: list[tuple[str, Seat, int, Rejection]],
        ended: list[FinishedMatch],
    ) -> play_pb2.PlayResponse:
        self._account.rejections_told(len(rejected))
        response = play_pb2.PlayResponse(
            started=[started_message(match, self._bot) for match in started],
            rejected=[rejected_message(*rejection) for rejection in rejected],
        )
        for match in ended:
            response.ended.add(
                match=MATCHES + match.id,
                result=result_message(match.result),
                seats=match.seats_of(self._bot),
            )
            self._turns.forget(match.id)
        if self._heartbeat.due:
            response.heartbeat = self._heartbeat.take()
        return response

    def _event_messages(self, delivery: Delivery) -> Iterator[bytes]:
        """Starts and events, in messages of a bounded size; b"" if the loop is due a pass.

        After a reconnect they are derived again by playing each match over, which takes its time.
        """
        # Events that come while these are written belong to the next delivery.
        known = [(*each, each[0].event_count) for each in delivery.events]
        response = play_pb2.PlayResponse(
            started=[started_message(match, self._bot) for match in delivery.started]
        )
        size = 0
        most = self._events_most
        pause_s = time.monotonic() + SLICE_S
        for match, seat, after, last in known:
            messages = event_messages(match, match.events(after)[: last - after], seat)
            for start in range(0, len(messages), most):
                chunk = messages[start : start + most]
                if size + len(chunk) > most:
                    yield response.SerializeToString()
                    response, size = play_pb2.PlayResponse(), 0
                response.events.add(match=MATCHES + match.id, seat=seat, events=chunk)
                size += len(chunk)
            if time.monotonic() > pause_s:
                yield b""
                pause_s = time.monotonic() + SLICE_S
        yield response.SerializeToString()
