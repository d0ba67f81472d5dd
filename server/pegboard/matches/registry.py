"""The matches by id: running ones in memory, finished ones in the store and, for a while, in memory."""

from __future__ import annotations

import re
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections import OrderedDict, deque
from contextlib import suppress

from pegboard.errors import InvalidRequest, UnknownMatch
from pegboard.matches.match import Archive, FindGame, Match
from pegboard.matches.settings import HostSettings
from pegboard.matches.spec import MatchSpec
from pegboard.matches.store.rows import Row, read_result, read_spec
from pegboard.matches.store.sqlite import NUMBER_MAX, Standing, Store
from pegboard.rules.errors import PegboardError, SeatsError
from pegboard.rules.game import Game
from pegboard.rules.plain import quoted

Matches = list[Match]

MATCH_ID = re.compile(r"[a-z0-9][a-z0-9-]{0,62}", re.ASCII)
"""The shape of all ids: what has another one is no match's, and the store is not asked."""
_TOKEN_CHARACTERS = 32
_BLOCKS_KEPT = 4096
_AT_ONCE_BYTES = 1 << 20


class Registry:
    """Every match of one store. `running` holds those without a published result."""

    def __init__(self, store: Store, find_game: FindGame, settings: HostSettings) -> None:
        self.store = store
        self.running: dict[str, Match] = {}
        self.last_key, self.last_finish = store.last()
        self._find_game = find_game
        self._settings = settings
        self._finished: OrderedDict[str, Match] = OrderedDict()
        self._finished_bytes = 0
        self._warm: deque[Match] = deque()
        self._over: OrderedDict[str, None] = OrderedDict()

    def game(self, spec: MatchSpec) -> Game:
        """Return the game of a match. Raises `UnknownVariant`, `OptionError`, `SeatsError`."""
        game = self._find_game(spec.variant, spec.options)
        if len(spec.bots) not in game.seats:
            seats = " or ".join(map(str, game.seats))
            raise SeatsError(f"{spec.variant} has {seats} seats, not {len(spec.bots)}")
        return game

    # Finding

    def find(self, match_id: str) -> Match | None:
        """Return the match, or None where there is none."""
        match = self.running.get(match_id)
        if match is None:
            match = self._finished.get(match_id)
            if match is not None:
                self._finished.move_to_end(match_id)
        if match is None and MATCH_ID.fullmatch(match_id):
            row = self.store.find(match_id)
            if row is not None and row.finish:
                match = self.load(row)
                self._keep(match)
        return match

    def get(self, match_id: str) -> Match:
        """Return the match. Raises `UnknownMatch`."""
        match = self.find(match_id)
        if match is None:
            raise UnknownMatch(f"no match {quoted(match_id)}")
        return match

    def by_request(self, request_id: str) -> Match | None:
        """Return the match that this request has created."""
        row = self.store.find_request(request_id)
        return None if row is None else self.of(row)

    def of(self, row: Row) -> Match | None:
        """Return the match of a row; None for one that runs in the store but not here.

        Such a one was damaged when the store was opened, or is being created.
        """
        match = self.running.get(row.id) or self._finished.get(row.id)
        return match if match is not None or not row.finish else self.load(row)

    def page(
        self, label: str, finished: bool | None, sealed: bool, page_size: int, page_token: str
    ) -> tuple[Matches, str]:
        """Return a page, newest first, and the token of the next one, "" on the last.

        `sealed` False: without matches of blocks that are not over. Raises `InvalidRequest` for a token
        that is not ours.
        """
        before = _read_token(page_token) if page_token else self.last_key + 1
        rows = self.store.page(label, finished, before, page_size + 1, sealed)
        page = rows[:page_size]
        token = _token(page[-1].key) if len(rows) > page_size else ""
        return [match for row in page if (match := self.of(row)) is not None], token

    def finished_after(self, label: str, after: int, size: int) -> Matches:
        """Return at most `size` finished matches, in the order of finishing, after `after`.

        They are fewer where their records are large.
        """
        return [self.load(row) for row in self.store.finished(label, after, size, _AT_ONCE_BYTES)]

    # Blocks

    def is_sealed(self, match: Match) -> bool:
        """Whether the match is of a block that is not over."""
        block = match.spec.block
        if not block or block in self._over:
            return False
        standing = self.block(block)
        if standing is None or not standing.is_over:
            return True
        self._over[block] = None  # for ever: none of its matches is created any more
        if len(self._over) > _BLOCKS_KEPT:
            self._over.popitem(last=False)
        return False

    def block(self, block: str) -> Standing | None:
        """Return how a block stands, None where it has no matches."""
        return self.store.block(block)

    # Keeping

    def load(self, row: Row) -> Match:
        """Return a finished match of the store."""
        match = self._finished.get(row.id)
        if match is None:
            match = match_of(row)
            with suppress(PegboardError):  # its variant may be no longer there
                match.game = self.game(match.spec)
            match.end_time = row.end_time
            match.finish = row.finish
            match.result = match.ending = read_result(row.result)
            match.archive = Archive(row.moves, row.event_count, row.events_digest)
        return match

    def finish(self, match: Match) -> None:
        """A match's result is published: it is no longer running."""
        self.running.pop(match.id, None)
        self.last_finish = max(self.last_finish, match.finish)
        self._keep(match)
        self._warm.append(match)
        if len(self._warm) > self._settings.events_kept:
            self._warm.popleft().release()

    def _keep(self, match: Match) -> None:
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
            oldest.disband()


def _size(match: Match) -> int:
    assert match.archive is not None
    return len(match.archive.moves)


def match_of(row: Row) -> Match:
    """Return the match of a row as it was asked for, without a game."""
    spec = read_spec(row.spec, row.label)
    return Match(row.id, row.key, spec, row.seed, None, row.create_time, row.rules_version)


def _token(key: int) -> str:
    return urlsafe_b64encode(f"1:{key}".encode()).decode().rstrip("=")


def _read_token(token: str) -> int:
    """Return the key in a token. Raises `InvalidRequest` for text that `_token` does not make."""
    try:
        if len(token) > _TOKEN_CHARACTERS:
            raise ValueError(token)
        text = urlsafe_b64decode(token + "=" * (-len(token) % 4)).decode("ascii")
        key = int(text.removeprefix("1:"))
        if not 0 <= key <= NUMBER_MAX or _token(key) != token:
            raise ValueError(token)
        return key
    except ValueError:
        raise InvalidRequest(
            "unknown page_token; take the next_page_token of the page before, or none"
        ) from None
