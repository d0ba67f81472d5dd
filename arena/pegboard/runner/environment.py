"""The environments of the processes that the arena starts, and the interpreter of its helpers.

A process inherits only what a program needs to run: the shell of an organiser may hold secrets, e.g.
the tokens of other bots.
"""

from __future__ import annotations

import os
import site
import sys
from collections.abc import Mapping
from pathlib import Path

from pegboard.arena.config import BotEntry
from pegboard.arena.results import PROCESS_MARK

HELPER_NAMES = frozenset(
    {"PATH", "HOME", "USER", "LOGNAME", "LANG", "LANGUAGE", "TZ", "TMPDIR"}
    | {"LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH"}
)
"""What our own helper processes inherit, beside `LC_*`."""

BOT_NAMES = HELPER_NAMES | {
    *("XDG_CACHE_HOME", "SSL_CERT_FILE", "SSL_CERT_DIR"),
    *("JAVA_HOME", "GOROOT", "GOPATH", "GOCACHE", "GOMODCACHE", "CARGO_HOME", "RUSTUP_HOME"),
    *("NODE_PATH", "DOTNET_ROOT", "VIRTUAL_ENV", "CONDA_PREFIX"),
    *("CUDA_VISIBLE_DEVICES", "OMP_NUM_THREADS"),
}
"""What bots inherit, beside `LC_*`: the places of toolchains, their caches and certificates."""


def helper_environment() -> dict[str, str]:
    """Return the environment of a helper process of ours."""
    return _inherited(HELPER_NAMES)


def bot_environment(bot: BotEntry, *, name: str, address: str, token: str) -> dict[str, str]:
    """Return the environment of a bot's process `name`.

    It has what the allow-list names, what the bot's `inherit` names, the bot's `env`, and
    `PEGBOARD_*` as the arena sets them.
    """
    return {
        **_inherited(BOT_NAMES | frozenset(bot.inherit)),
        **bot.env,
        "PEGBOARD_ADDRESS": address,
        "PEGBOARD_TOKEN": token,
        "PEGBOARD_BOT": bot.name,
        "PEGBOARD_PROCESS": name.partition(PROCESS_MARK)[2] or "1",
    }


def _inherited(names: frozenset[str]) -> dict[str, str]:
    return {
        key: value for key, value in os.environ.items() if key in names or key.startswith("LC_")
    }


def isolated_python(environ: Mapping[str, str] = os.environ) -> tuple[str, ...]:
    """Return the interpreter for a helper process of ours.

    Neither the working folder nor `PYTHON*` variables add to its module path, so that a file
    `random.py` beside a tournament is not taken for the library's. The user's own site-packages are
    left out too, unless this program is installed there.
    """
    if not site.ENABLE_USER_SITE or environ.get("PYTHONNOUSERSITE"):
        return (sys.executable, "-I")
    own = Path(__file__).resolve()
    there = own.is_relative_to(Path(site.getusersitepackages()).resolve())
    return (sys.executable, "-P", "-E") if there else (sys.executable, "-I")
