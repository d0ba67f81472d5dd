"""The items of a score, found when a reader first asks for them: for most scores none does.

A subclass of an abstract class, which mypyc cannot compile, so it stands apart from `events`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, overload

from pegboard.rules.cribbage.events import Item


class LazyItems(Sequence[Item]):
    """The items that `find(*arguments)` returns: an immutable sequence, equal to the tuple of them.

    Not a tuple itself, since whatever reads a tuple's memory (`json`, `+`, pickling) would bypass the
    methods: `tuple(items)` gives one.
    """

    __slots__ = ("_arguments", "_find")

    def __init__(self, find: Callable[..., tuple[Item, ...]], arguments: tuple[Any, ...]) -> None:
        self._find: Callable[..., tuple[Item, ...]] | None = find
        self._arguments = arguments

    def _found(self) -> tuple[Item, ...]:
        """Return the items; once found they take the place of the arguments."""
        if self._find is not None:
            self._arguments = self._find(*self._arguments)
            self._find = None
        return self._arguments

    @overload
    def __getitem__(self, place: int) -> Item: ...

    @overload
    def __getitem__(self, place: slice) -> tuple[Item, ...]: ...

    def __getitem__(self, place: int | slice) -> Item | tuple[Item, ...]:
        return self._found()[place]

    def __len__(self) -> int:
        return len(self._found())

    def __eq__(self, other: object) -> bool:
        if isinstance(other, LazyItems):
            return self._found() == other._found()
        return self._found() == other if isinstance(other, tuple) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._found())

    def __repr__(self) -> str:
        return f"LazyItems{self._found()!r}"

    def __reduce__(self) -> tuple[Any, ...]:
        return LazyItems, (tuple, (self._found(),))
