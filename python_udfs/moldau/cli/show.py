"""`moldau show`: the rows of a table or mart, without Spark."""

from __future__ import annotations

import click

from moldau.cli.options import (
    as_of_option,
    clock_option,
    format_option,
    pass_settings_of_moments,
    shape_options,
)
from moldau.cli.output import Shape, write_rows
from moldau.cli.say import warn
from moldau.settings import Settings


@click.command(name="show")
@click.argument("table")
@click.option("--where", metavar="SQL", help="Only rows for which this condition holds.")
@click.option("--limit", type=click.IntRange(min=0), metavar="N", help="At most N rows.")
@clock_option
@as_of_option
@format_option
@shape_options
@pass_settings_of_moments
def show(
    settings: Settings,
    table: str,
    where: str | None,
    limit: int | None,
    at_ms: int | None,
    as_of_ms: int | None,
    output_format: str,
    shape: Shape,
) -> None:
    """Print the rows of TABLE, in the order of its key.

    TABLE is `database.table`, or the bare name if only one database has it. The condition is
    DuckDB's SQL; `moldau status --tables` lists the tables. A terminal gets the columns that
    matter first, as many as fit, and instants in UTC. With --as-of, groups and what is decided
    about them are rebuilt from the records up to an instant, by the engine that makes runs;
    nothing is written.

    \b
    Example:
      moldau show marts.groups --where "group_state = 'EMPTY'" --limit 20
      moldau show marts.group_offsets --as-of 2026-11-24T09:00:00Z
    """
    from moldau.reading.tables.query import key_of, table_rows

    key = key_of(settings.warehouse, table)
    if as_of_ms is None:
        answer = table_rows(settings.warehouse, table, where, limit, at_ms)
        write_rows(answer.columns, answer.rows, output_format, key, shape)
        return
    from moldau.runs.as_of import About, as_of, require_groups, tables_asked

    name = require_groups(settings.warehouse, table)
    with as_of(settings, as_of_ms, About(), tables_asked(name)) as moment:
        warn(moment.words)
        clock_ms = as_of_ms if at_ms is None else at_ms
        answer = table_rows(moment.settings.warehouse, name, where, limit, clock_ms)
        write_rows(answer.columns, answer.rows, output_format, key, shape)
