"""The `pegboard` command. `main` is its entry, `commands` lists what each command takes."""

import sys

if sys.version_info < (3, 11):  # noqa: UP036 - before anything is imported that an old Python lacks
    sys.exit("pegboard: needs Python 3.11 or newer, and this is " + sys.version.split()[0])
