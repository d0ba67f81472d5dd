"""Addresses of servers, as people write them and as gRPC wants them.

    host:port             TCP, in clear text; also http://host:port
    https://host:port     TCP with TLS
    unix:/path            a Unix socket; also unix:relative/path and unix:///path

The path of a Unix socket is written as it is. gRPC reads a target as a URI, in which `%`, `#` and `?`
have a meaning of their own; only this module escapes them.
"""

from __future__ import annotations

import os
import re
from ipaddress import ip_address
from typing import NamedTuple
from urllib.parse import quote

from pegboard.errors import InvalidRequest

DEFAULT_ADDRESS = "localhost:50151"
SOCKET_PATH_BYTES = 107
"""The longest path that a Unix socket can have."""

_HOST_PORT = re.compile(r"(?P<host>\[[0-9A-Fa-f:.%\w]+\]|[^\s:/?#@\[\]%]+):(?P<port>[0-9]{1,5})")


class Address(NamedTuple):
    """`target` is gRPC's; `secure`: TLS; `local`: this machine, which is dialled without a proxy."""

    target: str
    secure: bool
    local: bool


def parse_address(text: str) -> Address:
    """Read an address. Raises `InvalidRequest` for text of another shape."""
    if not text.isprintable():
        raise InvalidRequest(f"the address {text!r} has characters in it that cannot be printed")
    if text.startswith("unix:"):
        return Address(f"unix:{quote(os.fsencode(_socket_path(text)), safe='/')}", False, True)
    secure = text.startswith("https://")
    rest = text.removeprefix("https://" if secure else "http://")
    if rest != text:
        rest = rest.removesuffix("/")
    found = _HOST_PORT.fullmatch(rest)
    if found is None or not 0 < int(found["port"]) < 65536:
        raise InvalidRequest(
            f"{text[:200]!r} is not an address; write host:port (an IPv6 host in brackets),"
            " https://host:port or unix:/path/of/the/socket"
        )
    return Address(rest, secure, _is_loopback(found["host"]))


def _socket_path(text: str) -> str:
    path = text.removeprefix("unix:")
    if path.startswith("//"):
        path = path.removeprefix("//")
        if not path.startswith("/"):
            raise InvalidRequest(
                f"{text[:200]!r} is not an address; write unix:/path or unix:///path"
            )
    if "," in path:
        raise InvalidRequest(f"gRPC cannot dial {text[:200]!r}; choose a path without commas")
    if not path:
        raise InvalidRequest("the address 'unix:' has no path; write unix:/path/of/the/socket")
    size = len(os.fsencode(path))
    if size > SOCKET_PATH_BYTES:
        raise InvalidRequest(
            f"the socket path {path[:40]}... has {size} bytes; at most {SOCKET_PATH_BYTES} are possible"
        )
    return path


def _is_loopback(host: str) -> bool:
    if host.lower().rstrip(".") == "localhost":
        return True
    try:
        return ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False
