"""`moldau sql`: one query, answered by Spark, or by DuckDB without a JVM."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import click

from moldau.cli.options import format_option, pass_settings
from moldau.cli.output import write_rows
from moldau.errors import MoldauError
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
@format_option
@pass_settings
def sql(settings: Settings, query: str, engine: str, output_format: str) -> None:
    """Print the answer to QUERY; tables are named `database.table`.

    \b
    Example:
      moldau sql --engine duckdb \\
        "select reason_code, count(*) from marts.decisions group by reason_code"
    """
    if engine == "duckdb":
        from moldau.reading.query import query as ask

        answer = ask(settings.warehouse, query)
        write_rows(answer.columns, answer.rows, output_format)
    else:
        columns, rows = _ask_spark(settings, query)
        write_rows(columns, rows, output_format)


def _ask_spark(settings: Settings, query: str) -> tuple[list[str], Iterator[tuple[Any, ...]]]:
    from moldau.engine.spark import connect
    from moldau.reading.tables import require_warehouse

    require_warehouse(settings.warehouse)
    session = connect(settings)
    from pyspark.errors import PySparkException

    try:
        frame = session.sql(query)
        return frame.columns, (
            tuple(row.asDict(recursive=True).values()) if _is_nested(row) else tuple(row)
            for row in frame.toLocalIterator()
        )
    except PySparkException as error:
        raise MoldauError(" ".join(str(error).split("\n\n")[0].split())[:500]) from None


def _is_nested(row: Any) -> bool:
    return any(hasattr(value, "asDict") or isinstance(value, list | dict) for value in row)
