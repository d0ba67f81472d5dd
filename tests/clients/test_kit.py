"""The Python kit: what a bot may return, reconnects, and when it gives up."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import grpc
import grpc.aio
import pytest
from tests.patience import PATIENCE_S, until
from tests.service.rig import serving, token_of

from pegboard.client import RESIGN, Bot, BotClient, Organiser, Turn, new_match, session
from pegboard.client.bot import as_bot, encode_choice
from pegboard.client.channel import open_channel
from pegboard.client.session import METHOD, PlayStream
from pegboard.client.testing import ScriptedMatch, play_match, random_choice
from pegboard.client.turn import Refused
from pegboard.errors import InvalidRequest, Silent, Unavailable
from pegboard.rules import cribbage, dominoes
from pegboard.rules.cards import parse_card
from pegboard.rules.cribbage.moves import Claim, Discard, Play
from pegboard.rules.errors import IllegalMove, MustGoOut
from pegboard.rules.results import Result
from pegboard.v1 import match_pb2, play_pb2
from pegboard.wire.codec import read_move

HAND = ["5C", "5D", "5H", "JS", "2C", "9D"]


def scripted() -> ScriptedMatch:
    """Seat 1 deals; seat 0 holds HAND."""
    order = [
        card
        for pair in zip(HAND, ("AC", "AD", "3H", "4S", "6C", "7D"), strict=True)
        for card in pair
    ]
    return ScriptedMatch("cribbage", 2, {"cut/1": ["KC", "AS"], "deal/1/1": order})


def test_a_scripted_match_is_dealt_and_played_as_told() -> None:
    match = scripted()
    turn = match.turn(0)
    assert turn.move_count == 15
    assert turn.moves[0] == match.game.parse_move("DISCARD 2C 5C")
    assert len(turn.view.hand) == 6
    assert turn.number is None
    assert (turn.family, turn.turn_ms, turn.bank_ms) == ("cribbage", 10_000, None)
    match.play("0 DISCARD 2C 9D", "1 DISCARD AC 7D")
    assert match.turn(0).view.hand == tuple(match.state.view(0).hand)
    with pytest.raises(InvalidRequest, match="is not asked"):
        match.turn(1)
    with pytest.raises(IllegalMove):
        match.play("0 PLAY KS")


@pytest.mark.parametrize(
    "choice",
    [3, True, (3, None), (3, 7), Discard((parse_card("2C"), parse_card("5C")))],
    ids=["index", "bool", "pair", "number", "move"],
)
def test_what_a_bot_may_return(choice: Any) -> None:
    turn = scripted().turn(0)
    (answer,) = play_pb2.PlayRequest.FromString(encode_choice(turn, choice)).answers
    assert (answer.match, answer.seat, answer.turn_id) == (turn.match, 0, 1)
    if isinstance(choice, Discard):
        assert read_move("cribbage", answer.move) == choice
    elif isinstance(choice, tuple):
        assert answer.index == choice[0]
        assert (answer.number if answer.HasField("number") else None) == choice[1]
    else:
        assert answer.index == int(choice)


@pytest.mark.parametrize("choice", [None, "5C", -1, 1 << 40, (1, 2, 3), (0, -1), 1.5, object()])
def test_what_a_bot_may_not_return(choice: Any) -> None:
    with pytest.raises(InvalidRequest, match="choose the index of a listed move"):
        encode_choice(scripted().turn(0), choice)


@pytest.mark.parametrize("choice", ["five", None, cribbage.Pass(), dominoes.Pass])
def test_only_moves_of_the_game_are_moves(choice: Any) -> None:
    with pytest.raises(InvalidRequest, match="choose the index of a listed move"):
        encode_choice(ScriptedMatch("draw", 2).turn(1), choice)


def test_what_is_a_bot() -> None:
    """An instance or a function, not a class."""
    assert isinstance(as_bot(random_choice), Bot)
    for thing in (Bot, 3):
        with pytest.raises(InvalidRequest, match="no bot"):
            as_bot(thing)  # type: ignore[arg-type]


def test_random_choices_stay_within_the_range() -> None:
    """Which refused claims narrow."""
    claim = match_pb2.GameMove(number_range=match_pb2.NumberRange(min=4, max=8))
    claim.cribbage.claim.SetInParent()
    message = play_pb2.Turn(match="m", legal_moves=[claim])
    turn = Turn(message)
    rng = Random(1)
    numbers = [turn.random(rng)[1] for _ in range(300)]
    assert set(numbers) == {4, 5, 6, 7, 8}


def test_a_random_call_names_at_least_1() -> None:
    """X-04: also beside plays that may claim 0."""
    play = match_pb2.GameMove(number_range=match_pb2.NumberRange(min=0, max=15))
    play.cribbage.play.card = 51  # type: ignore[assignment]
    call = match_pb2.GameMove(number_range=match_pb2.NumberRange(min=1, max=15))
    call.cribbage.call.SetInParent()
    message = play_pb2.Turn(match="m", legal_moves=[play, call])
    turn, rng = Turn(message), Random(1)
    numbers = {0: set[int | None](), 1: set[int | None]()}
    for _ in range(300):
        index, number = turn.random(rng)
        numbers[index].add(number)
    assert min(number for number in numbers[0] if number is not None) == 0
    assert min(number for number in numbers[1] if number is not None) == 1
    message.legal_moves[0].number_range.max = 0  # narrowed by a refused claim of 1
    choices = {Turn(message).random(rng) for _ in range(300)}
    assert {number for index, number in choices if index == 0} == {0}
    assert {number for index, number in choices if index == 1} >= {1, 2, 3, 4, 5}


def test_a_second_claim_too_high_stands_as_0() -> None:
    """X-19, in process as at a server: nothing is won by claiming downwards."""
    refused: list[int] = []

    def greedy(turn: Turn) -> Any:
        """Claim all there can be, twice; or what is needed, if the minimum is above 0."""
        if turn.number is None or not isinstance(turn.moves[0], Claim | Play):
            return 0
        refused.append(turn.refused is not None)
        return 0, turn.number[1]

    played = play_match("cribbage-muggins", [greedy, greedy], {"target": "20"}, seed=5)
    assert played.outcome is not None
    texts = [move.text() for _, move in played.moves]
    claims = [text.split()[-1] for text in texts if "CLAIM" in text]
    assert len(claims) > claims.count("0") > 0.7 * len(claims), "all but those for a go"
    assert set(refused) == {0, 1}


def test_a_played_match_ends_or_is_resigned() -> None:
    assert play_match("draw", [random_choice, random_choice], {"target": "20"}).outcome
    assert play_match("draw", [random_choice, lambda turn: RESIGN]).outcome is None
    with pytest.raises(IllegalMove, match="not among the choices"):
        play_match("draw", [random_choice, lambda turn: 99])


def test_turns_are_numbered_as_by_a_server() -> None:
    """Each question to a seat counts, also one that another seat has closed."""
    match = ScriptedMatch("cribbage-muggins", 2, seed=3)
    last: dict[int, Turn] = {}
    asked = dict.fromkeys(range(2), 0)
    choices: dict[int, Any] = {}
    rng = Random(1)
    while seats := match.state.to_act():
        for seat in seats:
            if match.state.choices(seat) is not choices.get(seat):
                choices[seat] = match.state.choices(seat)
                asked[seat] += 1
            last[seat] = match.turn(seat)
            assert last[seat].turn_id == match.turn(seat).turn_id == asked[seat]
        seat = rng.choice(seats)
        options = match.state.choices(seat)
        try:
            match.apply(seat, options.complete(rng.randrange(len(options.moves)), None))
        except MustGoOut:
            break
    assert max(asked.values()) > 50


async def test_hooks_are_called() -> None:
    heard: list[str] = []
    events: list[tuple[int, str]] = []
    over = asyncio.Event()

    class Curious(Bot):
        events = True

        def choose(self, turn: Turn) -> Any:
            assert turn.info.variant == "draw"
            assert turn.info.seats == (0,)
            return random_choice(turn)

        def match_started(self, info: Any) -> None:
            heard.append(f"started {info.match}")

        def event(self, match: str, seat: int, sequence: int, event: Any) -> None:
            events.append((sequence, event.text()))

        def match_ended(self, match: str, result: Result) -> None:
            heard.append(f"ended {match} {result.termination}")
            over.set()

    async with serving() as rig:
        rig.play("alice", Curious())
        rig.play("bob")
        name = await rig.match("alice", "bob", variant="draw", options={"target": "20"})
        async with asyncio.timeout(PATIENCE_S):
            await over.wait()
        await rig.result(name)
    assert heard == [f"started {name}", f"ended {name} NORMAL"]
    assert [sequence for sequence, _ in events] == list(range(1, len(events) + 1))
    # A tied lot is drawn again, so the opener may come later than second.
    assert any(text.startswith("GAME 1 OPENER") for _, text in events)


def test_stream_fields_are_taken_in_order() -> None:
    """A turn that comes again tells what was refused."""
    stream = PlayStream(as_bot(random_choice), None, "")
    turn = play_pb2.Turn(match="matches/m", seat=1, turn_id=5)
    stream._take(play_pb2.PlayResponse(turns=[turn], heartbeat=3))
    (asked,) = stream._waiting
    assert asked.refused is None
    stream._waiting.clear()
    stale, illegal = [
        play_pb2.MoveRejected(
            match="matches/m", seat=1, turn_id=5, reason=reason, attempts_left=attempts_left
        )
        for reason, attempts_left in (
            (play_pb2.REJECTION_REASON_STALE_TURN, 0),
            (play_pb2.REJECTION_REASON_ILLEGAL_MOVE, 2),
        )
    ]
    stream._take(play_pb2.PlayResponse(rejected=[stale]))
    stream._take(play_pb2.PlayResponse(rejected=[illegal]))
    assert not stream._waiting
    stream._take(play_pb2.PlayResponse(turns=[turn]))
    assert stream._waiting[0].refused == Refused(1, "", 2)
    assert play_pb2.PlayRequest.FromString(stream._rest()).heartbeat == 3
    assert stream._rest() == b""


class Mute(grpc.GenericRpcHandler):
    """Welcomes every bot, asks it one thing and says nothing more."""

    def service(self, handler_call_details: Any) -> Any:
        """Return the one method there is."""
        return grpc.stream_stream_rpc_method_handler(self.play)

    async def play(self, _requests: Any, context: Any) -> None:
        """Welcome, then be silent."""
        welcome = play_pb2.Welcome(protocol_version=1, heartbeat_interval_ms=50)
        turn = play_pb2.Turn(match="matches/m", turn_id=1, legal_moves=[match_pb2.GameMove()])
        response = play_pb2.PlayResponse(welcome=welcome, turns=[turn])
        await context.write(response.SerializeToString())
        await asyncio.sleep(60)


@pytest.mark.parametrize("batch_s", [None, 0.0, 0.5])
async def test_a_server_that_says_nothing_is_left(batch_s: float | None) -> None:
    """After three heartbeats, also while a thread thinks."""
    server = grpc.aio.server()
    server.add_generic_rpc_handlers((Mute(),))
    port = server.add_insecure_port("localhost:0")
    await server.start()
    bot = as_bot(random_choice)
    if batch_s is not None:

        def slow(turns: Sequence[Turn]) -> list[int]:
            time.sleep(batch_s)
            return [0 for _ in turns]

        bot.choose_batch = slow
    async with open_channel(f"localhost:{port}") as channel:
        method: Any = channel.stream_stream(
            METHOD, response_deserializer=play_pb2.PlayResponse.FromString
        )
        with pytest.raises(Silent, match="nothing from the server for 3 heartbeats"):
            await asyncio.wait_for(PlayStream(bot, method(), "").play(), PATIENCE_S)
    await server.stop(0)


class OneWriter:
    """A call that counts the writes under way; its last response comes while one is."""

    def __init__(self, responses: list[play_pb2.PlayResponse]) -> None:
        self.responses = responses
        self.writing = 0
        self.most = 0
        self.written: list[play_pb2.PlayRequest] = []
        self._began = asyncio.Event()

    async def read(self) -> Any:
        """Return the next response, in the end EOF."""
        if len(self.responses) == 1:
            await self._began.wait()
        return self.responses.pop(0) if self.responses else grpc.aio.EOF

    async def write(self, data: bytes) -> None:
        """Take a message, slowly: other tasks come in between."""
        self.writing += 1
        self._began.set()
        self.most = max(self.most, self.writing)
        for _ in range(20):
            await asyncio.sleep(0)
        self.writing -= 1
        self.written.append(play_pb2.PlayRequest.FromString(data))

    async def code(self) -> grpc.StatusCode:
        """Return that all went well."""
        return grpc.StatusCode.OK


async def test_a_heartbeat_is_answered_while_answers_are_written() -> None:
    """By one task at a time: gRPC ends a call with two writes at once."""
    match = scripted()
    bot = as_bot(random_choice)
    bot.choose_batch = lambda turns: [0 for _ in turns]
    turns = play_pb2.PlayResponse(turns=[match.turn(0).message])
    call = OneWriter([turns, play_pb2.PlayResponse(heartbeat=7)])
    await asyncio.wait_for(PlayStream(bot, call, "").play(), PATIENCE_S)
    assert call.most == 1
    assert [message.heartbeat for message in call.written if message.heartbeat] == [7]


class Ending:
    """A call that ends while it is half-closed."""

    def done(self) -> bool:
        """Say that it has not ended yet."""
        return False

    async def done_writing(self) -> None:
        """Fail as gRPC does."""
        raise RuntimeError("Failed execute_batch")


async def test_a_stream_that_ends_while_it_is_closed_is_closed() -> None:
    """What a bot that is told to stop meets if its server goes, or never came, at the same moment."""
    await PlayStream(as_bot(random_choice), Ending(), "").close()


# --- processes ---------------------------------------------------------------------------------


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder with a short path, as Unix sockets need."""
    with TemporaryDirectory(prefix="pegboard-") as name:
        yield Path(name)


def bot_process(
    address: str, token: str, code: str, stdout: int | None = None
) -> subprocess.Popen[str]:
    """A bot as a process; `code` has `run` and `Turn` at hand."""
    return subprocess.Popen(
        [sys.executable, "-c", f"from pegboard.client import Turn, run\n{code}"],
        env={**os.environ, "PEGBOARD_ADDRESS": address, "PEGBOARD_TOKEN": token},
        stdout=stdout,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.mark.parametrize(
    ("address", "token", "line"),
    [
        ("unix:/nowhere/at/all", "x", "pegboard bot: no server at unix:/nowhere/at/all for 0.5 s"),
        ("nonsense", "x", "pegboard bot: 'nonsense' is not an address; write host:port"),
    ],
)
def test_a_bot_gives_up_with_one_line(address: str, token: str, line: str) -> None:
    """Status 1, no traceback."""
    bot = bot_process(address, token, "run(lambda turn: 0, patience_s=0.5)")
    _, err = bot.communicate(timeout=PATIENCE_S)
    assert bot.returncode == 1
    assert err.startswith(line)
    assert err.count("\n") == 1


async def test_a_wrong_token_ends_a_bot() -> None:
    async with serving() as rig:
        bot = bot_process(rig.address, "wrong", "run(lambda turn: 0)")
        _, err = await asyncio.to_thread(bot.communicate, timeout=PATIENCE_S)
        assert bot.returncode == 1
        assert "nobody has this token" in err
        assert err.count("\n") == 1


async def test_a_newer_connection_ends_a_bot() -> None:
    """The older process does not connect again."""
    hello = "import sys; from pegboard.client import Bot\n"
    hello += (
        "class B(Bot):\n def choose(self, turn): print('asked', flush=True); return 0\nrun(B())"
    )
    async with serving() as rig:
        await rig.match("alice", "bob")
        bot = bot_process(rig.address, token_of("alice"), hello, stdout=subprocess.PIPE)
        assert bot.stdout is not None
        assert await asyncio.to_thread(bot.stdout.readline) == "asked\n"
        rig.play("alice")
        _, err = await asyncio.to_thread(bot.communicate, timeout=PATIENCE_S)
        assert bot.returncode == 1
        assert "a newer connection of alice took over" in err
        assert err.count("\n") == 1


async def test_an_author_sees_his_own_traceback() -> None:
    """The process ends, and prints the line of `choose` that raised."""
    async with serving() as rig:
        await rig.match("alice", "bob")
        bot = bot_process(rig.address, token_of("alice"), "run(lambda turn: turn.nonsense)")
        _, err = await asyncio.to_thread(bot.communicate, timeout=PATIENCE_S)
        assert bot.returncode == 1
        assert err.startswith('Traceback (most recent call last):\n  File "<string>", line 2')
        assert err.endswith("AttributeError: 'Turn' object has no attribute 'nonsense'\n")
        assert "pegboard/client" not in err, "the way there is of no interest"


async def test_a_batch_has_a_choice_for_each_turn() -> None:
    code = "from pegboard.client import Bot\nclass B(Bot):\n"
    code += " def choose_batch(self, turns): return []\nrun(B())"
    async with serving() as rig:
        await rig.match("alice", "bob")
        bot = bot_process(rig.address, token_of("alice"), code)
        _, err = await asyncio.to_thread(bot.communicate, timeout=PATIENCE_S)
        assert bot.returncode == 1
        assert err.startswith("pegboard bot: choose_batch returned 0 choices for 1 turns;")
        assert err.count("\n") == 1


async def test_what_is_not_set_is_named() -> None:
    """A bot that is started by hand, without the arena's variables."""
    async with serving() as rig:
        bot = bot_process(rig.address, "", "run(lambda turn: 0)")
        _, err = await asyncio.to_thread(bot.communicate, timeout=PATIENCE_S)
        assert (bot.returncode, err.count("\n")) == (1, 1)
        assert err.endswith("; PEGBOARD_TOKEN is not set\n")
    bot = bot_process("", "", "run(lambda turn: 0, patience_s=0)")
    _, err = await asyncio.to_thread(bot.communicate, timeout=PATIENCE_S)
    assert (bot.returncode, err.count("\n")) == (1, 1)
    assert "no server at localhost:50151 (PEGBOARD_ADDRESS is not set) for 0 s" in err


async def test_a_bot_that_waits_says_so(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    """Once, and not if the server is there; the bot plays when it comes."""
    monkeypatch.setattr(session, "REMARK_S", 0.2)
    remarks: list[str] = []
    address = f"unix:{folder / 's'}"
    player = BotClient(as_bot(random_choice), address, "a", remark=remarks.append)
    playing = asyncio.create_task(player.play())
    await until(lambda: remarks)
    await player.stop()
    await playing
    assert remarks == [f"no server at {address} yet; waiting 60 s for it"]
    async with serving() as rig:
        other = BotClient(
            as_bot(random_choice), rig.address, token_of("alice"), remark=remarks.append
        )
        other_playing = asyncio.create_task(other.play())
        await asyncio.sleep(0.4)
        await other.stop()
        await other_playing


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
async def test_being_told_to_stop(number: signal.Signals) -> None:
    """Status 0 after the turn; a second signal ends also a bot that never comes back from one."""
    head = "from pegboard.client import Bot\nclass B(Bot):\n"
    head += (
        " def match_started(self, info): print('started', flush=True)\n def choose(self, turn):\n"
    )
    endless = f"{head}  print('asked', flush=True)\n  while True: pass\nrun(B())"
    prompt = f"{head}  return 0\nrun(B())"
    async with serving() as rig:
        await rig.match("alice", "bob")
        busy = bot_process(rig.address, token_of("alice"), endless, subprocess.PIPE)
        idle = bot_process(rig.address, token_of("bob"), prompt, subprocess.PIPE)
        try:
            for bot, line in ((busy, "started\n"), (busy, "asked\n"), (idle, "started\n")):
                assert bot.stdout is not None
                assert await asyncio.to_thread(bot.stdout.readline) == line
            idle.send_signal(number)
            _, err = await asyncio.to_thread(idle.communicate, timeout=PATIENCE_S)
            assert (idle.returncode, err) == (0, "")
            busy.send_signal(number)
            await until(lambda: ended_by_another(busy, number))
        finally:
            busy.kill()
            idle.kill()
        assert busy.returncode == -number


def ended_by_another(bot: subprocess.Popen[str], number: signal.Signals) -> bool:
    """Whether the bot has ended; if not, send the signal once more.

    Python counts two signals as one if the second comes before the main thread has seen the first.
    """
    if bot.poll() is None:
        bot.send_signal(number)
    return bot.poll() is not None


async def test_an_odd_choice_ends_a_bot_with_one_line() -> None:
    async with serving() as rig:
        await rig.match("alice", "bob")
        bot = bot_process(rig.address, token_of("alice"), "run(lambda turn: 'five')")
        _, err = await asyncio.to_thread(bot.communicate, timeout=PATIENCE_S)
        assert bot.returncode == 1
        assert err.startswith("pegboard bot: the bot chose 'five' for turn 1 of seat 0")
        assert err.count("\n") == 1


async def test_bots_come_back_to_a_server_that_was_killed(folder: Path) -> None:
    """The server gets kill -9 during matches and is started again; all matches end normally."""
    address = f"unix:{folder / 's'}"

    def start() -> subprocess.Popen[str]:
        command = [sys.executable, "-m", "pegboard.cli.main", "serve", "--unix", str(folder / "s")]
        command += ["--store", str(folder / "p.db"), "--log-level", "error"]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert process.stdout is not None
        assert process.stdout.readline().startswith("listening")
        return process

    server = start()
    asked = 0

    def choose(turn: Turn) -> Any:
        nonlocal asked
        asked += 1
        return random_choice(turn)

    players = [BotClient(as_bot(choose), address, name) for name in ("a", "b")]
    tasks = [asyncio.create_task(player.play()) for player in players]
    try:
        async with Organiser(address) as organiser:
            await organiser.ready()
            made = await organiser.create([new_match("cribbage", ["a", "b"]) for _ in range(40)])
            await until(lambda: asked > 400)
            server.send_signal(signal.SIGKILL)
            await asyncio.to_thread(server.communicate)
            with pytest.raises(Unavailable):
                await organiser.get(made[0].name)
            server = start()
            async with asyncio.timeout(PATIENCE_S):
                for match in made:
                    while True:
                        try:
                            found = await organiser.get(match.name)
                        except Unavailable:
                            found = match
                        if found.state == match_pb2.MATCH_STATE_FINISHED:
                            break
                        await asyncio.sleep(0.1)
                    assert found.result.termination == match_pb2.TERMINATION_NORMAL
    finally:
        for player in players:
            await player.stop()
        server.terminate()
        await asyncio.to_thread(server.communicate)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def test_channels() -> None:
    """Of every kind of address; nothing is connected yet."""
    for address in ("localhost:1", "unix:/tmp/x", "https://host:443", "http://localhost:80"):
        await open_channel(address).close()
    with pytest.raises(InvalidRequest, match="not an address"):
        open_channel("localhost")


def test_a_turn_prints_as_people_write_it() -> None:
    turn = scripted().turn(0)
    lines = str(turn).splitlines()
    assert lines[0] == "turn 1 of seat 0 in matches/scripted"
    assert lines[1] == "DISCARD in deal 1 of game 1, dealer 1, scores 0 0"
    assert "hand: 2C 5C 5D 5H 9D JS" in lines
    assert lines[-1].startswith("legal moves: 0 DISCARD 2C 5C, 1 DISCARD 2C 5D, ")
    assert repr(turn) == f"<Turn: {'; '.join(lines)}>"


def test_a_turn_with_a_number_prints_its_range() -> None:
    match = ScriptedMatch("cribbage-auction", 2)
    assert str(match.turn(match.state.to_act()[0])).endswith("BID ? (1 to 121)")


def test_a_turn_of_an_unknown_game_prints_its_title() -> None:
    message = play_pb2.Turn(match="matches/new", seat=1, turn_id=4)
    assert repr(Turn(message)) == "<Turn: turn 4 of seat 1 in matches/new>"


FAILING = """
from pegboard.client import Bot
class B(Bot):
    def choose(self, turn):
        if turn.match.endswith('bad'):
            {fault}
        return 0
"""
BATCH = """
class C(B):
    def choose_batch(self, turns):
        return [self.choose(turn) for turn in turns]
"""


@pytest.mark.parametrize(
    ("code", "last_line"),
    [
        (
            FAILING.format(fault="return turn.nonsense") + "run(B(), resign_on_error=True)",
            "'nonsense'",
        ),
        (FAILING.format(fault="return 'five'") + "B.resign_on_error = True\nrun(B())", "or RESIGN"),
        (FAILING.format(fault="1 / 0") + BATCH + "run(C(), resign_on_error=True)", "by zero"),
    ],
    ids=["exception", "odd choice", "batch"],
)
async def test_an_error_costs_one_match_if_the_kit_is_told_so(code: str, last_line: str) -> None:
    async with serving() as rig:
        bad = await rig.match("alice", "bob", match_id="bad", variant="draw")
        good = await rig.match("alice", "bob", match_id="good", variant="draw")
        rig.play("bob")
        bot = bot_process(rig.address, token_of("alice"), code)
        try:
            assert (await rig.result(bad)).termination == match_pb2.TERMINATION_RESIGN
            assert (await rig.result(good)).termination == match_pb2.TERMINATION_NORMAL
            assert bot.poll() is None, "the bot goes on"
        finally:
            bot.terminate()
            _, err = await asyncio.to_thread(bot.communicate, timeout=PATIENCE_S)
    assert bot.returncode == 0
    assert err.startswith("pegboard bot: resigns matches/bad after an error in turn 1 of seat 0 in")
    assert err.count("Traceback (most recent call last):") == 1
    assert last_line in err.splitlines()[-1]
