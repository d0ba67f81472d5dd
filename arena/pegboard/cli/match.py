"""`pegboard match list|show|watch|cancel|record`: matches of a server."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import NamedTuple

from google.protobuf import json_format
from rich.text import Text

from pegboard.cli.output import columns, print_json, print_line, print_table
from pegboard.client.address import DEFAULT_ADDRESS
from pegboard.client.organiser import ANY_TIME, Organiser, TimeSpan
from pegboard.errors import InvalidRequest, Unavailable
from pegboard.rules.game import explained
from pegboard.rules.names import BOTS, MATCHES, VARIANTS
from pegboard.rules.results import Result
from pegboard.runner.columns import Column
from pegboard.runner.terminal import json_text, shown
from pegboard.v1 import match_pb2
from pegboard.wire.records import read_result

STATES = {
    None: match_pb2.MATCH_STATE_UNSPECIFIED,
    "running": match_pb2.MATCH_STATE_RUNNING,
    "finished": match_pb2.MATCH_STATE_FINISHED,
}
ORDERS = {
    "newest": match_pb2.MATCH_ORDER_CREATE_TIME_DESC,
    "oldest": match_pb2.MATCH_ORDER_CREATE_TIME_ASC,
    "last-ended": match_pb2.MATCH_ORDER_END_TIME_DESC,
    "first-ended": match_pb2.MATCH_ORDER_END_TIME_ASC,
}
STATE_WORDS = {number: word or "" for word, number in STATES.items()}


class Filters(NamedTuple):
    """What `pegboard match list` lists; an empty filter lets every match through."""

    state: str | None = None
    label: str = ""
    variant: str = ""
    bot: str = ""
    created: TimeSpan = ANY_TIME
    ended: TimeSpan = ANY_TIME
    order: str = "newest"


@asynccontextmanager
async def organiser_at(address: str, token: str) -> AsyncIterator[Organiser]:
    """Open a connection. Raises `Unavailable` with the address if there is no server."""
    try:
        async with Organiser(address, token) as organiser:
            yield organiser
    except Unavailable as error:
        raise Unavailable(
            f"no server at {address or DEFAULT_ADDRESS} ({error}); is `pegboard serve` running there?"
        ) from None


def name_of(match: str) -> str:
    """Return `matches/ID` for an id or a name."""
    return match if match.startswith(MATCHES) else MATCHES + match


def list_matches(address: str, token: str, filters: Filters, limit: int, as_json: bool) -> None:
    """Print a table of matches. Raises `InvalidRequest` for a state or order that does not exist."""
    state, label, variant, bot, created, ended, order = filters
    if state not in STATES:
        raise InvalidRequest(f"no state {state!r}; matches are running or finished")
    if order not in ORDERS:
        raise InvalidRequest(f"no order {order!r}; one of {', '.join(ORDERS)}")

    async def fetch() -> None:
        async with organiser_at(address, token) as organiser:
            found = organiser.list_matches(
                label,
                STATES[state],
                limit,
                variant=variant,
                bot=bot,
                created=created,
                ended=ended,
                order=ORDERS[order],
            )
            matches = [match async for match in found]
        if as_json:
            print_json([json_format.MessageToDict(match) for match in matches])
        else:
            print_matches(matches)

    asyncio.run(fetch())


def print_matches(matches: Sequence[match_pb2.Match]) -> None:
    """Print a row for each match; columns go if the terminal is narrow, ids never."""
    if not matches:
        print("no matches")
        return

    def cells(texts: Sequence[str]) -> list[Text]:
        return [Text(shown(text)) for text in texts]

    ids = cells([match.name.removeprefix(MATCHES) for match in matches])
    created = cells([time_text(match) for match in matches])
    print_table(
        [
            Column("match", ids, kind="words"),
            Column("variant", cells([variant_of(match.spec) for match in matches]), 2, "names"),
            Column(
                "bots", cells([", ".join(bots_of(match.spec)) for match in matches]), 0, "lists"
            ),
            Column("result", cells([standing(match) for match in matches]), 1, "words"),
            Column("label", cells([match.spec.label for match in matches]), 4, "names"),
            Column("created (UTC)", created, 3, "words"),
        ]
    )


def variant_of(spec: match_pb2.MatchSpec) -> str:
    """Return the id of the variant."""
    return spec.variant.removeprefix(VARIANTS)


def bots_of(spec: match_pb2.MatchSpec) -> list[str]:
    """Return the names of the bots by seat."""
    return [bot.removeprefix(BOTS) for bot in spec.bots]


def time_text(match: match_pb2.Match) -> str:
    """Return when a match was created, to the second."""
    return match.create_time.ToDatetime().isoformat(" ", "seconds")


def standing(match: match_pb2.Match) -> str:
    """Return `running`, the points by seat, or why there are none."""
    if match.state != match_pb2.MATCH_STATE_FINISHED:
        return STATE_WORDS.get(match.state, "unknown")
    result = read_result(match.result)
    points = " ".join(f"{points:g}" for points in result.points)
    reason = "" if result.termination == "NORMAL" else words(result.termination)
    return " ".join(filter(None, (points, reason)))


def words(termination: str) -> str:
    """Return `illegal move` for `ILLEGAL_MOVE`."""
    return termination.lower().replace("_", " ")


def show_match(address: str, token: str, match: str, as_json: bool) -> None:
    """Print all about one match. Raises `UnknownMatch`."""

    async def fetch() -> None:
        async with organiser_at(address, token) as organiser:
            found = await organiser.get(name_of(match))
        if as_json:
            print_json(json_format.MessageToDict(found))
            return
        for line in columns([*facts(found)]):
            print_line(line)

    asyncio.run(fetch())


def facts(match: match_pb2.Match) -> list[tuple[str, str]]:
    """Return what there is to tell of a match, with the word for each."""
    spec = match.spec
    rows = [
        ("match", match.name),
        ("variant", variant_of(spec)),
        ("options", ", ".join(f"{key} = {value}" for key, value in sorted(spec.options.items()))),
        *((f"seat {seat}", bot) for seat, bot in enumerate(bots_of(spec))),
        ("label", spec.label),
        ("created", f"{time_text(match)} UTC"),
        ("state", STATE_WORDS.get(match.state, "unknown")),
        ("events", str(match.event_count)),
        ("commitment", match.commitment),
    ]
    if match.state == match_pb2.MATCH_STATE_FINISHED:
        result = read_result(match.result)
        rows += [
            ("result", result_text(result)),
            ("detail", result.detail),
        ]
    return [row for row in rows if row[1]]


def result_text(result: Result) -> str:
    """Return how a match ended, in one line."""
    fault = "" if result.seat_at_fault is None else f" by seat {result.seat_at_fault}"
    points = "; points " + " ".join(f"{points:g}" for points in result.points)
    scores = "; scores " + " ".join(map(str, result.scores))
    return (
        words(result.termination)
        + fault
        + (points if result.points else "")
        + (scores if result.scores else "")
    )


def watch_match(
    address: str, token: str, match: str, seat: int | None, after: int, as_json: bool
) -> None:
    """Print events as they happen, each in a line, until the match is over."""

    async def follow() -> None:
        async with organiser_at(address, token) as organiser:
            if as_json:
                async for messages in organiser.watch_messages(name_of(match), after, seat):
                    for message in messages:
                        fields = json_format.MessageToDict(message)
                        print(json_text(json.dumps(fields, ensure_ascii=False)), flush=True)
                return
            async for sequence, event in organiser.watch(name_of(match), after, seat):
                if isinstance(event, Result):
                    text = f"= {result_text(event)}"
                else:
                    text = explained(event)
                print(f"{sequence:>5} {shown(text)}", flush=True)

    asyncio.run(follow())


def cancel_matches(address: str, token: str, matches: Sequence[str], as_json: bool) -> None:
    """Cancel each match and print how it ended. Raises `UnknownMatch` at the first not there."""

    async def cancel() -> None:
        ended: list[match_pb2.Match] = []
        async with organiser_at(address, token) as organiser:
            for match in matches:
                ended.append(await organiser.cancel(name_of(match)))
                if not as_json:
                    name = ended[-1].name.removeprefix(MATCHES)
                    print_line(f"{name}: {standing(ended[-1])}")
        if as_json:
            print_json([json_format.MessageToDict(match) for match in ended])

    asyncio.run(cancel())


def fetch_records(address: str, token: str, matches: Sequence[str], out: Path | None) -> None:
    """Print records or write them to a file, one a line. Raises `MatchRunning`, `UnknownMatch`.

    Nothing is printed or written unless all of them are there.
    """

    async def fetch() -> list[str]:
        async with organiser_at(address, token) as organiser:
            return [(await organiser.record(name_of(match))).to_json() for match in matches]

    lines = asyncio.run(fetch())
    if out is not None:
        out.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        return
    for line in lines:
        print(json_text(line))
