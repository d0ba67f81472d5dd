"""Records: all that is needed to play a match again, and to prove that it went as it says.

A record is one JSON object on one line, a few hundred bytes. Its events are not stored: they follow
from the seed and the moves. Shapes and rules of old versions stay readable and replayable for ever;
a version this program does not know is refused, never guessed at.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from pegboard.rules import catalog
from pegboard.rules.errors import NotationError, PegboardError, RecordError
from pegboard.rules.game import Event, Game, Outcome, Seat, State
from pegboard.rules.results import forfeit_points
from pegboard.rules.shuffle import SEED_BYTES, SeededChance, commitment

VERSION = 1
VERSIONS = (1,)
RULES_VERSIONS = ("1",)

FORFEITS = frozenset({"ILLEGAL_MOVE", "TIMEOUT", "DISCONNECT", "CRASH", "RESIGN"})
"""Terminations by a seat's own fault."""

UNRATED = frozenset({"CANCELLED", "SERVER_FAULT", "VOID"})
"""Terminations without a result."""

TERMINATIONS = frozenset({"NORMAL"}) | FORFEITS | UNRATED

_SLACK = 1e-9
_MOVE = re.compile(r"([0-9]{1,2}) (\S.*)")


class RecordResult(NamedTuple):
    """How the match ended. `points`, `scores`, `games_won` by seat; `points` () without a result.

    `termination` is a name of TERMINATIONS; `seat_at_fault` is set for FORFEITS and only there.
    """

    termination: str
    seat_at_fault: int | None
    points: tuple[float, ...]
    scores: tuple[int, ...]
    games_won: tuple[int, ...]
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Record:
    """One match. `bots` by seat; `moves` are `SEAT MOVE`; `result` None while the match runs.

    `seed` has 32 bytes, or is None where it is withheld. `events_digest` is hexadecimal, or empty
    while the match runs.
    """

    match: str
    variant: str
    options: Mapping[str, str]
    bots: tuple[str, ...]
    nonce: str
    seed: bytes | None
    commitment: bytes
    moves: tuple[str, ...]
    result: RecordResult | None
    events_digest: str
    version: int = VERSION
    rules_version: str = catalog.RULES_VERSION

    def to_json(self) -> str:
        """Return the record as one line of JSON, without the line's end."""
        fields = {
            "version": self.version,
            "rules_version": self.rules_version,
            "match": self.match,
            "variant": self.variant,
            "options": dict(self.options),
            "bots": self.bots,
            "nonce": self.nonce,
            "seed": None if self.seed is None else self.seed.hex(),
            "commitment": self.commitment.hex(),
            "moves": self.moves,
            "result": None if self.result is None else self.result._asdict(),
            "events_digest": self.events_digest,
        }
        return json.dumps(fields, separators=(",", ":"), ensure_ascii=False)

    @staticmethod
    def from_json(text: str) -> Record:
        """Read a record. Raises `NotationError` for what is no JSON, `RecordError` for the rest."""
        try:
            fields = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise NotationError(f"a record is one JSON object on one line; {error}") from None
        return _read_record(fields)


# Replaying


def seats_of(record: Record) -> int:
    """Return the number of seats."""
    return len(record.bots)


def game_of(record: Record) -> Game:
    """Return the game with the record's options. Raises `RecordError`, also for rules unknown here."""
    if record.rules_version not in RULES_VERSIONS:
        raise RecordError(
            f"the record is of rules version {record.rules_version!r}; this program knows"
            f" {', '.join(RULES_VERSIONS)}, so update it"
        )
    try:
        return catalog.game(record.variant, record.options)
    except PegboardError as error:
        raise RecordError(f"match {record.match}: {error}") from error


def start(record: Record) -> tuple[Game, State, list[Event]]:
    """Deal the record's match anew and return it with its first events. Raises `RecordError`."""
    if record.seed is None:
        raise RecordError(f"match {record.match}: the seed is withheld; ask the organiser for it")
    game = game_of(record)
    try:
        state, events = game.start(seats_of(record), SeededChance(record.seed, record.nonce))
    except PegboardError as error:
        raise RecordError(f"match {record.match}: {error}") from error
    return game, state, events


def parse_turn(game: Game, text: str) -> tuple[Seat, Any]:
    """Read `SEAT MOVE`. Raises `NotationError`."""
    match = _MOVE.fullmatch(text)
    if match is None:
        raise NotationError(f"no move {text!r}; write the seat, a blank and the move")
    return int(match[1]), game.parse_move(match[2])


def make_moves(record: Record, game: Game, state: State) -> Iterator[tuple[str, list[Event]]]:
    """Make the record's moves on `state`, which is changed; yield each with its events.

    Raises `RecordError` naming the first move that is not legal.
    """
    for number, text in enumerate(record.moves, 1):
        try:
            seat, move = parse_turn(game, text)
            events = state.apply(seat, move)
        except PegboardError as error:
            raise RecordError(f"match {record.match}: move {number}, {text!r}: {error}") from error
        yield text, events


def replay(record: Record) -> Iterator[tuple[str | None, list[Event]]]:
    """Yield (None, first events), then each move with its events. Raises `RecordError`."""
    game, state, events = start(record)
    yield None, events
    yield from make_moves(record, game, state)


def events_digest(events: Iterable[Event]) -> str:
    """Return SHA-256 in hexadecimal over the events' texts, each followed by a line feed."""
    digest = hashlib.sha256()
    for event in events:
        digest.update(f"{event.text()}\n".encode())
    return digest.hexdigest()


# Verifying


def verify(record: Record) -> None:
    """Deal, play and score again. Raises `RecordError` naming the first difference.

    Checked in this order: the commitment against seed and nonce, that every move is legal, the
    digest of the events, and the result by its termination (docs/results.md).
    """
    game, state, events = start(record)
    assert record.seed is not None
    if commitment(record.seed, record.nonce) != record.commitment:
        raise RecordError(f"match {record.match}: seed and nonce do not give the commitment")
    all_events = list(events)
    for _, more in make_moves(record, game, state):
        all_events += more
    found = events_digest(all_events)
    if found != record.events_digest:
        raise RecordError(
            f"match {record.match}: events_digest is {record.events_digest or 'missing'}, but the"
            f" moves give {found}"
        )
    if record.result is None:
        raise RecordError(f"match {record.match}: no result; the match is not over")
    _verify_result(record, record.result, game, state)


def _verify_result(record: Record, result: RecordResult, game: Game, state: State) -> None:
    outcome = state.outcome()
    if result.termination == "NORMAL":
        if outcome is None:
            raise RecordError(f"match {record.match}: says NORMAL, but the moves do not end it")
        _verify_numbers(record, result, outcome, outcome.points)
        return
    if outcome is not None and result.termination in FORFEITS:
        raise RecordError(
            f"match {record.match}: says {result.termination}, but the moves end it normally"
        )
    standing = state.standing()
    points: tuple[float, ...] = ()
    if result.termination in FORFEITS:
        seat = result.seat_at_fault
        if seat is None or not 0 <= seat < seats_of(record):
            raise RecordError(f"match {record.match}: {result.termination} needs a seat at fault")
        points = forfeit_points(game, seats_of(record), standing, seat)
    _verify_numbers(record, result, standing, points)


def _verify_numbers(
    record: Record, result: RecordResult, outcome: Outcome, points: tuple[float, ...]
) -> None:
    """Compare points, scores and games won; a record without a result may leave them all out."""
    if result.termination in UNRATED and not (result.points or result.scores or result.games_won):
        return
    if len(points) != len(result.points) or any(
        abs(mine - theirs) > _SLACK for mine, theirs in zip(points, result.points, strict=True)
    ):
        raise _difference(record, "points", result.points, points)
    if result.scores != outcome.scores:
        raise _difference(record, "scores", result.scores, outcome.scores)
    if result.games_won != outcome.games_won:
        raise _difference(record, "games_won", result.games_won, outcome.games_won)


def _difference(
    record: Record, what: str, says: tuple[float, ...], gives: tuple[float, ...]
) -> RecordError:
    return RecordError(
        f"match {record.match}: {what} are {list(says)}, but the moves give {list(gives)}"
    )


# Reading

_KEYS = (
    "version",
    "rules_version",
    "match",
    "variant",
    "options",
    "bots",
    "nonce",
    "seed",
    "commitment",
    "moves",
    "result",
    "events_digest",
)
_RESULT_KEYS = ("termination", "seat_at_fault", "points", "scores", "games_won", "detail")


def _read_record(fields: Any) -> Record:
    _check_keys(fields, _KEYS, "a record")
    if _whole("version", fields["version"]) not in VERSIONS:
        raise RecordError(
            f"record version {fields['version']!r} is unknown here; this program reads"
            f" {', '.join(map(str, VERSIONS))}, so update it"
        )
    options = fields["options"]
    if not isinstance(options, dict):
        raise RecordError("options must be an object of texts")
    seed = fields["seed"]
    return Record(
        version=fields["version"],
        rules_version=_text("rules_version", fields["rules_version"]),
        match=_text("match", fields["match"]),
        variant=_text("variant", fields["variant"]),
        options={key: _text(f"option {key}", value) for key, value in options.items()},
        bots=_texts("bots", fields["bots"]),
        nonce=_text("nonce", fields["nonce"]),
        seed=None if seed is None else _bytes("seed", seed),
        commitment=_bytes("commitment", fields["commitment"]),
        moves=_texts("moves", fields["moves"]),
        result=None if fields["result"] is None else _read_result(fields["result"]),
        events_digest=_text("events_digest", fields["events_digest"]),
    )


def _read_result(fields: Any) -> RecordResult:
    _check_keys(fields, _RESULT_KEYS, "a result")
    termination = _text("termination", fields["termination"])
    if termination not in TERMINATIONS:
        raise RecordError(
            f"no termination {termination!r}; one of {', '.join(sorted(TERMINATIONS))}"
        )
    seat = fields["seat_at_fault"]
    if (seat is not None) != (termination in FORFEITS):
        raise RecordError("seat_at_fault goes with a forfeit and with nothing else")
    return RecordResult(
        termination,
        None if seat is None else _whole("seat_at_fault", seat),
        tuple(float(_number("points", item)) for item in _items("points", fields["points"])),
        tuple(_whole("scores", item) for item in _items("scores", fields["scores"])),
        tuple(_whole("games_won", item) for item in _items("games_won", fields["games_won"])),
        _text("detail", fields["detail"]),
    )


def _check_keys(fields: Any, keys: tuple[str, ...], what: str) -> None:
    if not isinstance(fields, dict):
        raise RecordError(f"{what} is a JSON object with {', '.join(keys)}")
    for key in keys:
        if key not in fields:
            raise RecordError(f"{what} lacks {key!r}; add it")
    for key in fields:
        if key not in keys:
            raise RecordError(f"{what} has no {key!r}; it has {', '.join(keys)}")


def _text(key: str, value: Any) -> str:
    if not isinstance(value, str):
        raise RecordError(f"{key} must be text, not {value!r:.40}")
    return value


def _whole(key: str, value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise RecordError(f"{key} must be whole numbers, not {value!r:.40}")
    return value


def _number(key: str, value: Any) -> int | float:
    if not isinstance(value, int | float) or isinstance(value, bool) or not 0 <= value <= 1:
        raise RecordError(f"{key} must be numbers from 0 to 1, not {value!r:.40}")
    return value


def _items(key: str, value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise RecordError(f"{key} must be a list, not {value!r:.40}")
    return value


def _texts(key: str, value: Any) -> tuple[str, ...]:
    return tuple(_text(key, item) for item in _items(key, value))


def _bytes(key: str, value: Any) -> bytes:
    text = _text(key, value)
    if not re.fullmatch(r"[0-9a-f]{64}", text):
        raise RecordError(f"{key} must be {SEED_BYTES} bytes in hexadecimal, not {text!r:.40}")
    return bytes.fromhex(text)
