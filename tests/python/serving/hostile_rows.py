"""A warehouse whose every name would like to be something else."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rows_support import writer

from moldau.plugins.delta import DeltaPlugin
from moldau.warehouse.contracts import tables

HERE = "http://127.0.0.1:8181"
AT_MS = 1_795_250_000_000
HOUR_MS = 3_600_000
SCRIPT = "<script>alert('moldau')</script>"
LONG = "x" * 32_700 + "<img src=x onerror=alert(1)>"
NAMES = (
    SCRIPT,
    "\"quoted\" and 'quoted' `too`",
    "emoji 🦊 and \u202eturned round",
    "a/b?c=d&e=%2e#f;g\\h",
    "'; drop table state.groups; --",
    "{{ 7 * 7 }}{% raw %}",
    "\x1b[31mred\x00nul\r\nline",
    "</title></svg><svg onload=alert(2)>",
    LONG,
)
CLUSTER = "east<b>"
TOPOLOGY = {
    "subtopologies": [
        {
            "subtopologyId": SCRIPT,
            "nodes": [
                {"name": "in", "nodeType": 1, "sourceTopics": [SCRIPT], "successors": ["do"]},
                {"name": "do", "nodeType": 2, "stores": ["store"], "successors": ["out", "do"]},
                {"name": "out", "nodeType": 3, "sinkTopic": "</text>"},
            ],
        }
    ]
}
CONFIG = f"clusters:\n  {CLUSTER!r}: {{authority: moldau, plugin: {{name: delta}}}}\n"


def make(warehouse: Path) -> Path:
    """Gives the settings of it."""
    write = writer(warehouse)
    for name in tables():
        write(name)
    for table, rows in _rows().items():
        write(table, *rows)
    config = warehouse / "moldau.yml"
    config.write_text(CONFIG)
    plugin = DeltaPlugin()
    plugin.open(CLUSTER, warehouse, warehouse)
    plugin.set_topologies([(SCRIPT, 4, TOPOLOGY)])
    return config


def _rows() -> dict[str, list[dict[str, Any]]]:
    found: dict[str, list[dict[str, Any]]] = {
        "state.settings": [
            {"cluster_id": CLUSTER, "authority": "moldau", "has_plugin": True}
            | {"plugin_name": "delta", "settings": "{}", "offsets_retention_ms": 604_800_000}
        ],
        "state.flows": [
            {"flow": SCRIPT, "source_cluster_id": CLUSTER, "target_cluster_id": "west"}
        ],
        "state.runs": [
            _run("00000001-load", "load", "succeeded", {"rows_new": 3}),
            _run("00000002-sweep", "sweep", "failed", {}),
        ],
    }
    for place, name in enumerate(NAMES):
        for table, rows in _rows_of(place, name).items():
            found.setdefault(table, []).extend(rows)
    return found


def _run(run_id: str, kind: str, status: str, counts: dict[str, int]) -> dict[str, Any]:
    times = {"decided_at_ms": AT_MS, "started_at_ms": AT_MS - 20, "finished_at_ms": AT_MS - 10}
    told = {"run_id": run_id, "kind": kind, "status": status, "counts": counts}
    return told | times | {"cluster_ids": [CLUSTER], "engine": "duckdb"}


def _rows_of(place: int, name: str) -> dict[str, list[dict[str, Any]]]:
    group = {"cluster_id": CLUSTER, "group_id": name}
    offset = group | {"topic_name": name, "partition_index": 0}
    decided = {"run_id": "00000002-sweep", "changed_in_run_id": "00000002-sweep"}
    decided |= {"decided_at_ms": AT_MS - 1000, "ruleset": "kafka_4_4"}
    mirrored = {"flow": SCRIPT, "cluster_id": CLUSTER, "group_id": name, "partition_index": 0}
    lag = {"cluster_id": CLUSTER, "topic_id": str(place), "topic_name": name, "broker_id": 1}
    lag |= {"upload_tier_lag": 10 * place, "upload_lag_bytes": 1 << place, "is_measured": True}
    return {
        "state.groups": [
            group
            | {"group_type": "streams", "group_state": "EMPTY", "topology_epoch": 4}
            | {"stored_description_topology_epoch": 4, "is_readable": True}
            | {"empty_since_at_ms": AT_MS - HOUR_MS, "changed_in_run_id": "00000001-load"}
        ],
        "state.group_offsets": [
            offset
            | {"metadata": name, "committed_offset": place, "is_readable": True}
            | {"commit_at_ms": AT_MS - HOUR_MS, "commit_log_offset": place}
        ],
        "state.partition_states": [
            {"cluster_id": CLUSTER, "topic_name": name, "partition_index": 0, "broker_id": 1}
            | {"is_leader": True, "leader_epoch": 1, "log_start_offset": 0, "high_watermark": 50}
            | {"last_stable_offset": 50, "log_end_offset": 50, "taken_at_ms": AT_MS}
        ],
        "decisions.offset_expirations": [
            offset
            | decided
            | {"decision": "expire", "reason_code": "EXPIRED"}
            | {"expires_at_ms": AT_MS + place * HOUR_MS, "observed_log_offset": place}
            | {"expiry_clock": "commit"}
        ],
        "decisions.group_sweeps": [
            group | decided | {"decision": "defer", "reason_code": "DEFERRED_BY_GATE"}
        ],
        "decisions.cleanup_eligibility": [
            group | decided | {"decision": "eligible", "reason_code": "ELIGIBLE"}
        ],
        "history.plugin_calls": [
            group
            | {"call_id": str(place), "run_id": "00000002-sweep", "operation": "delete"}
            | {"topology_epoch": 4, "outcome": "transient_failure", "message": name}
            | {"started_at_ms": AT_MS - 500, "finished_at_ms": AT_MS - 400}
        ],
        "history.decision_changes": [
            {"domain": "groups", "cluster_id": CLUSTER, "subject": f"sweep {name}"}
            | {"run_id": "00000002-sweep", "decision": "defer", "decided_at_ms": AT_MS - 1000}
            | {"reason_code": "DEFERRED_BY_GATE"}
        ],
        "decisions.offset_translations": [
            mirrored
            | decided
            | {"topic_name": name, "target_topic_name": name}
            | {"decision": "skip", "reason_code": "NO_SYNC", "upstream_offset": place}
        ],
        "state.tier_lag": [lag | {"measured_at_ms": AT_MS}],
        "history.tier_lag": [
            lag | {"measured_at_ms": AT_MS - HOUR_MS * back, "run_id": f"0000000{back}-tiers"}
            for back in range(3)
        ],
        "decisions.metadata_rounds": [
            {"cluster_id": CLUSTER, "producer_id": name, "decision": "fetch"}
            | decided
            | {"reason_code": "FETCH", "cached_topics": place}
        ],
    }
