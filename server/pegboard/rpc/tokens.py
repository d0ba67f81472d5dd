"""Who is calling: bearer tokens of bots and organisers.

    [bots]
    alice = "sha256:9f86d081..."    # the SHA-256 of the token, in hexadecimal
    bob = "a-long-random-token"     # or the token itself

    [organisers]
    arena = "sha256:..."

The file can be read by its owner alone; a server refuses one that others can read.

Without a file the server is in development mode: any token is the name of a bot, and every caller is
an organiser too. That is allowed on Unix sockets only, which the server makes for its own user alone;
a TCP port, also of the loopback interface, can be reached by everybody on the machine.
"""

from __future__ import annotations

import difflib
import hashlib
import os
import re
import shlex
import stat
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from pegboard.errors import InvalidRequest, PermissionDenied, Unauthenticated
from pegboard.rules.plain import plain, quoted

NAME = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]{0,61}[A-Za-z0-9])?")
TOKEN_MOST = 512
"""The most characters of a token."""
_SECTIONS = ("bots", "organisers")
_DIGEST = re.compile(r"sha256:([0-9a-f]{64})")


class Caller(NamedTuple):
    """Who calls: a bot, an organiser, both in development mode, or neither without a token."""

    bot: str | None = None
    organiser: str | None = None

    def require_bot(self) -> str:
        """Return the bot's name. Raises `Unauthenticated` or `PermissionDenied`."""
        if self.bot is None:
            self.require_token()
            raise PermissionDenied(
                f"{self.organiser} is an organiser; playing needs the token of a bot"
            )
        return self.bot

    def require_organiser(self) -> str:
        """Return the organiser's name. Raises `Unauthenticated` or `PermissionDenied`."""
        if self.organiser is None:
            self.require_token()
            raise PermissionDenied(f"{self.bot} is a bot; this needs the token of an organiser")
        return self.organiser

    def require_token(self) -> None:
        """Raise `Unauthenticated` for a caller without a token."""
        if self.bot is None and self.organiser is None:
            raise Unauthenticated(
                "no token; send it as `authorization: Bearer TOKEN` metadata, or in Hello"
            )


ANONYMOUS = Caller()


class Tokens(Protocol):
    """Something that knows callers by their tokens."""

    @property
    def open_to_all(self) -> bool:
        """Whether every caller is let in."""
        ...

    def caller(self, token: str) -> Caller:
        """Return who has the token; `ANONYMOUS` for an empty one. Raises `Unauthenticated`."""
        ...

    def check_bot(self, name: str) -> None:
        """Raise `InvalidRequest` if no bot of that name can ever come."""
        ...


class DevelopmentTokens:
    """No file: a token is a bot's name, and everybody is an organiser."""

    open_to_all = True

    def caller(self, token: str) -> Caller:
        """Return the bot of that name. Raises `Unauthenticated` for what cannot be a name."""
        if token and not NAME.fullmatch(token):
            raise Unauthenticated(
                f"no bot can be called {quoted(token)}; without a token file the token is the bot's"
                " name: letters, digits, dots and hyphens"
            )
        return Caller(token or None, "developer")

    def check_bot(self, name: str) -> None:
        """Raise `InvalidRequest` for what cannot be a name."""
        if not NAME.fullmatch(name):
            raise InvalidRequest(
                f"no bot can be called {quoted(name)}; use letters, digits, dots and hyphens"
            )


class FileTokens:
    """The tokens of a file. Only digests are looked up, so the time that takes tells nothing."""

    open_to_all = False

    def __init__(self, callers: Mapping[bytes, Caller]) -> None:
        """Take callers by the SHA-256 of their tokens."""
        self._callers = dict(callers)
        self._bots = {caller.bot for caller in callers.values() if caller.bot is not None}

    def caller(self, token: str) -> Caller:
        """Return who has the token. Raises `Unauthenticated`."""
        if not token:
            return ANONYMOUS
        known = len(token) <= TOKEN_MOST
        caller = self._callers.get(hashlib.sha256(token.encode()).digest()) if known else None
        if caller is None:
            raise Unauthenticated("nobody has this token; ask the organiser for yours")
        return caller

    def check_bot(self, name: str) -> None:
        """Raise `InvalidRequest` for a bot without a token."""
        if name in self._bots:
            return
        nearest = difflib.get_close_matches(name[:64], self._bots, n=3)
        hint = f"; did you mean {' or '.join(nearest)}?" if nearest else "; add it to [bots]"
        raise InvalidRequest(f"no token names the bot {quoted(name)}{hint}")


def load_tokens(path: Path | None) -> Tokens:
    """Read a token file; development mode for None. Raises `InvalidRequest` naming file and key."""
    if path is None:
        return DevelopmentTokens()
    try:
        text = _read_secret(path)
    except OSError as error:
        reason = error.strerror or str(error)
        raise InvalidRequest(f"cannot read the tokens in {path}: {reason}") from None
    except UnicodeDecodeError:
        raise InvalidRequest(f"{path} is not a TOML file: its text is not UTF-8") from None
    try:
        sections = tomllib.loads(text)
    except (ValueError, RecursionError) as error:  # also numbers of 5,000 digits, lists 1,000 deep
        raise InvalidRequest(f"{path} is not a TOML file: {plain(str(error))}") from None
    for section in sections:
        if section not in _SECTIONS:
            raise InvalidRequest(
                f"{path} has a section {quoted(section)}; only [bots] and [organisers] are known"
            )
    callers: dict[bytes, Caller] = {}
    for section in _SECTIONS:
        _read_section(path, section, sections.get(section, {}), callers)
    return FileTokens(callers)


def _read_secret(path: Path) -> str:
    """Return the text of a file that only its owner can read. Raises `InvalidRequest`, `OSError`."""
    with path.open("rb") as file:
        mode = os.fstat(file.fileno()).st_mode
        if stat.S_ISREG(mode) and mode & 0o077:
            raise InvalidRequest(
                f"others can read the tokens in {path} (mode {stat.S_IMODE(mode):04o}); run `chmod"
                f" 600 {shlex.quote(str(path))}`"
            )
        return file.read().decode("utf-8-sig")


def _read_section(path: Path, section: str, entries: Any, callers: dict[bytes, Caller]) -> None:
    if not isinstance(entries, dict):
        raise InvalidRequest(f"{path}: [{section}] must be a table of names and tokens")
    for name, token in entries.items():
        where = f"{path}: {section}.{plain(name)}"
        if not NAME.fullmatch(name):
            raise InvalidRequest(f"{where} is not a name; use letters, digits, dots and hyphens")
        if not isinstance(token, str) or not 0 < len(token) <= TOKEN_MOST:
            raise InvalidRequest(
                f'{where} must be a token of 1 to {TOKEN_MOST} characters, or "sha256:" and its digest'
            )
        digest = _digest(where, token)
        if digest in callers:
            raise InvalidRequest(f"{where} has the token of another entry; give it its own")
        callers[digest] = Caller(bot=name) if section == "bots" else Caller(organiser=name)


def _digest(where: str, token: str) -> bytes:
    if not token.startswith("sha256:"):
        return hashlib.sha256(token.encode()).digest()
    match = _DIGEST.fullmatch(token.lower())
    if match is None:
        raise InvalidRequest(f"{where}: after sha256: come 64 hexadecimal digits")
    return bytes.fromhex(match[1])


def bearer_token(metadata: Any) -> str:
    """Return the token of `authorization: Bearer TOKEN`, or "" if there is none."""
    for key, value in metadata or ():
        if key == "authorization" and isinstance(value, str):
            kind, _, token = value.partition(" ")
            if kind.lower() == "bearer":
                return token.strip()
    return ""
