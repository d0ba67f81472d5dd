"""The matches by id: running ones in memory, finished ones in the store and, for a while, in memory."""

from __future__ import annotations

from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections import OrderedDict, deque
from contextlib import suppress

from pegboard.matches.match import Archive, FindGame, Match
from pegboard.matches.rows import Row, read_result, read_spec
from pegboard.matches.settings import HostSettings
from pegboard.matches.spec import MatchSpec
from pegboard.matches.store import Store
from pegboard.rules.errors import InvalidRequest, PegboardError, SeatsError, UnknownMatch
from pegboard.rules.game import Game

Matches = list[Match]


class Registry:
    """Every match of one store. `running` holds those without a published result."""

    def __init__(self, store: Store, find_game: FindGame, settings: HostSettings) -> None:
        self.store = store
        self.running: dict[str, Match] = {}
        self.last_key, self.last_finish = store.last()
        self._find_game = find_game
        self._settings = settings
        self._finished: OrderedDict[str, Match] = OrderedDict()
        self._warm: deque[Match] = deque()

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
        if match is None:
            row = self.store.find(match_id)
            if row is not None and row.finish:
                match = self.load(row)
        return match

    def get(self, match_id: str) -> Match:
        """Return the match. Raises `UnknownMatch`."""
        match = self.find(match_id)
        if match is None:
            raise UnknownMatch(f"no match {match_id[:80]!r}")
        return match

    def by_request(self, request_id: str) -> Match | None:
        """Return the match that this request has created."""
        row = self.store.find_request(request_id)
        return None if row is None else self.of(row)

    def of(self, row: Row) -> Match | None:
        """Return the match of a row; None for one that was lost with its store (`Committer.lost`)."""
        match = self.running.get(row.id) or self._finished.get(row.id)
        return match if match is not None or not row.finish else self.load(row)

    def page(
        self, label: str, finished: bool | None, page_size: int, page_token: str
    ) -> tuple[Matches, str]:
        """Return a page, newest first, and the token of the next one, "" on the last.

        Raises `InvalidRequest` for a token that is not ours.
        """
        before = _read_token(page_token) if page_token else self.last_key + 1
        rows = self.store.page(label, finished, before, page_size + 1)
        page = rows[:page_size]
        token = _token(page[-1].key) if len(rows) > page_size else ""
        return [match for row in page if (match := self.of(row)) is not None], token

    def finished_after(self, label: str, after: int, size: int) -> Matches:
        """Return at most `size` finished matches, in the order of finishing, after `after`."""
        return [self.load(row) for row in self.store.finished(label, after, size)]

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
            self._keep(match)
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
        self._finished[match.id] = match
        if len(self._finished) > self._settings.finished_kept:
            self._finished.popitem(last=False)


def match_of(row: Row) -> Match:
    """Return the match of a row as it was asked for, without a game."""
    spec = read_spec(row.spec, row.label)
    return Match(row.id, row.key, spec, row.seed, None, row.create_time, row.rules_version)


def _token(key: int) -> str:
    return urlsafe_b64encode(f"1:{key}".encode()).decode().rstrip("=")


def _read_token(token: str) -> int:
    try:
        version, _, key = urlsafe_b64decode(token + "=" * (-len(token) % 4)).decode().partition(":")
        if version != "1":
            raise ValueError(version)
        return int(key)
    except ValueError:
        raise InvalidRequest(
            "unknown page_token; take the next_page_token of the page before, or none"
        ) from None
