"""The tables of the warehouse, and the marts, read from the YAML that documents them.

Sources (raw, decoded, state, history) and the models of decisions and marts: name, columns, keys
and constraints stand there once, and both `init` and dbt read them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from moldau.project import ROOT

# views of the current command, and a second name for models that are read back
NOT_TABLES = ("run", "decisions")
Loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


@dataclass(frozen=True)
class Column:
    name: str
    data_type: str
    is_nullable: bool = True
    description: str = ""


@dataclass(frozen=True)
class Table:
    """One table, `<warehouse>/<database>/<name>`, or a mart."""

    database: str
    name: str
    columns: tuple[Column, ...]
    primary_key: tuple[str, ...]
    description: str = ""
    checks: dict[str, str] = field(default_factory=dict, hash=False)
    properties: dict[str, str] = field(default_factory=dict, hash=False)
    latest_of: str | None = None  # table of which it has the latest row, by run_id, of each key
    engine: str | None = None  # `spark` = no other can run this mart

    @property
    def full_name(self) -> str:
        return f"{self.database}.{self.name}"


@cache
def tables() -> dict[str, Table]:
    """Every table by full name, in the order of the data flow."""
    found = {table.full_name: table for path in sorted(_yaml_files()) for table in _read(path)}
    order = ["seeds", "raw", "decoded", "state", "decisions", "history", "plugin"]
    return dict(sorted(found.items(), key=lambda item: (order.index(item[1].database), item[0])))


@cache
def marts() -> dict[str, Table]:
    """Every mart by full name. They are views: nothing lies in a folder."""
    found = [table for path in sorted(ROOT.glob("models/marts/*/*.yml")) for table in _read(path)]
    return {table.full_name: table for table in found}


@cache
def run_views() -> dict[str, dict[str, str]]:
    """The views of `run.*`: name -> type of each column, which may be those of a table."""
    found = {}
    for source, entry, meta in _sources():
        if source == "run":
            table = tables()[meta["like"]] if "like" in meta else _table("run", entry)
            found[entry["name"]] = {column.name: column.data_type for column in table.columns}
    return found


@cache
def untold_parameters() -> dict[str, str]:
    """SQL of what is not told in `run.parameters` where no run is open, by column."""
    [found] = (meta["untold"] for _, _, meta in _sources() if "untold" in meta)
    return dict(found)


@cache
def in_force() -> dict[str, str]:
    """Views of `run.*` that are the rows in force of a table of state: name -> table."""
    return {entry["name"]: meta["like"] for _, entry, meta in _sources() if meta.get("is_in_force")}


def _sources() -> Iterator[tuple[str, dict[str, Any], dict[str, Any]]]:
    """Name of the source, entry and meta of every table that dbt has as a source."""
    for path in sorted(_source_files()):
        for source in _content(path).get("sources", []):
            for entry in source["tables"]:
                yield source["name"], entry, entry.get("config", {}).get("meta", {})


def _source_files() -> list[Path]:
    return list((ROOT / "models").glob("staging/sources/*.yml"))


def _yaml_files() -> list[Path]:
    models = ROOT / "models"
    return [
        *_source_files(),
        *models.glob("intermediate/*/*_decided.yml"),
        ROOT / "seeds" / "_seeds.yml",
    ]


@cache
def _content(path: Path) -> dict[str, Any]:
    return yaml.load(path.read_text(), Loader=Loader) or {}


def _read(path: Path) -> list[Table]:
    content = _content(path)
    tables = [
        _table(source["schema"], entry)
        for source in content.get("sources", [])
        if source["name"] not in NOT_TABLES
        for entry in source["tables"]
    ]
    for model in content.get("models", []):
        database = _database_of(path, model)
        if database:
            tables.append(_table(database, model))
    return tables + [_seed(entry) for entry in content.get("seeds", [])]


def _seed(entry: dict[str, Any]) -> Table:
    types = entry["config"]["column_types"]
    columns = [{**column, "data_type": types[column["name"]]} for column in entry["columns"]]
    return _table("seeds", {**entry, "columns": columns})


def _database_of(path: Path, model: dict[str, Any]) -> str | None:
    layer = path.relative_to(ROOT / "models").parts[0]
    if layer == "marts":
        return "marts"
    return "decisions" if model.get("config", {}).get("schema") == "decisions" else None


def _table(database: str, entry: dict[str, Any]) -> Table:
    config = entry.get("config", {})
    meta = config.get("meta", {})
    return Table(
        database=database,
        name=config.get("alias", entry["name"]),
        description=_description(entry),
        primary_key=tuple(meta.get("primary_key", ())),
        checks=dict(meta.get("checks", {})),
        properties={key: str(value) for key, value in meta.get("properties", {}).items()},
        latest_of=meta.get("latest_of"),
        engine=meta.get("engine"),
        columns=tuple(
            Column(
                name=column["name"],
                data_type=column["data_type"],
                is_nullable=all(c["type"] != "not_null" for c in column.get("constraints", [])),
                description=_description(column),
            )
            for column in entry.get("columns", [])
        ),
    )


def _description(entry: dict[str, Any]) -> str:
    """In one line, with the words of the glossary where it refers to them, as dbt puts them in."""
    told = str(entry.get("description", ""))
    text = re.sub(r"{{ doc\('(\w+)'\) }}", lambda found: _glossary()[str(found[1])], told)
    return " ".join(text.split())


@cache
def _glossary() -> dict[str, str]:
    text = (ROOT / "models" / "glossary.md").read_text()
    return dict(re.findall(r"{% docs (\w+) %}(.*?){% enddocs %}", text, re.DOTALL))
