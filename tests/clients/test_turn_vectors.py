"""The turns of tests/vectors/turns: today's kit and bots give what the files say, in both forms."""

from __future__ import annotations

import json
from base64 import b64decode
from functools import cache
from typing import Any

import pytest
from google.protobuf.json_format import ParseDict
from google.protobuf.message import Message
from tests.clients import turn_vectors

from pegboard.client import Turn
from pegboard.client.session import match_info
from pegboard.rules.catalog import CATALOG
from pegboard.v1 import play_pb2

WRITE = "write them with `python -m tests.clients.turn_vectors`"
VARIANTS = tuple(CATALOG)
MOST_BYTES = 1_000_000


@cache
def cases(variant: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(turn_vectors.path_of(variant).read_text("utf-8"))
    return found


def decoded(kind: type[Message], form: dict[str, Any]) -> Any:
    """Return the message of both forms, which have to be the same."""
    message = kind()
    message.ParseFromString(b64decode(form["bytes"]))
    assert message == ParseDict(form["json"], kind())
    return message


def turn_of(case: dict[str, Any]) -> Turn:
    info = match_info(decoded(play_pb2.MatchStarted, case["started"]))
    return Turn(decoded(play_pb2.Turn, case["turn"]), info)


@pytest.mark.parametrize("variant", VARIANTS)
def test_the_files_are_what_the_generator_writes(variant: str) -> None:
    stored = turn_vectors.path_of(variant).read_text("utf-8").splitlines()
    written = turn_vectors.text_of(variant).splitlines()
    differing = [line[:80] for line in written if line not in stored]
    assert not differing, f"{differing[:5]} differ; {WRITE}"
    assert stored == written, f"the order or number of cases differs; {WRITE}"


@pytest.mark.parametrize("variant", VARIANTS)
def test_the_kit_reads_both_forms_and_prints_them(variant: str) -> None:
    for case in cases(variant):
        turn = turn_of(case)
        assert turn.info.variant == case["variant"] == variant
        assert [str(move) for move in turn.moves] == case["moves"]
        ranges = [turn.number_of(index) for index in range(turn.move_count)]
        assert [list(each) if each else None for each in ranges] == case["ranges"]
        assert str(turn).splitlines() == case["print"]
        assert turn_vectors.hand_text(turn) == case["hand"]


@pytest.mark.parametrize("variant", VARIANTS)
def test_answers_name_a_listed_move_of_the_turn(variant: str) -> None:
    for case in cases(variant):
        turn = turn_of(case)
        for bot in ("greedy", "random"):
            answer = decoded(play_pb2.Answer, case[bot]["answer"])
            key = answer.match, answer.seat, answer.turn_id
            assert key == (turn.match, turn.seat, turn.turn_id)
            index, number = case[bot]["index"], case[bot]["number"]
            assert (answer.index, answer.HasField("index")) == (index, True)
            bounds = turn.number_of(index)
            if bounds is not None:
                assert answer.number == number
                assert bounds[0] <= number <= bounds[1]


def test_there_is_a_case_of_everything() -> None:
    """Every variant, least and most seats, jokers, open numbers, rejections, banks, options."""
    everything = [case for variant in VARIANTS for case in cases(variant)]
    assert all(len(cases(variant)) >= 2 for variant in VARIANTS)
    seats = {(case["variant"], case["started"]["json"]["seatCount"]) for case in everything}
    assert {("draw", 2), ("draw", 4)} <= seats
    words = {move.split()[0] for case in everything for move in case["moves"]}
    assert {"DISCARD", "PLAY", "PASS", "BID", "CLAIM", "CALL", "PLACE", "DRAW"} <= words
    assert {"SPLIT", "GIFT", "EXCHANGE"} <= words
    reasons = {case["rejected"]["json"]["reason"] for case in everything if "rejected" in case}
    names = ("ILLEGAL_MOVE", "CLAIM_TOO_HIGH", "MUST_GO_OUT")
    assert reasons == {f"REJECTION_REASON_{name}" for name in names}
    banks = {case["turn"]["json"]["clock"].get("bankMs") is None for case in everything}
    assert banks == {True, False}
    assert any(case["started"]["json"].get("options") for case in everything)
    assert any("JK=" in move for case in everything for move in case["moves"])
    assert len({case["id"] for case in everything}) == len(everything)


def test_rejections_belong_to_their_turn() -> None:
    for variant in VARIANTS:
        for case in cases(variant):
            if "rejected" in case:
                rejected = decoded(play_pb2.MoveRejected, case["rejected"])
                turn = turn_of(case)
                key = rejected.match, rejected.seat, rejected.turn_id
                assert key == (turn.match, turn.seat, turn.turn_id)
                assert rejected.attempts_left > 0


def test_they_are_small() -> None:
    paths = list(turn_vectors.FOLDER.iterdir())
    assert {path.stem for path in paths} == set(VARIANTS)
    assert sum(path.stat().st_size for path in paths) < MOST_BYTES
