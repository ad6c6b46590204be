"""`moldau export`: a table as a file that other tools open."""

from __future__ import annotations

from pathlib import Path

import click

from moldau.cli.options import clock_option, pass_settings_to_read
from moldau.cli.say import say
from moldau.settings import Settings


@click.command(name="export")
@click.argument("table")
@click.option(
    "--to",
    "target",
    required=True,
    type=click.Path(path_type=Path, dir_okay=False),
    help="The file: .csv, .json (one array), .jsonl (one object a line) or .parquet.",
)
@click.option(
    "--safe-csv", is_flag=True,
    help="Of a .csv: texts that a spreadsheet would take for formulas have a ' before them.",
)  # fmt: skip
@click.option("--where", metavar="SQL", help="Only rows for which this condition holds.")
@clock_option
@pass_settings_to_read
def export(
    settings: Settings,
    table: str,
    target: Path,
    safe_csv: bool,
    where: str | None,
    at_ms: int | None,
) -> None:
    """Write the rows of TABLE to a file, by the ending of its name.

    Names in it are what somebody else chose. A spreadsheet takes a cell that begins with =, +, -,
    @, tab or CR for a formula and runs it: open a .csv in one only if --safe-csv wrote it.

    \b
    Example:
      moldau export marts.groups --to groups.csv --safe-csv
      moldau export marts.expiry_calendar --to calendar.csv --where "expires_at < '2026-10-01'"
    """
    from moldau.reading.tables.export import export_table

    count = export_table(settings.warehouse, table, target, where, at_ms, safe_csv)
    say(f"{count} rows written to {target}")
