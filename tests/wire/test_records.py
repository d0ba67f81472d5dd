"""Records: the same JSON whether the rules write it or protobuf does."""

from __future__ import annotations

import json

import pytest
from google.protobuf import json_format
from hypothesis import given
from hypothesis import strategies as st

from pegboard.rules.errors import RecordError
from pegboard.rules.record import PREFIX, Record
from pegboard.rules.results import FORFEITS, Result, Termination
from pegboard.v1 import match_pb2
from pegboard.wire.records import read_record, record_message

TEXT = st.text(st.characters(codec="utf-8"), max_size=12)
NUMBERS = st.lists(st.integers(-(2**31), 2**31 - 1), max_size=4).map(tuple)
GAMES = st.lists(st.integers(0, 99), max_size=4).map(tuple)
POINTS = st.lists(st.floats(0, 1).map(abs), max_size=4).map(tuple)  # -0.0 is no default of proto3


@st.composite
def results(draw: st.DrawFn) -> Result:
    """Draw a result; its numbers need not fit each other."""
    termination = draw(st.sampled_from(sorted(Termination)))
    seat = draw(st.integers(0, 4)) if termination in FORFEITS else None
    return Result(termination, seat, draw(POINTS), draw(NUMBERS), draw(GAMES), draw(TEXT))


ID = TEXT.filter(lambda text: not text.startswith(("matches/", "variants/", "bots/")))
DIGESTS = st.binary(min_size=32, max_size=32)
RECORDS = st.builds(
    Record,
    match=ID,
    variant=ID,
    family=st.sampled_from(("", "cribbage", "dominoes")),
    options=st.dictionaries(TEXT, TEXT, max_size=3),
    bots=st.lists(ID, min_size=1, max_size=4).map(tuple),
    nonce=TEXT,
    seed=st.none() | DIGESTS,
    commitment=DIGESTS,
    moves=st.lists(TEXT, max_size=4).map(tuple),
    result=st.none() | results(),
    events_digest=st.just("") | DIGESTS.map(bytes.hex),
    rules_version=st.sampled_from(("1", "2")),
)


@given(RECORDS)
def test_the_json_of_a_record_is_that_of_its_message(record: Record) -> None:
    """Equal as JSON to what protobuf writes; each side reads the other's, in both spellings."""
    message = record_message(record)
    assert json.loads(record.to_json()) == json_format.MessageToDict(message)
    assert json_format.Parse(record.to_json(), match_pb2.MatchRecord()) == message
    response = match_pb2.GetMatchRecordResponse(record=message)
    assert Record.from_json(json_format.MessageToJson(response, indent=2)) == record
    snake = json_format.MessageToJson(
        message, preserving_proto_field_name=True, always_print_fields_with_no_presence=True
    )
    assert Record.from_json(snake) == record
    assert read_record(message) == record


def test_a_message_of_another_shape_is_refused() -> None:
    """A version of the future, or what is not hexadecimal."""
    with pytest.raises(RecordError, match="version 9 is unknown"):
        read_record(match_pb2.MatchRecord(version=9))
    with pytest.raises(RecordError, match="commitment must be 32 bytes"):
        read_record(match_pb2.MatchRecord(version=2, commitment="00"))


def test_the_terminations_are_those_of_the_contract() -> None:
    """Records write the name of a termination, messages its number."""
    names = set(match_pb2.Termination.keys()) - {"TERMINATION_UNSPECIFIED"}
    assert names == {PREFIX + termination for termination in Termination}
