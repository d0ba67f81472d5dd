"""An error is the same class on both ends of the wire."""

from __future__ import annotations

import pytest
from google.rpc import error_details_pb2
from grpc import StatusCode

from pegboard import errors
from pegboard.wire.errors import CODES, DOMAIN, code_of, error_of, status_of


def every_class(kind: type[errors.PegboardError]) -> list[type[errors.PegboardError]]:
    """All classes of the tree."""
    return [kind, *(found for child in kind.__subclasses__() for found in every_class(child))]


def made(kind: type[errors.PegboardError]) -> errors.PegboardError:
    """An error of the class."""
    if kind is errors.UnknownVariant:
        return errors.UnknownVariant("drww", ("draw", "drow"))
    return kind("say what to do")


@pytest.mark.parametrize(
    "kind",
    [kind for kind in every_class(errors.PegboardError) if kind.__module__ == errors.__name__],
)
def test_every_error_of_the_tree_comes_back(kind: type[errors.PegboardError]) -> None:
    """Class, sentence, and what belongs to it."""
    assert kind in CODES, "give the new error a code and a reason in wire/errors.py"
    error = made(kind)
    status = status_of(error)
    again = error_of(code_of(error)[0], status.message, status.SerializeToString())
    assert type(again) is kind
    assert str(again) == str(error)
    assert vars(again) == vars(error)


def test_reasons_are_unique_and_there_is_one_error_info() -> None:
    """AIP-193."""
    reasons = [reason for _, reason in CODES.values()]
    assert len(set(reasons)) == len(reasons)
    (detail,) = status_of(errors.UnknownMatch("no match")).details
    info = error_details_pb2.ErrorInfo()
    assert detail.Unpack(info)
    assert (info.domain, info.reason) == (DOMAIN, "UNKNOWN_MATCH")


def test_a_status_from_elsewhere_is_an_error_too() -> None:
    """A server that cannot be reached sends no details."""
    assert type(error_of(StatusCode.UNAVAILABLE, "refused", None)) is errors.Unavailable
    assert str(error_of(StatusCode.UNKNOWN, "", None)) == "UNKNOWN"
