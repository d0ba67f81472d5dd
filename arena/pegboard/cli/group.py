"""What the commands and groups of `pegboard` declare alike."""

from __future__ import annotations

from typing import Annotated, Any

import typer

APP_OPTIONS: dict[str, Any] = {
    "add_completion": False,
    "no_args_is_help": True,
    "rich_markup_mode": None,
    "pretty_exceptions_enable": False,
}

Json = Annotated[bool, typer.Option("--json", help="Print JSON instead.")]
