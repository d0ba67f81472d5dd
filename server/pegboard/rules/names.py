"""Names of resources as the contract and records write them: a collection, then an id.

Inside the program, ids stand alone: `cribbage`, not `variants/cribbage`.
"""

from __future__ import annotations

from typing import Final

MATCHES: Final = "matches/"
VARIANTS: Final = "variants/"
BOTS: Final = "bots/"
