"""The group `pegboard match`: commands that talk to a server.

`pegboard match A B`, which plays two bots against each other, will be the group's default command: so
the group has no arguments of its own.
"""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Annotated

import typer

from pegboard.cli.group import APP_OPTIONS, Json

group = typer.Typer(help="List, watch, cancel matches of a server; fetch records.", **APP_OPTIONS)

Address = Annotated[
    str,
    typer.Option(
        "--address",
        envvar="PEGBOARD_ADDRESS",
        metavar="ADDRESS",
        help="The server: host:port, https://host:port or unix:/path.",
    ),
]
Token = Annotated[
    str,
    typer.Option(
        "--token",
        envvar="PEGBOARD_TOKEN",
        metavar="TOKEN",
        help="Better in the variable: others on this machine can read options.",
    ),
]
MatchId = Annotated[str, typer.Argument(metavar="MATCH", help="An id, or matches/ID.")]
MatchIds = Annotated[list[str], typer.Argument(metavar="MATCH...", help="Ids, or matches/ID.")]


@group.command("list")
def match_list(
    state: Annotated[str | None, typer.Option("--state", help="running or finished.")] = None,
    label: Annotated[str, typer.Option("--label", help="Only matches with this label.")] = "",
    variant: Annotated[str, typer.Option("--variant", help="Only matches of this variant.")] = "",
    bot: Annotated[str, typer.Option("--bot", help="Only matches in which this bot sits.")] = "",
    created_from: Annotated[
        datetime | None, typer.Option("--created-from", help="Created then or later; UTC.")
    ] = None,
    created_to: Annotated[
        datetime | None, typer.Option("--created-to", help="Created before that; UTC.")
    ] = None,
    ended_from: Annotated[
        datetime | None, typer.Option("--ended-from", help="Ended then or later; UTC.")
    ] = None,
    ended_to: Annotated[
        datetime | None, typer.Option("--ended-to", help="Ended before that; UTC.")
    ] = None,
    order: Annotated[
        str, typer.Option("--order", help="newest, oldest, last-ended or first-ended.")
    ] = "newest",
    limit: Annotated[int, typer.Option("--limit", min=1, help="How many at most.")] = 50,
    address: Address = "",
    token: Token = "",
    json: Json = False,
) -> None:
    """List matches, the newest first unless --order says otherwise."""
    from pegboard.cli.match import Filters, list_matches

    created, ended = (created_from, created_to), (ended_from, ended_to)
    filters = Filters(state, label, variant, bot, created, ended, order)
    list_matches(address, token, filters, limit, json)


@group.command("show")
def match_show(
    match: MatchId, address: Address = "", token: Token = "", json: Json = False
) -> None:
    """Tell all about one match."""
    from pegboard.cli.match import show_match

    show_match(address, token, match, json)


@group.command("watch")
def match_watch(
    match: MatchId,
    seat: Annotated[
        int | None,
        typer.Option("--seat", min=0, help="Watch as this seat; a spectator if not given."),
    ] = None,
    after: Annotated[
        int, typer.Option("--after", min=0, help="Leave out the events up to this number.")
    ] = 0,
    address: Address = "",
    token: Token = "",
    json: Annotated[
        bool, typer.Option("--json", help="Print the JSON of each event, one a line.")
    ] = False,
) -> None:
    """Print the events of a match as they happen, until its end."""
    from pegboard.cli.match import watch_match

    watch_match(address, token, match, seat, after, json)


@group.command("cancel")
def match_cancel(
    matches: MatchIds, address: Address = "", token: Token = "", json: Json = False
) -> None:
    """End running matches without a result; a finished one stays as it is."""
    from pegboard.cli.match import cancel_matches

    cancel_matches(address, token, matches, json)


@group.command("record")
def match_record(
    matches: MatchIds,
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="FILE", help="Write to this file, not to standard output."),
    ] = None,
    address: Address = "",
    token: Token = "",
) -> None:
    """Fetch records, one a line, as `pegboard replay` reads them."""
    from pegboard.cli.match import fetch_records

    fetch_records(address, token, matches, out)
