"""One run: its id, its views of literals, its row."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from moldau.domains import domains
from moldau.engines.sizes import bytes_read
from moldau.instants import now_ms
from moldau.literals import literal, rows_sql
from moldau.sessions.brought import Brought
from moldau.sessions.lists import remove_lists
from moldau.settings.fields import Name
from moldau.warehouse.ask import ask_rows
from moldau.warehouse.contracts import run_views
from moldau.warehouse.left import last_run_id
from moldau.warehouse.lock import is_held
from moldau.warehouse.notes import EXACTLY
from moldau.warehouse.parameters import parameters_sql

if TYPE_CHECKING:
    from moldau.domains.domain import Recorded
    from moldau.sessions.session import Session
    from moldau.settings import Settings

SKIPPED = "skipped_in_flight"  # status of a tick of `moldau watch` that was dropped
FAILED = "failed"  # status of a load or run that was set aside
# counts of calls that failed
FAILURES = tuple(
    f"{operation}_{outcome}"
    for operation in ("deletes", "sets")
    for outcome in ("permanent_failure", "transient_failure", "timeout")
)


@dataclass
class Run:
    """`run_id` sorts in the order of runs; `at_ms` is the decision clock."""

    __pydantic_config__ = EXACTLY

    run_id: str
    kind: str
    cluster_ids: list[Name]
    at_ms: int
    is_dry_run: bool = False
    load_kind: str | None = None
    is_decided: bool = False
    topic_name: str | None = None  # the one topic that is decided about; None = all
    has_changes: bool = True  # decisions were written whose changes may not be recorded yet
    started_at_ms: int = field(default_factory=now_ms)
    counts: dict[str, int] = field(default_factory=dict)
    # cluster -> domain -> rule set: a run that was killed ends under those it decided under, and
    # `moldau compare` puts others in place of the cluster's own
    rulesets: dict[str, dict[str, str]] = field(default_factory=dict)
    # cluster -> authority: what was applied is recorded, though it may be withdrawn by now
    authorities: dict[str, str] = field(default_factory=dict)
    brought: Brought | None = None  # of a load
    engine: str | None = None  # that made its models; None = there was nothing to make


def failed_calls(run: Run) -> int:
    """Plugin calls of the run that failed or did not answer."""
    return sum(run.counts.get(name, 0) for name in FAILURES)


def is_run_id(name: str) -> bool:
    return re.fullmatch(r"\d{8}-[a-z_]+", name) is not None


def next_run_id(session: Session, kind: str) -> str:
    [(last,)] = ask_rows(session.warehouse, "state.runs", "select max(run_id) from t")
    given = filter(is_run_id, [last or "", last_run_id(session.warehouse)])
    return run_id_after(max(given, default=None), kind)


def run_id_after(last: str | None, kind: str) -> str:
    """Eight digits, one more than the last run's, and the kind."""
    return f"{int(last[:8]) + 1 if last else 1:08d}-{kind}"


def row_of(run: Run, status: str = "succeeded") -> dict[str, Any]:
    """The run's row in state.runs, as of now."""
    decides = not run.load_kind and run.kind != "init" and status not in (SKIPPED, FAILED)
    return {
        "run_id": run.run_id,
        "kind": run.kind,
        "cluster_ids": run.cluster_ids,
        "status": status,
        "is_dry_run": run.is_dry_run,
        "decided_at_ms": run.at_ms if decides else None,
        "started_at_ms": run.started_at_ms,
        "finished_at_ms": now_ms(),
        "counts": run.counts,
        "engine": run.engine,
    }


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
