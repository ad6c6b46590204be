"""What a model writes: the MERGE or INSERT that dbt renders.

The statement stands once, in `macros/materializations/write_sql.sql`. Spark runs it; for DuckDB it
is taken apart, clause by clause (`moldau.engines.duckdb.outcome`).
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

from moldau.project import ROOT

if TYPE_CHECKING:
    from jinja2 import Template

SOURCE = "select * from source_rows"  # stands for the model's query


class _Config(dict[str, Any]):
    """What dbt's macros know as `config`; `meta` beside dbt's own words."""

    def require(self, name: str) -> Any:
        return self[name]

    def meta_get(self, name: str, default: Any = None) -> Any:
        return self.get(name, default)


@cache
def _template() -> Template:
    from jinja2 import Environment

    text = (ROOT / "macros" / "materializations" / "write_sql.sql").read_text()
    return Environment(extensions=["jinja2.ext.do"]).from_string(text)


def rendered(options: Mapping[str, Any]) -> Any:
    """The macros that render what is written, as a model with these options has them."""
    return _template().make_module({"config": _Config(options)})


def statement_sql(into: str, options: Mapping[str, Any]) -> str:
    """What a model with these options writes into a table, in Spark's SQL around SOURCE."""
    write = options.get("write", "merge")
    macros = rendered(options)
    if write == "merge":
        return str(macros.merge_sql(into, SOURCE))
    return str(macros.insert_sql(into, SOURCE, write))
