"""Errors on the wire: each class as a status code and one `ErrorInfo.reason`, and back again.

A caller in Python catches the class that the server raised. Callers in other languages find the
reason in the `google.rpc.ErrorInfo` of the status (domain `pegboard`).
"""

from __future__ import annotations

from google.protobuf import any_pb2
from google.rpc import error_details_pb2, status_pb2
from grpc import StatusCode

from pegboard import errors
from pegboard.rules.plain import plain, sentence

DOMAIN = "pegboard"
STATUS_KEY = "grpc-status-details-bin"

CODES: dict[type[errors.PegboardError], tuple[StatusCode, str]] = {
    errors.NotationError: (StatusCode.INVALID_ARGUMENT, "NOTATION"),
    errors.UnknownVariant: (StatusCode.NOT_FOUND, "UNKNOWN_VARIANT"),
    errors.OptionError: (StatusCode.INVALID_ARGUMENT, "OPTION"),
    errors.SeatsError: (StatusCode.INVALID_ARGUMENT, "SEATS"),
    errors.RecordError: (StatusCode.INVALID_ARGUMENT, "RECORD"),
    errors.IllegalMove: (StatusCode.INVALID_ARGUMENT, "ILLEGAL_MOVE"),
    errors.ClaimTooHigh: (StatusCode.INVALID_ARGUMENT, "CLAIM_TOO_HIGH"),
    errors.MustGoOut: (StatusCode.INVALID_ARGUMENT, "MUST_GO_OUT"),
    errors.NotYourTurn: (StatusCode.FAILED_PRECONDITION, "NOT_YOUR_TURN"),
    errors.StaleTurn: (StatusCode.FAILED_PRECONDITION, "STALE_TURN"),
    errors.MatchOver: (StatusCode.FAILED_PRECONDITION, "MATCH_OVER"),
    errors.MatchRunning: (StatusCode.FAILED_PRECONDITION, "MATCH_RUNNING"),
    errors.UnknownMatch: (StatusCode.NOT_FOUND, "UNKNOWN_MATCH"),
    errors.UnknownSeat: (StatusCode.NOT_FOUND, "UNKNOWN_SEAT"),
    errors.AlreadyExists: (StatusCode.ALREADY_EXISTS, "ALREADY_EXISTS"),
    errors.Unauthenticated: (StatusCode.UNAUTHENTICATED, "UNAUTHENTICATED"),
    errors.PermissionDenied: (StatusCode.PERMISSION_DENIED, "PERMISSION_DENIED"),
    errors.InvalidRequest: (StatusCode.INVALID_ARGUMENT, "INVALID_REQUEST"),
    errors.Replaced: (StatusCode.ABORTED, "REPLACED"),
    errors.TooManyRequests: (StatusCode.RESOURCE_EXHAUSTED, "TOO_MANY_REQUESTS"),
    errors.Silent: (StatusCode.DEADLINE_EXCEEDED, "SILENT"),
    errors.StoreError: (StatusCode.UNAVAILABLE, "STORE"),
    errors.Unavailable: (StatusCode.UNAVAILABLE, "UNAVAILABLE"),
    errors.ServerFault: (StatusCode.INTERNAL, "SERVER_FAULT"),
    errors.PegboardError: (StatusCode.UNKNOWN, "UNKNOWN"),
}
"""Status code and reason by class; a class that is missing has those of its nearest base."""

_BY_REASON = {reason: kind for kind, (_, reason) in CODES.items()}
_BY_CODE: dict[StatusCode, type[errors.PegboardError]] = {
    StatusCode.UNAVAILABLE: errors.Unavailable,
    StatusCode.UNAUTHENTICATED: errors.Unauthenticated,
    StatusCode.PERMISSION_DENIED: errors.PermissionDenied,
    StatusCode.RESOURCE_EXHAUSTED: errors.TooManyRequests,
    StatusCode.INVALID_ARGUMENT: errors.InvalidRequest,
    StatusCode.INTERNAL: errors.ServerFault,
    StatusCode.DEADLINE_EXCEEDED: errors.Silent,
}
"""For a status without `ErrorInfo`: from gRPC itself or something between."""


def code_of(error: errors.PegboardError) -> tuple[StatusCode, str]:
    """Return the status code and the reason of an error."""
    for kind in type(error).__mro__:
        if kind in CODES:
            return CODES[kind]
    raise AssertionError("PegboardError itself is in the table")


def status_of(error: errors.PegboardError) -> status_pb2.Status:
    """Return the `google.rpc.Status` of an error, with exactly one `ErrorInfo` (AIP-193)."""
    code, reason = code_of(error)
    info = error_details_pb2.ErrorInfo(reason=reason, domain=DOMAIN)
    if isinstance(error, errors.UnknownVariant):
        info.metadata["variant"] = plain(error.variant)
        info.metadata["nearest"] = " ".join(error.nearest)
    detail = any_pb2.Any()
    detail.Pack(info)
    return status_pb2.Status(code=code.value[0], message=sentence(str(error)), details=[detail])


def error_of(code: StatusCode, message: str, details: bytes | None) -> errors.PegboardError:
    """Return the error that a status stands for.

    `details` is the value of the trailing metadata `grpc-status-details-bin`, where there is one.
    """
    info = _error_info(details) if details else None
    if info is None:
        return _BY_CODE.get(code, errors.PegboardError)(message or code.name)
    if info.reason == "UNKNOWN_VARIANT":
        nearest = tuple(info.metadata.get("nearest", "").split())
        return errors.UnknownVariant(info.metadata.get("variant", ""), nearest)
    return _BY_REASON.get(info.reason, errors.PegboardError)(message)


def _error_info(details: bytes) -> error_details_pb2.ErrorInfo | None:
    """Find our `ErrorInfo` among the details of a serialised `google.rpc.Status`."""
    for detail in status_pb2.Status.FromString(details).details:
        info = error_details_pb2.ErrorInfo()
        if detail.Unpack(info) and info.domain == DOMAIN:
            return info
    return None
