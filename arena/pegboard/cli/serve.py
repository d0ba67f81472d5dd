"""`pegboard serve`: the server process."""

from __future__ import annotations

from pathlib import Path


def run_server(
    listen: list[str],
    unix: list[Path],
    tokens: Path | None,
    store: Path,
    durability: str,
    log_level: str,
    stop_on_eof: bool,
) -> None:
    """Host matches until told to stop. Raises `InvalidRequest` or `StoreError`."""
    raise NotImplementedError
