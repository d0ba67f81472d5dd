"""Answers of bots: which move they name, whether it counts, and what follows from it.

An answer is checked (seat, turn), applied by the rules and logged; then the next turns are opened.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from pegboard.matches.clock import MILLISECOND
from pegboard.matches.commits import Committer
from pegboard.matches.endings import Endings
from pegboard.matches.finished import AnsweredTurn, FinishedMatch
from pegboard.matches.hosting import Hosting
from pegboard.matches.publishing import Publishing
from pegboard.matches.rejection import Rejection, RejectionReason
from pegboard.matches.running import AnyMatch, OpenTurn, RunningMatch, SeatedBot
from pegboard.rules.errors import (
    ClaimTooHigh,
    IllegalMove,
    MatchOver,
    MustGoOut,
    NotYourTurn,
    PegboardError,
)
from pegboard.rules.game import Seat
from pegboard.rules.plain import quoted
from pegboard.rules.results import Result, Termination


class Answer(NamedTuple):
    """An answer to a turn: the index of a listed move, or a move; `number` completes an open one."""

    match_id: str
    seat: Seat
    turn_id: int
    move_index: int | None = None
    move: Any = None
    number: int | None = None


class Answers:
    """Takes the answers of all bots."""

    def __init__(
        self, hosting: Hosting, publishing: Publishing, commits: Committer, endings: Endings
    ) -> None:
        self._registry = hosting.registry
        self._running = hosting.registry.running
        self._bots = hosting.bots
        self._publishing = publishing
        self._commits = commits
        self._endings = endings
        self._deadlines = hosting.deadlines
        self._now_ns = hosting.now_ns
        self._spare_ns = hosting.settings.lag_ms * MILLISECOND
        self._refill_ns = hosting.settings.lag_refill_ms * MILLISECOND

    def answer(self, bot: str, answer: Answer) -> Rejection | None:
        """Answer a turn. None: the answer counts, or the seat has given the same answer before."""
        match_id, seat, turn_id = answer.match_id, answer.seat, answer.turn_id
        match = self._running.get(match_id)
        if match is None or not 0 <= seat < len(match.seats):
            return self._no_turn(bot, answer)
        seated = match.seats[seat]
        turn = seated.turn
        if turn is None or turn.turn_id != turn_id or seated.name != bot:
            return self._no_turn(bot, answer)
        try:
            made = match.play(seated, turn, _chosen(turn, answer))
        except (NotYourTurn, MatchOver):  # the turn was open: our error, not the bot's
            return self._fault(match)
        except PegboardError as error:
            return self._refuse(seated, turn, error)
        except Exception:
            return self._fault(match)
        now_ns = self._now_ns()
        self._bots.known[bot].closed(turn, now_ns)
        clock = seated.clock
        if clock.started_ns:
            clock.stop(now_ns, self._deadlines.lag_ns, self._refill_ns, self._spare_ns)
        else:
            clock.withdraw()
        commits = self._commits
        if commits.journaled:
            commits.moved(seated, made)
        if not commits.holding:
            self._publishing.events(match, match.log.count)
        try:
            self.proceed(match, commits.holding, now_ns)
        except Exception:
            return self._fault(match)
        return None

    def proceed(self, match: RunningMatch, holding: bool, now_ns: int) -> None:
        """After a move: open the turns that follow, or end the match."""
        acting = match.state.to_act()
        opened, withdrawn = match.ask(acting)
        if withdrawn:
            self._bots.withdraw(withdrawn)
        for turn in opened:
            if holding:
                self._commits.hold(turn)
            else:
                self._publishing.turn(turn, now_ns)
        if not acting:
            self._end(match)

    def begin(self, match: RunningMatch, now_ns: int) -> None:
        """Open the first turns of a match that begins, or is taken up again, or end it."""
        for seated in match.seats:
            if seated.turn is not None:
                self._publishing.turn(seated.turn, now_ns)
        if not match.state.to_act():
            self._end(match)

    def _end(self, match: RunningMatch) -> None:
        outcome = match.state.outcome()
        assert outcome is not None, "no seat is to act and there is no outcome"
        self._endings.end(match, Result(Termination.NORMAL, None, *outcome))

    def _fault(self, match: RunningMatch) -> Rejection:
        self._endings.fault(match)
        return _match_over(match.id)

    def _refuse(self, seated: SeatedBot, turn: OpenTurn, error: PegboardError) -> Rejection:
        """Count an answer that is not legal, and forfeit when there were too many.

        Whether a claim is too high, or too low to go out, is all that a bot cannot know (R-C8.6,
        X-05): such a claim costs no attempt if it is within the range that the turn gave, which each
        refusal narrows. A bot cannot find its true points by trying: a second claim that is too high
        stands as 0 (`RunningMatch.play`), or the points reach the target, which the bot knows by then.
        """
        limit = seated.match.spec.illegal_move_limit
        reason = RejectionReason.ILLEGAL_MOVE
        free = False
        if isinstance(error, ClaimTooHigh):
            reason = RejectionReason.CLAIM_TOO_HIGH
            free = turn.narrow(error)
            turn.overclaimed = True
        elif isinstance(error, MustGoOut):
            reason = RejectionReason.MUST_GO_OUT
            free = turn.narrow(error)
        if not free:
            turn.faults += 1
        if turn.faults >= limit:
            detail = f"{error} (illegal answer {turn.faults} of turn {turn.turn_id})"
            self._endings.forfeit(seated, Termination.ILLEGAL_MOVE, detail)
            return Rejection(reason, f"{error}; the match is forfeited")
        return Rejection(reason, str(error), limit - turn.faults, turn)

    def handed_again(self, rejection: Rejection) -> OpenTurn | None:
        """Return the turn that a rejection leaves open, handed to a call; None if there is none.

        The turn may have ended meanwhile, since the caller waits for the store first.
        """
        turn = rejection.turn
        if turn is None or turn.seated.turn is not turn or turn.held:
            return None
        self._bots.of(turn.seated.name).turns.hand_out(turn, self._now_ns())
        return turn

    def _no_turn(self, bot: str, answer: Answer) -> Rejection | None:
        """Return why the turn is not open; None if the seat has given the same answer before."""
        match_id, seat, turn_id = answer.match_id, answer.seat, answer.turn_id
        match = self._registry.find(match_id)
        if match is None or seat not in match.seats_of(bot):
            return _unknown_seat(bot, match_id, seat)
        last = _last_turn(match, seat)
        if last is not None and last.turn_id == turn_id and _same(last, answer):
            return None
        if isinstance(match, FinishedMatch) or match.ending is not None:
            return _match_over(match_id)
        turn = match.seats[seat].turn
        now = "it is not your turn" if turn is None else f"turn {turn.turn_id} is open"
        detail = f"turn {turn_id} of match {match_id} is over; {now}"
        return Rejection(RejectionReason.STALE_TURN, detail)

    def resign(self, bot: str, match_id: str, seat: Seat) -> Rejection | None:
        """Give a match up. None: it is over by that."""
        match = self._registry.find(match_id)
        if match is None or seat not in match.seats_of(bot):
            return _unknown_seat(bot, match_id, seat)
        if isinstance(match, FinishedMatch):
            result = match.result
        elif match.ending is None:
            self._endings.forfeit(match.seats[seat], Termination.RESIGN, "resigned")
            return None
        else:
            result = match.ending.result
        if (result.termination, result.seat_at_fault) == (Termination.RESIGN, seat):
            return None
        return _match_over(match_id)


def _last_turn(match: AnyMatch, seat: Seat) -> AnsweredTurn | None:
    """Return the turn that the seat has answered last, None for none that is known."""
    if isinstance(match, FinishedMatch):
        return match.answered[seat] if match.answered else None
    last = match.seats[seat].last
    return None if last is None else last.answered()


def _chosen(turn: OpenTurn | AnsweredTurn, answer: Answer) -> Any:
    """Return the move that an answer names. Raises `PegboardError`."""
    choices = turn.choices
    index, move, number = answer.move_index, answer.move, answer.number
    if move is not None:
        if type(move) not in map(type, choices.moves):  # of another phase, or of another game
            raise IllegalMove(f"{move.text()} is not among the {len(choices.moves)} legal moves")
        return move.with_number(number) if number is not None and move.is_open else move
    if index is None:
        raise IllegalMove("an answer needs the index of a listed move, or a move")
    try:
        return choices.complete(index, number, turn.question)
    except IndexError:
        count = len(choices.moves)
        raise IllegalMove(f"no move has index {index}; there are {count}, from 0") from None
    except ValueError:
        assert turn.question.number is not None
        low, high = turn.question.number
        raise IllegalMove(f"{number} is not from {low} to {high}") from None


def _same(turn: AnsweredTurn, answer: Answer) -> bool:
    """Return whether an answer names the move that the turn was answered with."""
    try:
        return bool(_chosen(turn, answer) == turn.made)
    except PegboardError:
        return False


def _match_over(match_id: str) -> Rejection:
    return Rejection(RejectionReason.MATCH_OVER, f"match {match_id} is over")


def _unknown_seat(bot: str, match_id: str, seat: Seat) -> Rejection:
    detail = f"{bot} does not sit at seat {seat} of match {quoted(match_id)}"
    return Rejection(RejectionReason.UNKNOWN_SEAT, detail)
