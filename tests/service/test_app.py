"""The server as a process: one line when ready, a graceful stop, one sentence for what cannot be."""

from __future__ import annotations

import asyncio
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
import structlog
from tests.patience import PATIENCE_S
from tests.service.rig import ORGANISER, token_file

from pegboard.client import BotClient, Organiser, new_match
from pegboard.client.bot import as_bot
from pegboard.errors import InvalidRequest, StoreError
from pegboard.rules.errors import PegboardError
from pegboard.service.app import serve
from pegboard.service.logs import configure_log
from pegboard.service.settings import ServeSettings

SERVE = (sys.executable, "-m", "pegboard.cli.main", "serve")


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder with a short path, as Unix sockets need."""
    with TemporaryDirectory(prefix="pegboard-") as name:
        yield Path(name)


class Process:
    """`pegboard serve` on a socket in the folder."""

    def __init__(self, folder: Path, *more: str) -> None:
        command = [*SERVE, "--unix", str(folder / "s"), "--store", str(folder / "p.db"), *more]
        self.address = f"unix:{folder / 's'}"
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert self.process.stdout is not None
        self.line = self.process.stdout.readline()

    def __enter__(self) -> Process:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout, self.process.stderr):
            assert pipe is not None
            pipe.close()

    def wait_for(self, words: str) -> None:
        """Read the log until a line has these words."""
        assert self.process.stderr is not None
        while words not in (line := self.process.stderr.readline()):
            assert line, f"the server never said {words!r}"


async def test_it_announces_itself_and_stops_on_sigterm(folder: Path) -> None:
    """Exactly one line on standard output; what was created is there after a restart."""
    with Process(folder) as server:
        assert server.line == f"listening on unix:{folder / 's'}\n"
        async with Organiser(server.address, ORGANISER) as organiser:
            await organiser.ready()
            await organiser.create([new_match("draw", ["a", "b"], match_id="kept")])
        server.process.send_signal(signal.SIGTERM)
        out, err = server.process.communicate(timeout=PATIENCE_S)
        assert (server.process.returncode, out) == (0, "")
        assert "Traceback" not in err
        assert not (folder / "s").exists()
    with Process(folder) as server:
        async with Organiser(server.address, ORGANISER) as organiser:
            await organiser.ready()
            assert (await organiser.get("matches/kept")).name == "matches/kept"


def test_it_stops_with_its_parent(folder: Path) -> None:
    """--stop-on-eof: the end of standard input is the end of the server."""
    with Process(folder, "--stop-on-eof") as server:
        assert server.process.stdin is not None
        server.process.stdin.close()
        assert server.process.wait(PATIENCE_S) == 0


def test_a_socket_that_a_dead_server_left_is_taken(folder: Path) -> None:
    """After a kill -9 the same command works again; beside a live server it does not."""
    with Process(folder) as server:
        server.process.kill()
        server.process.wait()
        assert (folder / "s").exists()
    with Process(folder) as server:
        assert server.line.startswith("listening on")
        second = subprocess.run(
            [*SERVE, "--unix", str(folder / "s"), "--store", str(folder / "other.db")],
            capture_output=True,
            text=True,
            timeout=PATIENCE_S,
        )
        assert second.returncode == 2
        assert "another server listens on" in second.stderr
        assert "Traceback" not in second.stderr


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        (ServeSettings(), "nowhere to listen"),
        (ServeSettings(listen=("127.0.0.1:0",)), "needs --tokens FILE"),
        (ServeSettings(unix=(Path("/" + "x" * 200),)), "at most 107"),
        (
            ServeSettings(unix=(Path("s"),), durability="sometimes"),
            "one of strict, batched, memory",
        ),
        (ServeSettings(unix=(Path("s"),), log_level="loud"), "no log level 'loud'"),
        (ServeSettings(unix=(Path("/none/here/s"),), store=None), "is its folder there"),
        (ServeSettings(unix=(Path(__file__),), store=None), "is not a socket"),
        (ServeSettings(unix=(Path("s"),), tokens=Path("/none")), "cannot read the tokens"),
    ],
)
async def test_settings_that_cannot_work_get_a_sentence(
    settings: ServeSettings, sentence: str
) -> None:
    """Before anything is opened or made."""
    with pytest.raises(InvalidRequest, match=sentence):
        await serve(settings)


@pytest.mark.parametrize("address", ["127.0.0.1", "localhost:http", ":50151", "127.0.0.1:99999"])
async def test_addresses_are_host_and_port(folder: Path, address: str) -> None:
    """Anything else is refused."""
    settings = ServeSettings(listen=(address,), tokens=token_file(folder), store=None)
    with pytest.raises(InvalidRequest, match="write HOST:PORT"):
        await serve(settings)


async def test_a_port_that_is_taken(folder: Path) -> None:
    """No port is shared by accident."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        settings = ServeSettings(listen=(address,), tokens=token_file(folder), store=None)
        with pytest.raises(InvalidRequest, match="the port is taken"):
            await serve(settings)


async def test_a_store_that_is_none(folder: Path) -> None:
    """StoreError, as the store says it."""
    (folder / "p.db").write_text("this is a diary, not a store; " * 100, encoding="utf-8")
    with pytest.raises((StoreError, PegboardError)):
        await serve(ServeSettings(unix=(folder / "s",), store=folder / "p.db"))


async def test_a_log_that_nobody_reads_does_not_stop_a_server(folder: Path) -> None:
    """Its pipe is closed: entries are dropped, calls are answered."""
    with Process(folder) as server:
        assert server.process.stderr is not None
        server.process.stderr.close()
        async with Organiser(server.address, "a") as organiser:
            await organiser.ready()
            with pytest.raises(InvalidRequest):  # and so is a bot, whose coming is logged
                await organiser.cancel("none")
            player = BotClient(as_bot(lambda turn: 0), server.address, "a")
            playing = asyncio.create_task(player.play())
            (match,) = await organiser.create([new_match("draw", ["a", "a"])])
            async for _ in organiser.watch(match.name):
                pass
            await player.stop()
            await playing


def test_a_log_is_one_short_line_an_entry(capsys: pytest.CaptureFixture[str]) -> None:
    """Whatever a value holds."""
    configure_log("info")
    structlog.get_logger("test").info("said", kit="\n\u2028\x1b[2J" * 100_000, bot="a\nb")
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert said.strip().isprintable()
    assert len(said) < 1000


async def test_tcp_with_tokens(folder: Path) -> None:
    """Port 0 takes a free one and says which."""
    tokens = token_file(folder)
    with Process(folder, "--listen", "127.0.0.1:0", "--tokens", str(tokens)) as server:
        address = server.line.split()[-1]
        async with Organiser(address, ORGANISER) as organiser:
            await organiser.ready()
            assert await organiser.list_variants()


def test_a_stop_does_not_wait_for_bots(folder: Path) -> None:
    """Streams end with UNAVAILABLE."""
    with Process(folder) as server:
        bot = subprocess.Popen(
            [sys.executable, "-c", "from pegboard.client import run; run(lambda turn: 0)"],
            env={"PEGBOARD_ADDRESS": server.address, "PEGBOARD_TOKEN": "a"},
            stderr=subprocess.PIPE,
        )
        try:
            server.wait_for("bot_connected")
            server.process.send_signal(signal.SIGTERM)
            assert server.process.wait(PATIENCE_S) == 0
            # The bot goes on for a minute: a server that waited for it would not be gone before.
            assert bot.poll() is None, "the bot waits for the server to come back"
        finally:
            bot.terminate()
            bot.communicate(timeout=PATIENCE_S)
        assert bot.returncode == 0
