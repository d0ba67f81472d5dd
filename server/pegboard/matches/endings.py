"""Every way in which a match ends: by its rules, by a seat's fault, without points, by our own fault.

A match that has ended takes no more answers. Its result is published once it is stored (`commits`,
`publishing`).
"""

from __future__ import annotations

import time
from traceback import format_exc

import structlog

from pegboard.matches.bots import Bots
from pegboard.matches.commits import Committer
from pegboard.matches.finished import MatchEnding
from pegboard.matches.running import RunningMatch, SeatedBot
from pegboard.rules.game import Outcome
from pegboard.rules.results import Result, Termination, forfeit_points

log = structlog.get_logger(__name__)


def ending_now(result: Result) -> MatchEnding:
    """Return the ending of a match that ends now; the store keeps milliseconds."""
    return MatchEnding(result, round(time.time(), 3))


class Endings:
    """Ends matches."""

    def __init__(self, bots: Bots, commits: Committer) -> None:
        self._bots = bots
        self._commits = commits

    def end(self, match: RunningMatch, result: Result) -> None:
        """End the match with this result."""
        assert match.ending is None, "a match ends once"
        match.ending = ending_now(result)
        self._bots.withdraw(match.withdraw())
        for name in match.bots:
            self._bots.of(name).leave_match(match)
        self._commits.ended(match)

    def forfeit(self, seated: SeatedBot, termination: Termination, detail: str) -> None:
        """End the match by the fault of a seat."""
        match = seated.match
        detail = f"{seated.name} (seat {seated.seat}) in match {match.id}: {detail}"
        try:
            standing = match.state.standing()
            points = forfeit_points(match.game, len(match.seats), standing, seated.seat)
        except Exception:
            self.fault(match)
            return
        scores, games_won = standing.scores, standing.games_won
        self.end(match, Result(termination, seated.seat, points, scores, games_won, detail))

    def abandon(self, match: RunningMatch, termination: Termination, detail: str) -> None:
        """End the match without points."""
        try:
            standing = match.state.standing()
        except Exception:
            standing = Outcome((), (), ())
        scores, games_won = standing.scores, standing.games_won
        self.end(match, Result(termination, None, (), scores, games_won, detail))

    def fault(self, match: RunningMatch) -> None:
        """End the match by the server's own error, which is being handled: it ends this match alone."""
        log.error(
            "match ended by a server fault",
            match=match.id,
            variant=match.spec.variant,
            traceback=format_exc(),  # as text: a log of locals would tell the seed
        )
        if match.ending is None:
            detail = f"match {match.id}: the server made an error; the match does not count"
            self.abandon(match, Termination.SERVER_FAULT, detail)
