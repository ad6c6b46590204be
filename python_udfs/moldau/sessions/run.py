"""One run: its id, what it is about, its row."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from moldau.instants import now_ms
from moldau.sessions.brought import Brought
from moldau.settings.fields import Name
from moldau.warehouse.notes import EXACTLY

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
