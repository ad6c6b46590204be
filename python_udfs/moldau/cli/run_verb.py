"""`moldau run`: every kind of run, one after the other, at one instant."""

from __future__ import annotations

import click

from moldau.cli.deciding import deciding_options, run_kinds
from moldau.settings import Settings

KINDS = ("cycle", "sweep")


@click.command(name="run")
@deciding_options
def run_verb(
    settings: Settings,
    clusters: tuple[str, ...],
    at_ms: int | None,
    dry_run: bool,
    output_format: str,
    wait: float,
) -> None:
    """Run the clean-up cycle, then the sweep, with one --at: each sees what the other applied.

    \b
    Example:
      moldau run --at 2026-11-21T08:00:00Z
    """
    run_kinds(settings, "moldau run", KINDS, clusters, at_ms, dry_run, output_format, wait)
