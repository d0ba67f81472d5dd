"""The matches by id: running ones in memory, finished ones in the store and, for a while, in memory."""

from __future__ import annotations

import re
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections import OrderedDict, deque
from collections.abc import Callable, Mapping, Sequence
from zlib import crc32

from pegboard.errors import InvalidRequest, UnknownMatch
from pegboard.matches.finished import Archive, FinishedMatch, MatchEnding
from pegboard.matches.match import Match, MatchIdentity
from pegboard.matches.running import AnyMatch, RunningMatch
from pegboard.matches.settings import HostSettings
from pegboard.matches.spec import MatchSpec
from pegboard.matches.store.batch import Standing
from pegboard.matches.store.protocol import NUMBER_MAX, Store
from pegboard.matches.store.query import MatchQuery
from pegboard.matches.store.rows import Row, read_result, read_spec
from pegboard.rules.errors import SeatsError
from pegboard.rules.game import Game
from pegboard.rules.plain import quoted

FindGame = Callable[[str, Mapping[str, str]], Game]
"""The catalog: variant and options to a game."""

MATCH_ID = re.compile(r"[a-z0-9][a-z0-9-]{0,62}", re.ASCII)
"""The shape of all ids. Text of another shape is not the id of a match, and the store is not asked."""
_TOKEN_CHARACTERS = 48
_BLOCKS_KEPT = 4096
_AT_ONCE_BYTES = 1 << 20


class Registry:
    """Every match of one store. `running` holds those without a published result."""

    def __init__(self, store: Store, find_game: FindGame, settings: HostSettings) -> None:
        self.store = store
        self.running: dict[str, RunningMatch] = {}
        self.last_key, self.last_finish = store.last()
        self._find_game = find_game
        self._settings = settings
        self._finished: OrderedDict[str, FinishedMatch] = OrderedDict()
        self._finished_bytes = 0
        self._warm: deque[FinishedMatch] = deque()
        self._over: OrderedDict[str, None] = OrderedDict()

    def game(self, spec: MatchSpec) -> Game:
        """Return the game of a match. Raises `UnknownVariant`, `OptionError`, `SeatsError`."""
        game = self._find_game(spec.variant, spec.options)
        if len(spec.bots) not in game.seats:
            seats = " or ".join(map(str, game.seats))
            raise SeatsError(f"{spec.variant} has {seats} seats, not {len(spec.bots)}")
        return game

    # Finding

    def find(self, match_id: str) -> AnyMatch | None:
        """Return the match, or None if there is none."""
        running = self.running.get(match_id)
        if running is not None:
            return running
        match = self._finished.get(match_id)
        if match is not None:
            self._finished.move_to_end(match_id)
        elif MATCH_ID.fullmatch(match_id):
            row = self.store.find(match_id)
            if row is not None and row.finish:
                match = self.load(row)
                self._keep(match)
        return match

    def get(self, match_id: str) -> AnyMatch:
        """Return the match. Raises `UnknownMatch`."""
        match = self.find(match_id)
        if match is None:
            raise UnknownMatch(f"no match {quoted(match_id)}")
        return match

    def by_request(self, request_id: str) -> AnyMatch | None:
        """Return the match that this request has created."""
        row = self.store.find_request(request_id)
        return None if row is None else self.of(row)

    def of(self, row: Row) -> AnyMatch | None:
        """Return the match of a row; None for one that runs in the store but not here.

        Such a match was damaged when the store was opened, or is being created.
        """
        running = self.running.get(row.id)
        if running is not None:
            return running
        return self.load(row) if row.finish else self._finished.get(row.id)

    def page(
        self, query: MatchQuery, page_size: int, page_token: str
    ) -> tuple[list[AnyMatch], str]:
        """Return a page of the matches that fit, and the token of the next one, "" on the last.

        Raises `InvalidRequest` for a token that is not ours, or of another query.
        """
        after = _read_token(page_token, query) if page_token else None
        rows = self.store.page(query, after, page_size + 1)
        page = rows[:page_size]
        token = _token(query.order.place(page[-1]), query) if len(rows) > page_size else ""
        return [match for row in page if (match := self.of(row)) is not None], token

    def finished_after(self, label: str, after: int, size: int) -> Sequence[FinishedMatch]:
        """Return at most `size` finished matches, in the order of finishing, after `after`.

        They are fewer if their records are large.
        """
        return [self.load(row) for row in self.store.finished(label, after, size, _AT_ONCE_BYTES)]

    # Blocks

    def is_sealed(self, match: AnyMatch) -> bool:
        """Whether the match is of a block that is not over."""
        block = match.spec.block
        if not block or block in self._over:
            return False
        standing = self.block(block)
        if standing is None or not standing.is_over:
            return True
        self._over[block] = None  # it stays over: no match can be created in it any more
        if len(self._over) > _BLOCKS_KEPT:
            self._over.popitem(last=False)
        return False

    def block(self, block: str) -> Standing | None:
        """Return how a block stands, None if it has no matches."""
        return self.store.block(block)

    # Keeping

    def load(self, row: Row) -> FinishedMatch:
        """Return a finished match of the store."""
        match = self._finished.get(row.id)
        if match is None:
            assert row.end_time is not None, "a finished match has a time of its end"
            ending = MatchEnding(read_result(row.result), row.end_time)
            archive = Archive(row.moves, row.event_count, row.events_digest)
            match = FinishedMatch(match_of(row), ending, archive, row.finish, self.game)
        return match

    def finish(self, match: FinishedMatch) -> RunningMatch | None:
        """Keep a match whose result is published, and return it as it ran (None: it was lost)."""
        running = self.running.pop(match.id, None)
        self.last_finish = max(self.last_finish, match.finish)
        self._keep(match)
        self._warm.append(match)
        if len(self._warm) > self._settings.events_kept:
            self._warm.popleft().release()
        return running

    def _keep(self, match: FinishedMatch) -> None:
        if match.id not in self._finished:
            self._finished_bytes += _size(match)
        self._finished[match.id] = match
        settings = self._settings
        while (
            len(self._finished) > settings.finished_kept
            or self._finished_bytes > settings.finished_kept_bytes
        ):
            _, oldest = self._finished.popitem(last=False)
            self._finished_bytes -= _size(oldest)


def _size(match: FinishedMatch) -> int:
    return len(match.archive.moves)


def match_of(row: Row) -> Match:
    """Return the match of a row as it was asked for."""
    spec = read_spec(row.spec, row.label)
    identity = MatchIdentity(row.id, row.key, spec, row.seed, row.create_time, row.rules_version)
    return Match(identity)


def _token(place: int, query: MatchQuery) -> str:
    text = f"{place}:{crc32(repr(query).encode())}"
    return urlsafe_b64encode(text.encode()).decode().rstrip("=")


def _read_token(token: str, query: MatchQuery) -> int:
    """Return the number in a token. Raises `InvalidRequest` for text that `_token` does not make."""
    try:
        if len(token) > _TOKEN_CHARACTERS:
            raise ValueError(token)
        text = urlsafe_b64decode(token + "=" * (-len(token) % 4)).decode("ascii")
        place = int(text.partition(":")[0])
        if not 0 <= place <= NUMBER_MAX or _token(place, query) != token:
            raise ValueError(token)
        return place
    except ValueError:
        raise InvalidRequest(
            "unknown page_token; take the next_page_token of the page before, with the same filters"
            " and order, or none"
        ) from None
