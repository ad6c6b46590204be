"""`run.parameters`: one row that says what a run is about. For plain dbt a macro of that name."""

from __future__ import annotations

from collections.abc import Mapping

from moldau.warehouse.contracts import run_views, untold_parameters


def parameters_sql(told: Mapping[str, str], texts: str = "array<string>") -> str:
    """A query for the row. `told`: column -> SQL of its value; of the others the contract says it.

    `texts`: what the engine calls the type.
    """
    values = untold_parameters() | dict(told)
    columns = (
        f"cast({values[name]} as {texts if kind == 'array<string>' else kind}) as {name}"
        for name, kind in run_views()["parameters"].items()
    )
    return f"select {', '.join(columns)}"


def of_a_reader(at_ms: int | str | None, texts: str = "array<string>") -> str:
    """The row of who only reads. `at_ms`: the clock, as SQL if it is a text; None = whenever
    Spark is asked."""
    clock = "unix_millis(current_timestamp())" if at_ms is None else str(at_ms)
    told = {"run_id": "'~'", "kind": "'read'", "at_ms": clock, "started_at_ms": clock}
    return parameters_sql(told, texts)
