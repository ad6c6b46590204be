"""`moldau report`: the overview as one file."""

from __future__ import annotations

from pathlib import Path

import click

from moldau.cli.options import clock_option, pass_settings_to_read
from moldau.instants import now_ms
from moldau.settings import Settings


@click.command(name="report")
@click.option(
    "--to", "target", required=True, type=click.Path(path_type=Path), metavar="FILE",
    help="Where to write it; a file that is there is replaced.",
)  # fmt: skip
@clock_option
@pass_settings_to_read
def report(settings: Settings, target: Path, at_ms: int | None) -> None:
    """Write the overview of `moldau serve` as one HTML file that opens offline.

    \b
    Example:
      moldau report --to report.html
    """
    from moldau.serving.report import write_report

    write_report(settings, target, now_ms() if at_ms is None else at_ms)
