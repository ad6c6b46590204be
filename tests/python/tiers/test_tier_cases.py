"""moldau says what the specification's listed cases say: a topic for each, one run for all."""

from __future__ import annotations

from dataclasses import replace

import pytest
from decided_tiers import Decided, decide_tiers
from kafka_reference import RULE_SETS, Decision, Partition, RuleSet
from listed_cases import NOW_MS, Case, copies, listed_cases, mark
from spark_support import rows
from tier_support import Tiered, tiered

from moldau.sessions.session import Session

pytestmark = pytest.mark.spark  # its marts are compared

CASES = listed_cases()
UNDER_RULES = [(case, rules) for case in CASES for rules in case.rules]
IDS = [f"{case.number} {rules.name}" for case, rules in UNDER_RULES]


def cluster_of(rules: RuleSet) -> str:
    return f"cases-{rules.name}"


def topic_of(case: Case) -> str:
    return f"case {case.number}"


def without_uploads() -> list[Tiered]:
    """Case 28: a follower, a topic that is compacted, and one that is not tiered."""
    (case,) = [case for case in CASES if case.number == "6"]
    return [
        tiered("follower", case.partition, (), is_led=False),
        tiered("compacted", case.partition, (), configs={"cleanup.policy": "compact"}),
        tiered("not tiered", case.partition, (), configs={"remote.storage.enable": "false"}),
        tiered("copy disabled", case.partition, (), configs={"remote.log.copy.disable": "true"}),
    ]


def without_snapshot() -> list[Tiered]:
    """A topic that was deleted, and one of which no broker has told yet."""
    marked = [*copies(2), *mark("0"), *mark("1")]
    return [
        tiered("deleted", Partition(), marked, is_known=False),
        tiered("not told of", Partition(), marked[:-1], is_known=False),
    ]


def with_empty_epochs() -> Tiered:
    """Case 71."""
    lineage = {0: 0, 1: 0, 2: 0, 3: 30, 4: 40, 5: 60, 6: 60, 7: 70, 8: 70}
    (case,) = [case for case in CASES if case.number == "6"]
    return tiered("epochs without records", replace(case.partition, lineage=lineage), ())


def topics_of(rules: RuleSet) -> list[Tiered]:
    cases = [case for case in CASES if rules in case.rules]
    listed = [tiered(topic_of(case), case.partition, case.events) for case in cases]
    return [*listed, *without_uploads(), *without_snapshot(), with_empty_epochs()]


@pytest.fixture(scope="module")
def decided(session: Session) -> Decided:
    clusters = {cluster_of(rules): (rules, topics_of(rules)) for rules in RULE_SETS}
    return decide_tiers(session, clusters, NOW_MS)


@pytest.mark.parametrize(("case", "rules"), UNDER_RULES, ids=IDS)
def test_a_listed_case(decided: Decided, case: Case, rules: RuleSet) -> None:
    key = (cluster_of(rules), topic_of(case))
    one = tiered(topic_of(case), case.partition, case.events)
    lags, partition = decided.lags[key], decided.partitions[key]
    assert case.copied_offset in (None, partition["copied_offset"])
    assert case.log_start_after in (None, partition["log_start_after"])
    assert {name: lags[name] for name in case.expected} == case.expected
    uploads, deletes = decided.uploads.get(key, {}), decided.deletes.get(key, {})
    chosen = {base for base, decision in uploads.items() if decision.decision == "upload"}
    assert case.uploads is None or chosen == set(case.uploads)
    reasons = {base: uploads[base].reason for base in case.upload_reasons}
    assert reasons == case.upload_reasons
    gone = {name for name, decision in deletes.items() if decision.decision == "delete"}
    assert case.deletes is None or gone == {one.id_of(name) for name in case.deletes}
    why = {name: deletes[one.id_of(name)].reason for name in case.delete_reasons}
    assert why == case.delete_reasons


@pytest.mark.parametrize(
    ("topic", "reason"),
    [
        ("follower", "NOT_LEADER"),
        ("compacted", "TIERING_OFF"),
        ("not tiered", "TIERING_OFF"),
        ("copy disabled", "COPY_DISABLED"),
    ],
)
def test_case_28_there_is_no_upload_lag_where_nothing_is_uploaded(
    decided: Decided, topic: str, reason: str
) -> None:
    for rules in RULE_SETS:
        key = (cluster_of(rules), topic)
        assert decided.lags.get(key, {}).get("upload_tier_lag") is None
        told = {(one.decision, one.reason) for one in decided.uploads[key].values()}
        assert told == {("keep", reason)}


def test_case_19_a_failed_copy_was_started_marked_and_deleted(
    decided: Decided, session: Session
) -> None:
    name = tiered("case 19", Partition(), ()).id_of("failed")
    told = rows(
        session,
        "select segment_state, events, copy_finished_at_ms, delete_started_at_ms is not null "
        f"from state.remote_segments where segment_id = '{name}'",
    )
    assert set(told) == {("DELETE_SEGMENT_FINISHED", 3, None, True)}


def test_case_71_the_lineage_has_no_epoch_without_records(decided: Decided) -> None:
    for rules in RULE_SETS:
        lineage = decided.partitions[cluster_of(rules), "epochs without records"]["lineage"]
        assert {row["leader_epoch"]: row["start_offset"] for row in lineage} == {
            2: 0, 3: 30, 4: 40, 6: 60, 8: 70,
        }  # fmt: skip


def test_the_lag_falls_by_each_segments_span(decided: Decided) -> None:
    for rules in RULE_SETS:
        steps = [(1_000 - 100 * done, 900 - 100 * done) for done in range(10)]
        uploads = decided.uploads[cluster_of(rules), "case 1 after 0"]
        ordered = [uploads[base] for base in sorted(uploads) if base < 1_000]
        assert [(one.before, one.after) for one in ordered] == steps
        deletes = decided.deletes[cluster_of(rules), "case 31 after 0"].values()
        assert sorted(((one.before, one.after) for one in deletes), reverse=True) == steps


def test_a_topic_that_is_gone_with_all_segments_marked_was_deleted(decided: Decided) -> None:
    _, not_told_of = without_snapshot()
    for rules in RULE_SETS:
        deletes = decided.deletes[cluster_of(rules), "deleted"].values()
        assert {(one.decision, one.reason) for one in deletes} == {("delete", "TOPIC_DELETED")}
        assert decided.lags[cluster_of(rules), "deleted"]["delete_tier_lag_sum"] == 200
        others = decided.deletes[cluster_of(rules), "not told of"]
        assert others[not_told_of.id_of("0")].reason == "DELETE_STARTED"
        assert others[not_told_of.id_of("1")] == Decision("keep", "NO_SNAPSHOT")
