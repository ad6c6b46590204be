"""How the demo speaks: a command, a question with the table that answers it, rows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from moldau.cli.output import write_rows


def tell(text: str, rows_new: int | None = None) -> None:
    click.echo(text if rows_new is None else f"{text}\n  {rows_new} rows")


def heading(question: str, source: str) -> None:
    click.echo(f"\n{question}  [{source}]")


def ask(warehouse: Path, sql: str) -> list[tuple[Any, ...]]:
    from moldau.reading.query import query

    return [tuple(row) for row in query(warehouse, sql).rows]


def show(warehouse: Path, sql: str) -> None:
    from moldau.reading.query import query

    answer = query(warehouse, sql)
    write_rows(answer.columns, answer.rows, "table")
