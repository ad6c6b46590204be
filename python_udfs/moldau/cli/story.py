"""How the demo prints its steps: a command, a question with the table that answers it, rows."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from moldau.cli.output import write_rows
from moldau.cli.say import say, say_lines
from moldau.project import SAMPLES

if TYPE_CHECKING:
    from moldau.sessions.session import Session


def tell(text: str, rows_new: int | None = None) -> None:
    say_lines(text if rows_new is None else f"{text}\n  {rows_new} rows")


def load(session: Session, cluster: str, kind: str, *files: str) -> None:
    """Load samples, as the command that is shown does."""
    from moldau.runs.load import load as load_files

    loaded = load_files(session, [SAMPLES / file for file in files], cluster, kind)
    tell(f"$ moldau load {' '.join(files)} --cluster {cluster} --kind {kind}", loaded.rows_new)


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
