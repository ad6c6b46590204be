"""What moldau foresees from a log that was cut right before the broker acted is what it then did.

Every cut is a cluster of its own, and so is every prefix of a log; all of them are folded in one
run. `run.parameters` holds a row per cut with the instant of the broker's next record, so one query
of the decision models decides each cut at its own instant.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pytest
from cleanup_support import (
    CONVERTED,
    DELETE_REFUSED,
    DELETED_BY_REQUEST,
    METADATA_TYPES,
    rows_of,
    stored_epoch,
)
from spark_support import (
    change,
    decoded_table,
    fold,
    parquet_of,
    read_capture,
    rows,
    with_clusters,
)

from moldau.reading.tables.views import in_force_sql
from moldau.sessions.session import Session

PLUGIN = "group.streams.topology.description.plugin.class"
COMMON = "ruleset: {groups: kafka_4_4}, offsets.retention.minutes: 1"
STREAMS_PARTS = range(19, 24)
CAPTURES = {
    "cleanup-inmemory": f"{{{COMMON}, {PLUGIN}: InMemoryTopologyDescriptionPlugin}}",
    "cleanup-failing": f"{{{COMMON}, {PLUGIN}: FailingPlugin}}",
    "cleanup-noplugin": f"{{{COMMON}}}",
}
# c-txn-off: a transaction with a commit on in-1 is open until it is aborted at this offset
TRANSACTION_GROUP, TRANSACTION_PARTITION, TRANSACTION_END = "c-txn-off", 3, 16


@dataclass(frozen=True)
class Cut:
    """A log up to, and without, the record with which the broker did `action`."""

    capture: str
    action: str  # expire, delete, tombstone
    record: dict[str, Any]

    @property
    def name(self) -> str:
        return f"{self.capture}.{self.record['partition']}-{self.record['offset']}"

    @property
    def group(self) -> str:
        return str(self.record["group"])

    @property
    def has_open_transaction(self) -> bool:
        return self.ends(TRANSACTION_PARTITION) <= TRANSACTION_END

    def ends(self, partition: int) -> int:
        """First offset of the partition that is cut off."""
        if partition == self.record["partition"]:
            return int(self.record["offset"])
        earlier = [
            int(row["offset"])
            for row in rows_of(self.capture)
            if row["partition"] == partition and row["timestamp_ms"] <= self.record["timestamp_ms"]
        ]
        return max(earlier, default=-1) + 1


def cuts_of(capture: str) -> Iterator[Cut]:
    """Each first offset tombstone of a group and offset, each delete and each group tombstone."""
    stored: dict[str, int] = {}
    members: dict[str, set[str]] = {}
    for record in rows_of(capture):
        group, kind, value = record["group"], record["type"], record["value"]
        if kind == 19:
            present = members.setdefault(group, set())
            (present.discard if value is None else present.add)(record["key"]["memberId"])
        elif kind == 1 and value is None:
            if group not in DELETED_BY_REQUEST:
                yield Cut(capture, "expire", record)
        elif kind in METADATA_TYPES and value is None:
            by_sweep = group not in DELETED_BY_REQUEST and not (kind == 17 and group in CONVERTED)
            if by_sweep:
                yield Cut(capture, "tombstone", record)
            stored.pop(group, None)
        elif kind == 17:
            before, after = stored.get(group, -1), stored_epoch(record)
            # the barrier, and the clear: a group that is at -2 already gets no barrier
            if not members.get(group) and after < 0 and before != after:
                by_cycle = group not in DELETED_BY_REQUEST | DELETE_REFUSED | CONVERTED
                if by_cycle:
                    yield Cut(capture, "delete", record)
            stored[group] = after


CUTS = [cut for capture in CAPTURES for cut in cuts_of(capture)]


def positions_of(capture: str) -> list[dict[int, int]]:
    """For every record, in the order of time, the end of each partition once it was written."""
    ends: dict[int, int] = {}
    found = []
    key = ("timestamp_ms", "partition", "offset")
    for record in sorted(rows_of(capture), key=lambda row: [row[name] for name in key]):
        ends[record["partition"]] = record["offset"] + 1
        found.append(dict(ends))
    return found


@pytest.fixture(scope="module")
def previews(session: Session) -> Session:
    """All cuts and all prefixes of the three logs, folded in one run."""
    ours = with_clusters(session, CAPTURES)
    whole = decoded_table({name: read_capture(name) for name in CAPTURES})
    ends = [
        (cut.name, cut.capture, partition, cut.ends(partition))
        for cut in CUTS
        for partition in range(5)
    ] + [
        (f"{capture}@{number}", capture, partition, end)
        for capture in CAPTURES
        for number, position in enumerate(positions_of(capture))
        for partition, end in position.items()
    ]
    names = ("cut", "capture", "partition_index", "end_offset")
    cuts = pa.table(dict(zip(names, map(list, zip(*ends, strict=True)), strict=True)))
    fold(
        ours,
        list(CAPTURES),
        f"select cuts.cut as cluster_id, records.* except (cluster_id) "
        f"from {parquet_of(session, whole)} as records "
        f"inner join {parquet_of(session, cuts)} as cuts "
        "on records.cluster_id = cuts.capture "
        "and records.partition_index = cuts.partition_index "
        "and records.log_offset < cuts.end_offset",
    )
    _configure_cuts(ours)
    return ours


def _configure_cuts(session: Session) -> None:
    """Give each cut its capture's settings, its instant, and the transaction that was open."""
    cuts = parquet_of(
        session,
        pa.table(
            {
                "cut": [cut.name for cut in CUTS],
                "capture": [cut.capture for cut in CUTS],
                "at_ms": [cut.record["timestamp_ms"] for cut in CUTS],
                "is_open": [cut.has_open_transaction for cut in CUTS],
            }
        ),
    )
    change(
        session,
        "insert into state.settings by name "
        "select settings.* except (cluster_id), cuts.cut as cluster_id from state.settings "
        f"inner join {cuts} as cuts on settings.cluster_id = cuts.capture",
    )
    change(
        session,
        "insert into state.open_transactions by name select cut as cluster_id, "
        f"'{TRANSACTION_GROUP}' as group_id, 'in' as topic_name, 1 as partition_index, "
        f"1L as producer_id, 'test' as run_id from {cuts} "
        "where capture = 'cleanup-inmemory' and is_open",
    )
    session.bring(
        "parameters",
        "select '99999999-compare' as run_id, "
        "'compare' as kind, cast(null as string) as load_kind, true as is_open, true as is_locked, "
        "true as is_dry_run, at_ms, "
        "at_ms as started_at_ms, array(cut) as cluster_ids, cast(null as string) as topic_name "
        f"from {cuts}",
    )
    session.bring("settings", in_force_sql("state.settings"))
    session.make_views("int_groups__decisions_reasoned")


@pytest.fixture(scope="module")
def offset_decisions(previews: Session) -> dict[tuple[str, str, str, int], tuple[str, str]]:
    return {
        (cut, group, topic, partition): (decision, reason)
        for cut, group, topic, partition, decision, reason in rows(
            previews,
            "select cluster_id, group_id, topic_name, partition_index, decision, reason_code "
            "from intermediate.int_groups__offset_expirations_reasoned",
        )
    }


@pytest.fixture(scope="module")
def group_decisions(previews: Session) -> dict[tuple[str, str, str], tuple[str, str]]:
    """By kind (cleanup, sweep), cut and group."""
    models = {"cleanup": "cleanup_eligibility", "sweep": "group_sweeps"}
    return {
        (kind, cut, group): (decision, reason)
        for kind, model in models.items()
        for cut, group, decision, reason in rows(
            previews,
            "select cluster_id, group_id, decision, reason_code "
            f"from intermediate.int_groups__{model}_reasoned",
        )
    }


def cuts_with(action: str) -> list[Cut]:
    return [cut for cut in CUTS if cut.action == action]


def test_the_captures_hold_what_is_asked_about() -> None:
    found = {
        capture: [
            sum(cut.capture == capture and cut.action == action for cut in CUTS)
            for action in ("expire", "delete", "tombstone")
        ]
        for capture in CAPTURES
    }
    assert found == {
        "cleanup-inmemory": [10, 16, 12],
        "cleanup-failing": [12, 16, 10],
        "cleanup-noplugin": [2, 0, 3],
    }


def test_offsets_expire_when_the_broker_expired_them(
    offset_decisions: dict[tuple[str, str, str, int], tuple[str, str]],
) -> None:
    told = {
        cut.name: offset_decisions.get(
            (cut.name, cut.group, cut.record["key"]["topic"], cut.record["key"]["partition"])
        )
        for cut in cuts_with("expire")
    }
    assert told == dict.fromkeys(told, ("expire", "RETENTION_ELAPSED"))


def test_groups_are_eligible_when_the_broker_deleted_their_description(
    group_decisions: dict[tuple[str, str, str], tuple[str, str]],
) -> None:
    told = {
        cut.name: group_decisions.get(("cleanup", cut.name, cut.group))
        for cut in cuts_with("delete")
    }
    assert told == dict.fromkeys(told, ("eligible", "ELIGIBLE"))


def test_groups_are_removed_when_the_broker_removed_them(
    group_decisions: dict[tuple[str, str, str], tuple[str, str]],
) -> None:
    told = {
        cut.name: group_decisions.get(("sweep", cut.name, cut.group))
        for cut in cuts_with("tombstone")
    }
    assert told == dict.fromkeys(told, ("tombstone", "ALL_EXPIRED"))


def test_groups_stay_when_the_broker_expired_offsets_only(
    group_decisions: dict[tuple[str, str, str], tuple[str, str]],
) -> None:
    """One sweep that removes offsets and group writes both at once."""
    removed_at = {
        (cut.capture, cut.group): cut.record["timestamp_ms"] for cut in cuts_with("tombstone")
    }
    wrong = {}
    for cut in cuts_with("expire"):
        decision, reason = group_decisions["sweep", cut.name, cut.group]
        at_once = removed_at.get((cut.capture, cut.group)) == cut.record["timestamp_ms"]
        if (decision == "tombstone") != at_once:
            wrong[cut.name, cut.group] = (decision, reason, at_once)
    assert wrong == {}


def test_the_open_transaction_held_its_group(
    group_decisions: dict[tuple[str, str, str], tuple[str, str]],
) -> None:
    told = {
        cut.action: group_decisions["sweep", cut.name, cut.group]
        for cut in CUTS
        if cut.group == TRANSACTION_GROUP
    }
    assert told == {
        "expire": ("keep", "OPEN_TRANSACTION"),
        "delete": ("defer", "DESCRIPTION_STILL_STORED"),
        "tombstone": ("tombstone", "ALL_EXPIRED"),
    }


@pytest.mark.parametrize("capture", CAPTURES)
def test_epochs_at_every_position_are_those_of_the_records(previews: Session, capture: str) -> None:
    stored = {}
    for cluster, group, epochs in rows(
        previews,
        "select cluster_id, group_id, "
        "array(stored_description_topology_epoch, failed_description_topology_epoch) "
        f"from state.groups where cluster_id like '{capture}@%' and group_type = 'streams' "
        "and not is_deleted",
    ):
        stored.setdefault(int(cluster.rpartition("@")[2]), {})[group] = tuple(epochs)
    expected = {}
    records = rows_of(capture)
    for number, ends in enumerate(positions_of(capture)):
        live: dict[str, tuple[int, int]] = {}
        for record in records:
            if record["offset"] >= ends.get(record["partition"], 0):
                continue
            if record["type"] == 17 and record["value"] is not None:
                live[record["group"]] = (
                    stored_epoch(record),
                    record["value"].get("failedDescriptionTopologyEpoch", -1),
                )
            elif record["type"] in STREAMS_PARTS and record["value"] is not None:
                live.setdefault(record["group"], (-1, -1))  # Kafka makes the group of a part
            elif record["type"] in METADATA_TYPES:
                live.pop(record["group"], None)
        if live:
            expected[number] = live
    assert stored == expected
