"""At every instant of the capture moldau's gauges are those that JMX showed, faults included.

An instant is a cluster: the log up to it, its snapshot, the configs in force. All are decided about
in one run, so the times of each are moved by the distance from its instant to that of the run.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from typing import Any

import pyarrow as pa
import pyarrow.compute
import pytest
from decoded_support import remote_log_records
from gauge_support import METRICS, World, decide_worlds, gauges
from spark_support import CAPTURES, mart, rows

from moldau.sessions.session import Session

CAPTURE = CAPTURES / "tiered"
INSTANTS: list[dict[str, Any]] = json.loads((CAPTURE / "expected.json").read_text())["instants"]
TAGS = [instant["tag"] for instant in INSTANTS]
AT_MS = 1_800_000_000_000
# what the notes of the instants and DIFFERENCES B 5 say
LOWERED = {
    ("tier-a", "retention.bytes"): ("t5-two-deleted", "1100000"),
    ("tier-b", "retention.ms"): ("t8-time-retention", "1000"),
}


def cluster_of(tag: str) -> str:
    return f"tiered-{tag.split('-')[0]}"


def read_records() -> tuple[pa.Table, dict[str, str]]:
    """The decoded log, and topic names with their ids."""
    lines = [json.loads(line) for line in (CAPTURE / "__remote_log_metadata.jsonl").open()]
    values = [base64.b64decode(line["value_base64"]) for line in lines]
    decoded = remote_log_records(pa.nulls(len(lines), pa.binary()), pa.array(values, pa.binary()))
    columns = {
        "log_topic_name": pa.array([line["topic"] for line in lines]),
        "log_partition_index": pa.array([line["partition"] for line in lines], pa.int32()),
        "log_offset": pa.array([line["offset"] for line in lines], pa.int64()),
        "recorded_at_ms": pa.array([line["timestamp_ms"] for line in lines], pa.int64()),
    } | dict(zip(decoded.schema.names, decoded.columns, strict=True))
    table = pa.table(columns)
    names = zip(table["topic_name"].to_pylist(), table["topic_id"].to_pylist(), strict=True)
    return table, dict(names)


def moved(events: pa.Table, by_ms: int) -> pa.Table:
    for name in ("event_at_ms", "max_timestamp_ms", "recorded_at_ms"):
        at = events.schema.get_field_index(name)
        events = events.set_column(at, name, pa.compute.add(events[name], by_ms))
    return events


def local_segment(segment: Mapping[str, Any], by_ms: int) -> dict[str, Any]:
    largest = segment["max_timestamp_ms"]
    return {
        "base_offset": segment["base_offset"],
        "size_bytes": segment["size_bytes"],
        "max_timestamp_ms": largest + by_ms if largest >= 0 else -1,
        "is_active": segment["active"],
        "record_count": segment["records"] + segment["control_records"],
    }


def world_at(instant: dict[str, Any], records: pa.Table, topic_ids: dict[str, str]) -> World:
    by_ms = AT_MS - instant["at_ms"]
    happened = pa.compute.less_equal(records["event_at_ms"], instant["at_ms"])
    world = World(moved(records.filter(happened), by_ms))
    for name in sorted({named.rpartition("-")[0] for named in instant["list_offsets"]}):
        configs = {
            config: value
            for (topic, config), (since, value) in LOWERED.items()
            if topic == name and TAGS.index(since) <= TAGS.index(instant["tag"])
        }
        world.add_topic(name, topic_ids[name], configs)
    for named, told in instant["list_offsets"].items():
        name, _, partition = named.rpartition("-")
        segments = [local_segment(it, by_ms) for it in instant["local_segments"][named]]
        offsets = {
            "log_start_offset": told["log_start"],
            "local_log_start_offset": told["local_log_start"],
            "last_stable_offset": told["last_stable_offset"],
            "high_watermark": told["high_watermark"],
            "log_end_offset": told["high_watermark"],
            "taken_at_ms": AT_MS,
        }
        topic = (name, topic_ids[name], int(partition))
        world.add_partition(topic, [(0, told["log_start"])], segments, offsets)
    return world


@pytest.fixture(scope="module")
def decided(session: Session) -> Session:
    records, topic_ids = read_records()
    worlds = {cluster_of(it["tag"]): world_at(it, records, topic_ids) for it in INSTANTS}
    return decide_worlds(session, worlds, AT_MS)


@pytest.fixture(scope="module")
def shown(decided: Session) -> dict[str, dict[str, dict[str, int]]]:
    return gauges(decided, [cluster_of(tag) for tag in TAGS])


@pytest.mark.parametrize("instant", INSTANTS, ids=TAGS)
def test_gauges_are_what_jmx_showed(
    shown: dict[str, dict[str, dict[str, int]]], instant: dict[str, Any]
) -> None:
    expected = {
        topic: {metric: values[metric] for metric in METRICS}
        for topic, values in instant["jmx"].items()
        if not topic.startswith("__")  # of Kafka's own topics, which are not tiered: always zero
    }
    assert shown[cluster_of(instant["tag"])] == expected


# instant, partition and metric -> what really waits, and why Kafka shows something else
CAUSES = {
    ("t0-nothing-copied", "tier-a-0", "RemoteCopyLagSegments"): (6, ["is_stale_until_run_ends"]),
    ("t0-nothing-copied", "tier-b-0", "RemoteCopyLagBytes"): (
        0,
        ["counts_above_last_stable_offset"],
    ),
    ("t2-copies-failing", "tier-a-0", "RemoteCopyLagBytes"): (5_015_100, []),
    ("t5-two-deleted", "tier-a-0", "RemoteDeleteLagBytes"): (5_015_100, ["waits_for_next_run"]),
    ("t6-deletes-failing", "tier-a-0", "RemoteDeleteLagBytes"): (
        5_015_100,
        ["omits_bytes_of_retries"],
    ),
    ("t6-deletes-failing", "tier-a-0", "RemoteDeleteLagSegments"): (5, []),
    ("t7-deleted", "tier-a-0", "RemoteDeleteLagBytes"): (
        0,
        ["keeps_negative_after_retry", "keeps_last_value_without_segments"],
    ),
    ("t9-more-data", "tier-a-1", "RemoteCopyLagBytes"): (
        2_006_040,
        ["is_stale_until_run_ends"],
    ),
}


@pytest.fixture(scope="module")
def compared(decided: Session) -> list[dict[str, Any]]:
    return mart(decided, "kafka_gauge_comparison")


@pytest.mark.parametrize(
    ("named", "expected"), CAUSES.items(), ids=["-".join(named) for named in CAUSES]
)
def test_a_difference_has_its_causes(
    compared: list[dict[str, Any]],
    named: tuple[str, str, str],
    expected: tuple[int, list[str]],
) -> None:
    tag, partition, metric = named
    assert [
        (row["moldau_value"], row["causes"])
        for row in compared
        if (row["cluster_id"], row["metric_name"]) == (cluster_of(tag), metric)
        and f"{row['topic_name']}-{row['partition_index']}" == partition
    ] == [expected]


@pytest.mark.parametrize("instant", INSTANTS, ids=TAGS)
def test_the_first_segment_that_is_not_copied_is_what_list_offsets_answered(
    decided: Session, instant: dict[str, Any]
) -> None:
    """The active segment when nothing waits; -1 of an empty log."""
    found = dict(
        rows(
            decided,
            "select concat(topic_name, '-', partition_index), min(base_offset) "
            "from decisions.upload_candidates "
            f"where cluster_id = '{cluster_of(instant['tag'])}' and reason_code in "
            "('ELIGIBLE', 'ABOVE_LAST_STABLE_OFFSET', 'ACTIVE') group by all",
        )
    )
    expected = {
        named: told["earliest_pending_upload"]
        for named, told in instant["list_offsets"].items()
        if told["log_start"] < told["high_watermark"]
    }
    assert {named: found[named] for named in expected} == expected


def test_kafka_deletes_too_much_when_a_delete_fails(decided: Session) -> None:
    """DIFFERENCES B 5: the retry of t6 takes segment 1000-1199 as well."""
    assert rows(
        decided,
        "select over_deleted_bytes from marts.tier_lag "
        f"where cluster_id = '{cluster_of('t5-two-deleted')}' and topic_name = 'tier-a' "
        "and partition_index = 0",
    ) == [(1_003_020,)]
