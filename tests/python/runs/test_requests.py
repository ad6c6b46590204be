"""Whole runs of requests: files in, plugin calls, epochs, back-offs, groups that go."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from encode import encode_key, encode_value
from log_support import Log
from spark_support import (
    Killed,
    Record,
    change,
    dying_at,
    fold_records,
    fresh,
    mart,
    rows,
    run_alone,
    statements,
    while_called,
    with_clusters,
)

from moldau.compiled.graph import helpers_under
from moldau.runs.decide import decide
from moldau.runs.idle import idle_run
from moldau.runs.load import load
from moldau.runs.resume import finish_interrupted
from moldau.sessions.run import Run
from moldau.sessions.session import Session

RULE_SETS = {
    "rq-draft": "kip_1331_draft",
    "rq-v1": "kip_1331_v1",
    "rq-v2": "kip_1331_v2",
    "rq-v3": "kafka_4_4",
}
# their plugin gives futures, and raises before it does
RESULTS = {"set live": ["throw"], "empty": ["throw"], "fail-empty": ["null"], "converted": ["ok"]}
RAISING = {"rq-future-draft": "kip_1331_draft", "rq-future-v1": "kip_1331_v1"}
POINTS = ("after_call", "after_decide", "before_clear", "after_clear", "before_run_row")
HUGE, ODD = "x" * 32_767, "\U0001f98a'\"\\\0; drop table state.groups; --"
CLUSTERS = [*RULE_SETS, *RAISING, "rq-broker"]
AT_MS = 1_800_000_000_000
_run_models = Session.run_models


def described(word: str = "ok") -> dict[str, Any]:
    return {"subtopologies": [{"subtopologyId": word, "nodes": []}], "globalStores": []}


def heartbeat(name: str, group: str, at_ms: int) -> dict[str, Any]:
    return {
        "request_id": name, "group_id": group, "member_id": "m", "request_version": 1,
        "member_epoch": 2, "response_error": "NONE", "status_codes": None,
        "received_at_ms": at_ms, "jitter": 1.0,
    }  # fmt: skip


def push(name: str, group: str, at_ms: int, word: str = "ok", **more: Any) -> dict[str, Any]:
    return {
        "request_id": name, "group_id": group, "member_id": "m", "topology_epoch": 3,
        "topology_description": described(word), "received_at_ms": at_ms, "jitter": 1.0,
    } | more  # fmt: skip


REQUESTS: dict[str, list[dict[str, Any]]] = {
    "heartbeats": [
        heartbeat("h1", "live", 1_000),
        heartbeat("h2", "live", 2_000),
        heartbeat("h3", "asked", 2_000),
        heartbeat("h4", "nobody", 2_000),
        heartbeat("h5", "unasked", 1),
        heartbeat("h6", "unasked", 3),
        heartbeat("h9", HUGE, 7),
    ],
    "topology_pushes": [
        push("p1", "live", 1_500, "trans-1"),
        push("p2", "live", 3_000, "perm-2"),
        push("p3", "pushed", 1),
        push("p4", "pushed", 2, "trans-4"),
        push("p5", "pushed", 3),
        push("p6", "it's \x00 \\ n", 4),
        push("p7", "pushed", 5, topology_description={"subtopologies": 5}),
        push("p8", "wait-raced", 6),
        push("p9", "unasked", 2),
        push("p10", "bare", 7, topology_epoch=-1),
        push("p11", HUGE, 8),
        push(f"p12 {ODD}", ODD, 8, member_id=ODD),
    ],
    "group_deletions": [
        {
            "request_id": "d1", "request_version": 3, "received_at_ms": 50_000,
            "group_ids": ["empty", "fail-empty", "pushed", "nobody", "classic", None, "empty", ODD],
        },
        {
            "request_id": "d2", "request_version": 2, "received_at_ms": 60_000,
            "group_ids": ["fail-empty"],
        },
    ],
    "classic_joins": [
        {"request_id": "j1", "group_id": "converted", "member_id": "", "received_at_ms": 10},
        {"request_id": "j2", "group_id": "fail-join", "member_id": "", "received_at_ms": 10},
        {"request_id": "j3", "group_id": "fail-join", "member_id": "", "received_at_ms": 11},
        {"request_id": "j4", "group_id": HUGE, "member_id": HUGE, "received_at_ms": 11},
    ],
}  # fmt: skip


def log_of_groups() -> Log:
    log = Log()
    for group in ("live", "asked", "pushed", "wait-raced", "unasked", HUGE):
        log.streams(group, stored=3 if group == "unasked" else -1)
        log.member(group, "m", 19)
        key = encode_key("consumer_offsets", 23, {"groupId": group})
        log.add(key, encode_value("consumer_offsets", 23, 0, {"epoch": 3}))
    for group in ("empty", "fail-empty", "converted", "fail-join", ODD):
        log.streams(group, stored=3)
    log.streams("bare")
    log.member("bare", "m", 19)
    log.commit("empty")
    log.classic("classic")
    log.records = moved(log, 1)  # room for a record that comes late
    return log


def moved(log: Log, places: int) -> list[Record]:
    return [replace(record, offset=record.offset + places) for record in log.records]


def load_all(session: Session, folder: Path, clusters: list[str]) -> None:
    for kind, lines in REQUESTS.items():
        file = folder / f"{kind}.jsonl"
        file.write_text("".join(json.dumps(line) + "\n" for line in lines))
        for cluster in clusters:
            assert load(session, [file], cluster, kind).rows_new == len(lines)


def in_charge(session: Session, folder: Path, rulesets: dict[str, str]) -> Session:
    plugins = {}
    for cluster in rulesets:
        (folder / cluster).mkdir()
        options = f"folder: {folder / cluster}, timeout_seconds: 20"
        plugins[cluster] = f"name: scripted, failing: fail, {options}"
        if cluster in RAISING:
            plugins[cluster] = f"name: replayed, {options}"
            (folder / cluster / "results.json").write_text(json.dumps(RESULTS))
    return with_clusters(
        session,
        {
            cluster: f"{{authority: moldau, ruleset: {{groups: {ruleset}}}, "
            f"plugin: {{{plugins[cluster]}}}}}"
            for cluster, ruleset in rulesets.items()
        },
    )


def groups_of(session: Session, cluster: str) -> dict[str, tuple[Any, ...]]:
    found = rows(
        session,
        "select group_id, group_type, group_state, stored_description_topology_epoch, "
        "failed_description_topology_epoch, deleted_by from state.groups "
        f"where cluster_id = '{cluster}'",
    )
    return {row[0]: row[1:] for row in found}


def backoffs_of(session: Session, cluster: str) -> dict[str, tuple[Any, ...]]:
    found = rows(
        session,
        "select group_id, topology_epoch, attempts, next_attempt_at_ms "
        f"from state.topology_backoffs where cluster_id = '{cluster}'",
    )
    return {row[0]: row[1:] for row in found}


def answers_of(session: Session, cluster: str) -> dict[str, tuple[Any, ...]]:
    found = rows(
        session,
        "select subject, reason_code, run_id from marts.decisions where "
        f"cluster_id = '{cluster}' and decision_table in ('heartbeat_gates', "
        "'topology_push_results', 'group_deletion_results', 'classic_join_results')",
    )
    return {row[0]: row[1:] for row in found}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("requests")


@pytest.fixture(scope="module")
def charged(session: Session, folder: Path) -> Session:
    """Clusters of every rule set with the same groups and requests, and one of a broker's own."""
    charged = in_charge(session, folder, RULE_SETS | RAISING)
    clusters = [*RULE_SETS, "rq-broker"]
    fold_records(charged, {cluster: log_of_groups().records for cluster in [*clusters, *RAISING]})
    load_all(charged, folder, clusters)
    deletion = REQUESTS["group_deletions"][0] | {"group_ids": list(RESULTS)[1:]}
    for kind, line in (
        ("topology_pushes", push("p1", "live", 1_500)),
        ("group_deletions", deletion),
    ):
        file = folder / f"raising-{kind}.jsonl"
        file.write_text(json.dumps(line) + "\n")
        for cluster in RAISING:
            load(charged, [file], cluster, kind)
    return charged


@pytest.fixture(scope="module")
def before(charged: Session) -> Run:
    """A dry run: what it says is the same, and nothing is done."""
    return decide(charged, "requests", CLUSTERS, AT_MS, is_dry_run=True)


@pytest.fixture(scope="module")
def run(charged: Session, folder: Path, before: Run) -> Run:
    # what the next one does is still to be done
    assert idle_run(charged.settings, "requests", CLUSTERS, AT_MS, is_dry_run=False) is None
    assert backoffs_of(charged, "rq-v1") == {}
    assert groups_of(charged, "rq-v1")["empty"][1] == "EMPTY"
    assert (
        rows(charged, f"select * from history.plugin_calls where run_id = '{before.run_id}'") == []
    )
    waiting = [folder / cluster / "wait-raced" for cluster in RULE_SETS]

    def fence_and_clear() -> None:
        change(
            charged,
            "update state.group_records set is_tombstone = true "
            "where group_id = 'wait-raced' and record_type = 19 and cluster_id like 'rq-v%'",
        )
        change(
            charged,
            "update state.groups set stored_description_topology_epoch = -1 "
            "where cluster_id = 'rq-v3' and group_id = 'wait-raced'",
        )

    thread = while_called(waiting, fence_and_clear)
    run = decide(charged, "requests", CLUSTERS, AT_MS, is_dry_run=False)
    thread.join()
    return run


def test_only_the_draft_tells_what_was_raised_before_a_future(charged: Session, run: Run) -> None:
    found = rows(
        charged,
        "select cluster_id, outcome, error_code, error_message "
        "from decisions.topology_push_results where cluster_id like 'rq-future-%' order by 1",
    )
    failed = ("permanent_failure", "STREAMS_TOPOLOGY_DESCRIPTION_UPDATE_FAILED")
    assert found == [
        ("rq-future-draft", *failed, "thrown"),
        ("rq-future-v1", *failed, "Topology description plugin failed."),
    ]


def test_a_plugin_that_gives_no_future_fails_that_one_delete(charged: Session, run: Run) -> None:
    """91: thrown, null, and one that succeeds, in one request."""
    text = "Topology description plugin failed to delete the topology."
    found = rows(
        charged,
        "select cluster_id, group_id, error_code, error_message "
        "from decisions.group_deletion_results where cluster_id like 'rq-future-%' order by 1, 2",
    )
    failed = "GROUP_DELETION_FAILED"
    assert [row[1:3] for row in found] == [
        ("converted", "NONE"),
        ("empty", failed),
        ("fail-empty", failed),
    ] * 2
    told = {row[:2]: row[3] for row in found}
    assert told["rq-future-draft", "empty"] == "thrown"
    assert told["rq-future-v1", "empty"] == told["rq-future-v1", "fail-empty"] == text


@pytest.mark.parametrize("cluster", RULE_SETS)
def test_odd_and_huge_names_are_names(charged: Session, run: Run, cluster: str) -> None:
    answers = answers_of(charged, cluster)
    assert answers["heartbeat h9"][0] == "REQUIRED"
    assert answers["push p11"][0] == "STORED"
    assert answers[f"push p12 {ODD}"][0] == "UNKNOWN_MEMBER"
    assert answers[f"deletion d1 {ODD}"][0] == "DELETED"
    assert answers["join j4"][0] == "NOT_EMPTY"
    told = rows(
        charged,
        "select error_message from decisions.topology_push_results "
        f"where cluster_id = '{cluster}' and request_id like 'p12%'",
    )
    assert told == [(f"Member {ODD} is not a member of group {ODD}.",)]


@pytest.mark.parametrize("cluster", RULE_SETS)
def test_a_request_before_a_push_sees_what_was_stored_before_it(
    charged: Session, run: Run, cluster: str
) -> None:
    """And not the uncertain epoch that this run wrote for the push."""
    found = answers_of(charged, cluster)
    assert found["heartbeat h5"][0] == "ALREADY_STORED"
    assert found["heartbeat h6"][0] == "ALREADY_STORED"
    epochs = rows(
        charged,
        "select request_id, stored_epoch_before, stored_epoch_after "
        "from decisions.topology_push_results "
        f"where cluster_id = '{cluster}' and request_id in ('p3', 'p9') order by 1",
    )
    assert epochs == [("p3", -1, 3), ("p9", 3, 3)]


def test_a_dry_run_foretells_that_calls_succeed(before: Run, run: Run) -> None:
    assert before.counts["decided"] == run.counts["decided"]
    assert "sets_success" not in before.counts and run.counts["sets_success"] > 0
    assert before.counts["pushes_success"] > run.counts["pushes_success"]


@pytest.mark.parametrize("cluster", RULE_SETS)
def test_what_a_run_leaves_behind(charged: Session, run: Run, cluster: str) -> None:
    is_v3, is_draft = cluster == "rq-v3", cluster == "rq-draft"
    uncertain = -2 if is_v3 else -1
    assert groups_of(charged, cluster) == {
        "live": ("streams", "NOT_READY", uncertain, 3, None),
        "asked": ("streams", "NOT_READY", -1, -1, None),
        "pushed": ("streams", "NOT_READY", 3, -1, None),
        "unasked": ("streams", "NOT_READY", 3, -1, None),
        "wait-raced": ("streams", "NOT_READY", -2 if is_v3 else 3, -1, None),  # 52: and fenced
        HUGE: ("streams", "NOT_READY", 3, -1, None),
        ODD: ("streams", "DEAD", -1, -1, "delete_groups"),
        "bare": ("streams", "NOT_READY", -1, -1, None),
        "empty": ("streams", "DEAD", -1, -1, "delete_groups"),
        "fail-empty": ("streams", "EMPTY", -2 if is_v3 else 3, -1, None),
        "classic": ("classic", "DEAD", -1, -1, "delete_groups"),
        "converted": ("classic", "PREPARING_REBALANCE", -1, -1, None),
        "fail-join": ("streams", "EMPTY", -2, -1, None)
        if is_v3
        else ("classic", "PREPARING_REBALANCE", -1, -1, None),
    }
    expected: dict[str, tuple[Any, ...]] = {"asked": (3, 0, 32_000)}
    backoffs = backoffs_of(charged, cluster)
    if is_v3:
        assert backoffs.pop("fail-join")[:2] == (-2, 0)
    if is_draft:  # the failed conversion of p7 armed
        expected["pushed"] = (3, 0, 30_005)
        if "pushed" not in backoffs:  # and a delete of the live group's description cleared
            expected.pop("pushed")
    assert backoffs == expected
    answers = answers_of(charged, cluster)
    assert {reason for reason, _ in answers.values()} >= {"REQUIRED", "STORED", "DELETED"}
    assert {run_id for _, run_id in answers.values()} == {run.run_id}
    assert answers["push p6"][0] == "GROUP_NOT_FOUND"
    assert answers["push p7"][0] == "INVALID_DESCRIPTION"
    assert answers["deletion d1 "][0] == "NO_GROUP_ID"
    removed = rows(
        charged,
        "select group_id, topic_name, removed_by from history.tombstones "
        f"where cluster_id = '{cluster}' and run_id = '{run.run_id}'",
    )
    converted = ["converted"] if is_v3 else ["converted", "fail-join"]
    assert sorted(removed, key=str) == sorted(
        [
            ("empty", None, "delete_groups"),
            ("empty", "t", "delete_groups"),
            ("classic", None, "delete_groups"),
            (ODD, None, "delete_groups"),
            *((name, None, "classic_join") for name in converted),
        ],
        key=str,
    )


@pytest.mark.parametrize("cluster", RULE_SETS)
def test_the_plugin_is_called_in_the_order_of_each_group(
    run: Run, folder: Path, cluster: str
) -> None:
    lines = (folder / cluster / "calls.txt").read_text().splitlines()
    assert [line.split()[-1] for line in lines if " live " in line] == ["trans-1", "perm-2"]
    sets = [line for line in lines if "pushed" in line]
    deleted = ["pushed"] if cluster != "rq-v3" else []  # KAFKA-20748 asks whether it is empty
    assert sets == ["set pushed 3 ok", "set pushed 3 trans-4", "set pushed 3 ok", *deleted]


def test_a_cluster_that_moldau_is_not_in_charge_of_is_foretold(charged: Session, run: Run) -> None:
    answers = answers_of(charged, "rq-broker")
    assert answers["heartbeat h1"][0] == "NO_PLUGIN"
    assert groups_of(charged, "rq-broker")["empty"][1] == "EMPTY"
    assert backoffs_of(charged, "rq-broker") == {}


def test_a_message_is_withheld_where_kafka_does(charged: Session, run: Run) -> None:
    found = dict(
        rows(
            charged,
            "select cluster_id, error_message from decisions.group_deletion_results "
            "where request_id = 'd1' and group_id = 'fail-empty'",
        )
    )
    text = "Topology description plugin failed to delete the topology."
    told = {cluster: text for cluster in RULE_SETS} | {"rq-draft": "plugin offline"}
    assert {cluster: found[cluster] for cluster in RULE_SETS} == told


def test_metrics_count_as_kafka_does(charged: Session, run: Run) -> None:
    """Deletes beside the cycle's are counted since KAFKA-20748."""
    prefix, suffix = "streams-group-topology-description-", "-count"
    found = {
        (row["cluster_id"], row["metric_name"].removeprefix(prefix).removesuffix(suffix)): row[
            "value"
        ]
        for row in mart(charged, "metrics")
        if row["metric_name"].startswith(prefix) and row["metric_name"].endswith(suffix)
    }
    for cluster in RULE_SETS:
        assert (found[cluster, "set-success"], found[cluster, "set-error"]) == (6, 3)
        assert found[cluster, "cleanup-eligible"] == 0
    assert (found["rq-v3", "delete-success"], found["rq-v3", "delete-error"]) == (3, 3)
    assert found["rq-v1", "delete-success"] == 0


def test_a_request_is_answered_once(charged: Session, run: Run) -> None:
    with statements() as given:
        again = decide(charged, "requests", [*RULE_SETS, "rq-broker"], AT_MS, is_dry_run=False)
    assert again.counts == {"decided": 0}
    assert len(given) <= 2  # which clusters there are


def test_a_cycle_ends_the_back_offs_of_what_it_deletes(
    charged: Session, run: Run, folder: Path
) -> None:
    (folder / "rq-v3" / "healed").touch()
    decide(charged, "cycle", ["rq-v3"], AT_MS, is_dry_run=False)
    assert "fail-join" not in backoffs_of(charged, "rq-v3")
    assert groups_of(charged, "rq-v3")["fail-join"][2] == -1


def test_the_back_off_of_a_group_that_vanished_goes_without_a_request(
    charged: Session, run: Run
) -> None:
    assert "asked" in backoffs_of(charged, "rq-v1")
    log = Log()
    log.add(log.group_key("asked"), None)
    fold_records(charged, {"rq-v1": moved(log, 2_000)})
    decide(charged, "requests", ["rq-v1"], AT_MS, is_dry_run=True)
    assert "asked" in backoffs_of(charged, "rq-v1")
    decide(charged, "requests", ["rq-v1"], AT_MS, is_dry_run=False)
    assert "asked" not in backoffs_of(charged, "rq-v1")


def test_a_group_that_was_made_again_has_no_back_off(
    charged: Session, run: Run, tmp_path: Path
) -> None:
    """Though no run saw that it was gone, and its window is open."""
    clusters = ["rq-draft", "rq-v2", "rq-v3"]
    log = Log()
    log.add(log.group_key("asked"), None)
    log.records += moved(log_of_groups(), 1)
    records = [r for r in moved(log, 2_000) if b"asked" in (r.key or b"")]
    fold_records(charged, dict.fromkeys(clusters, records))
    file = tmp_path / "heartbeats.jsonl"
    lines = [heartbeat("h7", "asked", 3_000), heartbeat("h8", "asked", 3_001)]
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    for cluster in clusters:
        load(charged, [file], cluster, "heartbeats")
    decide(charged, "requests", clusters, AT_MS, is_dry_run=False)
    for cluster in clusters:
        answers = answers_of(charged, cluster)
        assert (answers["heartbeat h7"][0], answers["heartbeat h8"][0]) == (
            "REQUIRED",
            "BACKOFF_ACTIVE",
        )
        assert backoffs_of(charged, cluster)["asked"] == (3, 0, 33_000)


def test_what_a_request_removed_is_there_again_without_its_description(
    charged: Session, run: Run
) -> None:
    """Only a later record brings it back, and only one of the group itself tells epochs again."""

    def folded(places: int, stored: int | None) -> tuple[Any, Any]:
        log = Log()
        for group in ("empty", "converted"):
            if stored is None:
                log.commit(group, f"t{places}")
            else:
                log.streams(group, stored)
        fold_records(charged, {"rq-v3": moved(log, places)})
        groups = groups_of(charged, "rq-v3")
        return groups["empty"][:3], groups["converted"][:3]

    gone = ("streams", "DEAD", -1), ("classic", "PREPARING_REBALANCE", -1)
    assert folded(0, None) == gone
    assert folded(1_000, None) == (("streams", "EMPTY", -1),) * 2
    assert folded(1_100, 5) == (("streams", "EMPTY", 5),) * 2


def test_another_writer_that_is_faster_than_a_call(
    session: Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """67, 100, 190: who drops out at the barrier is not asked of the plugin, and is answered as it
    is then; who is moved behind it is, as in Kafka. What could never be called says so.
    """
    cluster, requests = "rq-moved", ("push", "delete", "join")
    charged = in_charge(session, tmp_path, {cluster: "kafka_4_4"})
    log = Log()
    for group in ("gone-push", "moved-push"):
        log.streams(group)
        log.member(group, "m", 19)
        key = encode_key("consumer_offsets", 23, {"groupId": group})
        log.add(key, encode_value("consumer_offsets", 23, 0, {"epoch": 3}))
    deleted = [f"{word}-{kind}" for word in ("back", "moved", "never") for kind in requests[1:]]
    for group in [*deleted, "cleared-delete"]:
        log.streams(group, stored=3)
    fold_records(charged, {cluster: log.records})
    pushes = [push(name, name, 1) for name in ("gone-push", "moved-push")]
    deletions = [g for g in [*deleted, "cleared-delete"] if g.endswith("delete")]
    joins = [
        {"request_id": g, "group_id": g, "member_id": "", "received_at_ms": 1}
        for g in deleted
        if g.endswith("join")
    ]
    one = {"request_id": "d", "request_version": 3, "group_ids": deletions, "received_at_ms": 1}
    beat = heartbeat("h", "never-delete", 2)
    kinds = {"topology_pushes": pushes, "group_deletions": [one], "classic_joins": joins}
    for kind, lines in (kinds | {"heartbeats": [beat]}).items():
        file = tmp_path / f"{kind}.jsonl"
        file.write_text("".join(json.dumps(line) + "\n" for line in lines))
        load(charged, [file], cluster, kind)

    def move(groups: str, to: str) -> None:
        change(
            charged,
            f"update state.groups set {to}, epochs_written_in_run_id = 'another' "
            f"where cluster_id = '{cluster}' and group_id {groups}",
        )

    rounds = 0

    def beside(session: Session, *names: str) -> None:
        nonlocal rounds
        if "record_request_calls" not in names:
            return _run_models(session, *names)
        rounds += 1
        barrier = "mark_requested_descriptions_uncertain"
        session.make_views(*helpers_under(names))
        if rounds == 1:
            move("= 'gone-push'", "group_state = 'DEAD', is_deleted = true")
            move("like 'back-%'", "group_state = 'STABLE'")
        run_alone(session, barrier)
        move("like 'never-%'", "stored_description_topology_epoch = -1")
        if rounds == 1:
            move("like 'moved-%'", "stored_description_topology_epoch = 5")
            move("= 'moved-push'", "stored_description_topology_epoch = -1")
            move("= 'cleared-delete'", "stored_description_topology_epoch = -1")
        run_alone(session, *(name for name in names if name != barrier))
        move("like 'never-%'", "stored_description_topology_epoch = 3")

    with monkeypatch.context() as patch:
        patch.setattr(Session, "run_models", beside)
        decide(charged, "requests", [cluster], AT_MS, is_dry_run=False)
    calls = (tmp_path / cluster / "calls.txt").read_text().splitlines()
    assert sorted(calls) == ["moved-delete", "moved-join", "set moved-push 3 ok"]
    told = {key: reason for key, (reason, _) in answers_of(charged, cluster).items()}
    assert told == {
        "push gone-push": "GROUP_NOT_FOUND",
        "push moved-push": "STORED",
        "deletion d back-delete": "NOT_EMPTY",
        "join back-join": "NOT_EMPTY",
        "deletion d cleared-delete": "DELETED",
        "deletion d moved-delete": "DELETED",
        "join moved-join": "CONVERTED",
        "deletion d never-delete": "NOT_CALLED",
        "join never-join": "NOT_CALLED",
        "heartbeat h": "NOT_CALLED",
    }
    found = groups_of(charged, cluster)
    assert found["moved-push"][2] == -2  # who finds that it was cleared is uncertain
    assert [found[f"back-{kind}"][1:3] for kind in requests[1:]] == [("STABLE", 3)] * 2
    errors = rows(
        charged,
        "select d.error_code, j.error_code, m.reason_text from decisions.group_deletion_results d "
        "join decisions.classic_join_results j using (cluster_id) "
        "join marts.decisions m on m.subject = 'push gone-push' and m.cluster_id = d.cluster_id "
        f"where d.cluster_id = '{cluster}' and d.group_id = 'never-delete' "
        "and j.request_id = 'never-join'",
    )
    assert errors == [("NOT_COORDINATOR", "REBALANCE_IN_PROGRESS", "There is no such group.")]


def _die_in_call(session: Session, *names: str) -> None:
    """The barrier is written, and no outcome of a call. A process of its own is killed in a call
    of a cycle (`test_killed_processes.py`).
    """
    _run_models(session, *(name for name in names if name != "record_request_calls"))
    if "record_request_calls" in names:
        raise Killed


def test_what_was_killed_ends_like_what_was_not(
    session: Session, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Killed once at each point of the same run; the command after it goes on from there."""
    killed, whole = "rq-killed", "rq-whole"
    names = dict.fromkeys((killed, whole), "kafka_4_4")
    charged = in_charge(session, folder, names)
    for cluster in names:
        (folder / cluster / "wait-raced.go").touch()
    fold_records(charged, {cluster: log_of_groups().records for cluster in names})
    load_all(charged, folder, list(names))
    decide(charged, "requests", [whole], AT_MS, is_dry_run=False)
    with monkeypatch.context() as patch, pytest.raises(Killed):  # in_call
        patch.setattr(Session, "run_models", _die_in_call)
        decide(fresh(charged), "requests", [killed], AT_MS, is_dry_run=False)
    for point in POINTS:
        with dying_at(point):
            finish_interrupted(fresh(charged))
    finish_interrupted(fresh(charged))
    assert groups_of(charged, killed) == groups_of(charged, whole)
    assert backoffs_of(charged, killed) == backoffs_of(charged, whole)
    told, undisturbed = (answers_of(charged, name) for name in (killed, whole))
    assert {k: v[0] for k, v in told.items()} == {k: v[0] for k, v in undisturbed.items()}
    calls, once = (
        sorted((folder / name / "calls.txt").read_text().splitlines()) for name in (killed, whole)
    )
    assert calls == once
