"""The line: names of joins and of open ports (R-D15 to R-D18), as the specification draws them."""

from __future__ import annotations

import pytest

from pegboard.rules.dominoes.line import Line
from pegboard.rules.dominoes.moves import End
from pegboard.rules.tiles import parse_tile, tiles_text


def laid(*places: str) -> Line:
    """Return the line after places like `1|4` or `1|1@L`."""
    line = Line()
    for place in places:
        tile, _, end = place.partition("@")
        line.place(parse_tile(tile), {"": End.NONE, "L": End.LEFT, "R": End.RIGHT}[end])
    return line


def described(line: Line) -> tuple[str, str, str]:
    """Return tiles, connections and open ends in canonical text."""
    assert line.ends is not None
    return (
        tiles_text(line.tiles),
        ", ".join(connection.text() for connection in line.connections),
        ", ".join(end.text() for end in line.ends),
    )


@pytest.mark.parametrize(
    ("places", "expected"),
    [
        (("1|4",), ("1|4", "", "1|4:low:1, 1|4:high:4")),
        (("1|4", "1|1@L"), ("1|1 1|4", "1|4:low-1|1:A", "1|1:B:1, 1|4:high:4")),
        (("3|6", "6|6@R"), ("3|6 6|6", "3|6:high-6|6:A", "3|6:low:3, 6|6:B:6")),
        (("0|0",), ("0|0", "", "0|0:A:0, 0|0:B:0")),
        (
            ("1|4", "1|1@L", "4|4@R", "3|4@R"),
            (
                "1|1 1|4 4|4 3|4",
                "1|4:low-1|1:A, 1|4:high-4|4:A, 4|4:B-3|4:high",
                "1|1:B:1, 3|4:low:3",
            ),
        ),
        (("2|2",), ("2|2", "", "2|2:A:2, 2|2:B:2")),
    ],
)
def test_the_figures_of_the_specification(
    places: tuple[str, ...], expected: tuple[str, str, str]
) -> None:
    """D-01 to D-07: fichas, conexiones and puntos de continuación legal."""
    assert described(laid(*places)) == expected


@pytest.mark.parametrize(
    ("places", "expected"),
    [
        (("2|2", "2|5@L"), ("2|5 2|2", "2|2:A-2|5:low", "2|5:high:5, 2|2:B:2")),
        (("2|2", "2|5@R"), ("2|2 2|5", "2|2:A-2|5:low", "2|2:B:2, 2|5:high:5")),
        (
            ("2|2", "2|5@R", "0|2@L"),
            ("0|2 2|2 2|5", "2|2:A-2|5:low, 2|2:B-0|2:high", "0|2:low:0, 2|5:high:5"),
        ),
    ],
)
def test_the_side_of_a_double_used_first_is_a(
    places: tuple[str, ...], expected: tuple[str, str, str]
) -> None:
    """R-D17, X-18: also where the right end of a lone double is used first."""
    assert described(laid(*places)) == expected


def test_a_copy_is_independent() -> None:
    """A search bot may go on from a copy."""
    line = laid("1|4")
    other = line.copy()
    other.place(parse_tile("4|4"), End.RIGHT)
    assert described(line) == ("1|4", "", "1|4:low:1, 1|4:high:4")
    assert other.tiles != line.tiles
