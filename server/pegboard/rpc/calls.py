"""Handlers of single calls, and of calls that stream responses, on raw bytes.

gRPC answers bytes that are not a message by itself, without an `ErrorInfo`; so requests are decoded
here. Every way out of a call is in one place: a response, a `PegboardError` with its status, our own
bug as a `ServerFault`, or a caller that has gone.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import aclosing
from typing import Any

import grpc
from google.protobuf.descriptor import MethodDescriptor, ServiceDescriptor
from google.protobuf.message import DecodeError, Message
from google.protobuf.message_factory import GetMessageClass

from pegboard.errors import InvalidRequest
from pegboard.rpc.errors import refuse
from pegboard.rpc.gate import Call, Gate, check_size


def service_handler(
    service: ServiceDescriptor, servicer: Any, calls: Mapping[str, Call], gate: Gate, **more: Any
) -> grpc.GenericRpcHandler:
    """Return the handler of a service: each of its methods is a method of `servicer`.

    The methods take (request, context) and return a response, or are async generators of responses.
    `calls` says what each asks of its callers; `more` are handlers of methods that differ.
    """
    handlers = {
        method.name: more.get(method.name) or _handler(method, servicer, calls[method.name], gate)
        for method in service.methods
    }
    return grpc.method_handlers_generic_handler(service.full_name, handlers)


def _handler(method: MethodDescriptor, servicer: Any, call: Call, gate: Gate) -> Any:
    behaviour = getattr(servicer, method.name)
    request = _Request(method, call, gate)
    if method.server_streaming:
        return grpc.unary_stream_rpc_method_handler(_streaming(behaviour, request))
    return grpc.unary_unary_rpc_method_handler(_unary(behaviour, request))


class _Request:
    """Reads the requests of one method."""

    def __init__(self, method: MethodDescriptor, call: Call, gate: Gate) -> None:
        self.method = method.name
        self.call = call
        self.gate = gate
        self._class: Any = GetMessageClass(method.input_type)
        self._most_bytes = gate.size(call)

    def read(self, data: bytes) -> Message:
        """Return the request. Raises `TooManyRequests` or `InvalidRequest`."""
        name = self._class.DESCRIPTOR.name
        check_size(f"the {name}", len(data), self._most_bytes)
        try:
            request: Message = self._class.FromString(data)
        except DecodeError:
            raise InvalidRequest(f"the request is not a {name}; use the protos") from None
        return request


def _unary(
    behaviour: Callable[[Any, Any], Awaitable[Any]], request: _Request
) -> Callable[[bytes, Any], Awaitable[bytes]]:
    async def answer(data: bytes, context: Any) -> bytes:
        try:
            with request.gate.open_call(request.gate.admit(context, request.call)):
                response = await behaviour(request.read(data), context)
            serialised: bytes = response.SerializeToString()
        except Exception as error:
            refuse(context, request.gate.told(error), request.method)
            return b""
        return serialised

    return answer


def _streaming(
    behaviour: Callable[[Any, Any], AsyncIterator[Any]], request: _Request
) -> Callable[[bytes, Any], Awaitable[None]]:
    async def answer(data: bytes, context: Any) -> None:
        try:
            with request.gate.open_call(request.gate.admit(context, request.call)):
                responses: Any = behaviour(request.read(data), context)
                async with aclosing(responses):
                    async for response in responses:
                        await context.write(response.SerializeToString())
        except Exception as error:
            refuse(context, request.gate.told(error), request.method)

    return answer
