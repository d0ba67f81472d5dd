"""Turns as a bot gets them, and what the example bots answer: `tests/vectors/turns`.

`python -m tests.clients.turn_vectors` writes them; docs/vectors.md has their shape. Kits in every
language read them, so a file changes only if the contract, the notation or an example bot does.
"""

from __future__ import annotations

import importlib.util
import json
from base64 import b64encode
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from google.protobuf.json_format import MessageToDict
from google.protobuf.message import Message

from pegboard.client import MatchInfo, Turn
from pegboard.client.bot import encode_choice
from pegboard.client.testing import play_match
from pegboard.client.turn import Refused
from pegboard.rules.cards import JOKER, cards_text
from pegboard.rules.catalog import CATALOG
from pegboard.rules.cribbage.view import CribbageView
from pegboard.rules.names import VARIANTS
from pegboard.rules.tiles import tiles_text
from pegboard.v1 import match_pb2, play_pb2

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "tests" / "vectors" / "turns"
BOTS = ROOT / "examples" / "bots"
BANK_MS = 60_000
NEAR_THE_END = 110
RANDOM_SEEDS = ("1", "second seed")
MATCHES_EACH = 3
"""Matches played for each number of seats; turns of a kind not met before are taken from each."""
SHORT = {"target": "31"}
"""Options of a further match, of the variants in `WITH_OPTIONS`."""
WITH_OPTIONS = ("cribbage", "draw")


def load(name: str) -> Any:
    """Import an example bot."""
    spec = importlib.util.spec_from_file_location(name, BOTS / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


GREEDY = load("greedy_bot")
RANDOM = load("random_bot")


def path_of(variant: str) -> Path:
    """Return where the turns of a variant are."""
    return FOLDER / f"{variant}.json"


# --- the turns ---------------------------------------------------------------------------------


def turns_of(variant: str) -> Iterator[tuple[str, Turn]]:
    """Yield turns with a name each: of every kind, the first and the last in a match."""
    for seats in seat_counts(variant):
        met: set[str] = set()
        for seed in range(MATCHES_EACH):
            for name, turn in picked(match_turns(variant, seats, {}, seed)):
                if name not in met:
                    met.add(name)
                    yield f"{seats} seats, {name}", turn
    if variant in WITH_OPTIONS:
        for name, turn in picked(match_turns(variant, 2, SHORT, 0)):
            yield f"2 seats to 31, {name}", turn


def picked(turns: list[Turn]) -> Iterator[tuple[str, Turn]]:
    """Yield the first and the last turn of every kind."""
    for place, ordered in (("first", turns[::-1]), ("last", turns)):
        found = {kind_of(turn): turn for turn in ordered}
        yield from ((f"{kind}, {place}", turn) for kind, turn in sorted(found.items()))


def seat_counts(variant: str) -> tuple[int, ...]:
    """Return the least and the greatest number of seats."""
    counts = CATALOG[variant].game.seats
    return tuple(dict.fromkeys((counts[0], counts[-1])))


def match_turns(variant: str, seats: int, options: dict[str, str], seed: int) -> list[Turn]:
    """Play a match of greedy bots and random ones, and return every turn of theirs.

    In the second match the greedy ones claim too little at the end (X-05).
    """
    turns: list[Turn] = []

    def watched(choose: Callable[[Turn], Any]) -> Callable[[Turn], Any]:
        def watch(turn: Turn) -> Any:
            turns.append(turn)
            return choose(turn)

        return watch

    greedy = timid_choice if seed == 1 else GREEDY.choose
    bots = [watched(RANDOM.choose if seat % 2 else greedy) for seat in range(seats)]
    RANDOM.SEED = f"{variant}/{seats}/{seed}"
    play_match(variant, bots, options=options, seed=seed)
    return [dressed(turn, f"matches/{variant}-{seats}-{seed}", turn.seat % 2) for turn in turns]


def timid_choice(turn: Turn) -> Any:
    """Choose as the greedy bot, but claim the least if a claim could win the game."""
    choice = GREEDY.choose(turn)
    if not isinstance(turn.view, CribbageView) or max(turn.view.scores) < NEAR_THE_END:
        return choice
    index = choice[0] if isinstance(choice, tuple) else choice
    bounds = turn.number_of(index)
    return index, bounds[0] if bounds else None


def dressed(turn: Turn, match: str, banked: int) -> Turn:
    """Return the turn with a name of its match and clocks as a server would send them."""
    message = play_pb2.Turn.FromString(turn.message.SerializeToString())
    message.match = match
    message.clock.turn_ms -= turn.turn_id % 7
    if banked:
        message.clock.bank_ms = BANK_MS // turn.turn_id
    named = Turn(message, turn.info._replace(match=match, bank_ms=BANK_MS * banked))
    named.refused = turn.refused
    return named


def kind_of(turn: Turn) -> str:
    """Return what makes a turn of another kind than others: the moves, and what came before."""
    words = dict.fromkeys(str(move).partition(" ")[0] for move in turn.moves)
    parts = ["+".join(words)]
    if turn.number is not None:
        parts.append("open")
    if isinstance(turn.view, CribbageView) and JOKER in turn.view.hand:
        parts.append("joker")
    if turn.refused is not None:
        reason = play_pb2.RejectionReason.Name(reason_of(turn.refused))
        parts.append("after " + reason.removeprefix("REJECTION_REASON_"))
    return " ".join(parts)


def reason_of(refused: Refused) -> Any:
    """Return the reason as the generated code types it."""
    return refused.reason


# --- the cases ---------------------------------------------------------------------------------


def cases_of(variant: str) -> list[dict[str, Any]]:
    """Return the cases of a variant; the first of them comes again after an illegal answer."""
    turns = list(turns_of(variant))
    name, first = turns[0]
    again = Turn(first.message, first.info)
    again.refused = Refused(
        play_pb2.REJECTION_REASON_ILLEGAL_MOVE,
        f"no move has index 999; there are {first.move_count}, from 0",
        2,
    )
    turns.append((f"{name}, after an illegal answer", again))
    return [
        case(f"{variant}: {name}", turn, RANDOM_SEEDS[number % len(RANDOM_SEEDS)])
        for number, (name, turn) in enumerate(turns)
    ]


def case(name: str, turn: Turn, seed: str) -> dict[str, Any]:
    """Return one case."""
    found: dict[str, Any] = {
        "id": name,
        "kind": "turn",
        "variant": turn.info.variant,
        "started": both(started_message(turn.info)),
    }
    if turn.refused is not None:
        found["rejected"] = both(rejected_message(turn))
    return found | {
        "turn": both(turn.message),
        "hand": hand_text(turn),
        "moves": [str(move) for move in turn.moves],
        "ranges": [turn.number_of(index) for index in range(turn.move_count)],
        "print": str(turn).splitlines(),
        "greedy": answered(turn, GREEDY.choose(turn)),
        "random": {"seed": seed} | answered(turn, random_choice(turn, seed)),
    }


def random_choice(turn: Turn, seed: str) -> Any:
    """Return what the random bot of that seed chooses."""
    RANDOM.SEED = seed
    return RANDOM.choose(turn)


def both(message: Message) -> dict[str, Any]:
    """Return a message as base64 of its bytes and as proto3 JSON."""
    data = message.SerializeToString(deterministic=True)
    return {"bytes": b64encode(data).decode(), "json": MessageToDict(message)}


def hand_text(turn: Turn) -> str:
    """Return the cards or tiles of the hand."""
    view = turn.view
    return cards_text(view.hand) if isinstance(view, CribbageView) else tiles_text(view.hand)


def answered(turn: Turn, choice: Any) -> dict[str, Any]:
    """Return a choice by index and number, and its `Answer`."""
    index, number = choice if isinstance(choice, tuple) else (choice, None)
    (answer,) = play_pb2.PlayRequest.FromString(encode_choice(turn, choice)).answers
    return {"index": index, "number": number, "answer": both(answer)}


def started_message(info: MatchInfo) -> play_pb2.MatchStarted:
    """Return the message of a match that a bot gets before its turns."""
    return play_pb2.MatchStarted(
        match=info.match,
        variant=VARIANTS + info.variant,
        family=CATALOG[info.variant].game.family,
        seats=info.seats,
        seat_count=info.seat_count,
        options=info.options,
        time_control=match_pb2.TimeControl(
            bank_ms=info.bank_ms, move_ms=info.move_ms, startup_ms=60_000
        ),
    )


def rejected_message(turn: Turn) -> play_pb2.MoveRejected:
    """Return the message that comes before a turn that comes again."""
    refused = turn.refused
    assert refused is not None
    return play_pb2.MoveRejected(
        match=turn.match,
        seat=turn.seat,
        turn_id=turn.turn_id,
        reason=reason_of(refused),
        detail=refused.detail,
        attempts_left=refused.attempts_left,
    )


def text_of(variant: str) -> str:
    """Return the file of a variant: a list, a case a line."""
    lines = [
        json.dumps(each, ensure_ascii=False, separators=(",", ":")) for each in cases_of(variant)
    ]
    return "[\n" + ",\n".join(lines) + "\n]\n"


def write() -> None:
    """Write the files of all variants."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    for variant in CATALOG:
        path_of(variant).write_text(text_of(variant), encoding="utf-8")


if __name__ == "__main__":
    write()
