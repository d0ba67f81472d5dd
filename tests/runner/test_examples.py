"""The example tournaments can be played and show what they say."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.toolchains import require

from pegboard.arena.config import Config
from pegboard.arena.schedule import Schedule
from pegboard.rules.catalog import CATALOG
from pegboard.runner.tournament_file import load

EXAMPLES = Path(__file__).parents[2] / "examples"


def example(name: str) -> Config:
    """Return an example."""
    return load(EXAMPLES / f"{name}.toml").config


def test_the_quickstart_is_a_tournament_of_two_languages() -> None:
    """At least four bots and 400 matches of both games."""
    require("node")
    config = example("quickstart")
    assert len(config.bots) >= 4
    assert {Path(bot.command[0]).name for bot in config.bots} >= {"node"}
    assert {event.variant for event in config.events} == {"cribbage", "draw"}
    assert Schedule(config, bytes(32)).total() >= 400


def test_all_variants_are_all_variants() -> None:
    """In the order of the catalog, each with its smallest and its largest number of seats."""
    config = example("all-variants")
    assert list(dict.fromkeys(event.variant for event in config.events)) == list(CATALOG)
    seats = {(event.variant, event.seats) for event in config.events}
    for name, variant in CATALOG.items():
        assert {(name, variant.game.seats[0]), (name, variant.game.seats[-1])} <= seats


@pytest.mark.parametrize("name", ["quickstart", "all-variants"])
def test_the_programs_of_the_examples_are_there(name: str) -> None:
    """A command that names a file of the examples names one that exists."""
    require("node")
    for bot in example(name).bots:
        for part in bot.command[1:]:
            if part.startswith("bots/"):
                assert (EXAMPLES / part).is_file(), part
