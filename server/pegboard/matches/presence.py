"""Who is there: bots connect, poll, leave and stay away.

A bot is there while a stream or a long poll of it is open. One that has not been there since a match
began has the match's start-up time; one that has left has the time to come back. Both are decided here,
what follows is decided by the judge.

No bot wins a match because its opponent was missed first. A bot forfeits by being away only if another
bot of the match is there, or was there after its time was over. Where all of them have used up their
times the match is void: no bot has come, or the network between them and the server was down.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Protocol

from pegboard.errors import TooManyRequests
from pegboard.matches.clock import CONFIRM_NS, MILLISECOND, SECOND, Deadlines
from pegboard.matches.mailbox import Bot, Mailbox
from pegboard.matches.match import Absence, Match, MatchLimit, OpenTurn, Player
from pegboard.rules.errors import MatchOver
from pegboard.rules.results import Termination


class Judge(Protocol):
    """Who ends a match by the fault of a seat: the host."""

    def forfeit_seat(self, player: Player, termination: Termination, detail: str) -> None:
        """End the player's match."""
        ...

    def abandon(self, match: Match, termination: Termination, detail: str) -> None:
        """End a match without a result."""
        ...


class Attendance:
    """All bots of which something is known. `listening`: some bot has ever asked for events."""

    def __init__(
        self,
        judge: Judge,
        deadlines: Deadlines,
        now_ns: Callable[[], int],
        reconnect_s: float,
        polls_max: int,
    ) -> None:
        self.bots: dict[str, Bot] = {}
        self.closed = False
        self.listening = False
        self._judge = judge
        self._deadlines = deadlines
        self._now_ns = now_ns
        self._reconnect_s = reconnect_s
        self._reconnect_ns = int(reconnect_s * SECOND)
        self._polls_max = polls_max

    def now(self) -> int:
        """Return the time (mailbox.Doorkeeper)."""
        return self._now_ns()

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
        bot.most = max_open_turns
        bot.mailbox = Mailbox(bot, max_open_turns, with_events)
        bot.ask_again()
        return bot.mailbox

    async def next_turn(self, name: str, match: Match | None, wait_s: float) -> OpenTurn | None:
        """Return an open turn of the bot, waiting for one; see `MatchHost.next_turn`."""
        bot = self.bot(name)
        if bot.polls >= self._polls_max:
            raise TooManyRequests(
                f"{name} has {bot.polls} calls of GetTurn open; let one end before the next"
            )
        bot.polls += 1
        self.called(name)
        try:
            async with asyncio.timeout(wait_s):
                while (turn := self._open_turn(bot, match)) is None and not self.closed:
                    poller = asyncio.get_running_loop().create_future()
                    bot.pollers.append(poller)
                    try:
                        await poller
                    finally:
                        if poller in bot.pollers:  # it was not woken: its time is over
                            bot.pollers.remove(poller)
            if turn is not None:
                bot.hand_out(turn)
        except TimeoutError:
            turn = None
        finally:
            bot.polls -= 1
            self.left(bot)
        return turn

    def _open_turn(self, bot: Bot, match: Match | None) -> OpenTurn | None:
        """Return a turn for a poll. Raises `MatchOver` where none can come any more."""
        if match is not None and match.result is not None:
            raise MatchOver(f"match {match.id} is over; poll for another one, or for any")
        return bot.open_turn(match)

    def called(self, name: str) -> None:
        """The bot calls: one without a stream is there by that, and has time for one turn."""
        bot = self.bots.get(name)
        if bot is None:
            return
        bot.heard += 1
        if bot.mailbox is None:
            bot.unary = True
            bot.most = 1
            bot.start_clocks()
            bot.make_room()
            self.left(bot)

    def expect(self, match: Match, now_ns: int) -> None:
        """A match begins: those of its bots that are not there have its start-up time."""
        control = match.spec.time_control
        if not all(player.bot.present for player in match.players):
            self._deadlines.push(now_ns + control.startup_ms * MILLISECOND, match)
        if control.match_ms:
            limit = MatchLimit(match)
            self._deadlines.push(limit.ends_ns(), limit)

    def startup_over(self, match: Match, now_ns: int) -> int:
        """Decide on the bots that have not been there since the match began, if it is time."""
        ends_ns = self._startup_ends_ns(match)
        if ends_ns > now_ns:
            return ends_ns
        for player in match.players:
            if not player.bot.came_to(match):
                startup_s = match.spec.time_control.startup_ms / 1000
                detail = f"did not connect within {startup_s:g} s"
                return self.absent(player, ends_ns, now_ns, detail)
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

    def away(self, bot: Bot, now_ns: int) -> int:
        """Decide on the matches of a bot that has been away for too long, if it is time.

        A bot that plays by polls is not away while it thinks about a turn: that turn's clock runs.
        """
        ends_ns = bot.left_ns + self._reconnect_ns + (self._deadlines.lag_ns - bot.left_lag_ns)
        if ends_ns > now_ns:
            return ends_ns
        if bot.thinks:
            return now_ns + SECOND
        detail = f"did not come back within {self._reconnect_s:g} s"
        again_ns = 0
        for match in list(bot.matches):
            if match.created_ns <= bot.left_ns:
                player = next(player for player in match.players if player.bot is bot)
                again_ns = max(again_ns, self.absent(player, ends_ns, now_ns, detail))
        return again_ns

    def absent(self, player: Player, ends_ns: int, now_ns: int, detail: str) -> int:
        """The time of a bot that is away was over at `ends_ns`: end the match, or wait for another.

        Returns when to ask again, or 0.
        """
        if not self._certain(player):
            return now_ns + CONFIRM_NS
        match = player.match
        others = [bot for bot in match.bots() if bot is not player.bot]
        if any(bot.present or bot.thinks or bot.left_ns >= ends_ns for bot in others):
            self._judge.forfeit_seat(player, Termination.DISCONNECT, detail)
        elif all(self._time_over(bot, match, now_ns) for bot in others):
            came = any(bot.came_to(match) for bot in match.bots())
            why = "its bots stayed away" if came else "none of its bots connected"
            detail = f"match {match.id}: {why}; the match does not count"
            self._judge.abandon(match, Termination.VOID, detail)
        else:
            return now_ns + SECOND
        return 0

    def _certain(self, player: Player) -> bool:
        """Whether nothing of the bot can lie unread, of what came before its time was over."""
        probe, left_ns = self._deadlines.probe, player.bot.left_ns
        if player.absence is None or player.absence.left_ns != left_ns:
            player.absence = Absence(left_ns, probe.ask())
        return probe.passed(player.absence.proof)

    def _time_over(self, bot: Bot, match: Match, now_ns: int) -> bool:
        """Whether a bot that is away has used up its time to come, or to come back."""
        if not bot.came_to(match):
            return self._startup_ends_ns(match) <= now_ns
        lag_ns = self._deadlines.lag_ns - bot.left_lag_ns
        return bot.left_ns + self._reconnect_ns + lag_ns <= now_ns

    def _startup_ends_ns(self, match: Match) -> int:
        lag_ns = self._deadlines.lag_ns - match.created_lag_ns
        return match.created_ns + match.spec.time_control.startup_ms * MILLISECOND + lag_ns
