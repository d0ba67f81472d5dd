"""Random schedules from a seed: late, doubled, stale and illegal answers, bots that come and go.

A failure prints the seed; `SEED=n pytest tests/matches/test_simulation.py` runs it again.
"""

from __future__ import annotations

import os
import random
from pathlib import Path
from typing import Any

import pytest
from tests.matches.fakes import Claim, Guard, Hosted, Stranger, Take, opened, request

from pegboard.errors import UnknownMatch, UnknownSeat
from pegboard.matches.answers import Answer
from pegboard.matches.bots import BotState
from pegboard.matches.finished import FinishedMatch
from pegboard.matches.host import HostSettings
from pegboard.matches.mailbox import Mailbox
from pegboard.matches.rejection import RejectionReason
from pegboard.matches.running import OpenTurn
from pegboard.matches.spec import TimeControl
from pegboard.matches.store.protocol import Durability
from pegboard.rules.errors import MatchOver
from pegboard.rules.results import Termination

BOTS = "abc"
SETTINGS = HostSettings(reconnect_s=2, lag_ms=50, finished_kept=4, events_kept=2, wait_s=2)
CONTROLS = (
    TimeControl(move_ms=500, startup_ms=1500),
    TimeControl(bank_ms=3000, increment_ms=50, move_ms=1000, startup_ms=1500),
    TimeControl(move_ms=900, startup_ms=1500, match_ms=5000),
)

WAITED_MOST_NS = 7_000_000_000
"""Start-up time, time to come back, one look more, and what a seat may wait after it has come."""


class World:
    """One host, three bots of bad manners, and what they have been told."""

    def __init__(self, host: Hosted, rng: random.Random) -> None:
        self.host = host
        self.rng = rng
        self.boxes: dict[str, Mailbox] = {}
        self.turns: dict[tuple[str, int], OpenTurn] = {}
        self.past: list[tuple[str, OpenTurn, int]] = []
        self.told: dict[str, int] = {}
        self.made = 0

    async def step(self) -> None:
        """Do one thing."""
        actions: list[tuple[Any, int]] = [
            (self.create, 2),
            (self.connect, 2),
            (self.leave, 1),
            (self.poll, 2),
            (self.take, 8),
            (self.answer, 14),
            (self.answer_badly, 2),
            (self.answer_again, 2),
            (self.wait, 4),
            (self.resign, 1 if self.rng.random() < 0.1 else 0),
            (self.end, 1 if self.rng.random() < 0.2 else 0),
        ]
        action = self.rng.choices(*zip(*actions, strict=True))[0]
        await action()
        self.check()

    async def create(self) -> None:
        """Begin a match of one to three seats."""
        if len(self.host.running()) < 6:
            bots = [self.rng.choice(BOTS) for _ in range(self.rng.randint(1, 3))]
            control = self.rng.choice(CONTROLS)
            made = request(*bots, id=f"m{self.made}", time_control=control)
            self.made += 1
            await self.host.create([made])

    async def connect(self) -> None:
        """Connect a bot, perhaps for the second time."""
        bot = self.rng.choice(BOTS)
        self.turns = {key: turn for key, turn in self.turns.items() if bot_of(turn) != bot}
        most = self.rng.choice((0, 0, 1, 3))
        self.boxes[bot] = self.host.connect(
            bot, max_open_turns=most, events=self.rng.random() < 0.5
        )

    async def leave(self) -> None:
        """Close a stream."""
        if self.boxes:
            self.boxes.pop(self.rng.choice(list(self.boxes))).close()

    async def poll(self) -> None:
        """Ask for a turn by a call, of any match or of one, perhaps of one that is over."""
        bot = self.rng.choice(BOTS)
        found = [match.id for match in self.host.running() if match.seats_of(bot)]
        name = self.rng.choice(["", *found, *self.told])
        try:
            turn = await self.host.next_turn(bot, name, 0)
        except (MatchOver, UnknownMatch, UnknownSeat):
            return
        if turn is not None:
            assert bot_of(turn) == bot
            assert turn.seated.clock.started_ns
            self.turns[turn.match.id, turn.seat] = turn

    async def take(self) -> None:
        """Let all bots read, but for some whose windows are closed."""
        for bot, box in self.boxes.items():
            if self.rng.random() < 0.2:
                continue
            delivery = box.take(self.rng.choice((1, 2, 256)))
            for turn in delivery.turns:
                assert bot_of(turn) == bot
                self.turns[turn.match.id, turn.seat] = turn
            for match, _, after in delivery.events:
                numbers = [number for number, _ in match.events(after)]
                assert numbers == list(range(after + 1, match.event_count + 1))
            for match in delivery.ended:
                assert match.finished is not None
                self.told[match.id] = self.told.get(match.id, 0) + 1

    async def answer(self) -> None:
        """Give a legal answer, perhaps to a turn that is over."""
        if not self.turns:
            return
        key = self.rng.choice(list(self.turns))
        turn = self.turns.pop(key)
        plain = [move for move in turn.choices.moves if isinstance(move, Take | Guard)]
        index = self.rng.randrange(len(plain))
        over = turn.match.ending is not None
        open_ = turn.seated.turn is turn
        found = self.say(turn, move_index=index)
        assert (found is None) == open_, found
        if over:
            assert found is not None
            assert found.reason is RejectionReason.MATCH_OVER
        if open_:
            self.past.append((bot_of(turn), turn, index))

    async def answer_badly(self) -> None:
        """Give an illegal answer."""
        if self.turns:
            turn = self.rng.choice(list(self.turns.values()))
            bad = self.rng.choice(
                ({"move_index": 99}, {"move": Stranger()}, {"move": Claim(41)}, {})
            )
            assert self.say(turn, **bad) is not None

    async def answer_again(self) -> None:
        """Repeat an old answer, then give another."""
        if self.past:
            _, turn, index = self.rng.choice(self.past[-5:])
            before = turn.match.log.move_count
            again = self.say(turn, move_index=index)
            assert (again is None) == self.is_last_answer(turn)
            assert self.say(turn, move_index=98) is not None
            assert turn.match.log.move_count == before

    def is_last_answer(self, turn: OpenTurn) -> bool:
        """Whether the turn is known as the one that its seat has answered last."""
        match = self.host.get(turn.match.id)
        if not isinstance(match, FinishedMatch):
            return turn.seated.last is turn
        last = match.answered[turn.seat] if match.answered else None
        return last is not None and last.turn_id == turn.turn_id

    def say(self, turn: OpenTurn, **answer: Any) -> Any:
        """Answer as the turn's bot."""
        bot = bot_of(turn)
        found = self.host.answer(bot, Answer(turn.match.id, turn.seat, turn.turn_id, **answer))
        if bot not in self.boxes:
            self.host.called(bot)
        return found

    async def wait(self) -> None:
        """Let time pass; sometimes the loop is late."""
        late_s = 3.0 if self.rng.random() < 0.05 else 0.0
        await self.host.pass_s(self.rng.choice((0.01, 0.05, 0.3)), late_s=late_s)

    async def resign(self) -> None:
        """Give a match up."""
        running = self.host.running()
        if running:
            match = self.rng.choice(running)
            assert self.host.resign(match.spec.bots[0], match.id, 0) is None

    async def end(self) -> None:
        """Cancel a match or report a crash."""
        running = self.host.running()
        if running:
            match = self.rng.choice(running)
            if self.rng.random() < 0.5:
                await self.host.cancel(match.id)
            else:
                await self.host.forfeit(match.id, 0, "gone")

    def check(self) -> None:
        """What is always so."""
        for match in self.host.running():
            assert match.state is not None
            asked = {seated.seat for seated in match.seats if seated.turn is not None}
            assert asked == set(match.state.to_act())
            assert 0 <= match.log.visible <= match.log.count
            for seated in match.seats:
                assert match in self.host._bots.known[seated.name].matches
                assert seated.clock.spare_ns <= 50_000_000
        for bot in self.host._bots.known.values():
            self.check_turns(bot)

    def check_turns(self, bot: BotState) -> None:
        """A turn waits, or its clock runs; no clock stands still while a bot that is there has room."""
        turns = [turn for turn in self.open_turns(bot.name) if not turn.held]
        clocks = [turn for turn in turns if turn.seated.clock.started_ns]
        queue = bot.turns
        assert queue.out == sum(turn.sent for turn in turns)
        assert queue.running == len(clocks)
        assert {turn for turn in clocks if not turn.sent} == set(queue.ready)
        assert {turn for turn in turns if turn not in clocks} == set(queue.waiting)
        for turn in turns:
            clock = turn.seated.clock
            assert bool(clock.started_ns) != bool(clock.waiting_ns)
            assert clock.armed_ns
            assert clock.waited_ns <= WAITED_MOST_NS
        if bot.present and queue.waiting:
            assert queue.most
            assert queue.running >= queue.most

    def open_turns(self, bot: str) -> list[OpenTurn]:
        """The bot's open turns."""
        return [
            seated.turn
            for match in self.host.running()
            for seated in match.seats
            if seated.name == bot and seated.turn is not None
        ]


def bot_of(turn: OpenTurn) -> str:
    """The bot that is asked."""
    return turn.match.spec.bots[turn.seat]


async def simulate(seed: int, steps: int, path: Path | None, durability: Durability) -> None:
    """Run one world, restart it half way if it has a file, and look at all results."""
    rng = random.Random(seed)
    host = await opened(path, durability, SETTINGS)
    world = World(host, rng)
    for _ in range(2):
        for _ in range(steps // 2):
            await world.step()
        if path is not None:
            await host.stored()
            before = {match.id: match.log.moves() for match in host.running()}
            await host.close()
            host = await opened(path, durability, SETTINGS)
            assert {match.id: match.log.moves() for match in host.running()} == before
            made = world.made
            world = World(host, rng)
            world.made = made
    for box in world.boxes.values():
        box.close()
    for _ in range(1000):
        if not host.running():
            break
        await host.pass_s(0.1)  # no bot answers any more: time ends every match
    await host.stored()
    finished, _ = host.list(page_size=1000)
    assert len(finished) == world.made
    for match in finished:
        assert match.finished is not None
        check_finished(match.finished)
    await host.close()


def check_finished(match: FinishedMatch) -> None:
    """The result is in order, and the record replays to it."""
    result = match.result
    if result.termination in (Termination.NORMAL, Termination.CANCELLED, Termination.VOID):
        assert result.seat_at_fault is None
    else:
        assert result.termination is not Termination.SERVER_FAULT, result.detail
        assert result.seat_at_fault is not None
        assert result.points[result.seat_at_fault] == 0.0
        assert match.spec.bots[result.seat_at_fault] in result.detail
    events = match.events(0)
    assert events[-1] == (match.event_count, result)
    assert match.record(True).moves == match.record(True).moves


def seeds(count: int) -> list[int]:
    """The seeds to run."""
    return [int(os.environ["SEED"])] if "SEED" in os.environ else list(range(count))


@pytest.mark.parametrize("seed", seeds(6))
async def test_any_schedule_keeps_every_promise(seed: int) -> None:
    await simulate(seed, 1000, None, Durability.MEMORY)


@pytest.mark.parametrize("seed", seeds(2))
@pytest.mark.parametrize("durability", [Durability.STRICT, Durability.BATCHED])
async def test_any_schedule_survives_a_restart(
    seed: int, durability: Durability, tmp_path: Path
) -> None:
    await simulate(seed, 300, tmp_path / "store.db", durability)


@pytest.mark.long
@pytest.mark.parametrize("seed", seeds(50))
async def test_many_schedules_keep_every_promise(seed: int) -> None:
    await simulate(seed, 3000, None, Durability.MEMORY)
