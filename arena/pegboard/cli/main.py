"""The entry of the `pegboard` command.

It imports nothing but `signal`, so that Ctrl-C gets no traceback while the rest is imported.
"""

import signal
import sys


def main() -> None:
    """Run the command line and exit.

    While the commands are imported, some 50 ms, SIGINT ends the process at once: Python's own handler
    would raise KeyboardInterrupt in whichever import is under way, and print its traceback.
    """
    handler = signal.getsignal(signal.SIGINT)
    if handler is signal.default_int_handler:  # otherwise a shell has told us to ignore SIGINT
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    from pegboard.cli.shell import run_and_exit

    signal.signal(signal.SIGINT, handler)
    run_and_exit(sys.argv[1:])


if __name__ == "__main__":
    main()
