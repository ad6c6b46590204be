"""`moldau run`: every kind of run, one after the other, at one instant."""

from __future__ import annotations

from typing import Any

import click

from moldau.cli.deciding import deciding_options, run_kinds
from moldau.domains import kinds
from moldau.settings import Settings


@click.command(name="run")
@deciding_options
def run_verb(settings: Settings, **options: Any) -> None:
    """Run the clean-up cycle, the sweep and tiers with one --at: each sees what the others applied.

    \b
    Example:
      moldau run --at 2026-11-21T08:00:00Z
    """
    run_kinds(settings, "moldau run", list(kinds()), **options)
