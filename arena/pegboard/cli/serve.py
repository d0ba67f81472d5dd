"""`pegboard serve`: the server process."""

from __future__ import annotations

from typing import TYPE_CHECKING

import uvloop

from pegboard.wire.transport import wait_directly

if TYPE_CHECKING:
    from pegboard.service.settings import ServeSettings


def run_server(settings: ServeSettings) -> None:
    """Host matches until told to stop. Raises `InvalidRequest` or `StoreError`."""
    wait_directly()
    from pegboard.service.app import (
        serve,  # imports grpc, which reads the variable that was just set
    )

    uvloop.run(serve(settings))
