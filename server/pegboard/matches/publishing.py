"""The one place in which turns, events and results become visible to bots and watchers.

`answers` publishes at once what may be told at once. What waits for the store, and every result, comes
here with the commit that has stored it (`commits`).
"""

from __future__ import annotations

from pegboard.matches.commits import Commit
from pegboard.matches.finished import FinishedMatch
from pegboard.matches.hosting import Hosting
from pegboard.matches.running import OpenTurn, RunningMatch
from pegboard.matches.subscriptions import Subscriptions


class Publishing:
    """Publishes what has happened."""

    def __init__(self, hosting: Hosting, subscriptions: Subscriptions) -> None:
        self._registry = hosting.registry
        self._bots = hosting.bots
        self._subscriptions = subscriptions
        self._deadlines = hosting.deadlines
        self._now_ns = hosting.now_ns

    def stored(self, commit: Commit) -> None:
        """Publish what waited for the store: events, turns, results."""
        for match, count in commit.shown:
            if match.log.visible < count:
                self.events(match, count)
        for turn in commit.turns:
            turn.held = False
            if turn.seated.turn is turn:
                self.turn(turn, self._now_ns())
        for finished in commit.finished:
            self._result(finished)
        if commit.finished:
            self._subscriptions.matches_finished()

    def turn(self, turn: OpenTurn, now_ns: int) -> None:
        """Let a turn go to its bot."""
        self._bots.known[turn.seated.name].opened(turn, now_ns)

    def events(self, match: RunningMatch, count: int) -> None:
        """Let the first `count` events be seen."""
        events = match.log
        events.visible = count
        if events.waiters:
            events.wake()
        # Nearly no bot asks for events: without this a move would look at every seat's mailbox.
        if not self._bots.listening:
            return
        for seated in match.seats:
            mailbox = self._bots.of(seated.name).mailbox
            if mailbox is not None and mailbox.with_events:
                mailbox.events_grew(match)

    def _result(self, finished: FinishedMatch) -> None:
        match = self._registry.finish(finished)
        if match is None:
            return  # it was lost before it could run here: no bot and no watcher knows it
        match.finished = finished
        match.log.visible = match.log.count
        match.log.wake()
        self._deadlines.spend(len(match.seats) + 2)
        for name in match.bots:
            bot = self._bots.of(name)
            if bot.mailbox is not None:
                bot.mailbox.match_ended(finished)
            if bot.pollers:
                bot.wake()
            self._bots.forget(bot)
        match.disband()
