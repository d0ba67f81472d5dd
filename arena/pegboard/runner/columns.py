"""Tables that fit a width: a column is printed as a whole or not at all, and no figure is cut.

If the width is short, columns go by their rank, the highest first. Only names may be shortened, in
the middle, since names often differ at their ends.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

from rich import box
from rich.cells import cell_len
from rich.table import Table as RichTable
from rich.text import Text

from pegboard.runner.terminal import symbol

NAME_FLOOR = 16
"""Names are shortened to this before columns go; further only if no column is left to go."""
LUXURY = 9
"""Columns of this rank go before names are shortened."""
_GAP = 2
_ASCII_HEAD = box.Box("    \n    \n -- \n    \n    \n -- \n    \n    \n", ascii=True)
"""`box.SIMPLE_HEAD` in ASCII; what rich takes instead has lines between the columns."""


class Column(NamedTuple):
    """A column with its cells. `rank` 0 stays to the last; equal ranks go together.

    `instead` takes its place when it goes. `kind`: figures and words are never broken, names may be
    shortened, and lists (`3 timeout, 1 crash`) may go on in the next line after each comma.
    """

    title: str
    cells: Sequence[Text]
    rank: int = 0
    kind: Literal["figures", "lists", "names", "words"] = "figures"
    instead: Column | None = None

    @property
    def full(self) -> int:
        """The width that all of it takes."""
        return max(cell_len(text) for text in (self.title, *(cell.plain for cell in self.cells)))

    @property
    def least(self) -> int:
        """The width below which it should not come."""
        if self.kind == "names":
            return min(self.full, NAME_FLOOR)
        if self.kind == "lists":
            lines = (line for cell in self.cells for line in _broken(cell, 0).plain.splitlines())
            return max(map(cell_len, (self.title, *lines)))
        return self.full


def fitted(columns: Sequence[Column], width: int) -> RichTable:
    """Return the table of these columns, or of as many as go into `width` cells."""
    shown = list(columns)
    while (rank := max(column.rank for column in shown)) and not _fits(shown, width, rank):
        gone = [column.instead if column.rank == rank else column for column in shown]
        shown = [column for column in gone if column is not None]
    table = RichTable(
        box=box.SIMPLE_HEAD if symbol("─") == "─" else _ASCII_HEAD,
        header_style="dim",
        pad_edge=False,
        padding=(0, _GAP - 1, 0, 0),
    )
    widths = _widths(shown, width)
    for column, own in zip(shown, widths, strict=True):
        justify: Literal["left", "right"] = "right" if column.kind == "figures" else "left"
        whole = column.kind in {"figures", "words"}
        table.add_column(column.title, justify=justify, width=own, no_wrap=whole)
    cells = [_cells(column, own) for column, own in zip(shown, widths, strict=True)]
    for row in zip(*cells, strict=True):
        table.add_row(*row)
    return table


def shortened(text: Text, width: int) -> Text:
    """Return a text of at most `width` cells, with an ellipsis in its middle if some is left out."""
    plain = text.plain
    if cell_len(plain) <= width:
        return text
    mark = symbol("…")
    kept = max(width - len(mark), 0)
    right = kept // 2
    cut = f"{plain[: kept - right]}{mark}{plain[len(plain) - right :]}"
    return Text(cut[: max(width, 1)], style=text.style)


def _cells(column: Column, width: int) -> Sequence[Text]:
    if column.kind == "names":
        return [shortened(cell, width) for cell in column.cells]
    if column.kind == "lists":
        return [_broken(cell, width) for cell in column.cells]
    return column.cells


def _broken(text: Text, width: int) -> Text:
    """Return a list in one line if that fits, otherwise with a line for each of its items."""
    if cell_len(text.plain) <= width:
        return text
    return Text(text.plain.replace(", ", ",\n"), style=text.style)


def _fits(columns: Sequence[Column], width: int, rank: int) -> bool:
    """Say whether all columns go in; names at their full length while luxuries are shown."""
    needed = (
        column.full if rank >= LUXURY and column.kind == "names" else column.least
        for column in columns
    )
    return sum(needed) + _gaps(columns) <= width


def _gaps(columns: Sequence[Column]) -> int:
    """The cells between the columns, and one at each edge."""
    return _GAP * (len(columns) - 1) + 2


def _widths(columns: Sequence[Column], width: int) -> list[int]:
    """Share the width out: first to what cannot be less, then to names, then to lists."""
    widths = [column.least for column in columns]
    left = width - _gaps(columns) - sum(widths)
    for kind in ("names", "lists"):
        for i, column in enumerate(columns):
            if column.kind == kind:
                more = min(left, column.full - widths[i])
                widths[i] = max(widths[i] + more, 1)
                left -= more
    return widths
