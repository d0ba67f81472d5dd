"""Turns whose time is up, turns that have waited too long, and matches that have lasted too long."""

from __future__ import annotations

from pegboard.matches.clock import MILLISECOND, SECOND
from pegboard.matches.deadlines import CONFIRM_NS, Deadlines
from pegboard.matches.endings import Endings
from pegboard.matches.hosting import Hosting
from pegboard.matches.presence import Presence
from pegboard.matches.running import OpenTurn, Overdue, RunningMatch, SeatedBot
from pegboard.matches.turns import WAIT_LOOK_NS
from pegboard.rules.results import Termination

CONFIRMATIONS_MAX = 50
"""How often a busy loop, or messages of the bot, may put off the end of an overdue turn."""


class Timeouts:
    """Decides on turns and matches whose time may be up."""

    def __init__(self, hosting: Hosting, presence: Presence, endings: Endings) -> None:
        self._bots = hosting.bots
        self._presence = presence
        self._endings = endings
        self._deadlines = hosting.deadlines
        self._now_ns = hosting.now_ns
        self._wait_ns = hosting.settings.wait_ns

    def limit(self, match: RunningMatch) -> None:
        """See to it that a match that begins ends in time, if it has a limit."""
        if match.spec.time_control.match_ms:
            limit = MatchLimit(match, self, self._deadlines)
            self._deadlines.push(limit.ends_ns(), limit)

    # Turns

    def turn_due(self, seated: SeatedBot, when_ns: int, now_ns: int) -> int:
        """End the open turn of a seat if its time is up, and certainly so (see `deadlines`).

        Returns when to ask again, or 0.
        """
        clock = seated.clock
        if when_ns != clock.armed_ns:
            return 0  # another entry took over
        clock.armed_ns = 0
        turn = seated.turn
        if turn is None:
            return 0
        again_ns = 0
        if clock.started_ns:
            again_ns = self._overdue(turn, now_ns)
        elif clock.waiting_ns:
            again_ns = self._waits(turn, now_ns)
        if again_ns:
            clock.armed_ns = again_ns
        return again_ns

    def _overdue(self, turn: OpenTurn, now_ns: int) -> int:
        """End the turn if its time is up. Return when to ask again, or 0."""
        lag_ns = self._deadlines.lag_ns
        ends_ns = turn.seated.clock.ends_ns(lag_ns)
        if ends_ns > now_ns:
            return ends_ns
        if self._is_confirmed(turn, lag_ns):
            return self._turn_over(turn.seated, ends_ns, now_ns)
        return now_ns + CONFIRM_NS

    def _is_confirmed(self, turn: OpenTurn, lag_ns: int) -> bool:
        """Return whether the turn was overdue before, and all that had come by then was read since."""
        seated = turn.seated
        probe = self._deadlines.probe
        heard = self._bots.of(seated.name).heard
        before = seated.overdue
        times = 0
        if before is not None and before.turn is turn:
            if not probe.passed(before.proof):
                return False
            quiet = before.lag_ns == lag_ns and before.heard == heard
            if quiet or before.times == CONFIRMATIONS_MAX:
                return True
            times = before.times
        seated.overdue = Overdue(turn, lag_ns, heard, probe.ask(), times + 1)
        return False

    def _turn_over(self, seated: SeatedBot, ends_ns: int, now_ns: int) -> int:
        """End the match: the time of the seat is certainly up. Return when to ask again, or 0."""
        limit_s = seated.clock.limit_ns / SECOND
        bot = self._bots.of(seated.name)
        if bot.present or bot.unary:
            detail = f"no answer within {limit_s:g} s"
            self._endings.forfeit(seated, Termination.TIMEOUT, detail)
            return 0
        detail = f"away, and no answer within {limit_s:g} s"
        return self._presence.absent(seated, ends_ns, now_ns, detail)

    def _waits(self, turn: OpenTurn, now_ns: int) -> int:
        """Start the clock if the seat has waited for too long. Return when to ask again, or 0.

        A bot that has not come to this match yet has the start-up time instead.
        """
        seated = turn.seated
        ends_ns = seated.clock.wait_ends_ns(self._wait_ns, self._deadlines.lag_ns)
        if ends_ns > now_ns:
            return min(ends_ns, now_ns + WAIT_LOOK_NS)
        bot = self._bots.of(seated.name)
        if not bot.came_to(seated.match):
            return now_ns + WAIT_LOOK_NS
        bot.let_go(turn, now_ns)
        return 0

    # Matches

    def limit_over(self, match: RunningMatch) -> None:
        """End a match that has lasted as long as it may: the seat that has used the most time loses."""
        now_ns, lag_ns = self._now_ns(), self._deadlines.lag_ns
        spent = [seated.clock.spent_ns(now_ns, lag_ns) for seated in match.seats]
        most = max(spent)
        limit_s = match.spec.time_control.match_ms / 1000
        if spent.count(most) > 1:
            detail = (
                f"match {match.id}: not over within {limit_s:g} s, by no seat more than another"
            )
            self._endings.abandon(match, Termination.VOID, detail)
            return
        detail = (
            f"the match was not over within {limit_s:g} s, and this seat had used the most time,"
            f" {most / SECOND:.1f} s"
        )
        self._endings.forfeit(match.seats[spent.index(most)], Termination.TIMEOUT, detail)

    def failed(self, match: RunningMatch) -> None:
        """End a match whose deadline has raised the exception being handled."""
        self._endings.fault(match)


class TurnDeadline:
    """When the open turn of a seat may be over, or has waited for too long (`deadlines.Deadline`)."""

    __slots__ = ("_seated", "_timeouts")

    def __init__(self, seated: SeatedBot, timeouts: Timeouts) -> None:
        self._seated = seated
        self._timeouts = timeouts

    def due(self, when_ns: int, now_ns: int) -> int:
        """End the turn if it is time."""
        return self._timeouts.turn_due(self._seated, when_ns, now_ns)

    def is_spent(self) -> bool:
        """Return whether the match is over."""
        return self._seated.match.ending is not None

    def failed(self) -> None:
        """End the match."""
        self._timeouts.failed(self._seated.match)


class MatchLimit:
    """When a match has lasted as long as it may (`TimeControl.match_ms`, `deadlines.Deadline`)."""

    __slots__ = ("_deadlines", "_match", "_proof", "_timeouts")

    def __init__(self, match: RunningMatch, timeouts: Timeouts, deadlines: Deadlines) -> None:
        self._match = match
        self._timeouts = timeouts
        self._deadlines = deadlines
        self._proof = -1  # none asked for yet

    def ends_ns(self) -> int:
        """Return when that is, by the lag known now."""
        match = self._match
        lag_ns = self._deadlines.lag_ns - match.created_lag_ns
        return match.created_ns + match.spec.time_control.match_ms * MILLISECOND + lag_ns

    def due(self, when_ns: int, now_ns: int) -> int:
        """End the match if it is time."""
        if self._match.ending is not None:
            return 0
        ends_ns = self.ends_ns()
        if ends_ns > now_ns:
            return ends_ns
        probe = self._deadlines.probe
        if self._proof < 0:
            self._proof = probe.ask()
        if not probe.passed(self._proof):
            return now_ns + CONFIRM_NS
        self._timeouts.limit_over(self._match)
        return 0

    def is_spent(self) -> bool:
        """Return whether the match is over."""
        return self._match.ending is not None

    def failed(self) -> None:
        """End the match."""
        self._timeouts.failed(self._match)
