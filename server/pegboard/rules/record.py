"""Records: all that is needed to play a match again, and to prove that it went as it says.

A record is one JSON object, a few hundred bytes: the JSON form of `pegboard.v1.MatchRecord` in the
contract (docs/deals.md), wherever it comes from. Its events are not stored: they follow from the seed
and the moves. Shapes and rules of old versions stay readable and replayable for ever; a version this
program does not know is refused, never guessed at.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from pegboard.rules import catalog
from pegboard.rules.errors import NotationError, PegboardError, RecordError
from pegboard.rules.game import Event, Game, Outcome, Seat, State
from pegboard.rules.names import BOTS, MATCHES, VARIANTS
from pegboard.rules.results import FORFEITS, UNRATED, Result, Termination, forfeit_points
from pegboard.rules.shuffle import SEED_BYTES, SeededChance, commitment
from pegboard.rules.versions import edition_of

VERSION = 2
"""The shape that is written."""
VERSIONS = (1, 2)
"""The shapes that are read."""
PREFIX = "TERMINATION_"
"""What the names of terminations begin with there."""

_SLACK = 1e-9
_SPACE = re.compile(r"[ \t\r\n]*")
_MOVE = re.compile(r"([0-9]{1,2}) (\S.*)")


@dataclass(frozen=True, slots=True)
class Record:
    """One match. Match, variant and `bots` (by seat) are ids; `moves` are `SEAT MOVE`.

    `result` is None while the match runs. `seed` has 32 bytes, or is None while it is withheld.
    `events_digest` is hexadecimal, or empty while the match runs.
    """

    match: str
    variant: str
    options: Mapping[str, str]
    bots: tuple[str, ...]
    nonce: str
    seed: bytes | None
    commitment: bytes
    moves: tuple[str, ...]
    result: Result | None
    events_digest: str
    rules_version: str = catalog.RULES_VERSION
    family: str = ""
    """`cribbage` or `dominoes`; empty in records that were written before they told it."""

    def to_json(self) -> str:
        """Return the record as one line of JSON, without the line's end.

        As proto3 has it: what is empty is left out.
        """
        fields = {
            "version": VERSION,
            "rulesVersion": self.rules_version,
            "match": MATCHES + self.match,
            "variant": VARIANTS + self.variant,
            "family": self.family,
            "options": dict(self.options),
            "bots": [BOTS + bot for bot in self.bots],
            "nonce": self.nonce,
            "seed": "" if self.seed is None else self.seed.hex(),
            "commitment": self.commitment.hex(),
            "moves": self.moves,
            "result": None if self.result is None else _result_fields(self.result),
            "eventsDigest": self.events_digest,
        }
        kept = {key: value for key, value in fields.items() if value}
        return json.dumps(kept, separators=(",", ":"), ensure_ascii=False)

    @staticmethod
    def from_json(text: str) -> Record:
        """Read a record. Raises `NotationError` for what is not JSON, `RecordError` for the rest."""
        try:
            fields = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise NotationError(f"a record is one JSON object; {error}") from None
        return _read_record(fields)


def _result_fields(result: Result) -> dict[str, Any]:
    """Return the fields of a result, those that are empty left out."""
    fields = {
        "termination": PREFIX + result.termination,
        "points": result.points,
        "scores": result.scores,
        "gamesWon": result.games_won,
        "detail": result.detail,
    }
    kept = {key: value for key, value in fields.items() if value}
    return kept if result.seat_at_fault is None else kept | {"seatAtFault": result.seat_at_fault}


# Replaying


def seats_of(record: Record) -> int:
    """Return the number of seats."""
    return len(record.bots)


def game_of(record: Record) -> Game:
    """Return the game with the record's options. Raises `RecordError`, also for rules unknown here."""
    edition_of(record.rules_version)
    try:
        game = catalog.game(record.variant, record.options)
    except PegboardError as error:
        raise RecordError(f"match {record.match}: {error}") from error
    if record.family not in ("", game.family):
        raise RecordError(
            f"match {record.match}: family is {record.family[:40]!r}, but {record.variant} belongs to"
            f" {game.family}"
        )
    return game


def start(record: Record) -> tuple[Game, State, list[Event]]:
    """Deal the record's match anew and return it with its first events. Raises `RecordError`."""
    if record.seed is None:
        raise RecordError(f"match {record.match}: the seed is withheld; ask the organiser for it")
    game = game_of(record)
    try:
        chance = SeededChance(record.seed, record.nonce)
        state, events = game.start(seats_of(record), chance, edition_of(record.rules_version))
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


def _verify_result(record: Record, result: Result, game: Game, state: State) -> None:
    outcome = state.outcome()
    if result.termination is Termination.NORMAL:
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
    record: Record, result: Result, outcome: Outcome, points: tuple[float, ...]
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

_KEYS = {
    "version": "version",
    "rulesVersion": "rules_version",
    "match": "match",
    "variant": "variant",
    "family": "family",
    "options": "options",
    "bots": "bots",
    "nonce": "nonce",
    "seed": "seed",
    "commitment": "commitment",
    "moves": "moves",
    "result": "result",
    "eventsDigest": "events_digest",
}
_RESULT_KEYS = {
    "termination": "termination",
    "seatAtFault": "seat_at_fault",
    "points": "points",
    "scores": "scores",
    "gamesWon": "games_won",
    "detail": "detail",
}
"""The keys as they are written, and as they may be read as well."""

_NEEDED = ("version", "rules_version", "variant", "bots", "commitment")


def records_in(text: str) -> Iterator[tuple[int, Record]]:
    """Yield (line number, record) for all records of a text, each a JSON object over any lines.

    So a file with a record a line is read, and what other programs print, indented or not. Raises
    `NotationError` for what is not JSON, `RecordError` for the rest, both naming the line.
    """
    decode = json.JSONDecoder().raw_decode
    place, line = 0, 1
    while True:
        start = _SPACE.match(text, place).end()  # type: ignore[union-attr]
        line += text.count("\n", place, start)
        if start == len(text):
            return
        try:
            fields, place = decode(text, start)
            record = _read_record(fields)
        except (ValueError, RecursionError) as error:
            kind = RecordError if isinstance(error, RecordError) else NotationError
            raise kind(f"line {line}: {_reason(error)}") from None
        yield line, record
        line += text.count("\n", start, place)


def _reason(error: Exception) -> str:
    if isinstance(error, PegboardError):
        return str(error)
    if isinstance(error, json.JSONDecodeError):  # its own line number counts from elsewhere
        return f"a record is one JSON object; {error.msg}"
    return f"a record is one JSON object; {error}"


def _read_record(fields: Any) -> Record:
    """Read either shape: version 1 had the keys of `_KEYS`' right side and bare terminations."""
    if isinstance(fields, dict) and isinstance(fields.get("record"), dict):
        fields = fields["record"]  # a `GetMatchRecordResponse`, as clients print it
    found = _fields("a record", fields, _KEYS)
    for key in _NEEDED:
        if key not in found:
            raise RecordError(f"a record lacks {key!r}; add it")
    if _whole("version", found["version"]) not in VERSIONS:
        raise RecordError(
            f"record version {found['version']!r} is unknown here; this program reads"
            f" {', '.join(map(str, VERSIONS))}, so update it"
        )
    options = found.get("options", {})
    if not isinstance(options, dict):
        raise RecordError("options must be an object of texts")
    result = found.get("result")
    seed = found.get("seed", "")
    return Record(
        rules_version=_text("rules_version", found["rules_version"]),
        match=_text("match", found.get("match", "")).removeprefix(MATCHES),
        variant=_text("variant", found["variant"]).removeprefix(VARIANTS),
        family=_text("family", found.get("family", "")),
        options={key: _text(f"option {key}", value) for key, value in options.items()},
        bots=tuple(bot.removeprefix(BOTS) for bot in _texts("bots", found["bots"])),
        nonce=_text("nonce", found.get("nonce", "")),
        seed=None if seed == "" else read_bytes("seed", seed),
        commitment=read_bytes("commitment", found["commitment"]),
        moves=_texts("moves", found.get("moves", [])),
        result=None if result is None else _read_result(result),
        events_digest=_text("events_digest", found.get("events_digest", "")),
    )


def _read_result(fields: Any) -> Result:
    found = _fields("a result", fields, _RESULT_KEYS)
    termination = _termination(_text("termination", found.get("termination", "")))
    seat = found.get("seat_at_fault")
    if (seat is not None) != (termination in FORFEITS):
        raise RecordError("seat_at_fault goes with a forfeit and with nothing else")
    return Result(
        termination,
        None if seat is None else _whole("seat_at_fault", seat),
        tuple(float(_number("points", item)) for item in _items("points", found)),
        tuple(_whole("scores", item) for item in _items("scores", found)),
        tuple(_whole("games_won", item) for item in _items("games_won", found)),
        _text("detail", found.get("detail", "")),
    )


def _termination(text: str) -> Termination:
    name = text.removeprefix(PREFIX)
    try:
        return Termination(name)
    except ValueError:
        raise RecordError(
            f"no termination {name[:40]!r}; one of {', '.join(sorted(Termination))}"
        ) from None


def _fields(what: str, fields: Any, keys: Mapping[str, str]) -> dict[str, Any]:
    """Return the fields by their names in snake case; null means that a field is not there."""
    if not isinstance(fields, dict):
        raise RecordError(f"{what} is a JSON object with {', '.join(keys)}")
    found: dict[str, Any] = {}
    for key, value in fields.items():
        name = keys.get(key, key)
        if name not in keys.values():
            raise RecordError(f"{what} has no {key[:40]!r}; it has {', '.join(keys)}")
        if name in found:
            raise RecordError(f"{what} has {name!r} twice, in both spellings; leave one out")
        if value is not None:
            found[name] = value
    return found


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


def _items(key: str, found: Mapping[str, Any]) -> list[Any]:
    value = found.get(key, [])
    if not isinstance(value, list):
        raise RecordError(f"{key} must be a list, not {value!r:.40}")
    return value


def _texts(key: str, value: Any) -> tuple[str, ...]:
    return tuple(_text(key, item) for item in _items(key, {key: value}))


def read_bytes(key: str, value: Any) -> bytes:
    """Read the 32 bytes of a seed or a digest. Raises `RecordError`."""
    text = _text(key, value)
    if not re.fullmatch(r"[0-9a-f]{64}", text):
        raise RecordError(f"{key} must be {SEED_BYTES} bytes in hexadecimal, not {text!r:.40}")
    return bytes.fromhex(text)
