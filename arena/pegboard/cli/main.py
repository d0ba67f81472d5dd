"""The `pegboard` command: what it takes, and where each command lives.

Signatures and help texts stand here together; every body is one lazy import, so that `--help` loads
nothing heavy. Errors of others (`PegboardError`, wrong arguments) become one line and exit status 2.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.exceptions import Abort, Exit, TyperException

from pegboard.errors import InvalidRequest
from pegboard.rules.errors import PegboardError
from pegboard.runner.terminal import lead_nowhere, say, settle_streams, shown

APP_OPTIONS: dict[str, Any] = {
    "add_completion": False,
    "no_args_is_help": True,
    "rich_markup_mode": None,
    "pretty_exceptions_enable": False,
}
EXIT_USAGE = 2
EXIT_INTERRUPTED = 130
EXIT_READER_GONE = 141
"""What a shell reports for a program that SIGPIPE ends."""

app = typer.Typer(
    help="Hosts cribbage and Draw matches, and plays tournaments between bots.", **APP_OPTIONS
)
tournament = typer.Typer(help="Play a tournament, or show one.", **APP_OPTIONS)
app.add_typer(tournament, name="tournament")

Json = Annotated[bool, typer.Option("--json", help="Print JSON instead.")]
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
    from pegboard.rpc.settings import ServeSettings

    settings = ServeSettings(
        listen=tuple(listen or ()),
        unix=tuple(unix or ()),
        tokens=tokens,
        public=public,
        store=store,
        durability=durability,
        store_patience_s=store_patience,
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
) -> None:
    """Tell the story of a record, or verify it."""
    from pegboard.cli.replay import tell, verify_file

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


def main() -> None:
    """Run the command line and exit."""
    settle_streams()
    status = run(sys.argv[1:])
    try:
        sys.stdout.flush()  # here, where a sentence can still be said: not when Python ends
    except OSError as error:
        status = fail_os(error)
    sys.exit(status)


def run(arguments: list[str]) -> int:
    """Run one command and return its exit status; errors become one line on standard error."""
    try:
        refuse_nul(arguments)
        status = app(arguments, prog_name="pegboard", standalone_mode=False)
    except TyperException as error:
        if error.format_message().startswith("Usage:"):  # no command at all: show what there is
            print(error.format_message(), file=sys.stderr)
            return EXIT_USAGE
        return fail(usage_sentence(error, arguments))
    except PegboardError as error:
        # An error of a whole file has a sentence for each problem.
        return fail(*getattr(error, "problems", (str(error),)))
    except OSError as error:
        return fail_os(error)
    except (Abort, KeyboardInterrupt):
        say("interrupted")
        return EXIT_INTERRUPTED
    except Exit as stop:
        return stop.exit_code
    except SystemExit:  # Typer's own answer to a pipe without a reader
        lead_nowhere(sys.__stdout__)
        return EXIT_READER_GONE
    return status if isinstance(status, int) else 0


def fail(*sentences: str) -> int:
    """Print the line that a fault gets; several only for a file with several faults."""
    for sentence in sentences:
        say(f"pegboard: {shown(sentence)}")
    return EXIT_USAGE


def refuse_nul(arguments: list[str]) -> None:
    """Raise `InvalidRequest` for a NUL: no name of a file, card or variant has one."""
    if any("\0" in argument for argument in arguments):
        raise InvalidRequest("an argument has a NUL character in it; leave it out")


def usage_sentence(error: TyperException, arguments: list[str]) -> str:
    """Return what is wrong with the arguments and where to read on."""
    message = " ".join(error.format_message().split()).rstrip(".")
    command = next((word for word in arguments if word in command_names()), "")
    return f"{message}; see `pegboard {command + ' ' if command else ''}--help`"


def command_names() -> list[str]:
    """Return the names of the commands and groups of the first level."""
    functions = [command.callback for command in app.registered_commands]
    return [*(function.__name__ for function in functions if function), "tournament"]


def fail_os(error: OSError) -> int:
    """Return the exit status for a file that cannot be used, after a sentence.

    A reader that has gone, as by `| head`, is no fault and gets no sentence.
    """
    if isinstance(error, BrokenPipeError):
        lead_nowhere(sys.stdout)
        return EXIT_READER_GONE
    if error.filename is None:
        lead_nowhere(sys.stdout)  # what could not be written would be tried again at the end
    where = f"{error.filename}: " if error.filename else ""
    return fail(f"{where}{error.strerror or error}")


if __name__ == "__main__":
    main()
