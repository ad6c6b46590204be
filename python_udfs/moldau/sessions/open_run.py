"""Open a run: its id, the settings it is about, and what it brings, as views of literals."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from moldau.declared import domains
from moldau.engines.sizes import bytes_read
from moldau.literals import literal, rows_sql
from moldau.sessions.lists import remove_lists
from moldau.sessions.run import Run, is_run_id, run_id_after
from moldau.warehouse.ask import ask_rows
from moldau.warehouse.contracts import run_views
from moldau.warehouse.left import last_run_id
from moldau.warehouse.lock import is_held
from moldau.warehouse.parameters import parameters_sql

if TYPE_CHECKING:
    from moldau.declared.domain import Recorded
    from moldau.sessions.session import Session
    from moldau.settings import Settings


def next_run_id(session: Session, kind: str) -> str:
    [(last,)] = ask_rows(session.warehouse, "state.runs", "select max(run_id) from t")
    given = filter(is_run_id, [last or "", last_run_id(session.warehouse)])
    return run_id_after(max(given, default=None), kind)


def open_run(session: Session, run: Run, bytes_brought: int = 0) -> None:
    """Choose the engine, and tell it what this run is about; what it does not bring is empty."""
    is_locked = is_held(session.warehouse)
    remove_lists(session.warehouse, run.run_id, is_locked)
    named = ("run_id", "kind", "load_kind", "is_dry_run", "at_ms", "started_at_ms", "topic_name")
    told = {name: getattr(run, name) for name in (*named, "cluster_ids")}
    told |= {"is_open": True, "is_locked": is_locked}
    brought = {
        "parameters": parameters_sql({name: literal(value) for name, value in told.items()}),
        "settings": rows_sql(run_views()["settings"], settings_rows(session.settings, run)),
    }
    about = recorded_of(run)
    for recorded in about:
        if rows := recorded.rows(session.settings, run):
            brought[recorded.view] = rows_sql(run_views()[recorded.view], rows)
    needs_spark = not is_locked or (bool(about) and session.settings.sparks_entry is not None)
    size = bytes_read(session.warehouse) + bytes_brought
    run.engine = session.engines.begin(brought, size, session.settings.engine, needs_spark)


def settings_models(session: Session, run: Run) -> list[str]:
    """The models that record the settings, where those in force are others."""
    sql = "select cluster_id, settings_hash from t where valid_to_ms is null"
    in_force = dict(ask_rows(session.warehouse, "state.settings", sql))
    wanted = {name: session.settings.cluster(name).digest() for name in run.cluster_ids}
    changed = any(in_force.get(name) != digest for name, digest in wanted.items())
    models = ["record_settings"] if changed else []
    for recorded in recorded_of(run):
        name = next(iter(run_views()[recorded.view]))
        sql = f"select {name}, settings_hash from t where valid_to_ms is null"
        in_force = dict(ask_rows(session.warehouse, f"state.{recorded.view}", sql))
        rows = recorded.rows(session.settings, run)
        if in_force != {row[name]: row["settings_hash"] for row in rows}:
            models += recorded.models
    return models


def recorded_of(run: Run) -> list[Recorded]:
    """What settings beside those of clusters the run is about."""
    return [
        recorded
        for domain in domains()
        for recorded in domain.recorded
        if _is_loaded(recorded, run)
        or run.kind in ("compare", "replay", *(kind.name for kind in domain.kinds))
    ]


def _is_loaded(recorded: Recorded, run: Run) -> bool:
    kinds = recorded.of_loads
    return run.load_kind is not None and (kinds is None or run.load_kind in kinds)


def settings_rows(settings: Settings, run: Run) -> list[dict[str, Any]]:
    """Rows of run.settings: of each cluster that the run is about."""
    rows = []
    for name in run.cluster_ids:
        cluster = settings.cluster(name)
        rulesets = run.rulesets.setdefault(name, cluster.ruleset.model_dump())
        run.authorities.setdefault(name, cluster.authority)
        rows.append(
            {
                "cluster_id": name,
                "authority": cluster.authority,
                "rulesets": rulesets,
                "has_plugin": cluster.has_plugin,
                "plugin_name": cluster.plugin_name,
                "offsets_retention_ms": cluster.offsets_retention_ms,
                "check_interval_ms": cluster.offsets_retention_check_interval_ms,
                "settings_hash": cluster.digest(),
                "settings": json.dumps(cluster.effective(), sort_keys=True),
                "valid_from_ms": run.started_at_ms,
                "valid_to_ms": None,
                "run_id": run.run_id,
            }
        )
    return rows
