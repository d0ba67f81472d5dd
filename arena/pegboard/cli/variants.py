"""`pegboard variants`: the catalog."""

from __future__ import annotations

from importlib import resources
from pathlib import Path

from pegboard.cli.output import columns, print_json
from pegboard.rules import catalog
from pegboard.rules.game import Option

SOURCE_PAGES = Path(__file__).resolve().parents[3] / "docs" / "rules"


def show_catalog(as_json: bool) -> None:
    """Print one line for each variant."""
    if as_json:
        print_json([describe(variant) for variant in catalog.CATALOG.values()])
        return
    rows = [
        (variant.id, ranges(variant.game.seats), variant.summary)
        for variant in catalog.CATALOG.values()
    ]
    for line in columns([("id", "seats", ""), *rows]):
        print(line)


def show_variant(variant_id: str, as_json: bool) -> None:
    """Print all about one variant. Raises `UnknownVariant`."""
    variant = catalog.find(variant_id)
    if as_json:
        print_json(describe(variant))
        return
    print(f"{variant.title} ({variant.id}), {ranges(variant.game.seats)} seats")
    print(variant.summary)
    print("\nOptions:")
    rows = [
        (option.key, option.default or "-", f"{option.help}{allowed(option)}")
        for option in variant.game.options()
    ]
    for line in columns([("key", "default", ""), *rows]):
        print(f"  {line}")
    page = rules_page(variant_id)
    if page:
        print(f"\n{page}")


def describe(variant: catalog.Variant) -> dict[str, object]:
    """Return a variant as plain data."""
    return {
        "id": variant.id,
        "title": variant.title,
        "family": variant.game.family,
        "seats": list(variant.game.seats),
        "summary": variant.summary,
        "options": [option._asdict() for option in variant.game.options()],
    }


def allowed(option: Option) -> str:
    """Return the values that an option can have in brackets, or nothing if its help says them."""
    numbers = [f"{option.low} to {option.high}"] if option.high > option.low else []
    values = [*option.values, *numbers]
    return f" ({', '.join(values)})" if values else ""


def ranges(seats: tuple[int, ...]) -> str:
    """Return `2` or `2-4`."""
    return str(seats[0]) if len(seats) == 1 else f"{seats[0]}-{seats[-1]}"


def rules_page(variant_id: str) -> str | None:
    """Return the page of docs/rules on a variant, from the wheel or the source tree, or None."""
    shipped = resources.files("pegboard.rules").joinpath("pages", f"{variant_id}.md")
    for page in (shipped, SOURCE_PAGES / f"{variant_id}.md"):
        if page.is_file():
            return page.read_text(encoding="utf-8")
    return None
