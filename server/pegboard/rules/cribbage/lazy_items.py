"""The items of a score, found when somebody looks: for most scores nobody does.

A subclass of a builtin, which mypyc cannot compile, so it stands apart from `events`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pegboard.rules.cribbage.events import Item


class LazyItems(tuple[Item, ...]):
    """Items that are found when somebody looks at them, for most events are never looked at.

    What it really holds is `(find, argument, ...)`, made by `make(LazyItems, (find, ...))` at the cost
    of a tuple; to everybody else it is the tuple that `find(argument, ...)` returns.
    """

    __slots__ = ()

    def found(self) -> tuple[Item, ...]:
        """Return the items as a plain tuple."""
        find, *arguments = tuple.__iter__(self)
        return find(*arguments)  # type: ignore[operator,no-any-return]

    def __getitem__(self, place: Any) -> Any:
        return self.found()[place]

    def __iter__(self) -> Iterator[Item]:
        return iter(self.found())

    def __len__(self) -> int:
        return len(self.found())

    def __contains__(self, item: object) -> bool:
        return item in self.found()

    def __eq__(self, other: object) -> bool:
        return self.found() == (other.found() if isinstance(other, LazyItems) else other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash(self.found())

    def __repr__(self) -> str:
        return repr(self.found())

    def __reduce__(self) -> tuple[type[tuple[Item, ...]], tuple[tuple[Item, ...]]]:
        return tuple, (self.found(),)
