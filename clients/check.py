"""Check the kits of other languages: generated code, format, lint, unit tests.

Run by `make check-clients [LANGUAGES="go"]`. A missing toolchain is reported, and is an error in CI.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

CLIENTS = Path(__file__).resolve().parent
ROOT = CLIENTS.parent
STATICCHECK = "honnef.co/go/tools/cmd/staticcheck@v0.8.2"


class Check(NamedTuple):
    """A command in the folder of a kit; `silent`: what it prints on standard output is a complaint."""

    command: tuple[str, ...]
    silent: bool = False


class Kit(NamedTuple):
    """A kit: the programs that it needs, and what it has to pass."""

    needs: tuple[str, ...]
    checks: tuple[Check, ...]


KITS = {
    "go": Kit(
        ("go", "gofmt", "gcc"),  # gcc: the race detector
        (
            Check(("gofmt", "-l", "."), silent=True),
            Check(("go", "mod", "tidy", "-diff")),
            Check(("go", "vet", "./...")),
            Check(("go", "run", STATICCHECK, "./...")),
            Check(("go", "test", "-race", "./...")),
        ),
    ),
}


def passes(name: str, check: Check) -> bool:
    """Run one check and say whether it passes."""
    sys.stdout.write(f"{name}: {' '.join(check.command)}\n")
    sys.stdout.flush()
    done = subprocess.run(
        check.command, cwd=CLIENTS / name, stdout=subprocess.PIPE, text=True, check=False
    )
    complains = done.returncode != 0 or (check.silent and bool(done.stdout.strip()))
    if complains:
        sys.stdout.write(f"{done.stdout}{name}: FAILED: {' '.join(check.command)}\n")
    return not complains


def kit_passes(name: str) -> bool:
    """Check one kit; all checks run even if one fails."""
    missing = [program for program in KITS[name].needs if shutil.which(program) is None]
    if missing:
        sys.stdout.write(f"{name}: not checked, since {', '.join(missing)} is missing\n")
        return not os.environ.get("CI")
    generator = str(ROOT / "protos" / "languages.py")
    fresh = Check((sys.executable, generator, "--kits", "--check", name))
    results = [passes(name, check) for check in (fresh, *KITS[name].checks)]
    return all(results)


def main() -> int:
    """Check the kits that are named, or all; all are tried even if one fails."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kits", nargs="*", help=f"of {', '.join(KITS)}; default: all")
    names = parser.parse_args().kits or [*KITS]
    unknown = set(names) - KITS.keys()
    if unknown:
        parser.error(f"no kit {', '.join(sorted(unknown))}; there are {', '.join(KITS)}")
    results = [kit_passes(name) for name in names]
    return 0 if all(results) else 1


if __name__ == "__main__":
    raise SystemExit(main())
