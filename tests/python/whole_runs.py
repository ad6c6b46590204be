"""Whole runs on the samples of every domain, and how they are asked of dbt."""

from __future__ import annotations

from pathlib import Path

from tables_alike import tables_in, written

from moldau.project import PROFILES, ROOT

YML = """
clusters:
  west:
    authority: moldau
    plugin: {name: delta}
    ruleset: {groups: kafka_4_4}
    offsets.retention.minutes: 1
  east: {authority: moldau, plugin: {name: delta}}
  logged: {authority: moldau}
  tiered: {}
flows:
  whole: {source: A, target: B, topics: "orders.*"}
producers:
  default: {ruleset: kafka_2_5, metadata.max.age.ms: 10000, metadata.max.idle.ms: 8000}
"""
MIRRORED = {
    "A": ["__consumer_offsets", "mm2-offset-syncs.B.internal"],
    "B": ["A.checkpoints.internal"],
}
LOADS = [
    "west/open_transactions.jsonl --cluster west --kind open_transactions",
    "west/__consumer_offsets.jsonl --cluster west --kind records",
    "east/__consumer_offsets.jsonl --cluster east --kind records",
    *(f"requests/{kind}.jsonl --cluster east --kind {kind}"
      for kind in ("heartbeats", "topology_pushes", "group_deletions")),
    *(f"tiers/{kind}.jsonl --cluster tiered --kind {kind}"
      for kind in ("topic_configs", "partition_states", "leader_epochs", "local_segments")),
    "tiers/__remote_log_metadata.jsonl --cluster tiered --kind records",
    *(f"mirrored/{cluster}.{topic}.jsonl --cluster {cluster} --kind records"
      for cluster, topics in MIRRORED.items() for topic in topics),
    "producers/producer_events.jsonl --cluster logged --kind producer_events",
]  # fmt: skip
AT = "2026-11-27T09:13:54Z"  # of all kinds: with other variables dbt parses the project anew
DBT = "from dbt.cli.main import cli; cli()"
COMPARED = tables_in("raw", "decoded", "state", "decisions", "history", "plugin")


def words(folder: Path, kind: str, target: str = "spark", verb: str = "run") -> list[str]:
    return [
        verb, "--selector", kind, "--vars", f"{{at: '{AT}'}}", "--project-dir", str(ROOT),
        "--profiles-dir", str(PROFILES), "--target", target,
        "--target-path", str(folder / "target"), "--log-path", str(folder / "logs"),
        "--log-level-file", "none",
    ]  # fmt: skip


def rows_of(warehouse: Path, table: str) -> list[str]:
    return written(warehouse, table, "%", "")
