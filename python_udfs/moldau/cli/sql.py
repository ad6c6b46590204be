"""`moldau sql`: one query, answered by Spark, or by DuckDB without a JVM."""

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


@click.command(name="sql")
@click.argument("query")
@click.option(
    "--engine",
    type=click.Choice(["spark", "duckdb"]),
    default="spark",
    show_default=True,
    help="duckdb answers in about a second, in its own dialect, and only reads.",
)
@clock_option
@format_option
@shape_options
@pass_settings_to_read
def sql(
    settings: Settings,
    query: str,
    engine: str,
    at_ms: int | None,
    output_format: str,
    shape: Shape,
) -> None:
    """Print the answer to QUERY; tables are named `database.table`.

    \b
    Example:
      moldau sql --engine duckdb \\
        "select reason_code, count(*) from marts.decisions group by reason_code"
    """
    if engine == "duckdb":
        from moldau.reading.tables.query import query as ask

        answer = ask(settings.warehouse, query, at_ms)
        write_rows(answer.columns, answer.rows, output_format, shape=shape)
    else:
        from moldau.reading.tables.in_spark import ask_spark

        columns, rows = ask_spark(settings.warehouse, query, at_ms, settings.spark)
        write_rows(columns, rows, output_format, shape=shape)
