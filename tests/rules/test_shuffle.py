"""Verifiable chance: the worked examples of docs/deals.md, and that the shuffle favours nothing."""

from __future__ import annotations

import hashlib
import hmac
import re
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pegboard.rules import catalog
from pegboard.rules.cards import PACK, cards_text
from pegboard.rules.errors import NotationError
from pegboard.rules.shuffle import ScriptedChance, SeededChance, commitment
from pegboard.rules.tiles import SET, tiles_text

DOCS = Path(__file__).resolve().parents[2] / "docs" / "deals.md"
SEED = bytes(range(32))


def documented(name: str) -> list[str]:
    """Return the lines of the block of docs/deals.md that follows `<!-- example: NAME -->`."""
    text = DOCS.read_text(encoding="utf-8")
    found = re.search(rf"<!-- example: {name} -->\n```\n(.*?)\n```", text, re.DOTALL)
    assert found is not None, f"docs/deals.md has no example {name}"
    return found[1].splitlines()


def test_the_documented_stream_and_order() -> None:
    """Redone from the text alone, with none of our code: block 0, numbers, order."""
    lines = dict(line.split(": ", 1) for line in documented("order"))
    block = hmac.new(SEED, b"example/deal/1/1/0", hashlib.sha256).digest()
    assert lines["block 0"] == block.hex()
    numbers = [int.from_bytes(block[at : at + 2], "big") for at in range(0, 32, 2)]
    assert lines["numbers"] == " ".join(map(str, numbers))
    chance = SeededChance(bytes.fromhex(lines["seed"]), lines["nonce"])
    assert lines["order"] == " ".join(map(str, chance.order(lines["label"], 52, 52)))
    assert lines["cards"] == cards_text(
        [PACK[place] for place in chance.order(lines["label"], 52, 52)]
    )


def test_the_documented_commitment() -> None:
    """SHA-256 over `pegboard/1`, a zero byte, seed and nonce."""
    lines = dict(line.split(": ", 1) for line in documented("commitment"))
    message = b"pegboard/1" + bytes(1) + SEED + lines["nonce"].encode()
    assert lines["commitment"] == hashlib.sha256(message).hexdigest()
    assert commitment(SEED, lines["nonce"]).hex() == lines["commitment"]
    assert SeededChance(SEED, lines["nonce"]).commitment().hex() == lines["commitment"]


@pytest.mark.parametrize("variant", ["cribbage", "cribbage-3p", "cribbage-dealer-six", "draw"])
def test_the_documented_deals(variant: str) -> None:
    """What a match starts with, as the page says."""
    game = catalog.game(variant)
    _, events = game.start(game.seats[-1], SeededChance(SEED, "example"))
    assert [event.text() for event in events] == documented(variant)


def test_the_documented_order_of_tiles() -> None:
    """The round behind the documented deal of Draw, and the order of the seat that draws."""
    order = SeededChance(SEED, "example").order("round/1/1", 28, 28)
    assert documented("round") == [tiles_text([SET[place] for place in order])]
    own = SeededChance(SEED, "example").order("draw/1/1/3", 28, 28)
    assert documented("own order") == [tiles_text([SET[place] for place in own])]
    game = catalog.game("draw")
    state, _ = game.start(4, SeededChance(SEED, "example"))
    drawn = [state.apply(3, game.parse_move("DRAW"))[0] for _ in range(2)]
    assert documented("drawn") == [event.text() for event in drawn]


def test_fisher_yates_with_rejection() -> None:
    """Written once more, plainly: the library's order is that of the three steps of the page."""

    def numbers(label: str) -> list[int]:
        blocks = b"".join(
            hmac.new(SEED, f"n/{label}/{i}".encode(), hashlib.sha256).digest() for i in range(12)
        )
        return [int.from_bytes(blocks[at : at + 2], "big") for at in range(0, len(blocks), 2)]

    for label in ("a", "b", "c"):
        stream = iter(numbers(label))
        items = list(range(54))
        for place in range(53):
            span = 54 - place
            number = next(stream)
            while number >= 65536 - 65536 % span:
                number = next(stream)
            other = place + number % span
            items[place], items[other] = items[other], items[place]
        assert SeededChance(SEED, "n").order(label, 54, 54) == items


@given(st.integers(1, 60), st.integers(0, 60), st.text(max_size=8))
def test_an_order_is_a_permutation_and_a_prefix(size: int, count: int, label: str) -> None:
    """The first `count` of the full order, whatever the count."""
    chance = SeededChance(SEED, "prefix")
    full = chance.order(label, size, size)
    assert sorted(full) == list(range(size))
    assert chance.order(label, size, count) == full[:count]


def test_label_nonce_and_seed_all_matter() -> None:
    """None of the three can be left out."""
    first = SeededChance(SEED, "a").order("deal/1/1", 52, 52)
    assert SeededChance(SEED, "a").order("deal/1/2", 52, 52) != first
    assert SeededChance(SEED, "b").order("deal/1/1", 52, 52) != first
    assert SeededChance(SEED[::-1], "a").order("deal/1/1", 52, 52) != first


def test_every_card_lies_everywhere_as_often() -> None:
    """Chi-square of card by place over 3,000 orders of 13: 144 degrees of freedom, below 210."""
    seen = Counter(
        place_and_card
        for number in range(3000)
        for place_and_card in enumerate(SeededChance(SEED, "chi").order(str(number), 13, 13))
    )
    expected = 3000 / 13
    chi = sum(
        (seen[place, card] - expected) ** 2 / expected for place in range(13) for card in range(13)
    )
    assert 90 < chi < 210


@pytest.mark.parametrize("length", [0, 31, 33])
def test_a_seed_has_32_bytes(length: int) -> None:
    """Another length is refused with a sentence."""
    with pytest.raises(NotationError, match=f"32 bytes, not {length}"):
        SeededChance(bytes(length), "n")


def test_scripted_chance_fills_up_ascending() -> None:
    """For vectors: what is given first, the rest in order; other labels from another chance."""
    seeded = SeededChance(SEED, "n")
    chance = ScriptedChance({"deal/1/1": [5, 2]}, otherwise=seeded)
    assert chance.order("deal/1/1", 7, 5) == [5, 2, 0, 1, 3]
    assert chance.order("deal/1/2", 7, 5) == seeded.order("deal/1/2", 7, 5)
    assert ScriptedChance({}).order("deal/1/2", 4, 2) == [0, 1]
