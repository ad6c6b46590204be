"""What Spark and DuckDB say in every mart of a warehouse."""

from __future__ import annotations

import json
from typing import Any

from moldau.project import ROOT
from moldau.reading.query import table_rows
from moldau.reading.spark import ask_spark
from moldau.reading.values import plain
from moldau.sessions.session import Session
from moldau.warehouse.contracts import marts


def compared(domain: str) -> list[str]:
    """The marts of a domain, or of all, that both engines run."""
    folders = [ROOT / "models" / "marts" / folder for folder in (domain, "run")]
    names = {file.stem for folder in folders for file in folder.glob("*.sql")}
    both = {name: mart for name, mart in marts().items() if mart.engine != "spark"}
    return [name for name, mart in both.items() if mart.name in names]


def differences(session: Session, domain: str, at_ms: int) -> dict[str, list[str]]:
    """Mart -> the first rows that only one engine has, as printed."""
    found = {}
    for name in compared(domain):
        spark_columns, spark_rows = ask_spark(session.warehouse, f"from {name}", at_ms)
        duckdb = table_rows(session.warehouse, name, at_ms=at_ms)
        assert list(duckdb.columns) == spark_columns, name
        ours = {"spark": printed(spark_rows), "duckdb": printed(duckdb.rows)}
        if ours["spark"] != ours["duckdb"]:
            found[name] = [
                f"{engine} alone: {row}"
                for engine, other in (("spark", "duckdb"), ("duckdb", "spark"))
                for row in [row for row in ours[engine] if row not in set(ours[other])][:3]
            ]
    return found


def printed(rows: Any) -> list[str]:
    """As JSON; entries of maps have no order."""
    return sorted(json.dumps(plain(list(row)), sort_keys=True) for row in rows)
