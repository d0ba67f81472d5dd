"""The group `pegboard bot`: for authors of bots."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from typer.exceptions import Exit

from pegboard.cli.group import APP_OPTIONS, Json

group = typer.Typer(help="Check a bot: does it keep to the protocol?", **APP_OPTIONS)


@group.callback()
def bot() -> None:
    """Check a bot."""


@group.command("check", context_settings={"allow_interspersed_args": False})
def bot_check(
    command: Annotated[
        list[str],
        typer.Argument(metavar="CMD...", help="What starts the bot, after `--`."),
    ],
    variants: Annotated[
        str,
        typer.Option(
            "--variants", metavar="IDS", help="Catalog ids, separated by commas, or `all`."
        ),
    ] = "cribbage,draw,cribbage-muggins",
    only: Annotated[
        list[str] | None,
        typer.Option("--only", metavar="CASE", help="Run this case only; may be repeated."),
    ] = None,
    move_ms: Annotated[
        int, typer.Option("--move-ms", min=100, help="The clock of every turn.")
    ] = 5000,
    startup_s: Annotated[
        float, typer.Option("--startup", min=0.1, help="Seconds that the bot may take to connect.")
    ] = 30.0,
    play_s: Annotated[
        float, typer.Option("--play", min=0.1, help="Seconds that a case plays matches at most.")
    ] = 5.0,
    tcp: Annotated[
        bool, typer.Option("--tcp", help="Listen on a TCP port, not on a Unix socket.")
    ] = False,
    inherit: Annotated[
        list[str] | None,
        typer.Option("--inherit", metavar="NAME", help="Pass this variable of the environment on."),
    ] = None,
    memory_mb: Annotated[
        int, typer.Option("--memory-mb", min=0, help="Limit the bot's address space; 0: no limit.")
    ] = 0,
    log: Annotated[
        Path | None,
        typer.Option("--log", metavar="FILE", help="Keep what the bot prints in this file."),
    ] = None,
    json: Json = False,
) -> None:
    """Say whether a bot keeps to the protocol; if not (exit status 1), what to mend."""
    from pegboard.cli.bot_check import Wishes, check

    wishes = Wishes(
        variants,
        tuple(only or ()),
        move_ms,
        startup_s,
        play_s,
        tcp,
        tuple(inherit or ()),
        memory_mb,
        log,
    )
    raise Exit(check(command, wishes, json))
