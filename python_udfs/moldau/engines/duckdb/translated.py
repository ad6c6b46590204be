"""The models in DuckDB's SQL, translated once for each version of the project."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from functools import cache

from moldau.compiled.graph import Node, models
from moldau.compiled.kept import cached
from moldau.engines.duckdb.outcome import outcome_sql
from moldau.engines.duckdb.translation import calls_in_duckdb, to_duckdb, with_answers
from moldau.warehouse.contracts import tables


@dataclass(frozen=True)
class Translated:
    """`query`: what the model selects; `outcome`: what its statement comes to, around SOURCE.

    `calls`: of a model that calls plugins, the calls; the answers it reads from ANSWERS.
    """

    query: str
    outcome: str = ""
    calls: str | None = None


@cache
def translated_models() -> dict[str, Translated]:
    """Every model by its name."""
    made = cached(
        "duckdb", lambda: {name: asdict(_translate(node)) for name, node in models().items()}
    )
    return {name: Translated(**one) for name, one in made.items()}


def _translate(node: Node) -> Translated:
    columns = [column.name for column in tables()[node.table].columns] if node.written else []
    return Translated(
        query=to_duckdb(with_answers(node.sql)),
        outcome=outcome_sql(node.written, columns) if node.written else "",
        calls=calls_in_duckdb(node.sql),
    )


if __name__ == "__main__":
    translated_models()
