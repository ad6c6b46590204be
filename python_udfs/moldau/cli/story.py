"""How the demo prints its steps: a command, a question with the table that answers it, rows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from moldau.cli.output import write_rows
from moldau.cli.say import say, say_lines


def tell(text: str, rows_new: int | None = None) -> None:
    say_lines(text if rows_new is None else f"{text}\n  {rows_new} rows")


def heading(question: str, source: str) -> None:
    say()
    say(f"{question}  [{source}]")


def ask(warehouse: Path, sql: str) -> list[tuple[Any, ...]]:
    from moldau.reading.tables.query import query

    return [tuple(row) for row in query(warehouse, sql).rows]


def explain(warehouse: Path, subject: str, cluster: str | None = None) -> None:
    from moldau.reading.explain.subjects import explained

    for line in explained(warehouse, subject, cluster).words:
        say(f"  {line}")


def show(warehouse: Path, sql: str) -> None:
    from moldau.reading.tables.query import query

    answer = query(warehouse, sql)
    write_rows(answer.columns, answer.rows, "table", shape="glance")
