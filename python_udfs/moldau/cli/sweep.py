"""`moldau sweep`: one run of that kind."""

from __future__ import annotations

import click

from moldau.cli.deciding import clusters_option, decide_and_tell, dry_run_option
from moldau.cli.options import at_option, format_option, pass_settings
from moldau.cli.sessions import wait_option
from moldau.settings import Settings


@click.command(name="sweep")
@dry_run_option
@at_option
@clusters_option
@format_option
@wait_option
@pass_settings
def sweep(
    settings: Settings,
    clusters: tuple[str, ...],
    at_ms: int | None,
    dry_run: bool,
    output_format: str,
    wait: float,
) -> None:
    """Decide which offsets the sweep expires and which groups it removes.

    Every candidate gets a row in decisions.group_sweeps with its reason; see `moldau show`
    and `moldau explain`. All loaded records count; --at is the decision clock only.

    \b
    Example:
      moldau sweep --dry-run --at 2026-11-21T08:00:00Z
    """
    decide_and_tell(settings, "sweep", clusters, at_ms, dry_run, output_format, wait)
