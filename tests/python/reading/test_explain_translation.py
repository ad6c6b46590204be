"""`moldau explain translation`: a group's offset on the other cluster in words, as stored."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from rows_support import Write

from moldau.cli import moldau
from moldau.cli.explain import explain
from moldau.errors import MoldauError
from moldau.reading.explain.mirrors import explain_translation
from moldau.reading.explain.mirrors_words import next_change, translation_in_words
from moldau.reading.explain.subjects import explained

NOON = 1_756_728_000_000  # 2025-09-01T12:00:00Z
RUN = "00000007-translate"
FLOW: dict[str, Any] = {
    "flow": "east-to-west", "source_cluster_id": "east", "target_cluster_id": "west",
    "syncs_cluster_id": "east", "syncs_topic_name": "mm2-offset-syncs.west.internal",
    "checkpoints_topic_name": "east.checkpoints.internal", "valid_from_ms": NOON,
    "settings": '{"groups": ".*", "groups.exclude": "console-.*", "topics": "orders.*"}',
}  # fmt: skip
PLACE: dict[str, Any] = {"flow": "east-to-west", "topic_name": "orders", "partition_index": 0}
DECIDED: dict[str, Any] = PLACE | {
    "cluster_id": "east", "group_id": "app", "target_topic_name": "east.orders", "run_id": RUN,
    "changed_in_run_id": RUN, "ruleset": "full_history", "decided_at_ms": NOON, "metadata": "m\n",
    "commit_at_ms": NOON - 1000, "upstream_offset": 500, "incarnation": 0,
}  # fmt: skip
PROVEN: dict[str, Any] = DECIDED | {
    "decision": "emit", "reason_code": "EMIT_ADVANCED", "translated_offset": 405,
    "lower_bound": 405, "upper_bound": 500, "reread_max": 95, "syncs_incarnation": 0,
    "sync_log_offset": 4, "observed_upstream_offset": 400, "observed_downstream_offset": 304,
    "observed_emitted_by": "mm2",
}  # fmt: skip


def sync(log_offset: int, upstream: int, **more: Any) -> dict[str, Any]:
    return PLACE | {
        "sync_log_offset": log_offset, "upstream_offset": upstream, "downstream_offset": upstream,
        "recorded_at_ms": NOON - 5000, "is_admitted": True, **more,
    }  # fmt: skip


def refused(reason: str, **more: Any) -> dict[str, Any]:
    return DECIDED | {"decision": "skip", "reason_code": reason, **more}


@pytest.fixture(autouse=True)
def flows(write: Write) -> None:
    write("state.flows", FLOW)


@pytest.fixture
def syncs(write: Write) -> None:
    write(
        "state.offset_syncs",
        sync(0, 0),
        sync(4, 404, previous_sync_log_offset=0),
        sync(5, 505, previous_sync_log_offset=4),
    )


@pytest.fixture
def proven(write: Write, syncs: None, warehouse: Path) -> Path:
    write("decisions.offset_translations", PROVEN)
    return warehouse


def words(warehouse: Path, text: str = "translation app orders-0") -> list[str]:
    found = explain_translation(warehouse, text, None)
    assert found
    return list(translation_in_words(found))


def next_of(warehouse: Path) -> str:
    found = explain_translation(warehouse, "translation app orders-0", None)
    assert found
    return next_change(found)


def test_the_sync_that_proves_it_is_told(proven: Path, write: Write) -> None:
    write(
        "history.decision_changes",
        {"domain": "mirrors", "cluster_id": "east", "run_id": RUN,
         "subject": "translation app orders-0 of east-to-west", "decision": "emit",
         "previous_decision": "skip", "previous_reason_code": "SKIP_REPEATED"},
    )  # fmt: skip
    assert words(proven) == [
        "translation app orders-0 of east-to-west, east to west",
        "  emit (EMIT_ADVANCED): The translation lies behind the one of the last checkpoint.",
        "  commit: the group reads 500 of orders-0 next, as of 2025-09-01T11:59:59Z, metadata "
        r"'m\n'",
        "  proof: record 404 lies at 404 of east.orders-0, says the sync at offset 4 of "
        "mm2-offset-syncs.west.internal of east, written 2025-09-01T11:59:55Z",
        "  translation: 405 of east.orders-0, the place behind the sync's record",
        "  bounds: 405 to 500; at most 95 records are read again",
        "  guard: compared with the checkpoint 400 -> 304 that MirrorMaker 2 emitted",
        "  next: a translation above 405: a commit at 505 or later, or a sync of a record from 405 "
        "to 500; or a commit of the group before 500",
        f"  decided for 2025-09-01T12:00:00Z under full_history in run {RUN}; before run {RUN} it "
        "was skip (SKIP_REPEATED)",
    ]


def test_the_subject_of_marts_decisions_is_taken(proven: Path) -> None:
    assert words(proven, "translation app orders-0 of east-to-west") == words(proven)


def test_an_anchored_translation_counts_back(write: Write, syncs: None, warehouse: Path) -> None:
    row = PROVEN | {
        "translated_offset": 500, "lower_bound": 500, "reread_max": 0, "is_anchored": True
    }  # fmt: skip
    write("decisions.offset_translations", row)
    told = words(warehouse)
    assert told[4] == (
        "  translation: 500 of east.orders-0, counted back from the next sync, 505 -> 505"
    )
    assert told[5] == "  bounds: exact, 500 to 500; nothing is read again"


def test_several_flows_are_told(proven: Path, write: Write) -> None:
    write("state.flows", FLOW | {"flow": "to-north", "target_cluster_id": "north"})
    write("decisions.offset_translations", PROVEN | {"flow": "to-north"})
    with pytest.raises(MoldauError, match="choose one with ` of FLOW`") as refusal:
        explain_translation(proven, "translation app orders-0", None)
    assert "east-to-west (east to west), to-north (east to north)" in str(refusal.value)
    with pytest.raises(MoldauError, match="choose one"):
        explain_translation(proven, "translation app orders-0", "east")
    by_cluster = explain_translation(proven, "translation app orders-0", "north")
    by_name = explain_translation(proven, "translation app orders-0 of to-north", None)
    assert by_cluster and by_name and by_cluster.subject == by_name.subject
    with pytest.raises(MoldauError, match="of no flow of cluster 'south', but of east-to-west"):
        explain_translation(proven, "translation app orders-0", "south")


def test_what_is_decided_nowhere_is_said(proven: Path) -> None:
    with pytest.raises(MoldauError, match="did you mean `translation app orders-0 of east-to"):
        explain_translation(proven, "translation app orders-1", None)
    with pytest.raises(MoldauError, match="`moldau translate` decides"):
        explain_translation(proven, "translation other orders-1", None)
    assert explain_translation(proven, "translation app", None) is None
    assert explain_translation(proven, "tier orders-0", None) is None


@pytest.mark.parametrize(
    ("reason", "told"),
    [
        ("GROUP_FILTERED", "other `groups` or `groups.exclude` of flow east-to-west in moldau.yml "
         "(now '.*' and 'console-.*')"),
        ("TOPIC_FILTERED", "other `topics` or `topics.exclude` of flow east-to-west in moldau.yml "
         "(now 'orders.*' and None)"),
        ("NO_COMMIT", "a commit of the group on orders-0 in east"),
        ("HISTORY_UNREADABLE", "a checkpoint of the group in east.checkpoints.internal of west "
         "that can be decoded"),
        ("SYNCS_NOT_CAUGHT_UP", "mm2-offset-syncs.west.internal of east loaded up to offset 11"),
        ("NO_SYNC", "a sync of orders-0 in mm2-offset-syncs.west.internal of east"),
        ("COMMIT_FROM_OLD_INCARNATION", "a commit of the group at 2025-09-01T12:00:00Z or later"),
        ("BEFORE_FIRST_SYNC", "a commit at 0 or later, the first record with a sync; or "
         "`clamp_first: true` for the flow, if none of the history is missing"),
        ("WOULD_EXCEED_TARGET_END", "newer partition_states of east.orders-0 in west (the loaded "
         "ones end at 77)"),
        ("REPLAY_CATCHING_UP", "the replay has a sync at 110 or later in the target"),
        ("SYNC_FROM_OLD_INCARNATION", "a sync of orders-0 that is of east.orders-0 as it is (seen "
         "first at 2025-09-01T12:00:00Z)"),
    ],
)  # fmt: skip
def test_each_refusal_says_what_would_change_it(
    write: Write, syncs: None, warehouse: Path, reason: str, told: str
) -> None:
    write("decisions.offset_translations", refused(reason))
    write("state.mirror_task_starts", {"flow": "east-to-west", "syncs_end_offset": 11})
    partition = {"old_head": 90, "tail": 10, "caught_up_offset": 100, "commits_valid_from_ms": NOON}
    if reason != "NO_SYNC":
        write("state.mirrored_partitions", PLACE | partition)
    write(
        "state.partition_states",
        {"cluster_id": "west", "topic_name": "east.orders", "is_leader": True,
         "log_end_offset": 77, "leader_epoch": 5},
        {"cluster_id": "west", "topic_name": "east.orders", "is_leader": True,
         "log_end_offset": 99, "leader_epoch": 3, "broker_id": 1},
    )  # fmt: skip
    seen = {"cluster_id": "west", "topic_name": "east.orders"}
    write(
        "state.source_topics",
        seen | {"topic_id": "old", "first_seen_at_ms": 1},
        seen | {"topic_id": "new", "first_seen_at_ms": NOON},
    )
    assert next_of(warehouse) == told


@pytest.mark.parametrize(
    ("reason", "told"),
    [
        ("NO_SYNC", "a sync of orders-0 in mm2-offset-syncs.west.internal of east as it was "
         "created anew: the syncs are of before"),
        ("COMMIT_FROM_OLD_INCARNATION", "a commit of the group on orders-0 as it was created anew"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("since", [None, NOON - 60_000])
def test_a_commit_that_its_id_refuses_says_so(
    write: Write, syncs: None, warehouse: Path, reason: str, told: str, since: int | None
) -> None:
    """It is not older than the syncs: only its topic id can tell."""
    write("decisions.offset_translations", refused(reason) | {"commit_at_ms": NOON})
    write("state.mirrored_partitions", PLACE | {"commits_valid_from_ms": since})
    assert next_of(warehouse) == told


def test_an_offer_that_is_refused_says_why(write: Write, syncs: None, warehouse: Path) -> None:
    offer = {
        "flow": "east-to-west", "group_id": "app", "target_topic_name": "east.orders",
        "decision": "skip", "to_offset": 1234,
    }  # fmt: skip
    write("decisions.offset_translations", refused("NO_SYNC"))
    write("decisions.target_offset_writes", offer | {"reason_code": "CHECKPOINT_PAST_UPPER_BOUND"})
    assert (
        "  offer: none: 1234 of east.orders-0 is refused (CHECKPOINT_PAST_UPPER_BOUND): The "
        "checkpoint lies further on than the group's commit can be in the target."
    ) in words(warehouse)
    options = ["translation", "app", "orders-0", "--format", "json", "--warehouse", str(warehouse)]
    [row] = json.loads(CliRunner().invoke(explain, options, catch_exceptions=False).stdout)
    assert (row["offer_offset"], row["offer_reason_code"]) == (1234, "CHECKPOINT_PAST_UPPER_BOUND")


@pytest.mark.parametrize("reason", ["TARGET_AHEAD", "TARGET_GROUP_ACTIVE"])
def test_an_offer_that_the_group_does_not_need_is_not_refused(
    write: Write, syncs: None, warehouse: Path, reason: str
) -> None:
    offer = {
        "flow": "east-to-west", "group_id": "app", "target_topic_name": "east.orders",
        "decision": "skip", "reason_code": reason,
    }  # fmt: skip
    write("decisions.offset_translations", refused("NO_SYNC"))
    write("decisions.target_offset_writes", offer)
    assert not any("offer" in line for line in words(warehouse))


OFFER = {
    "flow": "east-to-west", "cluster_id": "east", "group_id": "app", "partition_index": 0,
    "target_topic_name": "east.orders", "decision": "write", "reason_code": "TARGET_BEHIND",
    "from_offset": 100, "to_offset": 304, "ruleset": "full_history", "decided_at_ms": NOON,
    "run_id": RUN,
}  # fmt: skip


@pytest.mark.parametrize("of_flow", ["", " of east-to-west"])
def test_what_is_offered_is_a_subject_too(proven: Path, write: Write, of_flow: str) -> None:
    write("decisions.target_offset_writes", OFFER)
    subject = f"target offset app east.orders-0{of_flow}"
    assert explained(proven, subject, None).words == [
        "target offset app east.orders-0 of east-to-west, east to west",
        "  write (TARGET_BEHIND): The group is behind its checkpoint on the target.",
        "  checkpoint: 304 of east.orders-0",
        "  seen: the group has offset 100 on east.orders-0 in west",
        "  next: a commit of the group at 304 or later in the target, members of it there, or "
        "another checkpoint; time alone changes nothing",
        "  the checkpoint: `moldau explain translation app orders-0 of east-to-west`",
        f"  decided for 2025-09-01T12:00:00Z under full_history in run {RUN}",
    ]
    options = [subject, "--warehouse", str(proven), "--format", "json"]
    [row] = json.loads(CliRunner().invoke(explain, options, catch_exceptions=False).stdout)
    assert (row["reason_code"], row["from_offset"], row["to_offset"]) == ("TARGET_BEHIND", 100, 304)


@pytest.mark.parametrize(
    ("reason", "told"),
    [
        ("TARGET_ABSENT", "a commit of the group at 304 or later"),
        ("TARGET_AHEAD", "a checkpoint above 100"),
        ("TARGET_GROUP_ACTIVE", "has no members in the target"),
        ("WOULD_EXCEED_TARGET_END", "in which it reaches 304"),
        ("CHECKPOINT_FROM_OLD_INCARNATION", "another checkpoint of the group"),
    ],
)
def test_an_offer_says_what_would_change_it(
    warehouse: Path, write: Write, reason: str, told: str
) -> None:
    """Also of a group of which the source has no commit."""
    write("decisions.target_offset_writes", OFFER | {"reason_code": reason})
    said = explained(warehouse, "target offset app east.orders-0 of east-to-west", None).words
    assert told in next(line for line in said if line.startswith("  next: "))
    assert not any("moldau explain translation" in line for line in said)


def test_what_is_offered_nowhere_is_said(proven: Path, write: Write) -> None:
    write("decisions.target_offset_writes", OFFER)
    with pytest.raises(MoldauError, match=r"did you mean `target offset app east\.orders-0 of e"):
        explained(proven, "target offset app orders-0", None)


def test_a_checkpoint_that_is_none_is_not_said_to_be_missing(
    write: Write, syncs: None, warehouse: Path
) -> None:
    row = refused("HISTORY_UNREADABLE") | {"observed_downstream_offset": None}
    write("decisions.offset_translations", row)
    assert "  guard: the last checkpoint of the group on the partition cannot be decoded" in words(
        warehouse
    )


def test_a_translation_held_back_says_above_what(
    write: Write, syncs: None, warehouse: Path
) -> None:
    row = PROVEN | {"decision": "skip", "reason_code": "SKIP_DOWNSTREAM_REWIND",
                    "translated_offset": 1, "sync_log_offset": 0, "observed_upstream_offset": 500,
                    "observed_downstream_offset": 405}  # fmt: skip
    write("decisions.offset_translations", row)
    assert next_of(warehouse) == (
        "a translation above 405: a later sync and a commit behind its record, or a sync of a "
        "record from 1 to 500; or a commit of the group before 500"
    )


def test_the_row_has_the_proof(proven: Path) -> None:
    options = ["translation", "app", "orders-0", "--format", "json", "--warehouse", str(proven)]
    answer = CliRunner().invoke(explain, options, catch_exceptions=False)
    [row] = json.loads(answer.stdout)
    proof = {"sync_log_offset": 4, "sync_upstream_offset": 404, "sync_downstream_offset": 404}
    assert row.items() >= proof.items()
    assert row["subject"] == "translation app orders-0 of east-to-west"


@pytest.mark.parametrize(
    ("subject", "told"),
    [
        ("app payments-0", "nothing is decided about 'translation app payments-0': did you mean "),
        ("nobody orders-0", "nothing is decided about 'translation nobody orders-0': load "),
        ("app orders-0 of it", "nothing is decided about 'translation app orders-0 of it': did "),
        ("app orders", "nothing is known about 'translation app orders': give "),
        ("app orders-0", "'translation app orders-0' is of several flows: choose one with "),
    ],
)
def test_what_is_wrong_is_one_line(proven: Path, write: Write, subject: str, told: str) -> None:
    write("state.flows", FLOW | {"flow": "to-north", "target_cluster_id": "north"})
    write("decisions.offset_translations", PROVEN | {"flow": "to-north"})
    answer = CliRunner().invoke(
        moldau, ["explain", "translation", *subject.split(), "--warehouse", str(proven)]
    )
    assert isinstance(answer.exception, MoldauError)
    assert str(answer.exception).startswith(told) and "\n" not in str(answer.exception)


def test_a_sparse_rule_set_knows_no_clamp(write: Write, syncs: None, warehouse: Path) -> None:
    sparse = refused("BEFORE_FIRST_SYNC") | {"ruleset": "latest_sync"}
    write("decisions.offset_translations", sparse)
    assert next_of(warehouse) == "a commit behind the oldest sync that latest_sync still keeps"


def test_what_does_not_help_is_not_proposed(write: Write, syncs: None, warehouse: Path) -> None:
    write("state.flows", FLOW | {"clamp_first": True, "valid_from_ms": NOON + 1})
    write("decisions.offset_translations", refused("BEFORE_FIRST_SYNC"))
    assert next_of(warehouse) == (
        "a commit at 0 or later, the first record with a sync; `clamp_first` does not help, as a "
        "part of the history is missing"
    )


@pytest.mark.parametrize(
    ("ruleset", "told"),
    [
        ("full_history", "the replay has a sync at 110 or later in the target; or a commit at 600 "
         "or later, the first record with a sync"),
        ("full_history_max", "a commit at 450 or later, the first record with a sync"),
        ("parity", "a commit at 505 or later, the first record with a sync"),
    ],
)  # fmt: skip
def test_what_would_answer_is_what_the_rule_set_looks_at(
    write: Write, warehouse: Path, ruleset: str, told: str
) -> None:
    """`clamp_first` is not proposed, as the target may hold copies from before."""
    write(
        "state.offset_syncs",
        sync(0, 0), sync(1, 600, incarnation=1), sync(2, 450, incarnation=1, is_admitted=False),
        sync(3, 505, incarnation=1, parity_incarnation=2, is_admitted=False),
    )  # fmt: skip
    partition = {"old_head": 90, "tail": 10, "caught_up_offset": 100}
    write("state.mirrored_partitions", PLACE | partition)
    more = {"ruleset": ruleset, "incarnation": 1, "parity_incarnation": 2}
    write("decisions.offset_translations", refused("BEFORE_FIRST_SYNC", **more))
    assert next_of(warehouse) == told
    write("state.flows", FLOW | {"clamp_first": True, "valid_from_ms": NOON + 1})
    assert next_of(warehouse) == (
        f"{told}; `clamp_first` does not help, as the target may hold copies from before its first "
        "sync"
    )


def test_parity_has_its_own_time_from_which_commits_count(write: Write, warehouse: Path) -> None:
    row = refused("COMMIT_FROM_OLD_INCARNATION", ruleset="parity")
    write("decisions.offset_translations", row)
    times = {"commits_valid_from_ms": NOON, "parity_commits_valid_from_ms": NOON + 60_000}
    write("state.mirrored_partitions", PLACE | times)
    assert next_of(warehouse) == "a commit of the group at 2025-09-01T12:01:00Z or later"


def test_a_sparse_rule_set_names_no_sync_that_it_may_not_keep(proven: Path, write: Write) -> None:
    row = PROVEN | {"flow": "sparse", "ruleset": "sparse_reads_checkpoints"}
    write("decisions.offset_translations", row)
    write("state.offset_syncs", sync(4, 404, flow="sparse"), sync(5, 505, flow="sparse"))
    found = explain_translation(proven, "translation app orders-0 of sparse", None)
    assert found and next_change(found) == (
        "a translation above 405: a commit behind the next sync that sparse_reads_checkpoints "
        "keeps, or a sync of a record from 405 to 500; or a commit of the group before 500"
    )
