"""The matches that the bot is asked to play: real engines, and the turns that a server would send."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any, NamedTuple

from pegboard.client.testing import ScriptedMatch, random_choice
from pegboard.client.turn import CLAIM_TOO_HIGH, MUST_GO_OUT, Refused, Turn
from pegboard.conformance.findings import Failed
from pegboard.rules.errors import ClaimTooHigh, IllegalMove, MustGoOut, PegboardError
from pegboard.rules.game import Seat
from pegboard.rules.names import MATCHES, VARIANTS
from pegboard.rules.results import Result, Termination
from pegboard.v1 import match_pb2, play_pb2
from pegboard.wire.codec import event_message, read_move
from pegboard.wire.records import result_message

ATTEMPTS = 3
LEGAL = (
    "answer with an index from 0 to the number of listed moves less one, and with a `number` from "
    "`min` to `max` if the move has a `number_range`; or with one of the listed moves as `move`"
)
KEY = "copy `match`, `seat` and `turn_id` of the turn into its answer"

Key = tuple[str, Seat]


class Asked(NamedTuple):
    """A turn that the bot has and has not answered; when it was sent."""

    turn: Turn
    at: float


class Seated:
    """A match and the seats of the bot in it; `over` once the bot has been told that it ended."""

    def __init__(self, match: ScriptedMatch, seats: tuple[Seat, ...]) -> None:
        self.match = match
        self.seats = seats
        self.over = False
        self.overclaimed: set[Seat] = set()
        self.told = dict.fromkeys(seats, 0)  # events, by seat

    def make(self, seat: Seat, move: Any) -> Refused | None:
        """Make a move; return why it was refused if it is a claim. Raises `PegboardError`."""
        try:
            self.match.apply(seat, move)
        except (ClaimTooHigh, MustGoOut) as error:
            return self._refuse(seat, error)
        self.overclaimed.discard(seat)
        return None

    def _refuse(self, seat: Seat, error: ClaimTooHigh | MustGoOut) -> Refused | None:
        """Refuse a claim as the server does: a second one too high stands as 0 (X-19)."""
        if isinstance(error, MustGoOut):
            self.match.narrow(seat, error)
            return Refused(MUST_GO_OUT, str(error), ATTEMPTS)
        if seat in self.overclaimed:
            try:
                self.match.apply(seat, error.instead)
                self.overclaimed.discard(seat)
                return None
            except MustGoOut:
                pass
        self.overclaimed.add(seat)
        self.match.narrow(seat, error)
        return Refused(CLAIM_TOO_HIGH, str(error), ATTEMPTS)

    def play_others(self) -> None:
        """Let the seats that are not the bot's act, at random, until only the bot is to act."""
        match = self.match
        while others := [seat for seat in match.state.to_act() if seat not in self.seats]:
            turn = match.turn(others[0])
            self.make(turn.seat, match.resolve(turn, random_choice(turn)))


class Table:
    """Running matches of the bot, the turns that it owes and what it has answered."""

    def __init__(self, clock_ms: int, hello: play_pb2.Hello) -> None:
        self.matches: dict[str, Seated] = {}
        self.open: dict[Key, Asked] = {}
        self.answered = 0
        self.resigned = 0
        self.late = 0
        self.slowest_s = 0.0
        self._clock_ms = clock_ms
        self._most = hello.max_open_turns
        self._events = hello.events
        self._news = play_pb2.PlayResponse()
        self._seen: dict[Key, int] = {}  # the greatest turn_id that each seat was sent

    def add(
        self, name: str, variant: str, seats: int, own: tuple[Seat, ...], seed: int
    ) -> ScriptedMatch:
        """Begin a match in which the bot has these seats."""
        match = ScriptedMatch(variant, seats, seed=seed)
        match.name = MATCHES + name
        self.matches[match.name] = Seated(match, own)
        self._news.started.append(self.started(match.name))
        return match

    def started(self, name: str) -> play_pb2.MatchStarted:
        """Return what the bot is told when a match begins, and again when it comes back."""
        seated = self.matches[name]
        match = seated.match
        return play_pb2.MatchStarted(
            match=name,
            variant=VARIANTS + match.variant,
            family=match.game.family,
            seats=seated.seats,
            seat_count=match.seats,
            options=match.options,
            time_control=match_pb2.TimeControl(move_ms=self._clock_ms, startup_ms=60_000),
        )

    # --- what to send --------------------------------------------------------------------------

    def news(self, more: bool = True) -> play_pb2.PlayResponse:
        """Return what there is to tell: starts, events, rejections, ends and, with `more`, turns."""
        for name, seated in self.matches.items():
            if seated.over:
                continue
            seated.play_others()
            self._tell_events(seated)
            self._withdraw(name, seated)
            if not seated.match.state.to_act():
                self.end(name, Termination.NORMAL)
        response, self._news = self._news, play_pb2.PlayResponse()
        if more:
            response.turns.extend(turn.message for turn in self._due())
        return response

    def _due(self) -> Iterator[Turn]:
        """Yield the turns that the bot has not got, as many as it takes, and count them as open."""
        for name, seated in self.matches.items():
            if seated.over:
                continue
            for seat in seated.match.state.to_act():
                full = self._most and len(self.open) >= self._most
                if (name, seat) not in self.open and not full:
                    turn = seated.match.turn(seat, self._clock_ms)
                    self.open[name, seat] = Asked(turn, time.monotonic())
                    self._seen[name, seat] = turn.turn_id
                    yield turn

    def again(self) -> play_pb2.PlayResponse:
        """Return what a bot that comes back is told: its running matches and open turns."""
        self._news = play_pb2.PlayResponse()
        names = [name for name, seated in self.matches.items() if not seated.over]
        for seated in self.matches.values():
            seated.told = dict.fromkeys(seated.seats, 0)
        now = time.monotonic()
        self.open = {key: Asked(asked.turn, now) for key, asked in self.open.items()}
        return play_pb2.PlayResponse(
            started=[self.started(name) for name in names],
            turns=[asked.turn.message for asked in self.open.values()],
        )

    def _withdraw(self, name: str, seated: Seated) -> None:
        """Forget open turns that another seat has ended."""
        asked = seated.match.state.to_act()
        for key in [key for key in self.open if key[0] == name]:
            seat = key[1]
            turn_id = self.open[key].turn.turn_id
            if seat not in asked or seated.match.turn(seat).turn_id != turn_id:
                del self.open[key]

    def _tell_events(self, seated: Seated) -> None:
        if not self._events:
            return
        match = seated.match
        for seat in seated.seats:
            first = seated.told[seat]
            told = [
                event_message(match.game.family, number, match.game.redact(event, seat))
                for number, event in enumerate(match.events[first:], first + 1)
            ]
            seated.told[seat] = len(match.events)
            if told:
                self._news.events.add(match=match.name, seat=seat, events=told)

    def end(self, name: str, termination: Termination) -> None:
        """End a match; its open turns are withdrawn."""
        seated = self.matches[name]
        seated.over = True
        for seat in seated.seats:
            self.open.pop((name, seat), None)
        outcome = seated.match.state.outcome() if termination == Termination.NORMAL else None
        result = Result(termination, None, *(outcome or ((), (), ())))
        self._news.ended.add(match=name, result=result_message(result), seats=seated.seats)

    def end_all(self) -> None:
        """Cancel what runs."""
        for name, seated in self.matches.items():
            if not seated.over:
                self.end(name, Termination.CANCELLED)

    # --- what comes back -----------------------------------------------------------------------

    def take(self, request: play_pb2.PlayRequest) -> None:
        """Take the answers of a message. Raises `Failed` for one that a server would not accept."""
        if request.HasField("hello"):
            raise Failed("said Hello twice", "send Hello in the first message of a stream only")
        for resignation in request.resignations:
            if resignation.match not in self.matches:
                raise Failed(f"resigned {resignation.match!r}, which it does not play", KEY)
            self.resigned += 1
            if not self.matches[resignation.match].over:
                self.end(resignation.match, Termination.CANCELLED)
        for answer in request.answers:
            self.answer(answer)

    def answer(self, answer: play_pb2.Answer) -> None:
        """Take one answer. Raises `Failed`."""
        key = answer.match, answer.seat
        asked = self.open.get(key)
        if asked is None or asked.turn.turn_id != answer.turn_id:
            self._take_late(answer)
            return
        del self.open[key]
        self.slowest_s = max(self.slowest_s, time.monotonic() - asked.at)
        self.answered += 1
        seated = self.matches[answer.match]
        try:
            refused = seated.make(answer.seat, self.move(asked.turn, answer))
        except PegboardError as error:
            raise Failed(
                f"answered {asked.turn.title} with an illegal move: {error}", LEGAL
            ) from None
        if refused is not None:
            self.reject(answer, refused)
        self._withdraw(answer.match, seated)

    def reject(self, answer: play_pb2.Answer, refused: Refused) -> None:
        """Tell of an answer that did not count."""
        reason: Any = refused.reason
        self._news.rejected.add(
            match=answer.match,
            seat=answer.seat,
            turn_id=answer.turn_id,
            reason=reason,
            detail=refused.detail,
            attempts_left=refused.attempts_left,
        )

    def _take_late(self, answer: play_pb2.Answer) -> None:
        """Take an answer to a turn that is over, as after a withdrawal or a repeated turn."""
        latest = self._seen.get((answer.match, answer.seat), 0)
        title = f"turn {answer.turn_id} of seat {answer.seat} in {answer.match[:80]!r}"
        if not 1 <= answer.turn_id <= latest:
            raise Failed(f"answered {title}, which it was never asked", KEY)
        self.late += 1
        stale = play_pb2.REJECTION_REASON_STALE_TURN
        self.reject(answer, Refused(stale, f"turn {answer.turn_id} is over", 0))

    def move(self, turn: Turn, answer: play_pb2.Answer) -> Any:
        """Return the move that an answer names. Raises `IllegalMove`, `NotationError`."""
        match = self.matches[turn.match].match
        if answer.HasField("index"):
            if answer.index >= turn.move_count:
                raise IllegalMove(
                    f"no move has index {answer.index}; there are {turn.move_count}, from 0"
                )
            bounds = turn.number_of(answer.index)
            number = answer.number if answer.HasField("number") else None
            if bounds and number is not None and not bounds[0] <= number <= bounds[1]:
                raise IllegalMove(f"{number} is not from {bounds[0]} to {bounds[1]}")
            return match.resolve(turn, (answer.index, number))
        if not answer.HasField("move"):
            raise IllegalMove("the answer has neither `index` nor `move`")
        return read_move(match.game.family, answer.move)

    def check_clocks(self, slack_s: float) -> float:
        """Return how long the oldest open turn may still take. Raises `Failed` if it is overdue."""
        if not self.open:
            return 0.0
        oldest = min(self.open.values(), key=lambda asked: asked.at)
        left = self._clock_ms / 1000 + slack_s - (time.monotonic() - oldest.at)
        if left > 0:
            return left
        others = f"; it had answered {self.answered} turns before" if self.answered else ""
        raise Failed(
            f"left {oldest.turn.title} ({self.matches[oldest.turn.match].match.variant}) unanswered "
            f"for its whole clock of {self._clock_ms} ms{others}",
            "answer every turn of every message, for every seat, within `clock.turn_ms`",
        )
