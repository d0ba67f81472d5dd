"""Options of cribbage: how they are read, and which do not go together (R-C9.13)."""

from __future__ import annotations

import pytest

from pegboard.rules import catalog
from pegboard.rules.cribbage.game import Cribbage
from pegboard.rules.errors import NotationError, OptionError, SeatsError, UnknownVariant
from pegboard.rules.shuffle import ScriptedChance

LUCK = ScriptedChance({"cut/1": (0, 4, 8, 12, 16)})


def test_ids_stay() -> None:
    """Records and tournament files name variants by them."""
    assert {
        "cribbage",
        "cribbage-3p",
        "cribbage-4p",
        "cribbage-partners",
        "cribbage-two-on-one",
        "cribbage-lone-crib",
        "cribbage-dealer-six",
        "cribbage-five-card",
        "cribbage-5p-short-dealer",
        "cribbage-5p-five-crib",
        "cribbage-ten-card",
        "cribbage-nine-card",
        "cribbage-canadian-doubles",
        "cribbage-muggins",
        "cribbage-lowball",
        "cribbage-jokers-wild",
        "cribbage-jokers-zero",
        "cribbage-discard-fives",
        "cribbage-three-runs",
        "cribbage-auction",
        "cribbage-zero-penalty",
        "cribbage-back-up-10",
        "cribbage-solitaire",
        "cribbage-squares",
        "draw",
    } <= set(catalog.CATALOG)


@pytest.mark.parametrize(
    ("variant", "seats"),
    [
        ("cribbage", (2,)),
        ("cribbage-3p", (3,)),
        ("cribbage-partners", (4,)),
        ("cribbage-5p-five-crib", (5,)),
        ("cribbage-muggins", (2, 3, 4)),
        ("cribbage-solitaire", (1,)),
    ],
)
def test_a_variant_has_its_seats(variant: str, seats: tuple[int, ...]) -> None:
    """Other numbers of seats are refused with the right ones."""
    game = catalog.game(variant)
    assert game.seats == seats
    with pytest.raises(SeatsError, match=str(seats[-1])):
        game.start(6, LUCK)


def test_a_cut_that_never_ends_is_refused() -> None:
    """Only a script can tie for ever; it is told so."""
    with pytest.raises(NotationError, match="cut/1"):
        catalog.game("cribbage").start(2, ScriptedChance({}))


def test_an_unknown_variant_names_the_nearest() -> None:
    """A slip of the pen costs one look."""
    with pytest.raises(UnknownVariant, match="did you mean cribbage-muggins"):
        catalog.find("cribbage-mugins")


def test_options_come_back_as_defaults() -> None:
    """What is set is what `options` shows."""
    game = catalog.game("cribbage", {"target": "61", "muggins": "on", "start_scores": "0, 15"})
    shown = {option.key: option.default for option in game.options()}
    assert (shown["target"], shown["muggins"], shown["start_scores"]) == ("61", "on", "0,15")
    assert game.with_options(
        {key: shown[key] for key in shown if key != "form"}
    ) == game.with_options({"target": "61"})


def test_the_defaults_of_every_variant_can_be_set_again() -> None:
    """A host may send all options as they are shown."""
    for variant in catalog.CATALOG.values():
        shown = {option.key: option.default for option in variant.game.options()}
        again = variant.game.with_options(shown)
        assert {option.key: option.default for option in again.options()} == shown


@pytest.mark.parametrize(
    ("options", "hint"),
    [
        ({"targt": "61"}, "it has form, target"),
        ({"target": "0"}, "from 1 to 999"),
        ({"target": "many"}, "from 1 to 999"),
        ({"target": "٣١"}, "from 1 to 999"),
        ({"jokers": "both"}, "none, wild, zero"),
        ({"muggins": "yes"}, "off, on"),
        ({"match_games": "4"}, "odd"),
        ({"start_scores": "1,2,3"}, "give 2"),
        ({"start_scores": "121,0"}, "less than 121"),
        ({"lone_seat": "1"}, "leave it out"),
        ({"lone_target": "61"}, "set target"),
        ({"bind_jokers": "off"}, "jokers=wild"),
        ({"lowball": "on", "auction": "on"}, "auction"),
        ({"lowball": "on", "muggins": "on"}, "muggins"),
        ({"lowball": "on", "zero_penalty": "on"}, "zero_penalty"),
        ({"lowball": "on", "back_up_10": "on"}, "back_up_10"),
        ({"form": "squares", "muggins": "on"}, "three_runs only"),
        ({"form": "solitaire", "match_games": "3"}, "three_runs only"),
        ({"form": "two-on-one", "skunks": "on"}, "different targets"),
        ({"form": "five-card", "target": "3"}, "more than 3"),
        ({"form": "five-card", "start_scores": "58,0"}, "less than 58"),
    ],
)
def test_bad_options_are_refused_with_a_hint(options: dict[str, str], hint: str) -> None:
    """Each gets one sentence that says what to do."""
    with pytest.raises(OptionError, match=hint):
        catalog.game("cribbage", options)


def test_what_depends_on_the_seats_is_refused_at_the_start() -> None:
    """Muggins has 2 to 4 seats: an even match is right for three, wrong for two (X-07)."""
    game = catalog.game("cribbage-muggins", {"match_games": "2"})
    game.start(3, LUCK)
    with pytest.raises(OptionError, match="odd"):
        game.start(2, LUCK)


def test_another_form_brings_its_seats_and_target() -> None:
    """`form` combines with the scoring variants."""
    game = catalog.game("cribbage-muggins", {"form": "nine-card"})
    assert game.seats == (2,)
    assert isinstance(game, Cribbage)
    assert game.targets(2) == (181, 181)


@pytest.mark.parametrize(
    ("lone", "sides", "targets"),
    [("0", (0, 1, 1), (61, 121)), ("1", (0, 1, 0), (121, 61)), ("2", (0, 0, 1), (121, 61))],
)
def test_sides_are_numbered_by_their_first_seat(
    lone: str, sides: tuple[int, ...], targets: tuple[int, ...]
) -> None:
    """The lone seat is chosen with the table and kept (R-C5.3T1)."""
    game = catalog.game("cribbage-two-on-one", {"lone_seat": lone})
    assert isinstance(game, Cribbage)
    assert game.sides(3) == sides
    assert game.targets(3) == targets


def test_partners_sit_opposite() -> None:
    """Seats 0 and 2 against 1 and 3 (R-C5.4T)."""
    assert catalog.game("cribbage-partners").sides(4) == (0, 1, 0, 1)
