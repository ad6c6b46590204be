"""`moldau show`: the rows of a table or mart, without Spark."""

from __future__ import annotations

import click

from moldau.cli.options import (
    clock_option,
    format_option,
    pass_settings_to_read,
    shape_options,
)
from moldau.cli.output import Shape, write_rows
from moldau.settings import Settings


@click.command(name="show")
@click.argument("table")
@click.option("--where", metavar="SQL", help="Only rows for which this condition holds.")
@click.option("--limit", type=click.IntRange(min=0), metavar="N", help="At most N rows.")
@clock_option
@format_option
@shape_options
@pass_settings_to_read
def show(
    settings: Settings,
    table: str,
    where: str | None,
    limit: int | None,
    at_ms: int | None,
    output_format: str,
    shape: Shape,
) -> None:
    """Print the rows of TABLE, in the order of its key.

    TABLE is `database.table`, or the bare name if only one database has it. The condition is
    DuckDB's SQL; `moldau status --tables` lists the tables. A terminal gets the columns that
    matter first, as many as fit, and instants in UTC.

    \b
    Example:
      moldau show marts.groups --where "group_state = 'EMPTY'" --limit 20
    """
    from moldau.reading.tables.query import key_of, table_rows

    answer = table_rows(settings.warehouse, table, where, limit, at_ms)
    key = key_of(settings.warehouse, table)
    write_rows(answer.columns, answer.rows, output_format, key, shape)
