"""What all commands print alike."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from pegboard.runner.terminal import json_text, shown, table_width

if TYPE_CHECKING:
    from pegboard.runner.columns import Column


def print_json(value: Any) -> None:
    """Print a value as indented JSON."""
    print(json_text(json.dumps(value, indent=2, ensure_ascii=False)))


def print_line(text: str) -> None:
    """Print one line, with control characters of other people's text escaped."""
    print(shown(text))


def print_table(table: Sequence[Column]) -> None:
    """Print a table that fits the terminal, or COLUMNS."""
    from rich.console import Console  # imported here: `score` and `peg` do not need rich

    from pegboard.runner.columns import fitted

    console = Console(width=table_width(), highlight=False)
    console.print(fitted(table, console.width))


def columns(rows: list[tuple[str, ...]], gap: str = "  ") -> list[str]:
    """Return the rows as lines with aligned columns, the last one ragged."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        gap.join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]
