"""Records: read, written, replayed, and found out when they do not say what happened."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pegboard.rules import catalog
from pegboard.rules.errors import NotationError, RecordError
from pegboard.rules.playthrough import make_turns
from pegboard.rules.record import (
    Record,
    events_digest,
    parse_turn,
    records_in,
    replay,
    verify,
)
from pegboard.rules.results import FORFEITS, Result, Termination, forfeit_points
from pegboard.rules.shuffle import SeededChance

SEED = bytes(range(32))
STORED = Path(__file__).resolve().parent.parent / "vectors" / "records" / "version_1.jsonl"


def played(variant: str = "draw", seats: int = 2, moves_max: int = 10_000) -> Record:
    """Return the record of a match by the rule of choice; cut short, it is a time-out of seat 0."""
    chance = SeededChance(SEED, "record")
    game = catalog.game(variant)
    state, events = game.start(seats, chance)
    moves: list[str] = []
    turns = make_turns(state, SEED)
    while len(moves) < moves_max and (turn := next(turns, None)) is not None:
        moves.append(turn.text())
        events += turn.events
    standing = state.standing()
    result = Result(Termination.NORMAL, None, *standing)
    if state.outcome() is None:
        points = forfeit_points(game, seats, standing, 0)
        result = Result(Termination.TIMEOUT, 0, points, standing.scores, standing.games_won, "late")
    return Record(
        match="m",
        variant=variant,
        options={},
        bots=tuple("abcd"[:seats]),
        nonce="record",
        seed=SEED,
        commitment=chance.commitment(),
        moves=tuple(moves),
        result=result,
        events_digest=events_digest(events),
    )


RECORD = played()
CUT = played(moves_max=25)


def result(**changes: Any) -> Result:
    """Return the result of the full record with changes."""
    assert RECORD.result is not None
    return RECORD.result._replace(**changes)


def test_a_record_reads_back_from_its_line() -> None:
    """One line, no line feed, equal after the way there and back; the seed may be withheld."""
    line = RECORD.to_json()
    assert "\n" not in line
    assert Record.from_json(line) == RECORD
    hidden = replace(RECORD, seed=None, result=None, events_digest="")
    assert Record.from_json(hidden.to_json()) == hidden


@pytest.mark.parametrize("record", [RECORD, CUT, played("cribbage-4p", 4)])
def test_a_true_record_verifies(record: Record) -> None:
    """Whether it ended normally or by a fault."""
    verify(record)


def test_a_cancelled_match_may_leave_out_its_numbers() -> None:
    """No result: no points; scores as they stood, or none."""
    assert CUT.result is not None
    with_scores = CUT.result._replace(
        termination=Termination.CANCELLED, seat_at_fault=None, points=()
    )
    verify(replace(CUT, result=with_scores))
    verify(replace(CUT, result=Result(Termination.SERVER_FAULT, None, (), (), ())))
    with pytest.raises(RecordError, match="points are"):
        verify(replace(CUT, result=with_scores._replace(points=(1.0, 0.0))))


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"commitment": bytes(32)}, "do not give the commitment"),
        ({"nonce": "other"}, "commitment"),
        ({"seed": bytes(32)}, "commitment"),
        ({"seed": None}, "withheld"),
        ({"moves": RECORD.moves[::-1]}, "move 1"),
        ({"moves": RECORD.moves[:3]}, "events_digest is"),
        ({"moves": (*RECORD.moves, "0 DRAW")}, "the match is over"),
        ({"moves": ("0 JUMP",)}, "move 1, '0 JUMP': no move"),
        ({"moves": ("DRAW",)}, "write the seat"),
        ({"moves": ("7 DRAW",)}, "move 1"),
        ({"events_digest": "00"}, "events_digest is 00"),
        ({"events_digest": ""}, "events_digest is missing"),
        ({"result": None}, "not over"),
        ({"result": result(points=(0.5, 0.5))}, "points are"),
        ({"result": result(points=(1.0,))}, "points are"),
        ({"result": result(scores=(0, 0))}, "scores are"),
        ({"result": result(games_won=(5, 5))}, "games_won are"),
        ({"result": result(termination=Termination.CRASH, seat_at_fault=0)}, "end it normally"),
        ({"variant": "drow"}, "did you mean draw"),
        ({"options": {"target": "x"}}, "target"),
        ({"bots": ("a",)}, "seats"),
        ({"rules_version": "99"}, "rules version '99'"),
    ],
)
def test_a_false_record_is_found_out(changes: dict[str, Any], says: str) -> None:
    """The first difference is named, in one sentence."""
    with pytest.raises(RecordError, match=says):
        verify(replace(RECORD, **changes))


def test_moves_made_up_under_another_seed_are_found_out() -> None:
    """A record with a commitment of its own making still has to replay."""
    other = bytes(32)
    forged = replace(RECORD, seed=other, commitment=SeededChance(other, "record").commitment())
    with pytest.raises(RecordError):
        verify(forged)


@pytest.mark.parametrize("termination", sorted(FORFEITS))
def test_a_forfeit_follows_its_rule(termination: Termination) -> None:
    """Points by docs/results.md; a winner's points for the seat at fault are refused."""
    assert CUT.result is not None
    fair = CUT.result._replace(termination=termination)
    verify(replace(CUT, result=fair))
    with pytest.raises(RecordError, match="points are"):
        verify(replace(CUT, result=fair._replace(points=fair.points[::-1])))
    with pytest.raises(RecordError, match="needs a seat at fault"):
        verify(replace(CUT, result=fair._replace(seat_at_fault=2)))


def test_a_match_that_runs_is_not_normal() -> None:
    """NORMAL needs moves that end it."""
    assert CUT.result is not None
    normal = CUT.result._replace(termination=Termination.NORMAL, seat_at_fault=None)
    with pytest.raises(RecordError, match="do not end it"):
        verify(replace(CUT, result=normal))


def test_replay_gives_the_first_events_then_those_of_each_move() -> None:
    """As many steps as moves and one more; together they have the digest."""
    steps = list(replay(CUT))
    assert [text for text, _ in steps] == [None, *CUT.moves]
    assert events_digest(event for _, events in steps for event in events) == CUT.events_digest


FIELDS = json.loads(RECORD.to_json())


def test_a_record_is_written_as_proto3_json() -> None:
    """Camel case, full names, hexadecimal digits, and nothing that is empty."""
    assert FIELDS["version"] == 2
    assert FIELDS["rulesVersion"] == catalog.RULES_VERSION == "2"
    assert FIELDS["match"] == "matches/m"
    assert FIELDS["seed"] == SEED.hex()
    assert FIELDS["result"]["termination"] == "TERMINATION_NORMAL"
    assert not {"options", "detail"} & (FIELDS.keys() | FIELDS["result"].keys())
    forfeit = json.loads(CUT.to_json())["result"]
    assert (forfeit["termination"], forfeit["seatAtFault"]) == ("TERMINATION_TIMEOUT", 0)


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"colour": "red"}, "has no 'colour'"),
        ({"version": 3}, "version 3 is unknown"),
        ({"version": True}, "whole numbers"),
        ({"match": 7}, "match must be text"),
        ({"bots": "ab"}, "bots must be a list"),
        ({"moves": [1]}, "moves must be text"),
        ({"options": []}, "options must be an object"),
        ({"options": {"target": 7}}, "option target must be text"),
        ({"seed": "00"}, "seed must be 32 bytes"),
        ({"commitment": "zz" * 32}, "commitment must be 32 bytes"),
        ({"events_digest": ""}, "'events_digest' twice"),
        ({"result": {**FIELDS["result"], "termination": "BORED"}}, "no termination 'BORED'"),
        ({"result": {**FIELDS["result"], "seatAtFault": 1}}, "goes with a forfeit"),
        ({"result": {**FIELDS["result"], "points": [2, 0]}}, "from 0 to 1"),
        ({"result": {**FIELDS["result"], "scores": [1.5]}}, "whole numbers"),
        ({"result": {}}, "no termination ''"),
        ({"result": []}, "a result is a JSON object"),
        ({"record": {"version": 2}}, "lacks 'rules_version'"),
    ],
)
def test_a_record_of_another_shape_is_refused(changes: dict[str, Any], says: str) -> None:
    """Unknown keys, wrong kinds, versions of the future: each named."""
    with pytest.raises(RecordError, match=says):
        Record.from_json(json.dumps({**FIELDS, **changes}))


@pytest.mark.parametrize("key", ["version", "rulesVersion", "variant", "bots", "commitment"])
def test_a_key_that_cannot_be_empty_is_needed(key: str) -> None:
    """A record without one of them is refused by name; others may be left out, or null."""
    fields = {name: value for name, value in FIELDS.items() if name != key}
    name = {"rulesVersion": "rules_version"}.get(key, key)
    with pytest.raises(RecordError, match=f"lacks '{name}'"):
        Record.from_json(json.dumps(fields))
    with pytest.raises(RecordError, match=f"lacks '{name}'"):
        Record.from_json(json.dumps({**FIELDS, key: None}))


def test_a_record_is_read_in_every_spelling() -> None:
    """Snake case, indented, within the response of `GetMatchRecord`, the match without its prefix."""
    snake = {
        "rules_version": FIELDS["rulesVersion"],
        "events_digest": FIELDS["eventsDigest"],
        **{key: FIELDS[key] for key in FIELDS if key not in ("rulesVersion", "eventsDigest")},
        "match": "m",
    }
    for fields in (snake, {"record": FIELDS}, {**FIELDS, "options": None}):
        assert Record.from_json(json.dumps(fields, indent=2)) == RECORD


@pytest.mark.parametrize("text", ["", "{", "\x00\xff", "[" * 100_000, '{"a":NaN,}', "9" * 5000])
def test_what_is_not_json_is_refused(text: str) -> None:
    """`NotationError`, also for what makes a parser give up."""
    with pytest.raises(NotationError, match="one JSON object"):
        Record.from_json(text)


def test_a_text_holds_records_on_one_line_each_or_over_several() -> None:
    """Blank lines, indented objects and what other programs take for a line's end do not matter."""
    odd = replace(RECORD, match="odd", bots=("a\u2028b\u0085c", "d\x0be"))
    indented = json.dumps({"record": json.loads(CUT.to_json())}, indent=2)
    text = f"\n{RECORD.to_json()}\n\n{odd.to_json()}\r\n{indented}\n{RECORD.to_json()}"
    found = list(records_in(text))
    assert [record for _, record in found] == [RECORD, odd, CUT, RECORD]
    assert [line for line, _ in found] == [2, 4, 5, 6 + indented.count("\n")]
    assert list(records_in(" \n\n")) == []


@pytest.mark.parametrize(
    ("text", "error", "says"),
    [
        ("\n\n{", NotationError, "line 3: a record is one JSON object"),
        ("\n7", RecordError, "line 2: a record is a JSON object"),
        ("{}", RecordError, "line 1: a record lacks 'version'"),
        ("\n" + "[" * 100_000, NotationError, "line 2: a record is one JSON object"),
    ],
)
def test_a_damaged_record_is_named_by_its_line(
    text: str, error: type[Exception], says: str
) -> None:
    """After the good ones before it."""
    first = f"{RECORD.to_json()}\n"
    for before, shift in (("", 0), (first, 1)):
        with pytest.raises(error) as caught:
            list(records_in(before + text))
        number = int(says.split(":")[0].split()[1]) + shift
        assert str(caught.value).startswith(f"line {number}:{says.partition(':')[2]}")


def test_a_move_of_a_record_is_seat_blank_move() -> None:
    """The seat in digits, then the move."""
    game = catalog.game("draw")
    assert parse_turn(game, "1 DRAW") == (1, game.parse_move("DRAW"))
    for text in ("", "1", "1  DRAW", "x DRAW", "-1 DRAW", "² DRAW", "123 DRAW"):
        with pytest.raises(NotationError):
            parse_turn(game, text)


STORED_RECORDS = [record for _, record in records_in(STORED.read_text(encoding="utf-8"))]


@pytest.mark.parametrize(
    "record", STORED_RECORDS, ids=lambda record: f"{record.match}-{record.variant}"
)
def test_records_of_old_versions_verify_for_ever(record: Record) -> None:
    """Stored when version 1 was new; never write them again, only add some of newer versions."""
    assert record.rules_version == "1"
    verify(record)
    assert Record.from_json(record.to_json()) == record, "of the shape of now, by the rules of then"
    replayed = [event for _, events in replay(record) for event in events]
    assert events_digest(replayed) == record.events_digest


def test_a_record_is_replayed_by_the_rules_that_it_names() -> None:
    """The same moves under other rules are another match, or none."""
    differing = [
        record for record in STORED_RECORDS if _differs(replace(record, rules_version="2"))
    ]
    assert len(differing) == len(STORED_RECORDS)


def _differs(record: Record) -> bool:
    try:
        verify(record)
    except RecordError:
        return True
    return False


def test_calls_of_0_were_legal_under_version_1() -> None:
    """X-04 is of version 2: records that have some still replay."""
    assert sum("CALL 0" in move for record in STORED_RECORDS for move in record.moves) > 10
