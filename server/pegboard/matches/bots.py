"""What the host knows of each bot: where it is connected, its running matches, its open turns.

`BotState` alone writes its fields. What follows from a bot's absence is decided in `presence`, from the
end of a turn's clock in `timeouts`.
"""

from __future__ import annotations

from asyncio import Future, get_running_loop
from collections.abc import Callable, Iterable

from pegboard.matches.mailbox import Mailbox
from pegboard.matches.running import OpenTurn, RunningMatch
from pegboard.matches.turns import TurnClocks, TurnQueue


class BotState:
    """One bot. It is present while a stream or a long poll of it is open.

    `left_ns` is when it was last present, -1 for never, and `left_lag_ns` the lag at that time; `polls`
    counts its long polls; `unary` says that it was last present by a call, not a stream. `armed_ns` is
    for when its absence is to be decided on, 0 for never.
    """

    __slots__ = (
        "_heard",
        "armed_ns",
        "left_lag_ns",
        "left_ns",
        "mailbox",
        "matches",
        "name",
        "pollers",
        "polls",
        "turns",
        "unary",
    )

    def __init__(self, name: str, clocks: TurnClocks) -> None:
        self.name = name
        self.turns = TurnQueue(clocks)
        self.mailbox: Mailbox | None = None
        self.matches: dict[RunningMatch, None] = {}
        self.polls = 0
        self.pollers: list[Future[None]] = []
        self.unary = False
        self.left_ns = -1
        self.left_lag_ns = 0
        self.armed_ns = 0
        self._heard = 0

    @property
    def present(self) -> bool:
        """Whether a stream or a poll of the bot is open."""
        return self.mailbox is not None or self.polls > 0

    @property
    def thinks(self) -> bool:
        """Whether the bot has taken a turn by a call and not answered it yet."""
        return self.unary and self.turns.out > 0

    @property
    def heard(self) -> int:
        """How many messages and calls have come from the bot."""
        return self._heard if self.mailbox is None else self._heard + self.mailbox.heard

    def came_to(self, match: RunningMatch) -> bool:
        """Return whether the bot has been present since the match began."""
        return self.present or self.left_ns >= match.created_ns

    def wake(self) -> None:
        """End the waits of the stream and of polls: there is something to take."""
        if self.mailbox is not None:
            self.mailbox.wake()
        if self.pollers:
            pollers, self.pollers = self.pollers, []
            for poller in pollers:
                if not poller.done():
                    poller.set_result(None)

    # Matches and turns

    def sit_down(self, match: RunningMatch) -> None:
        """Begin a match."""
        self.matches[match] = None
        if self.mailbox is not None:
            self.mailbox.match_started(match)

    def leave_match(self, match: RunningMatch) -> None:
        """Part with a match that has ended."""
        self.matches.pop(match, None)

    def opened(self, turn: OpenTurn, now_ns: int) -> None:
        """Take a turn that may be told: its clock starts if the bot is present and has room."""
        turns = self.turns
        most = turns.most
        # `present` and `has_room`, without their calls: this runs for every turn.
        if (self.mailbox is not None or self.polls) and (not most or turns.running < most):
            turns.start(turn, now_ns)
            self.wake()
        else:
            turns.wait(turn, now_ns)
            if self.pollers:  # several polls take several turns
                self.wake()

    def closed(self, turn: OpenTurn, now_ns: int) -> None:
        """Drop a turn that was answered or withdrawn; another may have room now."""
        turns = self.turns
        turns.close(turn)
        if turns.waiting or turns.most:
            self.make_room(now_ns)

    def make_room(self, now_ns: int) -> None:
        """Start the clocks of turns that wait, if the bot is present and has room for them."""
        turns = self.turns
        if turns.waiting and self.present:
            turns.start_waiting(now_ns)
        if turns.ready:
            self.wake()

    def let_go(self, turn: OpenTurn, now_ns: int) -> None:
        """Start a clock that has waited for too long; the turn goes to the bot when it takes one."""
        self.turns.let_go(turn, now_ns)
        self.wake()

    # Streams

    def connect(
        self,
        max_open_turns: int,
        with_events: bool,
        now_ns: int,
        on_close: Callable[[BotState, Mailbox], None],
    ) -> Mailbox:
        """Return a new mailbox in place of an older one; all open turns go to it (again)."""
        if self.mailbox is not None:
            self._heard = self.heard
            self.mailbox.replace()
        self.unary = False
        self.turns.most = max_open_turns
        self.mailbox = Mailbox(
            self.name,
            self.turns,
            self.matches,
            with_events,
            lambda mailbox: on_close(self, mailbox),
        )
        self.turns.ask_again(
            [turn for match in self.matches for turn in match.open_turns(self.name)]
        )
        self.make_room(now_ns)
        return self.mailbox

    def disconnect(self, mailbox: Mailbox) -> bool:
        """Part with a mailbox; return whether it was the present one."""
        if self.mailbox is not mailbox:
            return False
        self._heard = self.heard
        self.mailbox = None
        return True

    def left(self, now_ns: int, lag_ns: int) -> None:
        """Note that a stream or a poll has ended."""
        self.left_ns = now_ns
        self.left_lag_ns = lag_ns

    def arm(self, when_ns: int) -> None:
        """Note when the bot's absence is to be decided on, 0 for never."""
        self.armed_ns = when_ns

    # Calls

    def called(self, now_ns: int) -> None:
        """Count a call: a bot without a stream is present by it, and has time for one turn."""
        self._heard += 1
        if self.mailbox is None:
            self.unary = True
            self.turns.most = 1
            self.turns.start_waiting(now_ns)
            self.make_room(now_ns)

    def begin_poll(self) -> None:
        """Count a long poll that begins."""
        self.polls += 1

    def end_poll(self) -> None:
        """Count a long poll that has ended."""
        self.polls -= 1

    async def wait_for_turn(self) -> None:
        """Wait until there may be a turn for a poll."""
        poller = get_running_loop().create_future()
        self.pollers.append(poller)
        try:
            await poller
        finally:
            if poller in self.pollers:  # it was not woken: its time is over
                self.pollers.remove(poller)

    def open_turn(self, match: RunningMatch) -> OpenTurn | None:
        """Return a turn of the match that is not taken, else one that is not answered yet."""
        found = match.open_turns(self.name)
        return min(found, key=_taken) if found else None

    def any_open_turn(self) -> OpenTurn | None:
        """Return a turn of any match that is not taken, else one that is not answered yet."""
        turn = self.turns.untaken()
        if turn is not None:
            return turn
        for match in self.matches:
            turn = self.open_turn(match)
            if turn is not None:
                return turn
        return None


def _taken(turn: OpenTurn) -> bool:
    return turn.sent


class Bots:
    """All bots of which something is known, by name: all of running matches are.

    `listening`: a bot has ever asked for events.
    """

    def __init__(self, clocks: TurnClocks, now_ns: Callable[[], int]) -> None:
        self.known: dict[str, BotState] = {}
        self.listening = False
        self._clocks = clocks
        self._now_ns = now_ns

    def of(self, name: str) -> BotState:
        """Return what is known of the bot."""
        bot = self.known.get(name)
        if bot is None:
            bot = self.known[name] = BotState(name, self._clocks)
        return bot

    def forget(self, bot: BotState) -> None:
        """Drop a bot of which nothing is known but its name."""
        known = self.known.get(bot.name) is bot
        if known and not bot.present and not bot.matches and not bot.armed_ns:
            self.known.pop(bot.name, None)

    def withdraw(self, turns: Iterable[OpenTurn]) -> None:
        """Drop turns that are no longer asked; their time is given back.

        All of them leave their queues before other turns get their room: a turn of `turns` that waits
        must not be started.
        """
        bots = []
        for turn in turns:
            bot = self.of(turn.seated.name)
            bot.turns.close(turn)
            turn.seated.clock.withdraw()
            bots.append(bot)
        for bot in bots:
            bot.make_room(self._now_ns())

    def close(self) -> None:
        """End all streams and polls."""
        for bot in self.known.values():
            if bot.mailbox is not None:
                bot.mailbox.shut()
            bot.wake()
