"""Errors of calls: `PegboardError` to a status with one `ErrorInfo`, our own bugs to INTERNAL."""

from __future__ import annotations

import secrets
from collections.abc import AsyncIterator, Awaitable, Callable
from functools import wraps
from typing import Any, NoReturn, TypeVar

import structlog
from grpc_status import rpc_status

from pegboard.rules.errors import PegboardError, ServerFault, StoreError
from pegboard.wire.errors import status_of

_log = structlog.get_logger("pegboard.service")
_Service = TypeVar("_Service")
_Response = TypeVar("_Response")
_Unary = Callable[[_Service, Any, Any], Awaitable[_Response]]
_Streaming = Callable[[_Service, Any, Any], AsyncIterator[_Response]]


def unary(method: _Unary[_Service, _Response]) -> _Unary[_Service, _Response]:
    """Let a method raise `PegboardError`s."""

    @wraps(method)
    async def call(self: _Service, request: Any, context: Any) -> _Response:
        try:
            return await method(self, request, context)
        except Exception as error:
            await refuse(context, error, method.__name__)

    return call


def streaming(method: _Streaming[_Service, _Response]) -> _Streaming[_Service, _Response]:
    """Let a method that yields responses raise `PegboardError`s."""

    @wraps(method)
    async def call(self: _Service, request: Any, context: Any) -> AsyncIterator[_Response]:
        try:
            async for response in method(self, request, context):
                yield response
        except Exception as error:
            await refuse(context, error, method.__name__)

    return call


async def refuse(context: Any, error: Exception, method: str) -> NoReturn:
    """End the call with the error's status; what is not a `PegboardError` is logged and hidden.

    So is where the store lies, which is nothing to callers.
    """
    if not isinstance(error, PegboardError):
        error = server_fault(error, method)
    elif isinstance(error, StoreError):
        _log.warning("store_error", method=method, reason=str(error))
        error = StoreError("the server cannot use its store; try again later")
    await context.abort_with_status(rpc_status.to_status(status_of(error)))
    raise AssertionError("abort_with_status raises")


def server_fault(error: Exception, method: str) -> ServerFault:
    """Log an unexpected exception and return what may be told of it."""
    reference = secrets.token_hex(4)
    _log.error("server_fault", method=method, reference=reference, exc_info=error)
    return ServerFault(f"the server failed in {method}; its log tells more under {reference}")
