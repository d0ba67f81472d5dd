"""`pegboard serve`: the server process."""

from __future__ import annotations

import uvloop

from pegboard.service.app import serve
from pegboard.service.settings import ServeSettings


def run_server(settings: ServeSettings) -> None:
    """Host matches until told to stop. Raises `InvalidRequest` or `StoreError`."""
    uvloop.run(serve(settings))
