"""`moldau doctor`: check that everything that moldau needs is present and intact."""

from __future__ import annotations

import click

from moldau.cli.failures import FINDINGS
from moldau.cli.options import format_option, pass_settings_to_read
from moldau.cli.output import write_rows
from moldau.cli.say import say
from moldau.settings import Settings


@click.command(name="doctor")
@click.option(
    "--deep", is_flag=True, help="Read every data file too, and hold its pages to their checksums."
)
@format_option
@pass_settings_to_read
def doctor(settings: Settings, deep: bool, output_format: str) -> None:
    """Check Java, jars, settings, every table, and what the data itself makes worth knowing.

    Nothing is changed. Exit code 2 if there is something to mend. `--deep` takes as long as reading
    the whole warehouse does.

    \b
    Example:
      moldau doctor --warehouse ./warehouse
    """
    from moldau.engines.spark.connected import remote_of
    from moldau.reading.health.doctor import (
        Finding,
        examine,
        examine_engine,
        examine_plugins,
    )

    read = str(settings.config) if settings.config else "no moldau.yml: every default holds"
    found = [
        Finding("settings", True, read),
        *examine_plugins(settings),
        *examine_engine(settings),
        *examine(settings.warehouse, deep, remote_of(settings.spark)),
    ]
    if output_format == "table":
        for finding in found:
            say(f"{'ok  ' if finding.is_fine else 'MEND'}  {finding.message}")
    else:
        rows = [(finding.check, finding.is_fine, finding.message) for finding in found]
        write_rows(("check", "is_fine", "message"), rows, output_format)
    if not all(finding.is_fine for finding in found):
        click.get_current_context().exit(FINDINGS)
