"""`moldau translate --probe`: any offset of a mirrored partition on the other cluster, with proof.

The SQL that decides about groups is asked: a probe is put to it as the commit of a group that
has no checkpoint.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from moldau.engines.duckdb.translation import to_duckdb
from moldau.errors import MoldauError
from moldau.literals import rows_sql
from moldau.reading.explain.phrases import reason_text
from moldau.reading.tables.query import Tables
from moldau.reading.tables.views import View
from moldau.settings import Settings
from moldau.warehouse.contracts import run_views

COLUMNS = (
    "flow", "topic_name", "partition_index", "upstream_offset", "target_topic_name",
    "translated_offset", "lower_bound", "upper_bound", "reread_max", "is_anchored",
    "sync_log_offset", "sync_upstream_offset", "sync_downstream_offset", "sync_recorded_at_ms",
    "reason_code", "reason_text", "ruleset",
)  # fmt: skip
REASONED = "intermediate.int_mirrors__offset_translations_reasoned"
_SYNCS = "state.offset_syncs"
_LAST_OFFSET = 2**63 - 1
_COMMIT = {
    "cluster_id": "string",
    "group_id": "string",
    "topic_name": "string",
    "partition_index": "int",
    "is_deleted": "boolean",
    "committed_offset": "bigint",
    "metadata": "string",
    "commit_at_ms": "bigint",
    "topic_id": "string",
    "changed_in_run_id": "string",
}


@dataclass(frozen=True)
class Probe:
    topic_name: str
    partition_index: int
    offset: int


def parse_probe(text: str) -> Probe:
    """TOPIC-PARTITION:OFFSET; MoldauError says what is wrong with any other text."""
    place, _, offset = text.rpartition(":")
    topic, _, partition = place.rpartition("-")
    numbers = (partition, offset)
    if not topic or not all(number.isascii() and number.isdigit() for number in numbers):
        raise MoldauError(f"{text[:200]!r} is not TOPIC-PARTITION:OFFSET: `--probe orders-0:1500`")
    if int(offset) > _LAST_OFFSET or int(partition) >= 2**31:
        raise MoldauError(f"{text[:200]!r} is past the largest offset or partition of Kafka's")
    return Probe(topic, int(partition), int(offset))


def translate_probes(
    settings: Settings, texts: Sequence[str], clusters: Sequence[str], at_ms: int | None
) -> list[dict[str, Any]]:
    """COLUMNS of each probe in each flow that mirrors its topic, under moldau.yml as it is now.

    `clusters`: only flows that begin or end there; () = all. MoldauError if a probe is none, or no
    flow mirrors its topic.
    """
    probes = list(dict.fromkeys(map(parse_probe, texts)))
    at_ms = time.time_ns() // 1_000_000 if at_ms is None else at_ms
    flows = _flows(settings, clusters, at_ms)
    brought = _brought(flows, probes, at_ms)
    tables = Tables(settings.warehouse, [REASONED, _SYNCS], at_ms, brought)
    if tables.is_missing_any:
        raise MoldauError(
            f"{settings.warehouse} has no tables of mirrors yet: "
            f"`moldau init --warehouse {settings.warehouse}` makes them"
        )
    rows = tables.ask(_SQL)
    for row in rows:
        row["reason_text"] = reason_text("offset_translations", row["reason_code"]) or None
    for probe in probes:
        if not any(row["topic_name"] == probe.topic_name for row in rows):
            raise MoldauError(_mirrored_by_none(probe, [flow["flow"] for flow in flows]))
    return [{column: row[column] for column in COLUMNS} for row in rows]


_SQL = f"""
    select
        reasoned.*,
        sync.upstream_offset as sync_upstream_offset,
        sync.downstream_offset as sync_downstream_offset,
        sync.recorded_at_ms as sync_recorded_at_ms
    from (
        select * replace (
            if(decision = 'skip' or reason_code = 'BEFORE_FIRST_SYNC_CLAMPED', reason_code, null)
            as reason_code
        )
        from {REASONED}
    ) as reasoned
    left join {_SYNCS} as sync
        using (flow, topic_name, partition_index, syncs_incarnation, sync_log_offset)
    order by topic_name, partition_index, upstream_offset, flow
"""


def _flows(settings: Settings, clusters: Sequence[str], at_ms: int) -> list[dict[str, Any]]:
    named = settings.sections["flows"].items()
    chosen = [
        {"flow": name, **flow.row(), "valid_from_ms": at_ms, "valid_to_ms": None, "run_id": "~"}
        for name, flow in named
        if not clusters or {flow.source, flow.target} & set(clusters)
    ]
    if not chosen:
        where = f" of cluster {', '.join(map(repr, clusters))}" if clusters else ""
        raise MoldauError(f"no flow{where} is configured: `flows:` in moldau.yml lists them")
    return chosen


def _brought(flows: list[dict[str, Any]], probes: list[Probe], at_ms: int) -> list[View]:
    """What the deciding SQL reads instead of what the warehouse has."""
    commits = [
        {
            "cluster_id": cluster,
            "group_id": f"{probe.topic_name}-{probe.partition_index}:{probe.offset}",
            "topic_name": probe.topic_name,
            "partition_index": probe.partition_index,
            "is_deleted": False,
            "committed_offset": probe.offset,
            "metadata": None,
            "commit_at_ms": at_ms,
            "topic_id": None,
            "changed_in_run_id": "~",
        }
        for cluster in sorted({flow["source_cluster_id"] for flow in flows})
        for probe in probes
    ]
    found = "intermediate.int_mirrors__commits_found"
    return [
        View("run.flows", to_duckdb(rows_sql(run_views()["flows"], flows))),
        View("staging.stg_state__group_offsets", to_duckdb(rows_sql(_COMMIT, commits))),
        View(
            "intermediate.int_mirrors__commits_due",
            f"select * replace (false as is_group_filtered), false as is_gone from {found} "
            "where not is_topic_filtered",
            (found,),
        ),
        View(
            "staging.stg_state__checkpoints",
            "select * from state.checkpoints where false",
            ("state.checkpoints",),
        ),
    ]


def _mirrored_by_none(probe: Probe, flows: list[str]) -> str:
    return (
        f"no flow mirrors topic {probe.topic_name[:200]!r}: the `topics` and `topics.exclude` of "
        f"{', '.join(flows)} leave it out"
    )
