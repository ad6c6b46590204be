"""Why a partition of tiered storage lags: the stored decisions about its segments, gathered.

Nothing is decided here: only stored values are shown.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from moldau.errors import MoldauError
from moldau.reading.explain.groups import Row
from moldau.reading.explain.phrases import reason_text
from moldau.reading.explain.subjects import one_cluster
from moldau.reading.tables.query import Tables

UPLOADS, DELETES = "decisions.upload_candidates", "decisions.delete_candidates"
FINDINGS = "marts.remote_segment_findings"
_READ = (
    UPLOADS,
    DELETES,
    "marts.tier_lag",
    "state.partition_states",
    "state.leader_epochs",
    "state.topic_configs",
    "state.settings",
    "state.runs",
)
COLUMNS = (
    "cluster_id", "subject", "decision", "reason_code", "reason_text", "start_offset", "end_offset",
    "lag_before", "lag_after", "next_change_at_ms", "decided_at_ms", "ruleset", "run_id",
    "topic_id", "finding",
)  # fmt: skip
# the words of a person, and the subjects of marts.decisions: see macros/subjects.sql
_ASKED = re.compile(
    r"tier (?P<all>.*)|upload (?P<local>.+-\d+) (?P<base>\d+) on (?P<broker>\d+)"
    r"|delete (?P<remote>.+-\d+) (?P<segment>\S+)",
    re.ASCII | re.DOTALL,
)
# config -> column of marts.tier_partitions with what holds, also where nobody tells of the topic
_CONFIGS = {
    "remote.storage.enable": None,
    "remote.log.copy.disable": "is_copy_disabled",
    "retention.ms": "retention_ms",
    "retention.bytes": "retention_bytes",
    "remote.copy.lag.ms": "copy_lag_ms",
    "remote.copy.lag.bytes": "copy_lag_bytes",
}


@dataclass(frozen=True)
class TierExplanation:
    """A partition, its lag, and the decisions about its segments in the order of the walks.

    `left`: findings about what nobody needs any more, of other topics of this name, too, whose
    decisions are `elsewhere`.
    """

    cluster_id: str
    topic_name: str
    partition_index: int
    lag: Row | None
    state: Row | None
    epochs: list[Row]
    configs: dict[str, str]
    uploads: list[Row]
    deletes: list[Row]
    left: list[Row]
    elsewhere: list[Row]
    is_of_one: bool = False  # one of the segments was asked about, and the others are left out


def explain_tier_subject(
    warehouse: Path, text: str, cluster: str | None, at_ms: int | None = None
) -> TierExplanation | None:
    """What `tier TOPIC-PARTITION`, or the subject of a decision about a segment, asks about.

    None: the text is no such thing. MoldauError if nothing is stored about it.
    """
    asked = _ASKED.fullmatch(text)
    if not asked:
        return None
    partition = asked["all"] or asked["local"] or asked["remote"] or ""
    found = explain_tier(warehouse, partition, cluster, at_ms, asked["segment"])
    if asked["all"] is not None:
        return found
    place = (asked["base"], asked["broker"])
    uploads = [r for r in found.uploads if (str(r["base_offset"]), str(r["broker_id"])) == place]
    deletes = [r for r in found.deletes if r["segment_id"] == asked["segment"]]
    if not uploads and not deletes:
        raise MoldauError(
            f"nothing is decided about {text[:200]!r}: `moldau explain tier {partition[:200]}` "
            "shows the segments of the partition"
        )
    left = [r for r in found.left if r["segment_id"] == asked["segment"]]
    return replace(found, uploads=uploads, deletes=deletes, left=left, elsewhere=[], is_of_one=True)


def explain_tier(
    warehouse: Path,
    text: str,
    cluster: str | None,
    at_ms: int | None = None,
    segment_id: str | None = None,
) -> TierExplanation:
    """Everything stored about the partition `text`, TOPIC-PARTITION; MoldauError if none is.

    `at_ms`: the instant whose topic configs count; None = that of the last decision. Of topics of
    one name it is the one that is there, or the one that has this remote segment.
    """
    topic, _, index = text.rpartition("-")
    if not (topic and index.isascii() and index.isdigit()):
        raise MoldauError(f"{text[:200]!r} is not TOPIC-PARTITION: `moldau explain tier orders-0`")
    tables = Tables(warehouse, _READ)
    key, values = "where topic_name = ? and partition_index = ?", [topic, int(index)]
    uploads = tables.rows(UPLOADS, f"{key} order by broker_id, base_offset", values)
    deletes = tables.rows(
        DELETES, f"{key} order by walk_position nulls last, start_offset, segment_id", values
    )
    lag = tables.rows("marts.tier_lag", key, values)
    clusters = sorted({row["cluster_id"] for row in [*uploads, *deletes, *lag]})
    if not clusters:
        raise MoldauError(
            f"nothing is decided about the segments of {text[:200]!r}: load its snapshots and "
            "`__remote_log_metadata`, then `moldau tiers` decides"
        )
    chosen = one_cluster(clusters, text, cluster)

    # without a topic id a state is of groups' lag alone; of several leaders the first one leads
    led = (
        f"{key} and is_leader and topic_id is not null "
        "order by nullif(leader_epoch, -1) desc nulls last, taken_at_ms desc, broker_id"
    )
    states = [
        row
        for row in tables.rows("state.partition_states", led, values)
        if row["cluster_id"] == chosen
    ]
    # of a topic that was created again the one that is there
    asked = [row for row in deletes if row["segment_id"] == segment_id]
    known = [*asked, *states, *lag, *deletes, *uploads]
    topic_id = next(row["topic_id"] for row in known if row["cluster_id"] == chosen)

    def of_topic(rows: list[Row]) -> list[Row]:
        return [r for r in rows if r["cluster_id"] == chosen and r["topic_id"] == topic_id]

    left = _left(warehouse, chosen, values, at_ms)
    names_left = {row["segment_id"] for row in left if row["topic_id"] != topic_id}
    epochs = of_topic(tables.rows("state.leader_epochs", key, values))
    decided = [*of_topic(uploads), *of_topic(deletes)]
    if at_ms is None:
        at_ms = _decided_at_ms(tables, chosen, decided)
    partitions = Tables(warehouse, ["marts.tier_partitions"], at_ms)
    holding = of_topic(partitions.rows("marts.tier_partitions", key, values))
    return TierExplanation(
        cluster_id=chosen,
        topic_name=topic,
        partition_index=int(index),
        lag=next(iter(of_topic(lag)), None),
        state=next(iter(of_topic(states)), None),
        epochs=epochs[0]["epochs"] if epochs else [],
        configs=_configs(
            tables, chosen, topic, topic_id, decided, at_ms, next(iter(holding), None)
        ),
        uploads=of_topic(uploads),
        deletes=of_topic(deletes),
        left=left,
        elsewhere=[
            row
            for row in deletes
            if row["cluster_id"] == chosen and row["segment_id"] in names_left
        ],
    )


def _left(warehouse: Path, cluster: str, partition: list[Any], at_ms: int | None) -> list[Row]:
    """What is left behind in the object store of topics of this name: where there is advice."""
    return Tables(warehouse, [FINDINGS], at_ms).rows(
        FINDINGS,
        "where topic_name = ? and partition_index = ? and cluster_id = ? and advice is not null "
        "order by finding, topic_id, start_offset, segment_id",
        [*partition, cluster],
    )


def _configs(
    tables: Tables,
    cluster: str,
    topic: str,
    topic_id: str,
    decided: list[Row],
    at_ms: int,
    holding: Row | None,
) -> dict[str, str]:
    """What holds for the topic, with where from; without a mart only what is told of it."""
    loaded = tables.rows(
        "state.topic_configs",
        "where cluster_id = ? and topic_id = ? and valid_from_ms <= ? "
        "order by valid_from_ms desc limit 1",
        [cluster, topic_id, at_ms],
    )
    told = {name: f"{value} (loaded)" for row in loaded for name, value in _pairs(row["configs"])}
    digests = {row["settings_hash"] for row in decided}
    for row in tables.rows("state.settings", "where cluster_id = ?", [cluster]):
        if row["settings_hash"] in digests:
            own = json.loads(row["settings"]).get("topics", {}).get(topic, {})
            told |= {name: f"{_text(value)} (moldau.yml)" for name, value in own.items()}
    for name, column in _CONFIGS.items():
        if holding and column and name not in told and holding[column] is not None:
            told[name] = f"{_text(holding[column])} (of the broker)"
    return {name: told[name] for name in _CONFIGS if name in told}


def _decided_at_ms(tables: Tables, cluster: str, decided: list[Row]) -> int:
    """A decision that says the same again keeps its instant, whatever the configs were since."""
    runs = tables.rows(
        "state.runs",
        "where kind = 'tiers' and status = 'succeeded' and list_contains(cluster_ids, ?) "
        "order by run_id desc limit 1",
        [cluster],
    )
    return max((row["decided_at_ms"] for row in [*runs, *decided]), default=0)


def _pairs(configs: Any) -> list[tuple[str, str]]:
    return list(configs.items() if isinstance(configs, dict) else configs)


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def tier_rows(found: TierExplanation) -> Iterator[Row]:
    """COLUMNS of every segment, local ones first."""
    partition = f"{found.topic_name}-{found.partition_index}"
    findings = {row["segment_id"]: row["finding"] for row in found.left}
    deletes = [*found.deletes, *found.elsewhere]
    for table, rows in (("upload_candidates", found.uploads), ("delete_candidates", deletes)):
        for row in rows:
            if table == "upload_candidates":
                subject = f"upload {partition} {row['base_offset']} on {row['broker_id']}"
                span = (row["base_offset"], row["next_base_offset"] - 1)
            else:
                subject = f"delete {partition} {row['segment_id']}"
                span = (row["start_offset"], row["end_offset"])
            text = reason_text(table, row["reason_code"]) or None
            told = (
                found.cluster_id, subject, row["decision"], row["reason_code"], text, *span,
                row["lag_before"], row["lag_after"], row["next_due_at_ms"], row["decided_at_ms"],
                row["ruleset"], row["run_id"], row["topic_id"],
                findings.get(row.get("segment_id")),
            )  # fmt: skip
            yield dict(zip(COLUMNS, told, strict=True))
