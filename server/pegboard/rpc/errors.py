"""Errors of calls: `PegboardError` to a status with one `ErrorInfo`, our own bugs to INTERNAL.

A caller that goes away in the middle of a call shows as an error of gRPC's in whatever waits for it.
That is not a fault of the server: the call just ends.
"""

from __future__ import annotations

import asyncio
import secrets
from typing import Any

import grpc.aio
import structlog
from grpc_status import rpc_status

from pegboard.errors import ServerFault, StoreError
from pegboard.rules.errors import PegboardError
from pegboard.wire.errors import status_of

_log = structlog.get_logger("pegboard.service")


def refuse(context: Any, error: Exception, method: str) -> None:
    """Let the call end with the error's status when its handler returns.

    What is not a `PegboardError` is logged and hidden, and so is where the store lies. Raises
    `CancelledError` if the caller has gone. gRPC's `abort` is not used: it keeps an exception whose
    traceback holds the call, the request and itself, so that only the cycle collector frees them.
    """
    if has_left(context, error):
        _log.debug("caller_left", method=method)
        raise asyncio.CancelledError from None
    if not isinstance(error, PegboardError):
        error = server_fault(error, method)
    elif isinstance(error, StoreError):
        _log.info("store_error", method=method, reason=str(error))
        error = StoreError("the server cannot use its store; try again later")
    status = rpc_status.to_status(status_of(error))
    context.set_code(status.code)
    context.set_details(status.details)
    context.set_trailing_metadata(status.trailing_metadata)


def has_left(context: Any, error: Exception) -> bool:
    """Whether an error only says that the caller has cancelled the call or lost its connection.

    gRPC raises `InternalError` for operations on a call that is over, before or after it has marked
    the call as cancelled; its other errors of that kind count only if it has.
    """
    if isinstance(error, grpc.aio.InternalError):
        return True
    over = isinstance(error, grpc.aio.BaseError | asyncio.InvalidStateError)
    return over and bool(context.cancelled())


def server_fault(error: Exception, method: str) -> ServerFault:
    """Log an unexpected exception and return what may be told of it."""
    reference = secrets.token_hex(4)
    _log.error("server_fault", method=method, reference=reference, exc_info=error)
    return ServerFault(f"the server failed in {method}; its log tells more under {reference}")
