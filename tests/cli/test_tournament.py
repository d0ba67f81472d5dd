"""`pegboard tournament`: where results go."""

from __future__ import annotations

from pathlib import Path

from pegboard.cli.tournament import default_folder


def test_the_default_folder_is_named_after_the_file_itself(tmp_path: Path) -> None:
    """A link to a file is followed, as its bots' commands are."""
    (tmp_path / "cup.toml").touch()
    (tmp_path / "link.toml").symlink_to(tmp_path / "cup.toml")
    assert default_folder(tmp_path / "link.toml") == Path("runs/cup")
