"""Every variant of the catalog is played through the host, and its record proves it."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pegboard.matches.answers import Answer
from pegboard.matches.host import CreateRequest, MatchHost
from pegboard.matches.rejection import RejectionReason
from pegboard.matches.running import RunningMatch
from pegboard.matches.spec import MatchSpec
from pegboard.matches.store.opening import open_store
from pegboard.matches.store.protocol import Durability
from pegboard.rules import catalog
from pegboard.rules.catalog import CATALOG
from pegboard.rules.record import Record, parse_turn, records_in, verify
from pegboard.rules.results import Termination

OVER = (RejectionReason.STALE_TURN, RejectionReason.MATCH_OVER)
"""If another turn of the same delivery has closed this one's window or ended the match."""

STORED = Path(__file__).resolve().parent.parent / "vectors" / "records" / "version_1.jsonl"
OLD = [
    record
    for _, record in records_in(STORED.read_text(encoding="utf-8"))
    if record.result is not None and record.result.termination == "NORMAL"
]
"""Records of whole matches under rules version 1."""

FREE = (RejectionReason.CLAIM_TOO_HIGH, RejectionReason.MUST_GO_OUT)


def play(host: MatchHost, match: RunningMatch, rng: random.Random, moves: int) -> None:
    """One bot at all seats plays random moves; a claim that is refused is made anew (X-19, X-05)."""
    box = host.connect("a", events=True)
    for _ in range(moves):
        turns = box.take().turns
        if not turns:
            return
        for turn in turns:
            index = rng.randrange(len(turn.choices.moves))
            low, high = turn.choices.number or (0, 0)
            low = max(low, getattr(turn.choices.moves[index], "LEAST", 0))
            number = rng.randint(low, min(high, low + 8))
            for _ in range(3):
                found = host.answer(
                    "a", Answer(match.id, turn.seat, turn.turn_id, move_index=index, number=number)
                )
                if found is None or found.reason not in FREE:
                    break
                assert found.attempts_left == 3
                high_claim = found.reason is RejectionReason.CLAIM_TOO_HIGH
                number = low if high_claim else needed(match, turn.seat)
            assert found is None or found.reason in OVER, found


async def running(host: MatchHost, request: CreateRequest) -> RunningMatch:
    """Create a match."""
    (match,) = await host.create([request])
    assert isinstance(match, RunningMatch)
    return match


def found(host: MatchHost, match_id: str) -> RunningMatch:
    """Find a match that runs."""
    match = host.get(match_id)
    assert isinstance(match, RunningMatch)
    return match


def needed(match: RunningMatch, seat: int) -> int:
    """Return what the seat needs to go out in a game of cribbage."""
    state: Any = match.state
    side = state.table.setup.sides[seat]
    return int(state.table.setup.targets[side] - state.table.scores[side])


@pytest.mark.parametrize("variant", CATALOG)
async def test_a_variant_is_played_stopped_resumed_and_proven(variant: str, tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    rng = random.Random(variant)
    for seats in CATALOG[variant].game.seats:
        store = open_store(path, Durability.BATCHED)
        host = MatchHost(store)
        await host.open()
        spec = MatchSpec(variant, ("a",) * seats, seed=rng.randbytes(32))
        match = await running(host, CreateRequest(spec))
        play(host, match, rng, 4)
        before = (match.log.moves(), match.log.digest())
        turns = [seated.turn and seated.turn.turn_id for seated in match.seats]
        await host.close()

        host = MatchHost(open_store(path, Durability.BATCHED))
        await host.open()
        match = found(host, match.id)
        assert (match.log.moves(), match.log.digest()) == before
        assert [seated.turn and seated.turn.turn_id for seated in match.seats] == turns
        play(host, match, rng, 5000)
        await host.stored()
        assert match.finished is not None
        assert match.finished.result.termination is Termination.NORMAL
        record = match.finished.record(reveal_seed=True)
        verify(Record.from_json(record.to_json()))
        await host.close()


@pytest.mark.parametrize("variant", CATALOG)
async def test_a_seat_that_has_not_moved_keeps_its_turn_while_others_discard(variant: str) -> None:
    """`State.choices` is one object a question (rules.game): the host relies on it."""
    for seats in CATALOG[variant].game.seats:
        host = MatchHost(open_store(None, Durability.MEMORY))
        await host.open()
        match = await running(host, CreateRequest(MatchSpec(variant, ("a",) * seats)))
        turns = host.connect("a").take().turns
        first, *others = turns
        assert host.answer("a", Answer(match.id, first.seat, first.turn_id, move_index=0)) is None
        for turn in others:
            assert match.seats[turn.seat].turn is turn
        await host.close()


@pytest.mark.parametrize("variant", ["cribbage-ten-card", "cribbage-canadian-doubles"])
async def test_bots_play_alike_whoever_answers_first(variant: str) -> None:
    """Also if a seat is asked again while others still think: turns are numbered by seat."""
    told = []
    for place in (0, -1):
        host = MatchHost(open_store(None, Durability.MEMORY))
        await host.open()
        seats = CATALOG[variant].game.seats[0]
        spec = MatchSpec(variant, ("a",) * seats, seed=bytes(32), nonce="n")
        match = await running(host, CreateRequest(spec))
        box = host.connect("a")
        turns = box.take().turns
        while turns:
            turn = turns.pop(place)
            index = random.Random(f"{turn.seat}/{turn.turn_id}").randrange(len(turn.choices.moves))
            assert (
                host.answer("a", Answer(match.id, turn.seat, turn.turn_id, move_index=index))
                is None
            )
            turns += box.take().turns
        moves = match.log.moves().splitlines()
        told.append((match.ending and match.ending.result, sorted(moves, key=lambda move: move[0])))
        await host.close()
    assert told[0] == told[1]
    assert told[0][0] is not None


@pytest.mark.parametrize("place", range(len(OLD)), ids=lambda place: OLD[place].variant)
async def test_a_match_that_runs_goes_on_under_the_rules_that_it_was_begun_with(
    place: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Matches of rules version 1, stored with half their moves, and taken up by this program."""
    old = OLD[place]
    half = len(old.moves) // 2
    path = tmp_path / "store.db"
    with monkeypatch.context() as past:
        past.setattr(catalog, "RULES_VERSION", "1")
        host = MatchHost(open_store(path, Durability.BATCHED))
        await host.open()
        spec = MatchSpec(old.variant, old.bots, options=old.options, nonce=old.nonce, seed=old.seed)
        match = await running(host, CreateRequest(spec, old.match))
        make(host, match, old.moves[:half])
        await host.close()

    host = MatchHost(open_store(path, Durability.BATCHED))
    await host.open()
    match = found(host, old.match)
    assert match.rules_version == "1"
    make(host, match, old.moves[half:])
    await host.stored()
    assert match.finished is not None
    record = match.finished.record(reveal_seed=True)
    assert record == replace(old, result=record.result, family=match.game.family)
    verify(record)
    new = (await host.create([CreateRequest(replace(spec, seed=old.seed), "new")]))[0]
    assert new.rules_version == catalog.RULES_VERSION
    await host.close()


def make(host: MatchHost, match: RunningMatch, moves: Sequence[str]) -> None:
    """Let the bots of a match answer with these moves, `SEAT MOVE` each."""
    for text in moves:
        seat, move = parse_turn(match.game, text)
        turn = match.seats[seat].turn
        assert turn is not None
        bot = match.spec.bots[seat]
        assert host.answer(bot, Answer(match.id, seat, turn.turn_id, move=move)) is None
