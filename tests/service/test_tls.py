"""A server with a certificate; its clients trust it by an environment variable of gRPC's."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.service.rig import ORGANISER, token_file, token_of

from pegboard.errors import InvalidRequest
from pegboard.service.settings import ServeSettings
from pegboard.service.tls import tls_credentials

FILES = Path(__file__).parent / "tls"
CERTIFICATE, KEY = FILES / "certificate.pem", FILES / "key.pem"
"""For localhost, good for a hundred years, and worth nothing: everybody has the key."""
OTHER_KEY = FILES / "other_key.pem"

ONE_MATCH = """
import asyncio, os
from pegboard.client import BotClient, Organiser, new_match
from pegboard.client.bot import as_bot
from pegboard.client.testing import random_choice

async def main():
    address = os.environ["ADDRESS"]
    bots = [as_bot(random_choice) for _ in range(2)]
    clients = [BotClient(bot, address, f"token-of-{name}") for bot, name in zip(bots, ("alice", "bob"))]
    tasks = [asyncio.create_task(client.play()) for client in clients]
    async with Organiser(address, os.environ["TOKEN"]) as organiser:
        await organiser.ready()
        await organiser.create([new_match("draw", ["alice", "bob"], options={"target": "1"})])
        async for batch in organiser.watch_finished(include_earlier=True):
            if batch.finished:
                print(batch.finished[0].match.result.detail or "finished")
                break
    for client in clients:
        await client.stop()
    await asyncio.gather(*tasks)

asyncio.run(main())
"""


GIVES_UP = "from pegboard.client import run; run(lambda turn: 0, patience_s=0.5)"


def client(code: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run a program of the kit to its end."""
    return subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_a_match_over_tls(tmp_path: Path) -> None:
    """Both sides by the address that the server announces; without trust nobody gets through."""
    command = [sys.executable, "-m", "pegboard.cli.main", "serve", "--listen", "localhost:0"]
    command += ["--tokens", str(token_file(tmp_path)), "--store", str(tmp_path / "store.db")]
    command += ["--tls-certificate", str(CERTIFICATE), "--tls-key", str(KEY)]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as server:
        try:
            assert server.stdout is not None
            address = server.stdout.readline().removeprefix("listening on ").strip()
            assert address.startswith("https://localhost:")
            trust = {"GRPC_DEFAULT_SSL_ROOTS_FILE_PATH": str(CERTIFICATE)}
            done = client(ONE_MATCH, ADDRESS=address, TOKEN=ORGANISER, **trust)
            assert done.stdout == "finished\n", done.stderr
            token = token_of("alice")
            refused = client(GIVES_UP, PEGBOARD_ADDRESS=address, PEGBOARD_TOKEN=token)
            assert refused.returncode == 1
            assert "pegboard bot: no server at https://localhost" in refused.stderr
            assert "Traceback" not in refused.stderr
        finally:
            server.kill()


@pytest.mark.parametrize("broken", ["certificate", "key", "other key", "absent"])
def test_files_that_cannot_work_are_told_at_once(broken: str, tmp_path: Path) -> None:
    """One sentence that names them, before anything listens."""
    junk = tmp_path / "junk.pem"
    if broken != "absent":
        junk.write_text("junk" if broken != "other key" else OTHER_KEY.read_text())
    certificate = junk if broken == "certificate" else CERTIFICATE
    key = KEY if broken == "certificate" else junk
    settings = ServeSettings(listen=("localhost:0",), tls_certificate=certificate, tls_key=key)
    with pytest.raises(InvalidRequest, match=r"TLS files|its own key") as caught:
        tls_credentials(settings)
    assert "junk.pem" in str(caught.value)
