"""A match of Draw in progress: turns, rounds, games."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from pegboard.rules.dominoes.events import (
    Dealt,
    DominoesEvent,
    Drawn,
    GameEnded,
    GameStarted,
    Passed,
    Placed,
    RoundEnded,
)
from pegboard.rules.dominoes.hands import (
    BIT,
    FITS,
    WHOLE_SET,
    Hand,
    hand_of_places,
    pips_of,
    tiles_of,
)
from pegboard.rules.dominoes.legal import (
    NEVER_DRAWN,
    line_moves,
    opening_moves,
)
from pegboard.rules.dominoes.line import Line
from pegboard.rules.dominoes.moves import END_TEXT, DominoesMove, Draw, End, Pass, Place
from pegboard.rules.dominoes.scoring import (
    block_points,
    block_winner,
    hand_size,
    leaders,
    out_points,
)
from pegboard.rules.dominoes.view import Act, DominoesView
from pegboard.rules.errors import IllegalMove, MatchOver, NotYourTurn
from pegboard.rules.game import Chance, Choices, Outcome, Seat
from pegboard.rules.results import place_points
from pegboard.rules.tiles import HALVES, SET, TEXT, Tile, tiles_text
from pegboard.rules.versions import Edition

FIRST_PLACES = 16
NO_CHOICES = Choices(())

# Made once and shared: a round makes thirty of them.
ACTS_PLACED = {
    (seat, tile, end): Act(seat, tile, end, False)
    for seat in range(4)
    for tile in SET
    for end in End
}
ACTS_DRAWN = tuple(Act(seat, None, End.NONE, False) for seat in range(4))
ACTS_PASSED = tuple(Act(seat, None, End.NONE, True) for seat in range(4))


class Terms(NamedTuple):
    """What a match is played for; `start_scores` by seat, at the start of every game."""

    seats: int
    target: int
    match_games: int
    start_scores: tuple[int, ...]
    edition: Edition


class DominoesState:
    """Implements `rules.game.State`. `round` counts within the game, `rounds` within the match.

    `turn` and `opener` stay where they were when the match is over. `stock` is a set, of `stock_left`
    tiles; `orders` has, by seat, the order of the set that the seat draws by (X-21), as far as it was
    needed: empty until it first draws in the round. `asked` is the question to the seat on turn: made
    when first asked for, a new object after every move.
    """

    __slots__ = (
        "acts",
        "asked",
        "chance",
        "game",
        "games_won",
        "hands",
        "line",
        "opener",
        "orders",
        "over",
        "passes",
        "round",
        "rounds",
        "scores",
        "stock",
        "stock_left",
        "terms",
        "turn",
    )

    def __init__(self, terms: Terms, chance: Chance, opener: Seat) -> None:
        self.terms = terms
        self.chance = chance
        self.game = 0
        self.round = 0
        self.rounds = 0
        self.opener = opener
        self.turn = opener
        self.over = False
        self.scores: tuple[int, ...] = terms.start_scores
        self.games_won: tuple[int, ...] = (0,) * terms.seats
        self.hands: list[Hand] = [0] * terms.seats
        self.stock: Hand = 0
        self.stock_left = 0
        self.orders: tuple[Sequence[int], ...] = ()
        self.line = Line()
        self.passes = 0
        self.acts: list[Act] = []
        self.asked: Choices | None = None

    def copy(self) -> DominoesState:
        """Return an independent state."""
        state = DominoesState(self.terms, self.chance, self.opener)
        state.game = self.game
        state.round = self.round
        state.rounds = self.rounds
        state.turn = self.turn
        state.over = self.over
        state.scores = self.scores
        state.games_won = self.games_won
        state.hands = self.hands.copy()
        state.stock = self.stock
        state.stock_left = self.stock_left
        state.orders = self.orders
        state.line = self.line.copy()
        state.passes = self.passes
        state.acts = self.acts.copy()
        state.asked = self.asked
        return state

    # Asking

    def to_act(self) -> tuple[Seat, ...]:
        """Return the one seat on turn, or () when the match is over."""
        return () if self.over else (self.turn,)

    def choices(self, seat: Seat) -> Choices[DominoesMove]:
        """Return the placements by tile, left before right, then draw or pass."""
        if seat != self.turn or self.over:
            return NO_CHOICES
        asked = self.asked
        if asked is None:
            stock = self.stock_left
            ends = self.line.ends
            if ends is None:
                legal = opening_moves(self.hands[seat], stock)
            else:
                left, right = ends
                legal = line_moves(left.pips, right.pips, self.hands[seat], stock)
            self.asked = asked = Choices(legal)
        return asked

    def view(self, seat: Seat | None) -> DominoesView:
        """Return what the seat can see: its own hand, the line, and how many tiles all hold."""
        line = self.line
        return DominoesView(
            self.game,
            self.round,
            self.opener,
            self.scores,
            self.games_won,
            () if seat is None else tiles_of(self.hands[seat]),
            tuple([hand.bit_count() for hand in self.hands]),
            self.stock_left,
            tuple(line.tiles),
            tuple(line.connections),
            line.ends or (),
            self.passes,
            self.turn,
            tuple(self.acts),
        )

    def __repr__(self) -> str:
        hands = "".join(
            f"\nseat {seat}: {tiles_text(tiles_of(hand))}" for seat, hand in enumerate(self.hands)
        )
        return f"{self.view(None).text()}{hands}"

    def outcome(self) -> Outcome | None:
        """Return how the match came out, or None while it runs.

        One game is placed by its scores, several by the games won (docs/results.md).
        """
        if not self.over:
            return None
        keys = self.scores if self.terms.match_games == 1 else self.games_won
        return self._outcome(place_points(keys, range(self.terms.seats)))

    def standing(self) -> Outcome:
        """Return the outcome by games won, then by the scores of the game that runs."""
        done = self.outcome()
        if done is not None:
            return done
        keys = tuple(zip(self.games_won, self.scores, strict=True))
        return self._outcome(place_points(keys, range(self.terms.seats)))

    def _outcome(self, points: tuple[float, ...]) -> Outcome:
        return Outcome(points, self.scores, self.games_won)

    # Moving

    def apply(self, seat: Seat, move: DominoesMove) -> list[DominoesEvent]:
        """Make the move and return its events. Raises `MatchOver`, `NotYourTurn`, `IllegalMove`."""
        if self.over:
            raise MatchOver("the match is over; no move counts any more")
        if seat != self.turn:
            raise NotYourTurn(f"seat {self.turn} is on turn, not seat {seat}; wait for your turn")
        if type(move) is Place:
            return self._place(seat, move.tile, move.end)
        if type(move) is Draw:
            return self._draw(seat)
        if type(move) is Pass:
            return self._pass(seat)
        raise IllegalMove("not a move of Draw; place a tile, draw or pass")

    def _place(self, seat: Seat, tile: Tile, end: End) -> list[DominoesEvent]:
        line = self.line
        ends = line.ends
        hand = self.hands[seat]
        if not hand & BIT.get(tile, 0) or (
            end if ends is None else not 0 < end < 3 or ends[end - 1].pips not in HALVES[tile]
        ):
            raise self._refusal(seat, tile, end)
        connection = line.place(tile, end)
        assert line.ends is not None
        self.hands[seat] = hand ^ BIT[tile]
        self.asked = None
        self.passes = 0
        self.acts.append(ACTS_PLACED[seat, tile, end])
        events: list[DominoesEvent] = [Placed(seat, tile, end, connection, line.ends)]
        if self.hands[seat]:
            self.turn = (seat + 1) % self.terms.seats
        else:
            self._end_round(events, blocked=False)
        return events

    def _refusal(self, seat: Seat, tile: Tile, end: End) -> IllegalMove:
        """Return why the tile can't be placed there."""
        if not self.hands[seat] & BIT.get(tile, 0):
            name = TEXT.get(tile, "that tile")
            return IllegalMove(f"you do not hold {name}; place a tile of your hand")
        ends = self.line.ends
        if ends is None:
            return IllegalMove("the line is empty and has no ends; name none (X-18)")
        if not 0 < end < 3:
            return IllegalMove("the line has two ends; name the left or the right one (X-18)")
        pips = ends[end - 1].pips
        return IllegalMove(f"{TEXT[tile]}{END_TEXT[end]} does not fit; that end needs {pips}")

    def _draw(self, seat: Seat) -> list[DominoesEvent]:
        if self.stock_left <= NEVER_DRAWN:
            raise IllegalMove(
                "the last two tiles are never drawn; place a tile, or pass if none fits"
            )
        tile = self._next_tile(seat)
        self.stock ^= BIT[tile]
        self.stock_left -= 1
        self.asked = None
        self.hands[seat] |= BIT[tile]
        self.acts.append(ACTS_DRAWN[seat])
        return [Drawn(seat, tile, self.stock_left)]

    def _next_tile(self, seat: Seat) -> Tile:
        """Return the first tile of the seat's own order that is still in the stock (X-21).

        Every draw is uniform over the stock, and what one seat draws leaves the order of the others
        alone.
        """
        stock = self.stock
        while True:
            for place in self.orders[seat]:
                if stock >> place & 1:
                    return SET[place]
            self._lengthen_order(seat)

    def _lengthen_order(self, seat: Seat) -> None:
        """Make the first places of the seat's order; if they are not enough, all of them.

        The first ones take one block of the stream instead of two, and nearly always do.
        """
        places = len(SET) if self.orders[seat] else FIRST_PLACES
        order = self.chance.order(f"draw/{self.game}/{self.round}/{seat}", len(SET), places)
        self.orders = (*self.orders[:seat], order, *self.orders[seat + 1 :])

    def _pass(self, seat: Seat) -> list[DominoesEvent]:
        if self.stock_left > NEVER_DRAWN:
            raise IllegalMove("a pass needs a stock of two; draw, or place a tile (R-D12)")
        ends = self.line.ends
        if ends is None or self.hands[seat] & (FITS[ends[0].pips] | FITS[ends[1].pips]):
            raise IllegalMove(
                "a tile of your hand fits; place it, you may pass only if none fits (R-D12)"
            )
        self.passes += 1
        self.asked = None
        self.acts.append(ACTS_PASSED[seat])
        events: list[DominoesEvent] = [Passed(seat)]
        if self.passes == self.terms.seats:  # R-D20
            self._end_round(events, blocked=True)
        else:
            self.turn = (seat + 1) % self.terms.seats
        return events

    # Rounds and games

    def begin_game(self, events: list[DominoesEvent]) -> None:
        """Start the next game; games that the start scores decide are over at once (R-D29)."""
        terms = self.terms
        while not self.over:
            self.game += 1
            self.round = 0
            self.scores = terms.start_scores
            events.append(GameStarted(self.game, self.opener, self.scores))
            if not leaders(self.scores, terms.target):
                self._deal(events)
                return
            self._end_game(events)

    def _deal(self, events: list[DominoesEvent]) -> None:
        """Deal one tile at a time from the opener's seat onward; the rest is the stock (R-D4)."""
        seats = self.terms.seats
        edition = self.terms.edition
        self.round += 1
        self.rounds += 1
        dealt = seats * hand_size(seats)
        label = (
            f"round/{self.game}/{self.round}" if edition.labels_by_game else f"round/{self.rounds}"
        )
        order = self.chance.order(label, len(SET), dealt if edition.own_orders else len(SET))
        for place in range(seats):
            self.hands[(self.opener + place) % seats] = hand_of_places(order[place:dealt:seats])
        self.stock = WHOLE_SET ^ hand_of_places(order[:dealt])
        self.stock_left = len(SET) - dealt
        # Under rules version 1 all seats draw by the order of the deal, whose tail is the stock.
        self.orders = (() if edition.own_orders else order,) * seats
        self.line = Line()
        self.passes = 0
        self.acts = []
        self.turn = self.opener
        hands = tuple([tiles_of(hand) for hand in self.hands])
        events.append(Dealt(self.round, self.opener, hands, self.stock_left))

    def _end_round(self, events: list[DominoesEvent], *, blocked: bool) -> None:
        """Reveal and settle the hands; only then is the target looked at (R-D27)."""
        pips = tuple([pips_of(hand) for hand in self.hands])
        winner = block_winner(pips) if blocked else self.turn
        points = 0
        if winner is not None:
            points = block_points(pips, winner) if blocked else out_points(pips, winner)
            self.scores = tuple(
                [
                    score + points if seat == winner else score
                    for seat, score in enumerate(self.scores)
                ]
            )
        hands = tuple([tiles_of(hand) for hand in self.hands])
        events.append(RoundEnded(self.round, blocked, hands, pips, winner, points, self.scores))
        if leaders(self.scores, self.terms.target):
            self._end_game(events)
            if not self.over:
                self._pass_opening()
                self.begin_game(events)
        else:
            self._pass_opening()
            self._deal(events)

    def _pass_opening(self) -> None:
        # R-D26: whichever seat won the round.
        self.opener = (self.opener + 1) % self.terms.seats

    def _end_game(self, events: list[DominoesEvent]) -> None:
        """Count the game for its winners, all of them in a tie (R-D28, as X-07 shares a game)."""
        winners = leaders(self.scores, self.terms.target)
        self.games_won = tuple([won + (seat in winners) for seat, won in enumerate(self.games_won)])
        events.append(GameEnded(self.game, self.scores, winners))
        self.over = self._is_decided()

    def _is_decided(self) -> bool:
        """Whether no game is left, or, between two, none that could change who leads (X-07)."""
        games_left = self.terms.match_games - self.game
        if games_left == 0:
            return True
        lead = max(self.games_won) - min(self.games_won)
        return self.terms.seats == 2 and lead > games_left
