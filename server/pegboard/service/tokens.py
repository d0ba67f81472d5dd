"""Who is calling: bearer tokens of bots and organisers.

    [bots]
    alice = "sha256:9f86d081..."    # the SHA-256 of the token, in hexadecimal
    bob = "a-long-random-token"     # or the token itself

    [organisers]
    arena = "sha256:..."

Without a file the server is in development mode: any token is the name of a bot, and every caller is
an organiser too. That is allowed on Unix sockets only, which the server makes for its own user alone;
a TCP port, also of the loopback interface, can be reached by everybody on the machine.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from pegboard.rules.errors import InvalidRequest, PermissionDenied, Unauthenticated

NAME = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]{0,61}[A-Za-z0-9])?")
_SECTIONS = ("bots", "organisers")
_DIGEST = re.compile(r"sha256:([0-9a-f]{64})")


class Caller(NamedTuple):
    """Who calls: a bot, an organiser, both in development mode, or neither without a token."""

    bot: str | None = None
    organiser: str | None = None

    def require_bot(self) -> str:
        """Return the bot's name. Raises `Unauthenticated` or `PermissionDenied`."""
        if self.bot is None:
            self._require_token()
            raise PermissionDenied(
                f"{self.organiser} is an organiser; playing needs the token of a bot"
            )
        return self.bot

    def require_organiser(self) -> str:
        """Return the organiser's name. Raises `Unauthenticated` or `PermissionDenied`."""
        if self.organiser is None:
            self._require_token()
            raise PermissionDenied(f"{self.bot} is a bot; this needs the token of an organiser")
        return self.organiser

    def _require_token(self) -> None:
        if self.bot is None and self.organiser is None:
            raise Unauthenticated(
                "no token; send it as `authorization: Bearer TOKEN` metadata, or in Hello"
            )


ANONYMOUS = Caller()


class Tokens(Protocol):
    """Something that knows callers by their tokens."""

    @property
    def open_to_all(self) -> bool:
        """Whether anybody is let in."""
        ...

    def caller(self, token: str) -> Caller:
        """Return who has the token; nobody for an empty one. Raises `Unauthenticated`."""
        ...


class DevelopmentTokens:
    """No file: a token is a bot's name, and everybody is an organiser."""

    open_to_all = True

    def caller(self, token: str) -> Caller:
        """Return the bot of that name. Raises `Unauthenticated` for what cannot be a name."""
        if token and not NAME.fullmatch(token):
            raise Unauthenticated(
                f"no bot can be called {token[:80]!r}; without a token file the token is the bot's"
                " name: letters, digits, dots and hyphens"
            )
        return Caller(token or None, "developer")


class FileTokens:
    """The tokens of a file. Compared in constant time, since only digests are looked up."""

    open_to_all = False

    def __init__(self, callers: Mapping[bytes, Caller]) -> None:
        """Take callers by the SHA-256 of their tokens."""
        self._callers = dict(callers)

    def caller(self, token: str) -> Caller:
        """Return who has the token. Raises `Unauthenticated`."""
        if not token:
            return ANONYMOUS
        digest = hashlib.sha256(token.encode()).digest()
        for known, caller in self._callers.items():
            if hmac.compare_digest(known, digest):
                return caller
        raise Unauthenticated("nobody has this token; ask the organiser for yours")


def load_tokens(path: Path | None) -> Tokens:
    """Read a token file; development mode for None. Raises `InvalidRequest` naming file and key."""
    if path is None:
        return DevelopmentTokens()
    try:
        sections = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidRequest(f"cannot read the tokens in {path}: {error}") from None
    except (ValueError, RecursionError) as error:  # TOML, or a number that is too long
        raise InvalidRequest(f"{path} is no TOML: {error}") from None
    for section in sections:
        if section not in _SECTIONS:
            raise InvalidRequest(f"{path} has no section {section!r}; it has [bots], [organisers]")
    callers: dict[bytes, Caller] = {}
    for section in _SECTIONS:
        _read_section(path, section, sections.get(section, {}), callers)
    return FileTokens(callers)


def _read_section(path: Path, section: str, entries: Any, callers: dict[bytes, Caller]) -> None:
    if not isinstance(entries, dict):
        raise InvalidRequest(f"{path}: [{section}] must be a table of names and tokens")
    for name, token in entries.items():
        where = f"{path}: {section}.{name}"
        if not NAME.fullmatch(name):
            raise InvalidRequest(f"{where} is no name; use letters, digits, dots and hyphens")
        if not isinstance(token, str) or not token:
            raise InvalidRequest(f'{where} must be a token or "sha256:" and its digest')
        digest = _digest(where, token)
        if digest in callers:
            raise InvalidRequest(f"{where} has the token of somebody else; give it its own")
        callers[digest] = Caller(bot=name) if section == "bots" else Caller(organiser=name)


def _digest(where: str, token: str) -> bytes:
    if not token.startswith("sha256:"):
        return hashlib.sha256(token.encode()).digest()
    match = _DIGEST.fullmatch(token.lower())
    if match is None:
        raise InvalidRequest(f"{where}: after sha256: come 64 hexadecimal digits")
    return bytes.fromhex(match[1])


def bearer_token(metadata: Any) -> str:
    """Return the token of `authorization: Bearer TOKEN`, or "" where there is none."""
    for key, value in metadata or ():
        if key == "authorization" and isinstance(value, str):
            kind, _, token = value.partition(" ")
            if kind.lower() == "bearer":
                return token.strip()
    return ""
