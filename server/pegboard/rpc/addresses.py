"""Where a server listens: all addresses of a host, or none.

gRPC binds those addresses of a name that it can and says nothing of the others, so that two servers may
share `localhost:P`, one on 127.0.0.1 and one on ::1. So names are resolved here, every address is tried
with a socket of our own, and gRPC is given literal addresses only.
"""

from __future__ import annotations

import contextlib
import errno
import os
import socket
import stat
from collections.abc import Sequence
from ipaddress import ip_address
from itertools import combinations
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

from pegboard.errors import InvalidRequest
from pegboard.rules.plain import plain, quoted

UNIX_PATH_BYTES = 107
PORT_TRIES = 16
"""How many free ports are tried until one is free on all addresses of a host."""
_WILDCARDS = frozenset({"0.0.0.0", "::"})  # noqa: S104 - compared with, not bound
_REASONS = {
    errno.EADDRINUSE: "the port is taken by something that listens there; choose another port",
    errno.EADDRNOTAVAIL: "that is not an address of this machine; 127.0.0.1 and 0.0.0.0 are",
    errno.EACCES: "this port needs rights of root; choose one from 1024 on",
    errno.EPERM: "this port needs rights of root; choose one from 1024 on",
}


class Place(NamedTuple):
    """A host as it was given, its numeric addresses, and the port that is free on all of them."""

    host: str
    addresses: tuple[str, ...]
    port: int

    @property
    def shown(self) -> str:
        """What people read and dial: `HOST:PORT`."""
        return f"{self.host}:{self.port}"

    def literals(self) -> list[str]:
        """Return what gRPC binds: numeric addresses, those of IPv6 in brackets."""
        return [f"{_bracketed(each)}:{self.port}" for each in self.addresses]

    def meets(self, other: Place) -> bool:
        """Whether both want the same port of the same address."""
        if self.port != other.port:
            return False
        mine, others = set(self.addresses), set(other.addresses)
        return bool(mine & others or _WILDCARDS & (mine | others))

    @property
    def is_loopback(self) -> bool:
        """Whether only this machine can connect."""
        return all(ip_address(each.partition("%")[0]).is_loopback for each in self.addresses)


def split(address: str) -> tuple[str, int]:
    """Return host and port of `HOST:PORT`. Raises `InvalidRequest` for anything else."""
    host, colon, port = address.rpartition(":")
    bare = host.removeprefix("[").removesuffix("]")
    numeric = port.isascii() and port.isdigit() and len(port) <= 5 and int(port) <= 65535
    if not colon or not bare or not numeric:
        raise InvalidRequest(
            f"{quoted(address)} is not an address; write HOST:PORT, like 127.0.0.1:50151"
        )
    if ":" in bare and host == bare:
        raise InvalidRequest(f"write {quoted(address)} with brackets: [{plain(host)}]:{port}")
    return bare, int(port)


def find_places(addresses: Sequence[str]) -> list[Place]:
    """Return where to listen, a free port for each port 0.

    Every address has been bound and released again. Raises `InvalidRequest` naming the address and
    the reason if one of them cannot be bound, or would be bound twice.
    """
    with contextlib.ExitStack() as held:
        places = [_find_place(*split(address), held) for address in dict.fromkeys(addresses)]
    for one, other in combinations(places, 2):
        if one.meets(other):
            raise InvalidRequest(
                f"cannot listen on {plain(other.shown)} beside {plain(one.shown)}: they share an"
                " address; leave one of them out"
            )
    return places


def _find_place(host: str, port: int, held: contextlib.ExitStack) -> Place:
    wanted = _resolve(host)
    tries = 1 if port else PORT_TRIES
    while True:
        tries -= 1
        taken = contextlib.ExitStack()
        found: list[str] = []
        number = port
        try:
            for address in wanted:
                probe = _probe(address, number)
                if probe is not None:
                    taken.callback(probe.close)
                    found.append(address)
                    number = probe.getsockname()[1]
        except OSError as error:
            taken.close()
            if error.errno == errno.EADDRINUSE and tries:
                continue  # a port that is free on one address is taken on another
            reason = _REASONS.get(error.errno or 0, error.strerror or str(error))
            where = f"{_bracketed(address)}:{number}"
            raise InvalidRequest(f"cannot listen on {where} ({plain(host)}): {reason}") from None
        held.callback(taken.close)
        if not found:
            raise InvalidRequest(
                f"cannot listen on {plain(host)}: IPv6 is switched off here; choose another address"
            )
        return Place(_bracketed(host), tuple(found), number)


def _resolve(host: str) -> tuple[str, ...]:
    """Return the numeric addresses of a host. Raises `InvalidRequest` for an unknown one."""
    if host.lower().rstrip(".") == "localhost":
        return ("127.0.0.1", "::1")  # RFC 6761, whatever the name service says
    found: dict[str, None] = {}
    reason = ""
    for family in (socket.AF_INET, socket.AF_INET6):
        # One by one: for both at once the C library may leave some out.
        try:
            answers = socket.getaddrinfo(host, None, family, socket.SOCK_STREAM)
        except (OSError, UnicodeError) as error:
            reason = reason or getattr(error, "strerror", None) or "not a name"
            continue
        for *_, address in answers:
            scope = f"%{address[3]}" if len(address) == 4 and address[3] else ""
            found[f"{address[0]}{scope}"] = None
    if not found:
        raise InvalidRequest(
            f"cannot listen on {plain(host)}: no such host is known here ({reason.lower()})"
        )
    return tuple(found)


def _probe(address: str, port: int) -> socket.socket | None:
    """Bind a socket and return it; None if this machine has no IPv6. Raises `OSError`."""
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    if address in _WILDCARDS and socket.has_dualstack_ipv6():
        family, address = socket.AF_INET6, "::"  # gRPC listens on both families for either
    try:
        probe = socket.socket(family, socket.SOCK_STREAM)
    except OSError:
        if family == socket.AF_INET6:
            return None
        raise
    try:
        # As gRPC does: connections of an earlier server that wait for their end do no harm.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if family == socket.AF_INET6:
            probe.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, int(address != "::"))
        probe.bind(socket.getaddrinfo(address, port, family, socket.SOCK_STREAM)[0][4])
    except OSError as error:
        probe.close()
        if address == "::1" and error.errno == errno.EADDRNOTAVAIL:
            return None  # IPv6 is switched off
        raise
    return probe


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host


# Unix sockets


def check_unix(path: Path) -> None:
    """Raise `InvalidRequest` for a path that no socket can have, or that no client can dial."""
    size = len(os.fsencode(path.absolute()))
    if size > UNIX_PATH_BYTES:
        raise InvalidRequest(
            f"the socket path {plain(str(path))} has {size} bytes; at most {UNIX_PATH_BYTES} are"
            " possible"
        )
    if "," in str(path.absolute()) or "\0" in str(path):
        raise InvalidRequest(
            f"gRPC cannot dial the socket path {plain(str(path))}; choose one without commas"
        )


def unix_address(path: Path) -> str:
    """Return what people read and dial: `unix:` and the absolute path as it is."""
    return f"unix:{path.absolute()}"


def unix_target(path: Path) -> str:
    """Return the address for gRPC, which takes it as a URI: `#`, `?` and `%` are escaped."""
    return "unix:" + quote(os.fsencode(path.absolute()), safe="/")


def make_way(path: Path) -> None:
    """Remove a socket that a dead server left. Raises `InvalidRequest` for a live one or a file."""
    try:
        mode = path.stat().st_mode
    except OSError:
        return
    if not stat.S_ISSOCK(mode):
        raise InvalidRequest(f"{plain(str(path))} is not a socket; choose another path")
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        probe.settimeout(1.0)
        try:
            probe.connect(str(path.absolute()))
        except OSError:
            path.unlink(missing_ok=True)
            return
    raise InvalidRequest(
        f"another server listens on {plain(str(path))}; stop it or choose another path"
    )
