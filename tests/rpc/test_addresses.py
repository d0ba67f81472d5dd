"""Where a server listens: all addresses of a host or none, and sockets at any path."""

from __future__ import annotations

import errno
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import grpc.aio
import pytest
from tests.service.rig import serving, token_file

from pegboard.errors import InvalidRequest
from pegboard.matches.host import MatchHost
from pegboard.matches.store.opening import open_store
from pegboard.matches.store.protocol import Durability
from pegboard.rpc.addresses import find_places, split, unix_address, unix_target
from pegboard.rpc.gate import Gate
from pegboard.rpc.limits import Limits
from pegboard.rpc.tokens import load_tokens
from pegboard.service.app import Server
from pegboard.service.settings import ServeSettings

SERVE = (sys.executable, "-m", "pegboard.cli.main", "serve")


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder with a short path, as Unix sockets need."""
    with TemporaryDirectory(prefix="pegboard-") as name:
        yield Path(name)


def has_ipv6() -> bool:
    """Say whether ::1 can be listened on here."""
    try:
        with socket.socket(socket.AF_INET6) as probe:
            probe.bind(("::1", 0))
    except OSError:
        return False
    return True


needs_ipv6 = pytest.mark.skipif(not has_ipv6(), reason="no ::1 on this machine")


def listener(address: str, port: int = 0) -> socket.socket:
    """Listen on an address, as another server does."""
    taken = socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET)
    if ":" in address:
        taken.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
    taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # as gRPC's
    taken.bind((address, port))
    taken.listen()
    return taken


@pytest.mark.parametrize(
    ("theirs", "ours"),
    [
        ("127.0.0.1", "127.0.0.1"),
        ("127.0.0.1", "localhost"),
        ("127.0.0.1", "0.0.0.0"),
        ("127.0.0.1", "[::]"),
        ("0.0.0.0", "127.0.0.1"),
        ("0.0.0.0", "localhost"),
        ("0.0.0.0", "0.0.0.0"),
        pytest.param("::1", "[::1]", marks=needs_ipv6),
        pytest.param("::1", "localhost", marks=needs_ipv6),
        pytest.param("::1", "[::]", marks=needs_ipv6),
        pytest.param("::1", "0.0.0.0", marks=needs_ipv6),
    ],
)
def test_a_port_of_which_a_part_is_taken_is_refused(theirs: str, ours: str) -> None:
    """Two servers never share a port, whatever each calls the host."""
    with listener(theirs) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(InvalidRequest, match="the port is taken") as caught:
            find_places([f"{ours}:{port}"])
        assert f":{port}" in str(caught.value)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("127.0.0.1", "localhost"),
        ("0.0.0.0", "127.0.0.1"),
        pytest.param("[::1]", "localhost", marks=needs_ipv6),
        pytest.param("[::]", "0.0.0.0", marks=needs_ipv6),
    ],
)
def test_a_server_does_not_take_a_port_from_itself(one: str, other: str) -> None:
    """Two names of one address, or an address beside all of them; other ports are fine."""
    with listener("127.0.0.1") as free:
        port = free.getsockname()[1]
    with pytest.raises(InvalidRequest, match="they share an address; leave one of them out"):
        find_places([f"{one}:{port}", f"{other}:{port}"])
    assert len(find_places([f"{one}:0", f"{other}:0"])) == 2


@needs_ipv6
def test_localhost_is_both_loopbacks_with_one_port() -> None:
    """Port 0 takes one that is free on both."""
    (place,) = find_places(["localhost:0"])
    assert place.addresses == ("127.0.0.1", "::1")
    assert place.shown == f"localhost:{place.port}"
    assert place.literals() == [f"127.0.0.1:{place.port}", f"[::1]:{place.port}"]
    assert place.is_loopback


def test_without_ipv6_localhost_is_one_address(monkeypatch: pytest.MonkeyPatch) -> None:
    """A kernel without the family, or with ::1 switched off."""
    real = socket.socket

    def only_ipv4(family: int, kind: int) -> socket.socket:
        if family == socket.AF_INET6:
            raise OSError(errno.EAFNOSUPPORT, "no such family")
        return real(family, kind)

    monkeypatch.setattr(socket, "socket", only_ipv4)
    (place,) = find_places(["localhost:0"])
    assert place.addresses == ("127.0.0.1",)
    for host in ("[::1]", "[::]"):
        with pytest.raises(InvalidRequest, match="IPv6 is switched off here"):
            find_places([f"{host}:0"])


def test_an_address_that_a_dead_connection_remembers_is_taken_again() -> None:
    """TIME_WAIT of an earlier server's connections does not keep its successor away."""
    with listener("127.0.0.1") as server:
        port = server.getsockname()[1]
        with socket.create_connection(("127.0.0.1", port)):
            server.accept()[0].close()  # the side that closes first waits
    (place,) = find_places([f"127.0.0.1:{port}"])
    assert place.port == port


@pytest.mark.parametrize(
    ("address", "words"),
    [
        ("192.0.2.77:0", "not an address of this machine"),
        ("no-such-host.invalid:0", "no such host is known here"),
        ("n" * 300 + ":0", "no such host is known here"),
        ("::1:50151", r"write '::1:50151' with brackets: \[::1\]:50151"),
        ("127.0.0.1", "write HOST:PORT"),
        ("127.0.0.1:²", "write HOST:PORT"),
        ("127.0.0.1:65536", "write HOST:PORT"),
        ("[]:1", "write HOST:PORT"),
    ],
)
def test_addresses_that_cannot_be_get_a_sentence(address: str, words: str) -> None:
    """It names the address and what is wrong with it."""
    with pytest.raises(InvalidRequest, match=words) as caught:
        find_places([address])
    assert len(str(caught.value)) < 250


def test_hosts_of_ipv6_are_bracketed() -> None:
    """On the way in and out."""
    assert split("[::1]:7") == ("::1", 7)
    assert not find_places(["0.0.0.0:0"])[0].is_loopback


def test_a_second_server_on_the_port_says_so_and_ends(folder: Path) -> None:
    """127.0.0.1 and localhost, as two commands."""
    serve = [*SERVE, "--tokens", str(token_file(folder)), "--durability", "memory"]
    first = subprocess.Popen(
        [*serve, "--listen", "127.0.0.1:0"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert first.stdout is not None
        port = first.stdout.readline().strip().rpartition(":")[2]
        second = subprocess.run(
            [*serve, "--listen", f"localhost:{port}"], capture_output=True, text=True, timeout=60
        )
        assert second.returncode == 2
        assert second.stdout == ""
        assert f"cannot listen on 127.0.0.1:{port} (localhost): the port is taken" in second.stderr
        assert "Traceback" not in second.stderr
    finally:
        first.kill()
        first.communicate()


@pytest.mark.parametrize(("host", "warned"), [("0.0.0.0", True), ("127.0.0.1", False)])
async def test_clear_text_that_others_can_hear_is_warned_of(
    host: str, warned: bool, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """One line on standard error that says what to do."""
    async with bound(ServeSettings(listen=(f"{host}:0",)), folder):
        pass
    lines = capsys.readouterr().err.splitlines()
    warnings = [line for line in lines if line.startswith("pegboard: warning: ")]
    assert len(warnings) == warned
    assert all("clear text" in line and "--tls-certificate" in line for line in warnings)


class bound:  # noqa: N801 - reads as a function
    """A server that listens as the settings say; enters with its addresses."""

    def __init__(self, settings: ServeSettings, folder: Path) -> None:
        self.settings = settings
        self.host = MatchHost(open_store(None, Durability.MEMORY))
        self.server: Server
        self.gate = Gate(load_tokens(token_file(folder)), Limits(stop_s=0.1))

    async def __aenter__(self) -> list[str]:
        await self.host.open()
        self.server = Server(self.host, self.gate)
        addresses = self.server.bind(self.settings)
        await self.server.start()
        return addresses

    async def __aexit__(self, *_: object) -> None:
        await self.server.stop()


PATHS = (
    "a#b",
    "a?b",
    "a%41b",
    "a%b",
    "a b",
    "a:b",
    "a@b",
    "ü",
    "a&b=c;d",
    "a\nb",
    os.fsdecode(b"\xff"),
)


@pytest.mark.parametrize("name", PATHS)
async def test_a_socket_at_any_path(name: str, folder: Path) -> None:
    """The socket is there under its name, and what gRPC is told means that one."""
    path = folder / name
    async with bound(ServeSettings(unix=(path,)), folder) as addresses:
        assert addresses == [f"unix:{path}"] == [unix_address(path)]
        assert path.is_socket()
        assert path.stat().st_mode & 0o777 == 0o600
        async with grpc.aio.insecure_channel(unix_target(path)) as channel:
            call: Any = channel.unary_unary("/pegboard.v1.CatalogService/ListVariants")
            assert await call(b"")


async def test_a_relative_path_of_a_socket(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is announced can be dialled from anywhere."""
    monkeypatch.chdir(folder)
    async with bound(ServeSettings(unix=(Path("s 1"),)), folder) as addresses:
        assert addresses == [f"unix:{folder / 's 1'}"]


async def test_a_path_that_no_client_can_dial_is_refused(folder: Path) -> None:
    """gRPC takes a comma as the end of an address."""
    from pegboard.rpc.addresses import check_unix

    with pytest.raises(InvalidRequest, match="without commas"):
        check_unix(folder / "a,b")


async def test_a_server_of_the_rig_is_at_its_address() -> None:
    """The rig's own address is one that people read."""
    async with serving() as rig:
        assert rig.address == f"unix:{rig.folder / 's'}"
