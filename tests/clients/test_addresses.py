"""Addresses: what people write reaches the server, whatever the path and the environment."""

from __future__ import annotations

import asyncio
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import grpc.aio
import pytest

from pegboard.client.address import Address, parse_address
from pegboard.client.channel import open_channel
from pegboard.errors import InvalidRequest
from pegboard.v1 import play_pb2

PROXIES = ("http_proxy", "https_proxy", "grpc_proxy")
NAMES = ["plain", "a b", "a#b", "a?b=c", "a%b", "a%20b", "größe", "a+b&c;d", "a:b@c", "[a]", "a\\b"]


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("localhost:50151", Address("localhost:50151", False, True)),
        ("LOCALHOST.:1", Address("LOCALHOST.:1", False, True)),
        ("127.9.9.9:1", Address("127.9.9.9:1", False, True)),
        ("[::1]:65535", Address("[::1]:65535", False, True)),
        ("[fe80::1%eth0]:1", Address("[fe80::1%eth0]:1", False, False)),
        ("example.org:443", Address("example.org:443", False, False)),
        ("localhost.example.org:1", Address("localhost.example.org:1", False, False)),
        ("http://10.0.0.1:80", Address("10.0.0.1:80", False, False)),
        ("http://localhost:80/", Address("localhost:80", False, True)),
        ("https://host:443", Address("host:443", True, False)),
        ("unix:/a/b", Address("unix:/a/b", False, True)),
        ("unix:///a/b", Address("unix:/a/b", False, True)),
        ("unix:a/b", Address("unix:a/b", False, True)),
        ("unix:/a #?%20", Address("unix:/a%20%23%3F%2520", False, True)),
    ],
)
def test_what_an_address_means(text: str, address: Address) -> None:
    """TCP, TLS, Unix sockets; which of them are this machine."""
    assert parse_address(text) == address


@pytest.mark.parametrize(
    "text",
    [
        *(
            "localhost",
            ":50151",
            "host:",
            "host:0",
            "host:65536",
            "host:http",
            "host:1:2",
            "::1:80",
        ),
        *("host:1/path", "host:1?x", "user@host:1", "http://", "https://host", "ftp://host:1"),
        *(
            "dns:///host:1",
            "ho st:1",
            "host:1 ",
            "unix:",
            "unix://host/path",
            "unix:/a,b",
            "host:١",
            "[::1]",
        ),
        *(
            "unix:/" + "x" * 107,
            "unix-abstract:x",
            "unix:/a,b",
            "unix:/a\0b",
            "host\n:1",
            "HTTPS://host:1",
        ),
    ],
)
def test_what_is_not_an_address(text: str) -> None:
    """One sentence, before anything is tried."""
    with pytest.raises(InvalidRequest) as caught:
        parse_address(text)
    assert str(caught.value).isprintable()


class Echo(grpc.GenericRpcHandler):
    """Sends back what it gets."""

    def service(self, handler_call_details: Any) -> Any:
        """Return the one method there is."""
        return grpc.unary_unary_rpc_method_handler(self.echo)

    async def echo(self, request: bytes, _context: Any) -> bytes:
        """Send it back."""
        return request


async def echo_server(target: str) -> tuple[grpc.aio.Server, int]:
    """Start a server and return it with its port."""
    server = grpc.aio.server()
    server.add_generic_rpc_handlers((Echo(),))
    port = server.add_insecure_port(target)
    await server.start()
    return server, port


async def reach(address: str) -> None:
    """Say something and hear it."""
    async with open_channel(address) as channel:
        method: Any = channel.unary_unary("/echo/Echo")
        assert await method(b"hello", wait_for_ready=True, timeout=60) == b"hello"


@pytest.mark.parametrize("name", NAMES)
async def test_the_path_of_a_socket_is_written_as_it_is(name: str) -> None:
    """In three ways, all of them the same file."""
    with TemporaryDirectory(prefix="pegboard-") as folder:
        path = Path(folder) / name
        server, _ = await echo_server(parse_address(f"unix:{path}").target)
        assert path.is_socket(), "the very file"
        await reach(f"unix:{path}")
        await reach(f"unix://{path}")
        with pytest.MonkeyPatch.context() as patch:
            patch.chdir(folder)
            await reach(f"unix:{name}")
        await server.stop(0)


async def test_a_proxy_of_the_environment_is_not_asked_for_this_machine(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Loopback and sockets are reached directly; another machine is asked for at the proxy."""
    asked: list[bytes] = []
    heard = asyncio.Event()

    async def proxy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked.append(await reader.readline())
        heard.set()
        writer.close()

    listening = await asyncio.start_server(proxy, "127.0.0.1", 0)
    proxy_port = listening.sockets[0].getsockname()[1]
    for name in PROXIES:
        monkeypatch.setenv(name, f"http://127.0.0.1:{proxy_port}")
    for name in ("no_proxy", "no_grpc_proxy", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
    server, port = await echo_server("localhost:0")
    with TemporaryDirectory(prefix="pegboard-") as folder:
        beside, _ = await echo_server(f"unix:{folder}/s")
        for address in (f"localhost:{port}", f"http://127.0.0.1:{port}", f"unix:{folder}/s"):
            await reach(address)
        await beside.stop(0)
    assert asked == []
    async with open_channel("far.invalid:50151") as channel:
        method: Any = channel.unary_unary("/echo/Echo")
        call = asyncio.ensure_future(method(b"hello", wait_for_ready=True))
        async with asyncio.timeout(60):
            await heard.wait()
        call.cancel()
    assert asked[0].startswith(b"CONNECT far.invalid:50151 ")
    await server.stop(0)
    listening.close()


async def test_a_slow_handshake_is_waited_for() -> None:
    """A server that takes two seconds to say its first word is dialled once."""
    dialled = 0
    answered = asyncio.Event()

    async def slow(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal dialled
        dialled += 1
        await reader.read(24)
        await asyncio.sleep(2)
        answered.set()
        writer.close()

    listening = await asyncio.start_server(slow, "127.0.0.1", 0)
    async with open_channel(f"127.0.0.1:{listening.sockets[0].getsockname()[1]}") as channel:
        method: Any = channel.unary_unary("/pegboard.v1.PlayService/GetTurn")
        call = asyncio.ensure_future(method(play_pb2.GetTurnRequest().SerializeToString()))
        async with asyncio.timeout(60):
            await answered.wait()
        assert dialled == 1
        call.cancel()
    listening.close()
