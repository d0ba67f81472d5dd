"""One run of the command line: its exit status, and one line for each error."""

from __future__ import annotations

import sys
from typing import NoReturn

from typer.exceptions import Abort, Exit, TyperException

from pegboard.cli.commands import app
from pegboard.errors import InvalidRequest
from pegboard.rules.errors import PegboardError
from pegboard.runner.terminal import lead_nowhere, say, settle_streams, shown

EXIT_USAGE = 2
EXIT_INTERRUPTED = 130
EXIT_READER_GONE = 141
"""What a shell reports for a program that SIGPIPE ends."""


def run_and_exit(arguments: list[str]) -> NoReturn:
    """Run one command as the whole program."""
    settle_streams()
    status = run(arguments)
    try:
        sys.stdout.flush()  # when Python ends, an error could no longer be reported in one line
    except OSError as error:
        status = fail_os(error)
    sys.exit(status)


def run(arguments: list[str]) -> int:
    """Run one command and return its exit status; errors become one line on standard error."""
    try:
        refuse_nul(arguments)
        status = app(arguments, prog_name="pegboard", standalone_mode=False)
    except TyperException as error:
        if error.format_message().startswith("Usage:"):  # no command was given: show all of them
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
    """Raise `InvalidRequest` for a NUL: names of files, cards and variants cannot hold it."""
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
    groups = [group.name for group in app.registered_groups if group.name]
    return [*(function.__name__ for function in functions if function), *groups]


def fail_os(error: OSError) -> int:
    """Return the exit status for a file that cannot be used, after a sentence.

    A reader that has gone, as with `| head`, is not a fault and gets no sentence.
    """
    if isinstance(error, BrokenPipeError):
        lead_nowhere(sys.stdout)
        return EXIT_READER_GONE
    if error.filename is None:
        lead_nowhere(sys.stdout)  # Python would try at its end to write the rest again
    where = f"{error.filename}: " if error.filename else ""
    return fail(f"{where}{error.strerror or error}")
