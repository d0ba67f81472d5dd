"""Who is there: bots connect, poll, leave and stay away.

A bot is present while a stream or a long poll of it is open. One that has not been present since a
match began has the match's start-up time; one that has left has the time to come back. Both are decided
here.

No bot wins a match because its opponent was missed first. A bot forfeits by being away only if another
bot of the match is present, or was present after its time was over. If all of them have used up their
times the match is void: no bot has come, or the network between them and the server was down.
"""

from __future__ import annotations

import asyncio

from pegboard.errors import TooManyRequests
from pegboard.matches.bots import BotState
from pegboard.matches.clock import MILLISECOND, SECOND
from pegboard.matches.deadlines import CONFIRM_NS
from pegboard.matches.endings import Endings
from pegboard.matches.finished import FinishedMatch
from pegboard.matches.hosting import Hosting
from pegboard.matches.mailbox import Mailbox
from pegboard.matches.running import Absence, AnyMatch, OpenTurn, RunningMatch, SeatedBot
from pegboard.rules.errors import MatchOver
from pegboard.rules.results import Termination


class Presence:
    """Decides on bots that come, leave and stay away."""

    def __init__(self, hosting: Hosting, endings: Endings) -> None:
        self.closed = False
        self._bots = hosting.bots
        self._endings = endings
        self._deadlines = hosting.deadlines
        self._now_ns = hosting.now_ns
        self._reconnect_s = hosting.settings.reconnect_s
        self._reconnect_ns = int(hosting.settings.reconnect_s * SECOND)
        self._polls_max = hosting.settings.polls_max

    def close(self) -> None:
        """End all streams and polls."""
        self.closed = True
        self._bots.close()

    # Coming

    def connect(self, name: str, max_open_turns: int, with_events: bool) -> Mailbox:
        """Return a new mailbox for the bot, replacing an older one; its open turns come (again)."""
        bots = self._bots
        bots.listening = bots.listening or with_events
        return bots.of(name).connect(
            max_open_turns, with_events, self._now_ns(), self._stream_closed
        )

    def _stream_closed(self, bot: BotState, mailbox: Mailbox) -> None:
        if bot.disconnect(mailbox):
            self._left(bot)

    async def next_turn(self, name: str, match: AnyMatch | None, wait_s: float) -> OpenTurn | None:
        """Return an open turn of the bot, waiting for one; see `MatchHost.next_turn`."""
        bot = self._bots.of(name)
        if bot.polls >= self._polls_max:
            raise TooManyRequests(
                f"{name} has {bot.polls} calls of GetTurn open; let one end before the next"
            )
        bot.begin_poll()
        self.called(name)
        try:
            async with asyncio.timeout(wait_s):
                while (turn := _open_turn(bot, match)) is None and not self.closed:
                    await bot.wait_for_turn()
            if turn is not None:
                bot.turns.hand_out(turn, self._now_ns())
        except TimeoutError:
            turn = None
        finally:
            bot.end_poll()
            self._left(bot)
        return turn

    def called(self, name: str) -> None:
        """Note a call of the bot: one without a stream is present by it."""
        bot = self._bots.known.get(name)
        if bot is None:
            return
        bot.called(self._now_ns())
        if bot.mailbox is None:
            self._left(bot)

    def expect(self, match: RunningMatch, now_ns: int) -> None:
        """Give the bots of a match that begins its start-up time, those that are not present."""
        if not all(self._bots.of(name).present for name in match.bots):
            startup_ns = match.spec.time_control.startup_ms * MILLISECOND
            self._deadlines.push(now_ns + startup_ns, StartupDeadline(match, self))

    def startup_over(self, match: RunningMatch, now_ns: int) -> int:
        """Decide on the bots that have not been present since the match began, if it is time.

        Returns when to ask again, or 0.
        """
        if match.ending is not None:
            return 0
        ends_ns = self._startup_ends_ns(match)
        if ends_ns > now_ns:
            return ends_ns
        for seated in match.seats:
            if not self._bots.of(seated.name).came_to(match):
                startup_s = match.spec.time_control.startup_ms / 1000
                detail = f"did not connect within {startup_s:g} s"
                return self.absent(seated, ends_ns, now_ns, detail)
        return 0

    # Going

    def _left(self, bot: BotState) -> None:
        """Note that a stream or a poll has ended: the time to come back runs."""
        bot.left(self._now_ns(), self._deadlines.lag_ns)
        if self.closed or bot.present or bot.armed_ns:
            return
        if not bot.matches:
            self._bots.forget(bot)
        else:
            bot.arm(bot.left_ns + self._reconnect_ns)
            self._deadlines.push(bot.armed_ns, ReturnDeadline(bot, self))

    def away(self, bot: BotState, now_ns: int) -> int:
        """Decide on the matches of a bot that may have been away for too long, if it is time.

        Returns when to ask again, or 0.
        """
        bot.arm(0 if bot.present else self._away(bot, now_ns))
        if not bot.armed_ns:
            self._bots.forget(bot)
        return bot.armed_ns

    def _away(self, bot: BotState, now_ns: int) -> int:
        """Decide on the matches of a bot that is away.

        A bot that plays by polls is not away while it thinks about a turn: that turn's clock runs.
        """
        ends_ns = self._return_ends_ns(bot)
        if ends_ns > now_ns:
            return ends_ns
        if bot.thinks:
            return now_ns + SECOND
        detail = f"did not come back within {self._reconnect_s:g} s"
        again_ns = 0
        for match in list(bot.matches):
            if match.created_ns <= bot.left_ns:
                try:
                    seated = match.seats[match.spec.bots.index(bot.name)]
                    again_ns = max(again_ns, self.absent(seated, ends_ns, now_ns, detail))
                except Exception:
                    self._endings.fault(match)
        return again_ns

    def failed(self, match: RunningMatch) -> None:
        """End a match whose deadline has raised the exception being handled."""
        self._endings.fault(match)

    def absent(self, seated: SeatedBot, ends_ns: int, now_ns: int, detail: str) -> int:
        """Decide on a bot that is away and whose time was over at `ends_ns`.

        Ends the match, or waits for another bot of it. Returns when to ask again, or 0.
        """
        if not self._is_certain(seated):
            return now_ns + CONFIRM_NS
        match = seated.match
        bots = [self._bots.of(name) for name in match.bots]
        others = [bot for bot in bots if bot.name != seated.name]
        if any(bot.present or bot.thinks or bot.left_ns >= ends_ns for bot in others):
            self._endings.forfeit(seated, Termination.DISCONNECT, detail)
        elif all(self._is_time_over(bot, match, now_ns) for bot in others):
            came = any(bot.came_to(match) for bot in bots)
            why = "its bots stayed away" if came else "none of its bots connected"
            detail = f"match {match.id}: {why}; the match does not count"
            self._endings.abandon(match, Termination.VOID, detail)
        else:
            return now_ns + SECOND
        return 0

    def _is_certain(self, seated: SeatedBot) -> bool:
        """Return whether nothing of the bot can lie unread that came before its time was over."""
        probe, left_ns = self._deadlines.probe, self._bots.of(seated.name).left_ns
        if seated.absence is None or seated.absence.left_ns != left_ns:
            seated.absence = Absence(left_ns, probe.ask())
        return probe.passed(seated.absence.proof)

    def _is_time_over(self, bot: BotState, match: RunningMatch, now_ns: int) -> bool:
        """Return whether a bot that is away has used up its time to come, or to come back."""
        if not bot.came_to(match):
            return self._startup_ends_ns(match) <= now_ns
        return self._return_ends_ns(bot) <= now_ns

    def _return_ends_ns(self, bot: BotState) -> int:
        return bot.left_ns + self._reconnect_ns + (self._deadlines.lag_ns - bot.left_lag_ns)

    def _startup_ends_ns(self, match: RunningMatch) -> int:
        lag_ns = self._deadlines.lag_ns - match.created_lag_ns
        return match.created_ns + match.spec.time_control.startup_ms * MILLISECOND + lag_ns


def _open_turn(bot: BotState, match: AnyMatch | None) -> OpenTurn | None:
    """Return a turn for a poll. Raises `MatchOver` if none can come any more."""
    if match is None:
        return bot.any_open_turn()
    if isinstance(match, FinishedMatch) or match.finished is not None:
        raise MatchOver(f"match {match.id} is over; poll for another one, or for any")
    return bot.open_turn(match)


class StartupDeadline:
    """When the start-up time of a match is over (`deadlines.Deadline`)."""

    __slots__ = ("_match", "_presence")

    def __init__(self, match: RunningMatch, presence: Presence) -> None:
        self._match = match
        self._presence = presence

    def due(self, when_ns: int, now_ns: int) -> int:
        """Decide on the bots that have not come."""
        return self._presence.startup_over(self._match, now_ns)

    def is_spent(self) -> bool:
        """Return whether the match is over."""
        return self._match.ending is not None

    def failed(self) -> None:
        """End the match."""
        self._presence.failed(self._match)


class ReturnDeadline:
    """When the time of a bot to come back is over (`deadlines.Deadline`)."""

    __slots__ = ("_bot", "_presence")

    def __init__(self, bot: BotState, presence: Presence) -> None:
        self._bot = bot
        self._presence = presence

    def due(self, when_ns: int, now_ns: int) -> int:
        """Decide on the matches of the bot."""
        if when_ns != self._bot.armed_ns:
            return 0  # another entry took over
        return self._presence.away(self._bot, now_ns)

    def is_spent(self) -> bool:
        """Return whether no match waits for the bot to come back."""
        return not self._bot.armed_ns

    def failed(self) -> None:
        """End the matches of the bot."""
        self._bot.arm(0)
        for match in list(self._bot.matches):
            self._presence.failed(match)
