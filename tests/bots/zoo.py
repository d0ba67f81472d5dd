"""Bad bots, one a kind: `python zoo.py KIND`. Written on bare gRPC, since the kit would not do it.

Address and token come from the environment as for any bot. What the server says at the end is
printed as `CODE: details`, so that tests can read it.
"""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from queue import SimpleQueue
from typing import Any

import grpc

from pegboard.client.address import parse_address
from pegboard.v1 import match_pb2, match_pb2_grpc, play_pb2, play_pb2_grpc

ADDRESS = os.environ["PEGBOARD_ADDRESS"]
TOKEN = os.environ["PEGBOARD_TOKEN"]
METHOD = "/pegboard.v1.PlayService/Play"
TEN_MEGABYTES = 10 * 1024 * 1024
EMPTY_RESIGNATION = b"\x1a\x00"
"""A `PlayRequest` with one resignation of two bytes, which may be repeated within a message."""


class Wire:
    """A `Play` stream of raw bytes."""

    def __init__(self) -> None:
        self.channel = grpc.insecure_channel(parse_address(ADDRESS).target)
        self._out: SimpleQueue[bytes | None] = SimpleQueue()
        method: Any = self.channel.stream_stream(METHOD)
        self._call: Any = method(self._requests())

    def _requests(self) -> Iterator[bytes]:
        while (data := self._out.get()) is not None:
            yield data

    def send(self, data: bytes) -> None:
        """Send one message, whatever it is."""
        self._out.put(data)

    def hello(self, token: str = TOKEN) -> None:
        """Send a proper first message."""
        hello = play_pb2.Hello(token=token, kit="zoo", protocol_version=1)
        self.send(play_pb2.PlayRequest(hello=hello).SerializeToString())

    def responses(self) -> Iterator[play_pb2.PlayResponse]:
        """Yield what the server says until the end."""
        for data in self._call:
            yield play_pb2.PlayResponse.FromString(data)

    def turns(self) -> Iterator[play_pb2.Turn]:
        """Yield turns until the end."""
        for response in self.responses():
            for rejected in response.rejected:
                say(f"rejected: {rejected.reason} {rejected.detail}")
            yield from response.turns

    def answer(self, turn: play_pb2.Turn, index: int = 0, **changes: Any) -> None:
        """Answer a turn, with fields changed."""
        fields = {"match": turn.match, "seat": turn.seat, "turn_id": turn.turn_id, **changes}
        answer = play_pb2.Answer(index=index, **fields)
        self.send(play_pb2.PlayRequest(answers=[answer]).SerializeToString())

    def beat(self, response: play_pb2.PlayResponse) -> None:
        """Answer the heartbeat of a message, if there is one."""
        if response.heartbeat:
            request = play_pb2.PlayRequest(heartbeat=response.heartbeat)
            self.send(request.SerializeToString())

    def close(self) -> None:
        """Half-close."""
        self._out.put(None)

    def last_words(self) -> None:
        """Print the status with which the server ended the call."""
        try:
            for _ in self._call:
                pass
        except grpc.RpcError:
            pass
        say(f"{self._call.code().name}: {self._call.details()}")


def say(line: str) -> None:
    """Print at once."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def connected() -> Wire:
    """A stream after its Hello."""
    wire = Wire()
    wire.hello()
    return wire


def exits() -> None:
    """Ends before it connects."""
    sys.exit(3)


def hangs() -> None:
    """Never connects."""
    time.sleep(600)


def noise() -> None:
    """Connects and talks no HTTP/2 at all."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as raw:
        raw.connect(ADDRESS.removeprefix("unix:"))
        raw.sendall(os.urandom(4096))
        raw.settimeout(10)
        while raw.recv(4096):
            pass


def garbage_first() -> None:
    """Its first message is no message."""
    wire = Wire()
    wire.send(b"\xff" * 100)
    wire.last_words()


def garbage_later() -> None:
    """Answers its first turn with bytes that are no message."""
    wire = connected()
    next(wire.turns())
    wire.send(b"\xff" * 100)
    wire.last_words()


def old_protocol() -> None:
    """Speaks a protocol that is not there yet."""
    wire = Wire()
    hello = play_pb2.Hello(token=TOKEN, protocol_version=99)
    wire.send(play_pb2.PlayRequest(hello=hello).SerializeToString())
    wire.last_words()


def illegal() -> None:
    """Answers with an index that is not listed, for ever."""
    wire = connected()
    for turn in wire.turns():
        for _ in range(3):
            wire.answer(turn, index=999)


def stale() -> None:
    """Answers the turn before the one that is asked."""
    wire = connected()
    for turn in wire.turns():
        wire.answer(turn, turn_id=turn.turn_id + 1000)


def meddler() -> None:
    """Answers for the seat of its opponent, in its own match."""
    wire = connected()
    for turn in wire.turns():
        wire.answer(turn, seat=1 - turn.seat)


def impostor() -> None:
    """Has a token that nobody has."""
    wire = Wire()
    wire.hello("not-a-token-of-anybody")
    wire.last_words()


def organiser() -> None:
    """Plays with the token of an organiser."""
    wire = Wire()
    wire.hello("organisers-token")
    wire.last_words()


def huge() -> None:
    """Answers with ten megabytes."""
    wire = connected()
    turn = next(wire.turns())
    wire.answer(turn, match="m" * TEN_MEGABYTES)
    wire.last_words()


def flood() -> None:
    """Sends answers that nobody asked for, as many as it can."""
    wire = connected()
    turn = next(wire.turns())
    answer = play_pb2.Answer(match=turn.match, seat=turn.seat, turn_id=0, index=0)
    data = play_pb2.PlayRequest(answers=[answer] * 100).SerializeToString()
    for _ in range(200):
        wire.send(data)
    wire.last_words()


def chatter() -> None:
    """Sends empty messages, as many as it can."""
    wire = connected()
    next(wire.turns())
    for _ in range(5000):
        wire.send(b"")
    wire.last_words()


def deaf() -> None:
    """Stops reading after its first turn, but goes on asking for more to be said."""
    wire = connected()
    turn = next(wire.turns())
    answer = play_pb2.Answer(match=turn.match, seat=turn.seat, turn_id=0, index=0)
    data = play_pb2.PlayRequest(answers=[answer] * 20).SerializeToString()
    while True:
        wire.send(data)
        time.sleep(0.1)


def crash() -> None:
    """Dies in the middle of a match."""
    wire = connected()
    for number, turn in enumerate(wire.turns()):
        if number == 3:
            os.abort()
        wire.answer(turn)


def slow() -> None:
    """Answers, but too late."""
    wire = connected()
    for turn in wire.turns():
        time.sleep(turn.clock.turn_ms / 1000 + 2.0)
        wire.answer(turn)


def stuffed() -> None:
    """Asks for all events and reads nothing after its Hello."""
    wire = Wire()
    hello = play_pb2.Hello(token=TOKEN, protocol_version=1, events=True)
    wire.send(play_pb2.PlayRequest(hello=hello).SerializeToString())
    time.sleep(600)


def holder() -> None:
    """Takes one turn at a time and keeps the first."""
    wire = Wire()
    hello = play_pb2.Hello(token=TOKEN, protocol_version=1, max_open_turns=1)
    wire.send(play_pb2.PlayRequest(hello=hello).SerializeToString())
    for _ in wire.turns():
        pass


def poller() -> None:
    """Loses its first match by illegal moves and asks for turns of that match from then on."""
    with grpc.insecure_channel(ADDRESS) as channel:
        stub = play_pb2_grpc.PlayServiceStub(channel)
        metadata = (("authorization", f"Bearer {TOKEN}"),)
        request = play_pb2.GetTurnRequest(wait_ms=60_000)
        turn = stub.GetTurn(request, metadata=metadata).turn
        answer = play_pb2.Answer(match=turn.match, seat=turn.seat, turn_id=turn.turn_id, index=999)
        for _ in range(3):
            stub.SubmitMove(play_pb2.SubmitMoveRequest(answer=answer), metadata=metadata)
        request = play_pb2.GetTurnRequest(match=turn.match, wait_ms=60_000)
        told = False
        while True:
            try:
                stub.GetTurn(request, metadata=metadata)
            except grpc.RpcError as error:
                if not told:
                    say(f"{error.code().name}: {error.details()}")
                told = True
            time.sleep(0.01)


def greeter() -> None:
    """Says Hello twice."""
    wire = connected()
    next(wire.turns())
    wire.hello()
    wire.last_words()


def spy() -> None:
    """Plays by the rules, and tries to read its matches and their mirrors by every other way."""
    wire = connected()
    stub: Any = match_pb2_grpc.MatchServiceStub(wire.channel)
    names: dict[str, str] = {}
    tried: set[str] = set()
    for response in wire.responses():
        names.update(dict.fromkeys([each.match for each in response.started], "running"))
        names.update(dict.fromkeys([each.match for each in response.ended], "over"))
        for name, state in names.items():
            for what, read in ways_to_read(stub, name).items():
                title = f"{what} {name} {state}"
                if title not in tried:
                    tried.add(title)
                    say(f"{title}: {attempt(read)}")
        for turn in response.turns:
            wire.answer(turn)


def ways_to_read(stub: Any, name: str) -> dict[str, Callable[[], int]]:
    """All calls that tell of a match; each returns how much it got."""
    metadata = [("authorization", f"Bearer {TOKEN}")]

    def call(method: str, **fields: Any) -> Any:
        request = getattr(match_pb2, f"{method}Request")(**fields)
        return getattr(stub, method)(request, metadata=metadata, timeout=5)

    def watch(**fields: Any) -> int:
        for answer in call("WatchMatch", name=name, **fields):
            return len(answer.events)
        return 0

    def listed() -> int:
        matches = call("ListMatches", page_size=1000).matches
        return sum(match.name == name for match in matches)

    return {
        "get": lambda: call("GetMatch", name=name).ByteSize(),
        "list": listed,
        "record": lambda: call("GetMatchRecord", name=name).ByteSize(),
        "watch": watch,
        "watch as 0": lambda: watch(seat=0),
        "watch as 1": lambda: watch(seat=1),
    }


def attempt(read: Callable[[], int]) -> str:
    """What came of it."""
    try:
        return str(read())
    except grpc.RpcError as error:
        status: Any = error
        return str(status.code().name)


def resigner() -> None:
    """Resigns from a hundred thousand matches that are none, beside the answer that it owes."""
    wire = connected()
    turn = next(wire.turns())
    answer = play_pb2.Answer(match=turn.match, seat=turn.seat, turn_id=turn.turn_id, index=0)
    data = play_pb2.PlayRequest(answers=[answer]).SerializeToString()
    wire.send(data + EMPTY_RESIGNATION * 100_000)
    wire.last_words()


def longnames() -> None:
    """Answers in matches whose names are a megabyte long."""
    wire = connected()
    turn = next(wire.turns())
    for _ in range(100):
        wire.answer(turn, match="m" * (1024 * 1024))
    wire.last_words()


def stutter() -> None:
    """Answers in matches whose names are as long as a message may be."""
    wire = connected()
    turn = next(wire.turns())
    for _ in range(100):
        wire.answer(turn, match="matches/" + "m" * 200_000)
    wire.last_words()


def loudkit() -> None:
    """Its kit has a name of a megabyte, full of line feeds."""
    for _ in range(20):
        wire = Wire()
        hello = play_pb2.Hello(token=TOKEN, kit="\n\x1b[2J" * 200_000, protocol_version=1)
        wire.send(play_pb2.PlayRequest(hello=hello).SerializeToString())
        wire.last_words()


def revolving() -> None:
    """Connects again and again, each time with as many answers that nobody asked for as are taken."""
    while True:
        wire = connected()
        wire.send(EMPTY_RESIGNATION * 900)
        responses = wire.responses()
        try:
            next(responses)
            next(responses)
        except grpc.RpcError:
            wire.last_words()
            time.sleep(0.05)
        wire.channel.close()


def steady(skip: Callable[[play_pb2.Turn], bool] = lambda turn: False) -> None:
    """Plays by the rules, but for turns that are skipped; comes back, and stops at SIGTERM."""
    wires: list[Wire] = []

    def leave(*_: object) -> None:
        wires[-1].close()

    signal.signal(signal.SIGTERM, leave)
    for _ in range(3):
        wires.append(connected())
        if play_steadily(wires[-1], skip):
            return
        time.sleep(0.1)


def play_steadily(wire: Wire, skip: Callable[[play_pb2.Turn], bool]) -> bool:
    """Answer turns and heartbeats; return whether the stream ended as it should."""
    try:
        for response in wire.responses():
            wire.beat(response)
            for turn in response.turns:
                if not skip(turn):
                    wire.answer(turn)
    except grpc.RpcError:
        return False
    return True


def forgetful() -> None:
    """Plays seat 0 only, also when it has others."""
    steady(lambda turn: turn.seat != 0)


def sulker() -> None:
    """Answers each turn once, also one that was rejected and comes again."""
    seen: set[tuple[str, int, int]] = set()

    def skip(turn: play_pb2.Turn) -> bool:
        key = (turn.match, turn.seat, turn.turn_id)
        known = key in seen
        seen.add(key)
        return known

    steady(skip)


def overclaimer() -> None:
    """Claims one more than the range has."""
    wire = connected()
    for response in wire.responses():
        wire.beat(response)
        for turn in response.turns:
            ranges = [move.number_range for move in turn.legal_moves]
            wire.answer(turn, number=ranges[0].max + 1)


def collector() -> None:
    """Waits until it has two turns before it answers any."""
    wire = connected()
    waiting: list[play_pb2.Turn] = []
    for response in wire.responses():
        wire.beat(response)
        waiting += response.turns
        if len(waiting) > 1:
            for turn in waiting:
                wire.answer(turn)
            waiting.clear()


def heartless() -> None:
    """Answers turns, but no heartbeats."""
    wire = connected()
    for turn in wire.turns():
        wire.answer(turn)


def stubborn() -> None:
    """Does not stop when it is told to."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    wire = connected()
    play_steadily(wire, lambda turn: False)
    time.sleep(600)


def clinger() -> None:
    """Connects again whatever the status was."""
    while True:
        play_steadily(connected(), lambda turn: False)
        time.sleep(0.05)


def quitter() -> None:
    """Ends when its stream breaks off."""
    play_steadily(connected(), lambda turn: False)


def twofold() -> None:
    """Opens a second stream beside the first."""
    wire = connected()
    other = None
    for response in wire.responses():
        wire.beat(response)
        for turn in response.turns:
            wire.answer(turn)
            other = other or connected()


def insister() -> None:
    """Answers again whatever was rejected."""
    wire = connected()
    for response in wire.responses():
        wire.beat(response)
        for turn in response.turns:
            wire.answer(turn)
        for rejected in response.rejected:
            wire.answer(play_pb2.Turn(match=rejected.match, turn_id=rejected.turn_id))


def narrow_minded() -> None:
    """Does not survive a reason that it does not know."""
    wire = connected()
    for response in wire.responses():
        wire.beat(response)
        for rejected in response.rejected:
            play_pb2.RejectionReason.Name(rejected.reason)
        for turn in response.turns:
            wire.answer(turn)


def hoarder() -> None:
    """Wants eight gigabytes at its first turn."""
    wire = connected()
    next(wire.turns())
    hoard = bytearray(8 << 30)
    say(str(len(hoard)))


def forker() -> None:
    """Leaves a process of its own behind that has left its group."""
    subprocess.Popen(["sleep", "600"], start_new_session=True)
    steady()


KINDS: dict[str, Callable[[], None]] = {
    function.__name__: function
    for function in (
        exits,
        hangs,
        noise,
        garbage_first,
        garbage_later,
        old_protocol,
        illegal,
        stale,
        meddler,
        impostor,
        organiser,
        huge,
        flood,
        chatter,
        deaf,
        crash,
        slow,
        stuffed,
        holder,
        poller,
        greeter,
        resigner,
        longnames,
        stutter,
        loudkit,
        revolving,
        spy,
        steady,
        forgetful,
        sulker,
        overclaimer,
        collector,
        heartless,
        stubborn,
        clinger,
        quitter,
        twofold,
        insister,
        narrow_minded,
        hoarder,
        forker,
    )
}

if __name__ == "__main__":
    KINDS[sys.argv[1]]()
