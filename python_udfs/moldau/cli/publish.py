"""`moldau publish`: marts as Delta tables, without Spark."""

from __future__ import annotations

import click

from moldau.cli.options import clock_option, format_option, pass_settings_to_read
from moldau.cli.output import write_rows
from moldau.settings import Settings


@click.command(name="publish")
@click.argument("tables", metavar="[TABLE]...", nargs=-1)
@clock_option
@format_option
@pass_settings_to_read
def publish(
    settings: Settings, tables: tuple[str, ...], at_ms: int | None, output_format: str
) -> None:
    """Write marts as Delta tables under `published/` of the warehouse, for who reads files.

    Without a TABLE those that `publish:` in moldau.yml names, which each run writes too; if it
    names none, all of them.

    \b
    Example:
      moldau publish groups tier_lag
    """
    from moldau.reading.tables.publish import publish as write

    written = write(settings.warehouse, tables or settings.publish, at_ms)
    write_rows(("mart", "rows"), list(written.items()), output_format)
