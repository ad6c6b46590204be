"""What a domain would decide under other settings on the same state, without a trace.

The SQL that decides is asked twice, as it is asked by a mart: no run is opened and nothing is
written, so no table, no history and no later answer knows of it. The engine is chosen as for runs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import ValidationError

from moldau.declared.domain import Domain, Told, WhatIf
from moldau.engines.chosen import is_for_spark
from moldau.engines.duckdb.translation import to_duckdb
from moldau.engines.sizes import bytes_read
from moldau.errors import MoldauError
from moldau.literals import rows_sql
from moldau.reading.tables.names_of import existing_tables
from moldau.reading.tables.query import Tables
from moldau.reading.tables.views import View, tables_under
from moldau.runs.scope import known_clusters, rulesets_of, scope_among
from moldau.sessions.open_run import settings_rows
from moldau.sessions.run import Run
from moldau.settings import Settings
from moldau.settings.cluster import ClusterSettings
from moldau.settings.fields import Section
from moldau.settings.problems import describe
from moldau.settings.rule_sets import require_rule_set
from moldau.warehouse.contracts import run_views, tables

_RUN_ID = "~"  # of those who only read


def decide_otherwise(
    settings: Settings,
    domain: Domain,
    changes: Mapping[str, str],
    ruleset: str | None,
    clusters: Sequence[str],
    at_ms: int,
    by: str,
) -> tuple[list[str], list[list[Any]]]:
    """Columns and rows of what is decided otherwise: keys, and each value now and `_then`.

    `changes`: settings of moldau.yml, for every cluster or entry in scope; `clusters`: () = all.
    Of what one side does not have at all its values are null. MoldauError for a setting that is not
    allowed or that no what-if can change, and if a section has no entry in scope.
    """
    asked = domain.what_if
    assert asked
    if ruleset is not None:
        require_rule_set(domain.name, ruleset)
    scope = scope_among(known_clusters(settings), clusters)
    other = with_settings(settings, domain, changes)
    if settings.engine == "duckdb" and (entry := other.sparks_entry):
        raise MoldauError(
            f"--set gives {entry} a pattern that only Spark reads as Java does, so --engine cannot "
            "be duckdb"
        )
    sides = []
    for its, rules in ((settings, None), (other, ruleset)):
        run = Run(_RUN_ID, "what_if", scope, at_ms, is_dry_run=True, started_at_ms=at_ms)
        changed = {} if rules is None else {domain.name: rules}
        run.rulesets = {name: rulesets_of(its, name) | changed for name in scope}
        sides.append(_brought(domain, its, run))
    _refuse_folded(asked, *(recorded for _, recorded in sides))
    told = asked.told[by]
    _require_tables(settings, asked)
    columns = [*told.keys, *(f"{name}{side}" for name in told.values for side in ("", "_then"))]
    (now, _), (then, _) = sides
    needs_spark = bool(domain.sections) and bool(settings.sparks_entry or other.sparks_entry)
    if is_for_spark(settings.engine, bytes_read(settings.warehouse), needs_spark):
        return columns, _told_by_spark(settings, asked, told, now, then, at_ms)
    found = (_rows(settings, asked, told, views, at_ms) for views in (now, then))
    return columns, _compared(told, *found)


def with_settings(settings: Settings, domain: Domain, changes: Mapping[str, str]) -> Settings:
    """The settings with these in every cluster, or in every entry of the domain's section."""
    section = domain.what_if.section if domain.what_if else None
    if section is None:
        changed = {
            name: _with(settings.cluster(name), changes) for name in known_clusters(settings)
        }
        return settings.model_copy(update={"clusters": settings.clusters | changed})
    entries = settings.sections.get(section, {})
    if domain.sections[section]().inherits_default:  # `default` is there though nobody wrote it
        entries = {"default": settings.entry(section, "default"), **entries}
    changed = {name: _with(entry, changes) for name, entry in entries.items()}
    return settings.model_copy(update={"sections": settings.sections | {section: changed}})


def _with(entry: Section, changes: Mapping[str, str]) -> Section:
    """What was not checked together before is checked now: both what is said and what is asked."""
    kind = type(entry)
    said = entry.model_dump(by_alias=True, exclude_unset=True)
    if kind is ClusterSettings:  # its plugin and topics were read in another form
        said = {}
    try:
        asked = kind.model_validate({**said, **changes})
    except ValidationError as error:
        raise MoldauError(f"--set {describe(error, kind)}") from None
    return entry.model_copy(update={name: getattr(asked, name) for name in asked.model_fields_set})


def _brought(
    domain: Domain, settings: Settings, run: Run
) -> tuple[list[View], list[dict[str, Any]]]:
    """What the deciding SQL reads in the place of what is in force, and the entries among it.

    Nothing counts as decided before, so that everything is.
    """
    rows = {"settings": settings_rows(settings, run)}
    entries: list[dict[str, Any]] = []
    for recorded in domain.recorded:
        key = next(iter(run_views()[recorded.view]))
        found = [
            row
            for row in recorded.rows(settings, run)
            if _is_in_scope(settings, domain, row[key], run.cluster_ids)
        ]
        if not found:
            section = next(iter(domain.sections))
            raise MoldauError(f"moldau.yml has no entry of `{section}:` that is in scope")
        rows[recorded.view] = found
        entries += found
    views = []
    for name, told in rows.items():
        sql = rows_sql(run_views()[name], told)
        views.append(View(f"run.{name}", to_duckdb(sql), is_list=False, spark_sql=sql))
    for name, table in tables().items():
        if table.database == "decisions":
            view, sql = f"staging.stg_decisions__{table.name}", f"select * from {name} where false"
            views.append(View(view, sql, (name,), is_list=False, spark_sql=sql))
    return views, entries


def _is_in_scope(settings: Settings, domain: Domain, name: str, cluster_ids: Sequence[str]) -> bool:
    """An entry that names clusters is if one of them is."""
    named = {
        cluster
        for section in domain.sections
        for cluster in settings.entry(section, name).named_clusters()
    }
    return not named or bool(named & set(cluster_ids))


def _refuse_folded(
    asked: WhatIf, now: Sequence[Mapping[str, Any]], then: Sequence[Mapping[str, Any]]
) -> None:
    for was, would_be in zip(now, then, strict=True):
        for name in asked.folded:
            if was[name] != would_be[name]:
                raise MoldauError(
                    f"--set would make {name} {would_be[name]!r}, which says what is folded as it "
                    "is loaded: only another moldau.yml can"
                )


def _require_tables(settings: Settings, asked: WhatIf) -> None:
    if not tables_under(asked.reads) <= set(existing_tables(settings.warehouse)):
        raise MoldauError(
            f"{settings.warehouse} lacks tables that decisions are made from: "
            f"`moldau init --warehouse {settings.warehouse}` makes them"
        )


def _told_by_spark(
    settings: Settings,
    asked: WhatIf,
    told: Told,
    now: Sequence[View],
    then: Sequence[View],
    at_ms: int,
) -> list[list[Any]]:
    from moldau.reading.tables.differing import differing

    found = differing(
        settings.warehouse, told.sql, asked.reads, (now, then), told.keys, told.values, at_ms,
        settings.spark,
    )  # fmt: skip
    return [list(row) for row in found]


def _rows(
    settings: Settings, asked: WhatIf, told: Told, views: Sequence[View], at_ms: int
) -> dict[tuple[Any, ...], tuple[Any, ...]]:
    found = Tables(settings.warehouse, asked.reads, at_ms, views, makes_lists=True)
    names = ", ".join((*told.keys, *told.values))
    return {
        tuple(row[key] for key in told.keys): tuple(row[value] for value in told.values)
        for row in found.ask(f"select {names} from ({to_duckdb(told.sql)})")
    }


def _compared(
    told: Told,
    now: Mapping[tuple[Any, ...], tuple[Any, ...]],
    then: Mapping[tuple[Any, ...], tuple[Any, ...]],
) -> list[list[Any]]:
    nothing = (None,) * len(told.values)
    rows = []
    for key in sorted(now.keys() | then.keys()):
        was, would_be = now.get(key, nothing), then.get(key, nothing)
        if was != would_be:
            rows.append(
                [*key, *(value for both in zip(was, would_be, strict=True) for value in both)]
            )
    return rows
