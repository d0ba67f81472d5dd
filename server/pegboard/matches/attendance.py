"""Who is there: bots connect, poll, leave and stay away.

A bot is there while a stream or a long poll of it is open. One that has not been there since a match
began has the match's start-up time; one that has left has the time to come back. Both are decided here,
what follows is the referee's affair.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Protocol

from pegboard.matches.clock import MILLISECOND, SECOND, Deadlines
from pegboard.matches.mailbox import Bot, Mailbox
from pegboard.matches.match import Match, OpenTurn, Player
from pegboard.matches.spec import Termination


class Judge(Protocol):
    """Who ends a match by the fault of a seat: the host."""

    def forfeit_seat(self, player: Player, termination: Termination, detail: str) -> None:
        """End the player's match."""
        ...


class Attendance:
    """All bots of which something is known. `listening`: some bot has ever asked for events."""

    def __init__(
        self, judge: Judge, deadlines: Deadlines, now_ns: Callable[[], int], reconnect_s: float
    ) -> None:
        self.bots: dict[str, Bot] = {}
        self.closed = False
        self.listening = False
        self._judge = judge
        self._deadlines = deadlines
        self._now_ns = now_ns
        self._reconnect_s = reconnect_s
        self._reconnect_ns = int(reconnect_s * SECOND)

    def bot(self, name: str) -> Bot:
        """Return what is known of the bot."""
        bot = self.bots.get(name)
        if bot is None:
            bot = self.bots[name] = Bot(name, self)
        return bot

    def forget(self, bot: Bot) -> None:
        """Drop a bot of which nothing is known but its name."""
        known = self.bots.get(bot.name) is bot
        if known and not bot.present and not bot.matches and not bot.armed_ns:
            self.bots.pop(bot.name, None)

    def close(self) -> None:
        """End all streams and polls."""
        self.closed = True
        for bot in self.bots.values():
            if bot.mailbox is not None:
                bot.mailbox.closed = True
            bot.wake()

    # Coming

    def connect(self, name: str, max_open_turns: int, with_events: bool) -> Mailbox:
        """Return a new mailbox for the bot, replacing an older one; its open turns come (again)."""
        bot = self.bot(name)
        if bot.mailbox is not None:
            bot.mailbox.replace()
        self.listening = self.listening or with_events
        bot.unary = False
        bot.limited = max_open_turns > 0
        bot.ready.clear()
        bot.out = 0
        for match in bot.matches:
            for player in match.players:
                turn = player.turn
                if player.bot is bot and turn is not None:
                    turn.sent = False
                    if not turn.held:
                        bot.ready[turn] = None
        bot.mailbox = Mailbox(bot, max_open_turns, with_events)
        return bot.mailbox

    async def next_turn(self, name: str, match_id: str, wait_s: float) -> OpenTurn | None:
        """Return an open turn of the bot, waiting for one; see `MatchHost.next_turn`."""
        bot = self.bot(name)
        bot.polls += 1
        bot.unary = bot.mailbox is None
        try:
            async with asyncio.timeout(wait_s):
                while (turn := bot.open_turn(match_id)) is None and not self.closed:
                    poller = asyncio.get_running_loop().create_future()
                    bot.pollers.append(poller)
                    try:
                        await poller
                    finally:
                        if poller in bot.pollers:  # it was not woken: its time is over
                            bot.pollers.remove(poller)
        except TimeoutError:
            turn = None
        finally:
            bot.polls -= 1
            self.left(bot)
        if turn is not None:
            bot.hand_out(turn)
        return turn

    def expect(self, match: Match, now_ns: int) -> None:
        """A match begins: those of its bots that are not there have its start-up time."""
        if not all(player.bot.present for player in match.players):
            startup_ms = match.spec.time_control.startup_ms
            self._deadlines.push(now_ns + startup_ms * MILLISECOND, match)

    def startup_over(self, match: Match, now_ns: int) -> int:
        """Forfeit the first bot that has not been there since the match began, if it is time."""
        startup_ms = match.spec.time_control.startup_ms
        lag_ns = self._deadlines.lag_ns - match.created_lag_ns
        ends_ns = match.created_ns + startup_ms * MILLISECOND + lag_ns
        if ends_ns > now_ns:
            return ends_ns
        for player in match.players:
            if not player.bot.present and player.bot.left_ns < match.created_ns:
                detail = f"did not connect within {startup_ms / 1000:g} s"
                self._judge.forfeit_seat(player, Termination.DISCONNECT, detail)
                break
        return 0

    # Going

    def left(self, bot: Bot) -> None:
        """The bot's stream or poll has ended: the time to come back runs."""
        bot.left_ns = self._now_ns()
        bot.left_lag_ns = self._deadlines.lag_ns
        if self.closed or bot.present or bot.armed_ns:
            return
        if not bot.matches:
            self.forget(bot)
        else:
            bot.armed_ns = bot.left_ns + self._reconnect_ns
            self._deadlines.push(bot.armed_ns, bot)

    def answered(self, bot: Bot) -> None:
        """A bot without a stream has answered, so it is there."""
        if bot.mailbox is None:
            self.left(bot)

    def away(self, bot: Bot, now_ns: int) -> int:
        """Forfeit the matches of a bot that has been away for too long, if it is time.

        A bot that plays by polls is not away while it thinks about a turn: that turn's clock runs.
        """
        ends_ns = bot.left_ns + self._reconnect_ns + (self._deadlines.lag_ns - bot.left_lag_ns)
        if ends_ns > now_ns:
            return ends_ns
        if bot.unary and bot.thinks():
            return now_ns + SECOND
        detail = f"did not come back within {self._reconnect_s:g} s"
        for match in list(bot.matches):
            if match.created_ns <= bot.left_ns:
                player = next(player for player in match.players if player.bot is bot)
                self._judge.forfeit_seat(player, Termination.DISCONNECT, detail)
        return 0
