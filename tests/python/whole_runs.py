"""Whole runs on the samples of every domain, and how they are asked of dbt."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from dbt.cli.main import dbtRunner, dbtRunnerResult
from dbt.contracts.graph.manifest import Manifest
from shell_support import without_settings
from tables_alike import tables_in, written

from moldau.engines.spark.spark_session import BRIEF_OPTIONS
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
KINDS = ("requests", "cycle", "sweep", "tiers", "translate", "metadata")
AT = "2026-11-27T09:13:54Z"  # of all kinds
MOLDAU = "from moldau.cli import main; main()"
DBT = "from dbt.cli.main import cli; cli()"
COMPARED = tables_in("raw", "decoded", "state", "decisions", "history", "plugin")


def places(folder: Path, target: str = "spark") -> list[str]:
    """Options of dbt. What goes wrong is in its results: its log would be for nobody."""
    return [
        "--project-dir", str(ROOT), "--profiles-dir", str(PROFILES), "--target", target,
        "--target-path", str(folder / "target"), "--log-path", str(folder / "logs"),
        "--log-level-file", "none", "--no-write-json",
    ]  # fmt: skip


def words(
    folder: Path, kind: str, target: str = "spark", verb: str = "run", at: str = AT
) -> list[str]:
    return [verb, "--selector", kind, "--vars", f"{{at: '{at}'}}", *places(folder, target)]


@dataclass
class Invoked:
    """`wrong`: what failed; `said`: what moldau said."""

    outcome: dbtRunnerResult
    wrong: list[str]
    said: list[str]


def invoked(words: Sequence[str]) -> Invoked:
    """`dbt WORDS` in this process, which parses the project once: no node's configuration asks for
    a variable."""
    said: list[str] = []

    def hear(event: Any) -> None:
        if event.info.msg.startswith("moldau: "):
            said.append(event.info.msg)

    outcome = dbtRunner(_parsed(), [hear]).invoke(list(words))
    results = getattr(outcome.result, "results", [])
    wrong = [f"{r.node.name}: {r.message}" for r in results if r.status in ("error", "fail")]
    return Invoked(outcome, wrong or ([] if outcome.success else [str(outcome.exception)]), said)


@cache
def _parsed() -> Manifest:
    with tempfile.TemporaryDirectory() as folder:
        parsed = dbtRunner().invoke(["parse", *places(Path(folder))]).result
    assert isinstance(parsed, Manifest)
    return parsed


@dataclass
class Run:
    code: int
    said: str


def run(folder: Path, warehouse: Path, program: str, *typed: str, **variables: str) -> Run:
    """A command in a process of its own, whose settings are `folder`'s."""
    told = {
        "MOLDAU_WAREHOUSE": str(warehouse),
        "MOLDAU_JAVA_OPTIONS": BRIEF_OPTIONS,
        "PYTHONPATH": os.pathsep.join(sys.path),
    }
    ended = subprocess.run(
        [sys.executable, "-c", program, *typed],
        cwd=folder,
        capture_output=True,
        text=True,
        env=without_settings() | told | variables,
    )
    return Run(ended.returncode, ended.stdout + ended.stderr)


def rows_of(warehouse: Path, table: str) -> list[str]:
    return written(warehouse, table, "%", "")
