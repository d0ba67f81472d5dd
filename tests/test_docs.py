"""The documentation: every command shown prints what is shown, every link leads somewhere."""

from __future__ import annotations

import hashlib
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from pegboard.arena import config
from pegboard.cli.shell import run
from pegboard.rules import catalog

ROOT = Path(__file__).resolve().parent.parent
PAGES = sorted(
    path
    for pattern in ("*.md", "docs/**/*.md", "clients/**/*.md", "examples/**/*.md", "bench/*.md")
    for path in ROOT.glob(pattern)
    if "node_modules" not in path.parts
)
BLOCK = re.compile(r"^```[a-z]*\n(.*?)^```", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\((?!https?:|#)([^)#\s]+)")


class Shown(NamedTuple):
    """A command in a page, and the output shown under it."""

    page: Path
    command: str
    output: str


def shown_commands() -> Iterator[Shown]:
    """Yield each `$ pegboard ...` of a fenced block with the lines up to the next command."""
    for page in PAGES:
        for block in BLOCK.findall(page.read_text(encoding="utf-8")):
            for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
                command, _, output = part.partition("\n")
                if command.startswith("pegboard ") and output.strip():
                    yield Shown(page, command, output)


SHOWN = list(shown_commands())


@pytest.mark.parametrize(
    "shown", SHOWN, ids=[f"{shown.page.name}: {shown.command}" for shown in SHOWN]
)
def test_a_command_prints_what_its_page_shows(
    shown: Shown, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Run it from the project's folder; `...` in the page stands for any lines."""
    monkeypatch.chdir(ROOT)
    run(shlex.split(shown.command, comments=True)[1:])
    captured = capsys.readouterr()
    printed = [line.rstrip() for line in (captured.out + captured.err).strip().splitlines()]
    wanted = [line.rstrip() for line in shown.output.strip().splitlines()]
    pattern = "\n".join(".*" if line == "..." else re.escape(line) for line in wanted)
    assert re.fullmatch(pattern, "\n".join(printed), re.DOTALL), "\n".join(printed)


@pytest.mark.parametrize("page", PAGES, ids=[str(page.relative_to(ROOT)) for page in PAGES])
def test_links_lead_somewhere(page: Path) -> None:
    """Relative links name files that exist."""
    targets = LINK.findall(page.read_text(encoding="utf-8"))
    assert [target for target in targets if not (page.parent / target).exists()] == []


@pytest.mark.parametrize("variant", catalog.CATALOG)
def test_every_variant_has_a_page(variant: str) -> None:
    """A page names its rules, says what differs, and shows an example deal with its score."""
    page = ROOT / "docs" / "rules" / f"{variant}.md"
    text = page.read_text(encoding="utf-8")
    assert f"`{variant}`" in text
    assert "## What differs" in text
    assert "## Example" in text
    assert any(shown.page == page for shown in SHOWN), "show the example with `$ pegboard ...`"


def test_every_option_is_explained() -> None:
    """docs/rules/options.md names every option key of the catalog."""
    text = (ROOT / "docs" / "rules" / "options.md").read_text(encoding="utf-8")
    keys = {option.key for variant in catalog.CATALOG.values() for option in variant.game.options()}
    assert [key for key in sorted(keys) if f"`{key}`" not in text] == []


def test_every_key_of_a_tournament_is_explained() -> None:
    """docs/tournaments.md names every key that a tournament file may have."""
    text = (ROOT / "docs" / "tournaments.md").read_text(encoding="utf-8")
    structs = (config.Config, config.Time, config.ServerEntry, config.BotEntry, config.Contest)
    keys = {key for struct in structs for key in struct.__struct_fields__}
    assert [key for key in sorted(keys) if f"`{key}`" not in text and f"[{key}]" not in text] == []


def test_the_digest_of_a_token_is_that_of_the_word_beside_it() -> None:
    """docs/serving.md: somebody may well copy it, so the word is long and named."""
    text = (ROOT / "docs" / "serving.md").read_text(encoding="utf-8")
    word = re.search(r"Bob's token here is\s+`([^`]+)`", text)
    assert word is not None
    assert len(word[1]) >= 24
    assert f'"sha256:{hashlib.sha256(word[1].encode()).hexdigest()}"' in text


def test_the_bot_of_the_readme_plays(tmp_path: Path) -> None:
    """Its code block, as it stands, plays a tournament against the greedy bot."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    bot = tmp_path / "my_bot.py"
    bot.write_text(re.findall(r"^```python\n(.*?)^```", readme, re.MULTILINE | re.DOTALL)[0])
    cup = re.findall(r"^```toml\n(.*?)^```", readme, re.MULTILINE | re.DOTALL)[0]
    cup = cup.replace("examples/", f"{ROOT}/examples/").replace("blocks = 50", "blocks = 2")
    file = tmp_path / "first.toml"
    file.write_text(cup, encoding="utf-8")
    assert run(["tournament", "run", str(file), "--out", str(tmp_path / "run")]) == 0
    assert run(["replay", str(tmp_path / "run" / "records.jsonl"), "--verify"]) == 0
