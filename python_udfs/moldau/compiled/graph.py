"""The graph of the project: models, what they read, their SQL, and the statements that write.

Compiled once for each version of the project and kept in the user's cache, so that neither a verb
that reads nor a run on small tables waits for dbt.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from moldau.compiled.kept import cached

HELPERS = ("view", "run_list")  # materializations that hold no state
# what `merge_into` asks of a model before it writes, and how it writes. The other options stand in
# the statement, or change no row: `pruned_by`; in a run of moldau's own one is open, always
_WRITING = ("write", "unique_key", "works_on", "works_when", "skips_no_rows", "in_slices_of")


@dataclass(frozen=True)
class Node:
    """A model, seed or source. `relation`: schema.name that its readers name.

    `table`: where the rows of a model go; `writing`: how and when; `written`: the statement, in
    which SOURCE stands for its query (`moldau.compiled.written`). DuckDB's translation of both is
    `moldau.engines.duckdb.translated`.
    """

    key: str
    name: str
    relation: str
    table: str
    materialized: str = ""
    tags: tuple[str, ...] = ()
    meta: dict[str, Any] = field(default_factory=dict, hash=False)
    writing: dict[str, Any] = field(default_factory=dict, hash=False)
    written: str = ""
    parents: tuple[str, ...] = ()
    sql: str = ""

    @property
    def decides(self) -> bool:
        """Whether it writes decisions; what else a run writes beside them is history."""
        return self.table.startswith("decisions.")

    @property
    def calls_plugins(self) -> bool:
        return "call_plugin(" in self.sql

    @property
    def is_helper(self) -> bool:
        return self.materialized in HELPERS

    @property
    def is_table(self) -> bool:
        """Whether it lies in the warehouse: views of `run.*` are the command's own."""
        return not self.is_helper and not self.relation.startswith("run.")


@cache
def graph() -> dict[str, Node]:
    """Every node by dbt's key, parents first."""
    found = cached("graph", lambda: [asdict(node) for node in _compile()])
    nodes = (
        Node(**{**one, "tags": tuple(one["tags"]), "parents": tuple(one["parents"])})
        for one in found
    )
    return {node.key: node for node in nodes}


@cache
def models() -> dict[str, Node]:
    """Every model by its name, parents first."""
    return {node.name: node for node in graph().values() if node.materialized}


def models_tagged(tag: str) -> list[Node]:
    """The models with this tag, parents first."""
    return [model for model in models().values() if tag in model.tags]


def helpers_under(names: Iterable[str]) -> dict[str, Node]:
    """The views and run lists that these models read, directly or through others, parents first."""
    found: set[str] = set()
    waiting = [models()[name] for name in names]
    while waiting:
        parents = [graph()[key] for key in waiting.pop().parents]
        helpers = [node for node in parents if node.is_helper and node.name not in found]
        waiting += helpers
        found |= {node.name for node in helpers}
    return {name: node for name, node in models().items() if name in found}


def tables_under(names: Sequence[str]) -> set[str]:
    """The tables that these models are made from, through any number of views: database.table."""
    return {node.table for node in around(names) if node.is_table and not node.materialized}


def tables_of(names: Sequence[str]) -> set[str]:
    """The tables that must be there to make these models: what they write, what they read."""
    return {node.table for node in around(names) if node.is_table}


def run_views_under(names: Sequence[str]) -> set[str]:
    """What these models read of `run.*`, of what the command itself brings."""
    brought = (node for node in around(names) if not node.materialized)
    return {
        node.relation.removeprefix("run.") for node in brought if node.relation.startswith("run.")
    }


def around(names: Sequence[str]) -> list[Node]:
    """These models, the helpers under them, and what any of them reads directly."""
    chosen = [*(models()[name] for name in names), *helpers_under(names).values()]
    return [node for one in chosen for node in (one, *(graph()[key] for key in one.parents))]


def _compile() -> list[Node]:
    from moldau.compiled.dbt import compiled_project
    from moldau.compiled.written import statement_sql

    with tempfile.TemporaryDirectory() as work:
        compiled = compiled_project(Path(work))
    nodes: dict[str, Node] = {}

    def add(key: str) -> None:
        if key in nodes or key not in compiled:
            return
        one = compiled[key]
        is_model = one.resource_type == "model"
        parents = [name for name in one.depends_on.nodes if name in compiled] if is_model else []
        for parent in parents:
            add(parent)
        config = one.config
        relation = _relation(one)
        writes = is_model and config.materialized == "merge_into"
        table = (is_model and config.meta.get("into")) or relation
        options = config.to_dict(omit_none=True) | config.meta if is_model else {}
        writing = {name: options[name] for name in _WRITING if name in options}
        written = statement_sql(table, options) if writes else ""
        nodes[key] = Node(
            key,
            one.name,
            relation,
            table=table,
            materialized=config.materialized if is_model else "",
            tags=tuple(one.tags),
            meta=dict(config.meta),
            writing=writing,
            written=written,
            parents=tuple(parents),
            sql=one.compiled_code if is_model else "",
        )

    for key in sorted(compiled):
        add(key)
    return list(nodes.values())


def _relation(one: Any) -> str:
    """schema.name of a node of dbt's."""
    return f"{one.schema}.{one.alias if one.resource_type == 'model' else one.name}"
