"""The commands of `pegboard`: what each takes, and its help text.

Every body is one lazy import, so that `--help` loads nothing heavy. The commands of a group that talk
to a server stand in `match_commands`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from typer.exceptions import Exit

from pegboard.cli import bot_commands, match_commands
from pegboard.cli.group import APP_OPTIONS, Json

app = typer.Typer(
    help="Hosts cribbage and Draw matches, and plays tournaments between bots.", **APP_OPTIONS
)
tournament = typer.Typer(help="Play a tournament, or show one.", **APP_OPTIONS)
app.add_typer(tournament, name="tournament")
app.add_typer(match_commands.group, name="match")
app.add_typer(bot_commands.group, name="bot")

VariantId = Annotated[str, typer.Option("--variant", help="A catalog id: `pegboard variants`.")]


def print_version(wanted: bool) -> None:
    """Print the version and stop, for `--version`."""
    if wanted:
        from importlib.metadata import version

        print(f"pegboard {version('pegboard')}")
        raise Exit


@app.callback()
def pegboard(
    version: Annotated[
        bool,
        typer.Option("--version", callback=print_version, is_eager=True, help="Print the version."),
    ] = False,
) -> None:
    """Host cribbage and Draw matches, and play tournaments between bots."""


@app.command()
def serve(
    listen: Annotated[
        list[str] | None,
        typer.Option(
            "--listen",
            metavar="HOST:PORT",
            help="Listen on this TCP port; needs --tokens; may be repeated.",
        ),
    ] = None,
    unix: Annotated[
        list[Path] | None,
        typer.Option("--unix", metavar="PATH", help="Listen on this Unix socket; may be repeated."),
    ] = None,
    tokens: Annotated[
        Path | None, typer.Option("--tokens", help="TOML file of the bots' and organisers' tokens.")
    ] = None,
    public: Annotated[
        bool, typer.Option("--public", help="Let matches and records be read without a token.")
    ] = False,
    store: Annotated[
        Path, typer.Option("--store", help="The database file of all matches.")
    ] = Path("pegboard.db"),
    durability: Annotated[
        str, typer.Option("--durability", help="strict, batched or memory.")
    ] = "batched",
    store_patience: Annotated[
        float,
        typer.Option(
            "--store-patience",
            min=0,
            help="Seconds to go on trying when the store cannot be written; then the server ends.",
        ),
    ] = 30.0,
    log_level: Annotated[
        str, typer.Option("--log-level", help="debug, info, warning, error.")
    ] = "info",
    stop_on_eof: Annotated[
        bool, typer.Option("--stop-on-eof", help="Stop when standard input ends.")
    ] = False,
    tls_certificate: Annotated[
        Path | None, typer.Option("--tls-certificate", help="PEM file; with --tls-key.")
    ] = None,
    tls_key: Annotated[Path | None, typer.Option("--tls-key", help="PEM file.")] = None,
) -> None:
    """Host matches until SIGTERM or Ctrl-C."""
    from pegboard.cli.serve import run_server
    from pegboard.matches.settings import HostSettings
    from pegboard.service.settings import ServeSettings

    settings = ServeSettings(
        listen=tuple(listen or ()),
        unix=tuple(unix or ()),
        tokens=tokens,
        public=public,
        store=store,
        durability=durability,
        host=HostSettings(store_patience_s=store_patience),
        log_level=log_level,
        stop_on_eof=stop_on_eof,
        tls_certificate=tls_certificate,
        tls_key=tls_key,
    )
    run_server(settings)


@tournament.command("run")
def tournament_run(
    file: Annotated[Path, typer.Argument(metavar="FILE.toml", help="The tournament.")],
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            metavar="DIR",
            help="Folder of the results; if not given runs/FILE, by the name of the file.",
        ),
    ] = None,
    fresh: Annotated[
        bool,
        typer.Option("--fresh", help="Play anew; an earlier run in the folder is set aside."),
    ] = False,
    json: Json = False,
) -> None:
    """Play a tournament, or continue one that was stopped."""
    from pegboard.cli.tournament import run

    raise Exit(run(file, out, json, fresh))


@tournament.command("show")
def tournament_show(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Folder of the results.")],
    json: Json = False,
) -> None:
    """Print the table of a tournament again."""
    from pegboard.cli.tournament import show

    show(folder, json)


@app.command()
def variants(
    variant: Annotated[
        str | None, typer.Argument(metavar="ID", help="A catalog id; all if not given.")
    ] = None,
    json: Json = False,
) -> None:
    """List the catalog, or tell all about one variant."""
    from pegboard.cli.variants import show_catalog, show_variant

    if variant is None:
        show_catalog(json)
    else:
        show_variant(variant, json)


@app.command()
def score(
    hand: Annotated[
        list[str], typer.Argument(metavar="CARD...", help="The hand, e.g. 5C 5D 5H JS.")
    ],
    starter: Annotated[str | None, typer.Option("--starter", help="The starter, e.g. 5S.")] = None,
    crib: Annotated[bool, typer.Option("--crib", help="Count as a crib.")] = False,
    variant: VariantId = "cribbage",
    json: Json = False,
) -> None:
    """Count a hand or crib, and say what makes the points."""
    from pegboard.cli.score import show_score

    show_score(hand, starter, crib, variant, json)


@app.command()
def peg(
    cards: Annotated[
        list[str],
        typer.Argument(
            metavar="CARD...", help="The cards of one count, in order; suits may be left out."
        ),
    ],
    variant: VariantId = "cribbage",
    json: Json = False,
) -> None:
    """Count the points of cards as they are played, up to 31."""
    from pegboard.cli.peg import show_pegging

    show_pegging(cards, variant, json)


@app.command()
def vectors(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A vector file: docs/vectors.md.")],
) -> None:
    """Run a vector file; print the ids that fail (exit status 1)."""
    from pegboard.cli.vectors import run_file

    raise Exit(run_file(file))


@app.command()
def replay(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="RECORD",
            help="A record, or a file of records, one a line; - reads standard input.",
        ),
    ],
    verify: Annotated[
        bool,
        typer.Option("--verify", help="Deal again from the revealed seed, score again, compare."),
    ] = False,
    match: Annotated[
        str | None, typer.Option("--match", help="Only the record of this match.")
    ] = None,
    board: Annotated[
        bool, typer.Option("--board", help="Draw the cribbage board at the end of every deal.")
    ] = False,
    at: Annotated[
        int | None,
        typer.Option(
            "--at",
            min=1,
            metavar="MOVE",
            help="Show the turn before this move, counted from 1; one more than all: the last turn.",
        ),
    ] = None,
    seat: Annotated[
        int | None,
        typer.Option(
            "--seat", min=0, help="With --at: as this seat saw it, not the one that moved."
        ),
    ] = None,
) -> None:
    """Tell the story of a record, verify it, or show one turn as its bot saw it."""
    from pegboard.cli.replay import show_turn, tell, verify_file

    if at is not None and verify:
        raise typer.BadParameter("leave out --verify or --at", param_hint="--verify")
    if at is not None:
        raise Exit(show_turn(file, match, seat, at))
    if seat is not None:
        raise typer.BadParameter("give the number of a move too, with --at", param_hint="--seat")
    raise Exit(verify_file(file, match) if verify else tell(file, match, board))


@app.command()
def doctor(json: Json = False) -> None:
    """Say what works here: libraries, sockets, toolchains."""
    from pegboard.cli.doctor import examine

    raise Exit(examine(json))


@app.command()
def bench(
    name: Annotated[
        str | None, typer.Argument(metavar="NAME", help="One benchmark; all if not given.")
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="A tenth of the work: a smoke test.")
    ] = False,
) -> None:
    """Run the benchmarks of the source tree, each beside its reference."""
    from pegboard.cli.bench import run_benchmarks

    raise Exit(run_benchmarks(name, quick))
