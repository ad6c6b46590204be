"""`moldau run`: every kind of run, one after the other, at one instant."""

from __future__ import annotations

from typing import Any

import click

from moldau.cli.deciding import deciding_options, run_kinds
from moldau.declared import kinds
from moldau.settings import Settings

HELP = """Run {kinds} with one --at: each sees what those before it applied.

    \b
    Example:
      moldau run --at 2026-11-21T08:00:00Z
    """


@click.command(name="run", help=HELP.format(kinds=", ".join(kinds())))
@deciding_options
def run_verb(settings: Settings, **options: Any) -> None:
    run_kinds(settings, "moldau run", list(kinds()), **options)
