"""Run dbt in this process, on the session that is open."""

from __future__ import annotations

import contextlib
import os
import re
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from moldau.engine.profile import PROFILES
from moldau.project import ROOT


class DbtError(RuntimeError):
    """A node failed: what dbt said about it."""


HELPERS = ("view", "run_list")  # materializations that hold no state
_manifest: Any = None  # parsed once a process: a parse costs more than the rest of an invocation
_parsing = threading.Lock()


def dbt(*arguments: str, warehouse: Path) -> None:
    """`dbt ARGUMENTS`; raises DbtError with dbt's own words when a node fails."""
    _parse(warehouse)
    _invoke(list(arguments), warehouse)


def parse_early(warehouse: Path) -> None:
    """Parse beside the start of the JVM; whoever needs the result waits for it."""

    def parse() -> None:
        with contextlib.suppress(Exception):  # the first invocation meets it again, and tells
            _parse(warehouse)

    threading.Thread(target=parse, daemon=True).start()


def _parse(warehouse: Path) -> Any:
    global _manifest
    with _parsing:
        if _manifest is None:
            _manifest = _invoke(["parse"], warehouse).result
    return _manifest


def helpers_under(names: Sequence[str], warehouse: Path) -> dict[str, str]:
    """The views and run lists that these models read, directly or through others: name -> which."""
    nodes = _parse(warehouse).nodes
    found: dict[str, str] = {}
    waiting = [node for node in nodes.values() if node.name in names]
    while waiting:
        parents = [nodes[name] for name in waiting.pop().depends_on.nodes if name in nodes]
        helpers = [p for p in parents if p.config.materialized in HELPERS]
        waiting += [helper for helper in helpers if helper.name not in found]
        found |= {helper.name: helper.config.materialized for helper in helpers}
    return found


@dataclass(frozen=True)
class Model:
    """A model as it is configured; `table`: where its rows go, database.table."""

    name: str
    table: str
    meta: dict[str, Any]

    @property
    def decides(self) -> bool:
        """Whether it writes decisions; what else a run writes beside them is history."""
        return self.table.startswith("decisions.")


def models_tagged(tag: str, warehouse: Path) -> list[Model]:
    """The models with this tag, parents first."""
    nodes = _parse(warehouse).nodes
    models = {key: node for key, node in nodes.items() if node.resource_type == "model"}
    found = [key for key, node in models.items() if tag in node.config.get("tags", ())]

    def ancestors(key: str) -> int:
        seen, waiting = {key}, [key]
        while waiting:
            parents = set(models[waiting.pop()].depends_on.nodes) & models.keys() - seen
            seen |= parents
            waiting += parents
        return len(seen)  # a parent has fewer than its children

    ordered = sorted(found, key=lambda key: (ancestors(key), key))
    return [
        Model(node.name, _table_of(node), node.config.meta)
        for node in map(models.__getitem__, ordered)
    ]


def tables_under(names: Sequence[str], warehouse: Path) -> set[str]:
    """The tables that these models are made from, through any number of views: database.table."""
    manifest = _parse(warehouse)
    nodes = [node for node in manifest.nodes.values() if node.name in names]
    nodes += [manifest.nodes[f"model.moldau.{name}"] for name in helpers_under(names, warehouse)]
    keys = {key for node in nodes for key in node.depends_on.nodes}
    tables = [manifest.sources[key] for key in keys if key in manifest.sources]
    tables += [manifest.nodes[key] for key in keys if key.startswith("seed.")]
    return {f"{table.schema}.{table.name}" for table in tables if table.schema != "run"}


def tables_of(names: Sequence[str], warehouse: Path) -> set[str]:
    """The tables that dbt must find to make these models: what they write, what they read."""
    nodes = _parse(warehouse).nodes.values()
    wanted = {*names, *helpers_under(names, warehouse)}
    chosen = [node for node in nodes if node.resource_type == "model" and node.name in wanted]
    near = {key for node in chosen for key in (node.unique_id, *node.depends_on.nodes)}
    written = [n for n in nodes if n.unique_id in near and n.config.materialized == "merge_into"]
    return tables_under(names, warehouse) | {_table_of(node) for node in written}


def _table_of(node: Any) -> str:
    return str(node.config.get("into") or ".".join([node.schema, node.alias]))


def _invoke(arguments: list[str], warehouse: Path) -> Any:
    from dbt.cli.main import dbtRunner

    work = warehouse / "_moldau" / "dbt"
    work.mkdir(parents=True, exist_ok=True)
    os.environ["DBT_TARGET_PATH"] = str(work / "target")
    # stdout is for the command's own answer. To catch what dbt writes there would catch what any
    # other thread writes, too: a parse runs beside the start of Spark.
    options = [
        "--project-dir", str(ROOT), "--profiles-dir", str(PROFILES), "--target", "open",
        "--target-path", str(work / "target"), "--log-path", str(work / "logs"),
        "--log-level", "none", "--no-print", "--no-populate-cache", "--no-write-json",
    ]  # fmt: skip
    errors: list[str] = []

    def hear(event: Any) -> None:
        if event.info.level == "error":
            errors.append(event.info.msg)

    outcome = dbtRunner(manifest=_manifest, callbacks=[hear]).invoke([*arguments, *options])
    if not outcome.success:
        told = outcome.exception or _failures(outcome) or "\n".join(errors)
        raise DbtError(str(told).strip() or f"dbt {arguments[0]} failed")
    return outcome


def _failures(outcome: Any) -> str:
    return "\n".join(
        f"{result.node.name}: {_without_stack(result.message or '')}"
        for result in getattr(outcome.result, "results", [])
        if result.status in ("error", "fail")
    )


def _without_stack(message: str) -> str:
    """Spark's words and causes without the JVM's stacks; the whole is in dbt's log."""
    words = re.split(r"\n\s*(?:JVM stacktrace:|at [\w.$]+\()", message)[0][:4000]
    causes = re.findall(r"^\s*Caused by: (.*)$", message, re.MULTILINE)
    return "\ncaused by ".join([words, *(cause[:1000] for cause in dict.fromkeys(causes))])


@dataclass(frozen=True)
class CompiledView:
    """A view or list as SQL: where dbt makes it, and what it reads, by the names of dbt's nodes."""

    name: str
    schema: str
    sql: str
    reads: tuple[str, ...]
    is_readable: bool


def compiled_views(work: Path, names: Sequence[str]) -> list[CompiledView]:
    """What dbt selects by these, and the views and lists under it, parents first, from no engine.

    `work`: a folder that dbt may write into.
    """
    _parse(work)
    outcome = _invoke(["compile", "--select", *(f"+{name}" for name in names)], work)
    return [
        CompiledView(
            node.name,
            node.schema,
            node.compiled_code,
            tuple(node.depends_on.nodes),
            bool(node.config.meta.get("is_readable")),
        )
        for node in (result.node for result in outcome.result.results)
        if node.resource_type == "model" and node.config.materialized in HELPERS
    ]
