"""Cribbage on the wire: moves, views and events, both ways."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import lru_cache, partial
from typing import Any

from pegboard.rules.cards import ALL_CARDS, HIDDEN, JOKER, NO_CARD, Card, by_card
from pegboard.rules.cribbage import events as ev
from pegboard.rules.cribbage import moves as mv
from pegboard.rules.cribbage.scoring.items import Item, ItemKind
from pegboard.rules.cribbage.view import Counting, CribbageView, Phase, PlayedCard
from pegboard.rules.errors import NotationError
from pegboard.rules.game import Choices
from pegboard.v1 import cribbage_pb2 as pb
from pegboard.v1 import match_pb2, play_pb2
from pegboard.wire.encoding import VARINT, delimited, key, keys, packed, packed_signed, varint
from pegboard.wire.fields import NUMBERS, Field, Kind, Kinds
from pegboard.wire.ranges import range_bytes

FAMILY = "cribbage"

_CARD = (*VARINT[: JOKER + 1], VARINT[0])
"""The encoding of a card; that of NO_CARD, by its index -1, is unspecified."""


def card_of(number: int) -> Card:
    """Return the card that a client named. Raises `NotationError` for none."""
    if number not in ALL_CARDS:
        raise NotationError(f"no card has the number {number}; 51 is 5C, 134 is KS, 141 a joker")
    return Card(number)


def _packed_cards(cards: tuple[Card, ...]) -> bytes:
    """Length and payload of packed cards. Hands differ too much to be worth keeping."""
    size = len(cards)
    if size == 4:  # the sizes of most hands; a loop would cost twice as much
        a, b, c, d = cards
        payload = _CARD[a] + _CARD[b] + _CARD[c] + _CARD[d]
    elif size == 3:
        a, b, c = cards
        payload = _CARD[a] + _CARD[b] + _CARD[c]
    elif size == 2:
        a, b = cards
        payload = _CARD[a] + _CARD[b]
    else:
        payload = b"".join([_CARD[card] for card in cards])
    return varint(len(payload)) + payload


# --- moves -------------------------------------------------------------------------------------

_MOVE = keys(pb.CribbageMove.DESCRIPTOR)
_PLAY = keys(pb.CribbagePlay.DESCRIPTOR)
_IN_MOVE = key(match_pb2.GameMove.DESCRIPTOR, FAMILY)
_LISTED = key(play_pb2.Turn.DESCRIPTOR, "legal_moves")


def _wrapped(oneof: str, payload: bytes) -> bytes:
    """Serialised `GameMove` around a move of cribbage."""
    return delimited(_IN_MOVE, delimited(_MOVE[oneof], payload))


def _play_bytes(move: mv.Play) -> bytes:
    payload = _PLAY["card"] + _CARD[move.card]
    if move.declared >= 0:
        payload += _PLAY["declared"] + _CARD[move.declared]
    if move.claim is not None and move.claim >= 0:
        payload += _PLAY["claim"] + varint(move.claim)
    return _wrapped("play", payload)


def _cards_bytes(oneof: str, message: Any) -> Callable[[Any], bytes]:
    field = key(message.DESCRIPTOR, "cards")

    return lambda move: _wrapped(oneof, field + _packed_cards(move.cards))


def _points_bytes(oneof: str, message: Any) -> Callable[[Any], bytes]:
    field = key(message.DESCRIPTOR, "points")

    def by_points(move: mv.NumberMove) -> bytes:
        return _wrapped(oneof, b"" if move.points is None else field + varint(move.points))

    return by_points


def _place_bytes(move: mv.Place) -> bytes:
    return match_pb2.GameMove(
        cribbage=pb.CribbageMove(place=pb.CribbagePlace(row=move.row, column=move.column))
    ).SerializeToString()


_GO = _wrapped("go", b"")
_PASS = _wrapped("pass_turn", b"")
_MOVE_BYTES: dict[type[Any], Callable[[Any], bytes]] = {
    mv.Discard: _cards_bytes("discard", pb.CribbageDiscard),
    mv.Split: _cards_bytes("split", pb.CribbageSplit),
    mv.Gift: _cards_bytes("gift", pb.CribbageGift),
    mv.Exchange: _cards_bytes("exchange", pb.CribbageExchange),
    mv.Play: _play_bytes,
    mv.Go: lambda move: _GO,
    mv.Pass: lambda move: _PASS,
    mv.Bid: _points_bytes("bid", pb.CribbageBid),
    mv.Claim: _points_bytes("claim", pb.CribbageClaim),
    mv.Call: _points_bytes("call", pb.CribbageCall),
    mv.Place: _place_bytes,
}


def move_bytes(move: mv.CribbageMove) -> bytes:
    """Return the serialised `GameMove`."""
    return _MOVE_BYTES[type(move)](move)


_LISTED_PLAYS = by_card(lambda card: delimited(_LISTED, _play_bytes(mv.PLAYS[card])))


_LISTED_PAIRS: dict[int, bytes] = {}
"""Discards of two cards that have come up, by 256 * the lower + the higher."""


@lru_cache(maxsize=1 << 15)
def _listed_cards(kind: type[mv.CardsMove], cards: tuple[Card, ...]) -> bytes:
    return delimited(_LISTED, move_bytes(kind(cards)))


def listed_bytes(choices: Choices, asked: Choices) -> list[bytes]:
    """Return moves as elements of `Turn.legal_moves`, key and length included.

    `asked` are the choices before refused claims narrowed the range, which a call keeps (X-04).
    """
    moves: tuple[mv.CribbageMove, ...] = choices.moves
    if choices.number is not None:
        return _open_bytes(moves, choices.number, asked.number or choices.number)
    first: Any = moves[0]
    last: Any = moves[-1]
    kind = type(first)
    if kind is mv.Play and type(last) is mv.Play and last.declared == NO_CARD:
        # Plain plays are told by the card alone. If a joker declares, its plays come last.
        plays: Any = moves
        return [_LISTED_PLAYS[move.card] for move in plays]
    if kind is mv.Discard and len(first.cards) == 2:
        discards: Any = moves
        return [_listed_pair(move.cards) for move in discards]
    if isinstance(first, mv.CardsMove):
        return [_listed_cards(kind, move.cards) for move in moves]  # type: ignore[attr-defined, arg-type]
    return [delimited(_LISTED, move_bytes(move)) for move in moves]


def _open_bytes(
    moves: tuple[mv.CribbageMove, ...], narrowed: tuple[int, int], asked: tuple[int, int]
) -> list[bytes]:
    """Return listed moves of which some lack their number."""
    for_claims = range_bytes(*narrowed)
    listed = []
    for move in moves:
        data = move_bytes(move)
        if move.is_open:
            low, high = asked
            data += range_bytes(max(low, move.LEAST), high) if move.LEAST else for_claims
        listed.append(delimited(_LISTED, data))
    return listed


def _listed_pair(cards: tuple[Card, Card]) -> bytes:
    low, high = cards
    place = low << 8 | high
    listed = _LISTED_PAIRS.get(place)
    if listed is None:
        listed = _LISTED_PAIRS[place] = delimited(_LISTED, move_bytes(mv.Discard(cards)))
    return listed


def _sorted_cards(numbers: Iterable[int]) -> tuple[Card, ...]:
    return tuple(sorted(map(card_of, numbers)))


def _read_play(message: pb.CribbagePlay) -> mv.Play:
    card = card_of(message.card)
    claim = message.claim if message.HasField("claim") else None
    if claim is None and not message.declared:
        return mv.PLAYS[card]
    return mv.Play(card, card_of(message.declared) if message.declared else NO_CARD, claim)


_READ_MOVE: dict[str, Callable[[Any], mv.CribbageMove]] = {
    "discard": lambda message: mv.discard(_sorted_cards(message.cards)),
    "play": _read_play,
    "go": lambda message: mv.GO,
    "split": lambda message: mv.Split(_sorted_cards(message.cards)),
    "gift": lambda message: mv.Gift(_sorted_cards(message.cards)),
    "exchange": lambda message: mv.Exchange(_sorted_cards(message.cards)),
    "bid": lambda message: mv.Bid(_points(message)),
    "pass_turn": lambda message: mv.PASS,
    "claim": lambda message: mv.Claim(_points(message)),
    "call": lambda message: mv.Call(_points(message)),
    "place": lambda message: mv.Place(message.row, message.column),
}


def _points(message: Any) -> int | None:
    return message.points if message.HasField("points") else None


def read_move(message: pb.CribbageMove) -> mv.CribbageMove:
    """Return a complete move. Raises `NotationError` if a card, a number or the move is missing."""
    move = read_listed_move(message, False)
    if move.is_open:
        raise NotationError(f"{move.text()} lacks its number; set the field `points`")
    return move


def read_listed_move(message: pb.CribbageMove, takes_number: bool) -> mv.CribbageMove:
    """Return a move of `Turn.legal_moves`. Raises `NotationError` if a card or the move is missing."""
    oneof = message.WhichOneof("kind")
    if oneof is None:
        raise NotationError("the move is empty; set one of the fields of CribbageMove")
    move = _READ_MOVE[oneof](getattr(message, oneof))
    if takes_number and type(move) is mv.Play:
        return mv.Play(move.card, move.declared, -1)
    return move


# --- views -------------------------------------------------------------------------------------

_VIEW = keys(pb.CribbageView.DESCRIPTOR)
_PLAYED = keys(pb.CribbagePlayed.DESCRIPTOR)
_COUNTING = keys(pb.CribbageCounting.DESCRIPTOR)
_IN_VIEW = key(match_pb2.GameView.DESCRIPTOR, FAMILY)

_K_SCORES, _K_REAR, _K_SIZES = _VIEW["scores"], _VIEW["rear_pegs"], _VIEW["hand_sizes"]
_K_HAND, _K_DISCARDS, _K_SECOND = _VIEW["hand"], _VIEW["discards"], _VIEW["second_hand"]
_K_COUNT, _K_SAID_GO, _K_GRID = _VIEW["count"], _VIEW["said_go"], _VIEW["grid"]

_STARTER = tuple(_VIEW["starter"] + number for number in _CARD)
_SEATS = 8


@lru_cache(maxsize=1 << 12)
def _table_bytes(
    phase: int,
    game: int,
    deal: int,
    dealer: int,
    crib_owner: int | None,
    games_won: tuple[int, ...],
    match_points: tuple[int, ...],
    seats_to_act: tuple[int, ...],
) -> bytes:
    """The fields that stay for a whole phase, and are the same in many matches."""
    return pb.CribbageView(
        phase=Phase(phase),  # type: ignore[arg-type]
        game=game,
        deal=deal,
        dealer=dealer,
        crib_owner=crib_owner,
        games_won=games_won,
        match_points=match_points,
        seats_to_act=seats_to_act,
    ).SerializeToString()


def _played_payload(seat: int, card: Card, declared: Card) -> bytes:
    payload = _PLAYED["seat"] + VARINT[seat] if seat else b""
    payload += _PLAYED["card"] + _CARD[card]
    return payload + _PLAYED["declared"] + _CARD[declared] if declared >= 0 else payload


def _played_bytes(field: str, seat: int, card: Card, declared: Card = NO_CARD) -> bytes:
    """Element of a field of played cards."""
    return delimited(_VIEW[field], _played_payload(seat, card, declared))


def _played_table(field: str) -> tuple[tuple[bytes, ...], ...]:
    """Elements of a field of played cards, by seat and card, without a declared card."""
    return tuple(by_card(partial(_played_bytes, field, seat)) for seat in range(_SEATS))


_ON_PLAYED, _ON_COUNT = _played_table("played"), _played_table("count_cards")


def _counting_bytes(counting: Counting) -> bytes:
    payload = _COUNTING["subject"] + VARINT[counting.subject]
    if counting.seat:
        payload += _COUNTING["seat"] + VARINT[counting.seat]
    if counting.cards:
        payload += _COUNTING["cards"] + _packed_cards(counting.cards)
    if counting.claim is not None:
        payload += _COUNTING["claim"] + varint(counting.claim)
    return delimited(_VIEW["counting"], payload)


def view_bytes(view: CribbageView) -> bytes:
    """Return the serialised `GameView`; proto3: what is 0 or empty is left out."""
    (phase, game, deal, dealer, crib_owner, scores, rear_pegs, games_won, hand, discards, second_hand,
     hand_sizes, starter, played, count_cards, count, said_go, bid, bidder, counting, grid, next_card,
     seats_to_act, passed, count_over, shown, seen, match_points) = view  # fmt: skip
    parts = [
        _table_bytes(phase, game, deal, dealer, crib_owner, games_won, match_points, seats_to_act),
        _K_SCORES, packed_signed(scores), _K_REAR, packed_signed(rear_pegs),
        _K_SIZES, packed(hand_sizes),
    ]  # fmt: skip
    if hand:
        parts += _K_HAND, _packed_cards(hand)
    if discards:
        parts += _K_DISCARDS, _packed_cards(discards)
    if starter >= 0:
        parts.append(_STARTER[starter])
    for by, card, declared in count_cards:
        parts.append(
            _ON_COUNT[by][card]
            if declared < 0
            else _played_bytes("count_cards", by, card, declared)
        )
    if count:
        parts += _K_COUNT, VARINT[count]
    for by, card, declared in played:
        parts.append(
            _ON_PLAYED[by][card] if declared < 0 else _played_bytes("played", by, card, declared)
        )
    if said_go:
        parts += _K_SAID_GO, packed(said_go)
    if second_hand or bid or counting or grid or next_card >= 0:
        parts.append(_variant_bytes(second_hand, bid, bidder, counting, grid, next_card))
    if passed or count_over or shown or seen:
        parts.append(_told_bytes(passed, count_over, shown, seen))
    payload = b"".join(parts)
    return _IN_VIEW + varint(len(payload)) + payload


def _variant_bytes(
    second_hand: tuple[Card, ...],
    bid: int | None,
    bidder: int | None,
    counting: Counting | None,
    grid: tuple[Card, ...],
    next_card: Card,
) -> bytes:
    """Fields that only some variants use."""
    payload = b""
    if second_hand:
        payload += _K_SECOND + _packed_cards(second_hand)
    if bid is not None and bidder is not None:
        payload += _VIEW["bid"] + varint(bid) + _VIEW["bidder"] + VARINT[bidder]
    if counting:
        payload += _counting_bytes(counting)
    if grid:
        payload += _K_GRID + _packed_cards(grid)
    if next_card >= 0:
        payload += _VIEW["next_card"] + _CARD[next_card]
    return payload


def _told_bytes(
    passed: tuple[int, ...],
    count_over: bool,
    shown: tuple[tuple[Card, ...], ...],
    seen: tuple[Card, ...],
) -> bytes:
    """Fields of what was seen before, which only some variants use."""
    return pb.CribbageView(
        passed=passed,
        count_over=count_over,
        shown=[pb.CribbageHand(cards=_write_cards(cards)) for cards in shown],
        seen=_write_cards(seen),
    ).SerializeToString()


def _known(number: int) -> Card:
    """A card, or HIDDEN."""
    return Card(number) if number in ALL_CARDS else HIDDEN


def _maybe(number: int) -> Card:
    """A card, or NO_CARD."""
    return Card(number) if number in ALL_CARDS else NO_CARD


def _read_cards(numbers: Iterable[int]) -> tuple[Card, ...]:
    return tuple([_known(number) for number in numbers])


def _read_played(messages: Iterable[pb.CribbagePlayed]) -> tuple[PlayedCard, ...]:
    return tuple([PlayedCard(m.seat, _known(m.card), _maybe(m.declared)) for m in messages])


def _read_counting(message: pb.CribbageCounting) -> Counting:
    return Counting(
        ev.Reason(message.subject),
        message.seat,
        _read_cards(message.cards),
        message.claim if message.HasField("claim") else None,
    )


def read_view(message: pb.CribbageView) -> CribbageView:
    """Return the view of a message."""
    return CribbageView(
        phase=Phase(message.phase),
        game=message.game,
        deal=message.deal,
        dealer=message.dealer,
        crib_owner=message.crib_owner if message.HasField("crib_owner") else None,
        scores=tuple(message.scores),
        rear_pegs=tuple(message.rear_pegs),
        games_won=tuple(message.games_won),
        hand=_read_cards(message.hand),
        discards=_read_cards(message.discards),
        second_hand=_read_cards(message.second_hand),
        hand_sizes=tuple(message.hand_sizes),
        starter=_maybe(message.starter),
        played=_read_played(message.played),
        count_cards=_read_played(message.count_cards),
        count=message.count,
        said_go=tuple(message.said_go),
        bid=message.bid if message.HasField("bid") else None,
        bidder=message.bidder if message.HasField("bidder") else None,
        counting=_read_counting(message.counting) if message.HasField("counting") else None,
        grid=tuple([_maybe(number) for number in message.grid]),
        next_card=_maybe(message.next_card),
        seats_to_act=tuple(message.seats_to_act),
        passed=tuple(message.passed),
        count_over=message.count_over,
        shown=tuple([_read_cards(hand.cards) for hand in message.shown]),
        seen=_read_cards(message.seen),
        match_points=tuple(message.match_points),
    )


# --- events ------------------------------------------------------------------------------------


def _write_cards(cards: Iterable[Card]) -> list[Any]:
    return [max(card, 0) for card in cards]


CARD = Field(int, _known)
MAYBE_CARD = Field(lambda card: card if card > 0 else None, _maybe, NO_CARD)
CARDS = Field(_write_cards, _read_cards)
MAYBE_CARDS = Field(_write_cards, lambda numbers: tuple(map(_maybe, numbers)))
HANDS = Field(
    lambda hands: [pb.CribbageHand(cards=_write_cards(hand)) for hand in hands],
    lambda messages: tuple(_read_cards(message.cards) for message in messages),
)
REASON = Field(int, ev.Reason)


class _Scored(Kind):
    """A score. Its combinations are found here, since only readers of events need them."""

    def __init__(self) -> None:
        self.oneof = "scored"
        self.event = ev.Scored

    def write(self, event: ev.Scored) -> pb.CribbageScored:
        """Return the message of a score."""
        seat, side, points, reason, _, score = event
        return pb.CribbageScored(
            seat=seat,
            side=side,
            points=points,
            reason=_enum(reason),
            items=[
                pb.CribbageItem(kind=_enum(kind), points=worth, cards=_write_cards(cards))
                for kind, worth, cards in event.explain()
            ],
            score=score,
        )

    def read(self, message: pb.CribbageScored) -> ev.Scored:
        """Return the score of a message."""
        return ev.Scored(
            message.seat,
            message.side,
            message.points,
            ev.Reason(message.reason),
            tuple(
                Item(ItemKind(item.kind), item.points, _read_cards(item.cards))
                for item in message.items
            ),
            message.score,
        )


def _enum(number: int) -> Any:
    """A number as the constructors' stubs want it: their enum types are known to checkers only."""
    return number


BID = Field(lambda points: points or None, int, 0)

EVENTS = Kinds(
    pb.CribbageEvent,
    [
        Kind("cut_for_deal", ev.CutForDeal, pb.CribbageCutForDeal, cards=MAYBE_CARDS),
        Kind("game_started", ev.GameStarted, pb.CribbageGameStarted, scores=NUMBERS),
        Kind("dealt", ev.Dealt, pb.CribbageDealt, hands=HANDS, crib=CARDS),
        Kind("bid_made", ev.BidMade, pb.CribbageBidMade, points=BID),
        Kind("crib_sold", ev.CribSold, pb.CribbageCribSold),
        Kind("discarded", ev.Discarded, pb.CribbageDiscarded, cards=CARDS),
        Kind("split_made", ev.SplitMade, pb.CribbageSplitMade, hand=CARDS, second_hand=CARDS),
        Kind("gifted", ev.Gifted, pb.CribbageGifted, cards=CARDS),
        Kind("crib_taken", ev.CribTaken, pb.CribbageCribTaken, cards=CARDS),
        Kind("exchanged", ev.Exchanged, pb.CribbageExchanged, cards=CARDS),
        Kind("starter_turned", ev.StarterTurned, pb.CribbageStarterTurned, card=CARD),
        Kind("card_played", ev.CardPlayed, pb.CribbageCardPlayed, card=CARD, declared=MAYBE_CARD),
        Kind("went_go", ev.WentGo, pb.CribbageWentGo),
        Kind("count_ended", ev.CountEnded, pb.CribbageCountEnded),
        Kind("hand_shown", ev.HandShown, pb.CribbageHandShown, cards=CARDS),
        Kind("crib_shown", ev.CribShown, pb.CribbageCribShown, cards=CARDS),
        Kind("claimed", ev.Claimed, pb.CribbageClaimed, subject=REASON),
        Kind("called", ev.Called, pb.CribbageCalled),
        _Scored(),
        Kind("card_turned", ev.CardTurned, pb.CribbageCardTurned, card=CARD),
        Kind("card_placed", ev.CardPlaced, pb.CribbageCardPlaced, card=CARD),
        Kind("game_ended", ev.GameEnded, pb.CribbageGameEnded, scores=NUMBERS, winners=NUMBERS),
    ],
)
