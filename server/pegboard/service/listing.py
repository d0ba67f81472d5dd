"""What `ListMatches` is asked for, as a query of the store."""

from __future__ import annotations

from google.protobuf.timestamp_pb2 import Timestamp

from pegboard.errors import InvalidRequest
from pegboard.matches.store.query import ANY_TIME, MatchOrder, MatchQuery, Milliseconds
from pegboard.rpc.names import read_id
from pegboard.rules.names import BOTS, VARIANTS
from pegboard.service.messages import check_text
from pegboard.v1 import match_pb2

_FINISHED = {
    match_pb2.MATCH_STATE_UNSPECIFIED: None,
    match_pb2.MATCH_STATE_RUNNING: False,
    match_pb2.MATCH_STATE_FINISHED: True,
}
_SECONDS_MIN, _SECONDS_MAX = -62_135_596_800, 253_402_300_799
"""The years 1 to 9999, which a `Timestamp` may name."""


def read_query(request: match_pb2.ListMatchesRequest) -> MatchQuery:
    """Return the filters and the order of a request. Raises `InvalidRequest`."""
    for field in ("label", "variant", "bot"):
        check_text(field, getattr(request, field))
    if request.state not in _FINISHED:
        raise InvalidRequest(f"no match state has the number {request.state}")
    finished = _FINISHED[request.state]
    order = _order(request.order)
    ended = _range("end_time", request.end_time)
    if finished is False and (order.by_end or ended != ANY_TIME):
        raise InvalidRequest(
            "a running match has no end; leave end_time and orders by it out, or list finished matches"
        )
    return MatchQuery(
        label=request.label,
        finished=finished,
        variant=read_id(VARIANTS, request.variant) if request.variant else "",
        bot=read_id(BOTS, request.bot) if request.bot else "",
        created=_range("create_time", request.create_time),
        ended=ended,
        order=order,
    )


def _order(number: int) -> MatchOrder:
    if number == match_pb2.MATCH_ORDER_UNSPECIFIED:
        return MatchOrder.CREATE_TIME_DESC
    try:
        return MatchOrder(number)
    except ValueError:
        raise InvalidRequest(f"no order of matches has the number {number}") from None


def _range(field: str, message: match_pb2.TimeRange) -> Milliseconds:
    """Return a range of time; matches are kept with whole milliseconds. Raises `InvalidRequest`."""
    first = end = None
    if message.HasField("start_time"):
        first = _milliseconds(f"{field}.start_time", message.start_time)
    if message.HasField("end_time"):
        end = _milliseconds(f"{field}.end_time", message.end_time)
    if first is not None and end is not None and first >= end:
        raise InvalidRequest(
            f"{field} has no time in it: its start_time is not before its end_time"
        )
    return first, end


def _milliseconds(field: str, time: Timestamp) -> int:
    if not (_SECONDS_MIN <= time.seconds <= _SECONDS_MAX and 0 <= time.nanos < 1_000_000_000):
        raise InvalidRequest(f"{field} is not a time between the years 1 and 9999")
    return time.seconds * 1000 - (-time.nanos // 1_000_000)  # rounded up, as both bounds need it
