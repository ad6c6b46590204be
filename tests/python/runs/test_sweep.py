"""The sweep applied: offsets first, then the gate, then group tombstones.

The case numbers are those of the specification, section 10.9.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from encode import encode_value
from log_support import Log
from spark_support import change, dying_at, fold_records, rows, with_clusters

from moldau.runs.decide import decide
from moldau.runs.resume import finish_interrupted
from moldau.sessions.session import Session

DAY_MS = 86_400_000
AT_MS = 1_800_000_000_000
RULE_SETS = {"swept draft": "kip_1331_draft", "swept 4.4": "kafka_4_4"}
# cluster -> which of the batches that come after the sweep, load by load
RETURNING = {"in order": (0, 1), "reversed": (1, 0), "at once": (2,)}
Told = dict[str, Any]


def plugin_yml(folder: Path) -> str:
    return f"plugin: {{name: directory, path: {folder}}}"


def group_log() -> Log:
    log = Log()
    old, new = AT_MS - 30 * DAY_MS, AT_MS - DAY_MS
    log.streams("160 stored")
    log.streams("160 stored", stored=4)
    log.commit("160 stored", at_ms=old)
    log.streams("161 not stored")
    log.commit("161 not stored", at_ms=old)
    log.commit("simple", at_ms=old)
    log.commit("simple, one left", "aged", at_ms=old)
    log.commit("simple, one left", "young", at_ms=new)
    log.streams("no offsets")
    log.member("166 live")
    log.add(log.group_key("166 live", 3), encode_consumer_group())
    log.commit("166 live", "other", at_ms=old)
    log.add(log.group_key("164 share", 11), encode_share_group())
    return log


def encode_consumer_group() -> bytes:
    from encode import encode_value

    return encode_value("consumer_offsets", 3, 0, {"epoch": 1})


def encode_share_group() -> bytes:
    from encode import encode_value

    return encode_value("consumer_offsets", 11, 0, {"epoch": 1})


def states(session: Session, cluster: str) -> dict[str, str]:
    statement = "select group_id, group_state from state.groups where cluster_id = "
    return dict(rows(session, f"{statement}'{cluster}'"))


def live_offsets(session: Session, cluster: str) -> set[tuple[str, str]]:
    return set(
        rows(
            session,
            "select group_id, topic_name from state.group_offsets "
            f"where cluster_id = '{cluster}' and not is_deleted",
        )
    )


def tombstones(session: Session, cluster: str) -> list[tuple[Any, ...]]:
    return rows(
        session,
        "select group_id, topic_name, partition_index, committed_offset, removed_by "
        f"from history.tombstones where cluster_id = '{cluster}' order by 1, 2",
    )


def log_of(*groups: str) -> Log:
    """Simple groups, each with an offset that is long due."""
    log = Log()
    for group in groups:
        log.commit(group, at_ms=AT_MS - 30 * DAY_MS)
    return log


def gated_log() -> Log:
    log = Log()
    log.streams("fail-g", stored=4)
    log.commit("simple", "due", at_ms=AT_MS - 30 * DAY_MS)
    log.commit("simple", "young", at_ms=AT_MS - DAY_MS)
    return log


def returning_log() -> Log:
    log = Log()
    log.streams("g")
    log.classic("k")
    return log


@pytest.fixture(scope="module")
def swept(session: Session, tmp_path_factory: pytest.TempPathFactory) -> Told:
    """All clusters of this file, folded at once; the first sweep is about most of them."""
    folder = tmp_path_factory.mktemp("descriptions")
    clusters = {
        name: f"{{authority: moldau, ruleset: {{groups: {ruleset}}}, {plugin_yml(folder)}}}"
        for name, ruleset in RULE_SETS.items()
    }
    clusters["swept, no plugin"] = "{authority: moldau}"
    clusters["the broker sweeps"] = "{}"
    healing = tmp_path_factory.mktemp("scripted")
    scripted = f"{{name: scripted, folder: {healing}, failing: fail}}"
    others = {
        "saved": "{authority: moldau}",
        **dict.fromkeys(RETURNING, f"{{authority: moldau, {plugin_yml(folder)}}}"),
        "relieved": "{authority: moldau}",
        "gated": f"{{authority: moldau, plugin: {scripted}}}",
    }
    session = with_clusters(session, clusters | others)
    log = group_log()
    logs = dict.fromkeys(clusters, log) | dict.fromkeys(RETURNING, returning_log())
    logs |= {"saved": log_of("g", "other"), "relieved": log_of("simple"), "gated": gated_log()}
    fold_records(session, {name: one.records for name, one in logs.items()})
    told: Told = {"session": session, "clusters": clusters, "log": log, "healing": healing}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("moldau.runs.stages.die_at", lambda point: commit_again(session, point))
        of_first = [*clusters, "saved", *RETURNING]
        told["first"] = decide(session, "sweep", of_first, AT_MS, is_dry_run=False)
    told["states"] = {name: states(session, name) for name in of_first}
    told["offsets"] = {name: live_offsets(session, name) for name in of_first}
    told["tombstones"] = {name: tombstones(session, name) for name in clusters}
    decide(session, "cycle", list(clusters), AT_MS + 1, is_dry_run=False)
    told["second"] = decide(session, "sweep", list(clusters), AT_MS + 2, is_dry_run=False)
    told["later states"] = {name: states(session, name) for name in clusters}
    return told


def commit_again(session: Session, point: str) -> None:
    """Another writer: a commit of `saved` comes between decision and sweep."""
    if point == "after_decide":
        change(
            session,
            "update state.group_offsets set commit_log_offset = 7, committed_offset = 8 "
            "where cluster_id = 'saved' and group_id = 'g'",
        )


def test_offsets_go_and_the_gate_holds_the_group(swept: Told) -> None:
    """160, 161: the offset tombstones of the pass are kept."""
    for name in RULE_SETS:
        found = swept["states"][name]
        assert (found["160 stored"], found["161 not stored"]) == ("EMPTY", "DEAD")
        assert swept["offsets"][name] == {("simple, one left", "young")}


def test_without_a_plugin_the_epoch_is_never_looked_at(swept: Told) -> None:
    """162."""
    assert swept["states"]["swept, no plugin"]["160 stored"] == "DEAD"


def test_groups_of_every_type_as_the_rules_say(swept: Told) -> None:
    """164, 166: a share group never goes, nor does one with members."""
    for name in [*RULE_SETS, "swept, no plugin"]:
        found = swept["states"][name]
        assert (found["simple"], found["no offsets"]) == ("DEAD", "DEAD")
        assert found["simple, one left"] == "EMPTY"
        assert found["164 share"] == "EMPTY"
        assert found["166 live"] not in ("DEAD", "EMPTY")


def test_what_went_is_in_the_history(swept: Told) -> None:
    assert swept["tombstones"]["swept draft"] == [
        ("160 stored", "t", 0, 5, "sweep"),
        ("161 not stored", None, None, None, "sweep"),
        ("161 not stored", "t", 0, 5, "sweep"),
        ("166 live", "other", 0, 5, "sweep"),
        ("no offsets", None, None, None, "sweep"),
        ("simple", None, None, None, "sweep"),
        ("simple", "t", 0, 5, "sweep"),
        ("simple, one left", "aged", 0, 5, "sweep"),
    ]
    of_others = {"saved": 1, **dict.fromkeys(RETURNING, 2)}
    assert swept["first"].counts["groups_removed"] == 3 + 3 + 4 + sum(of_others.values())
    assert swept["first"].counts["offsets_removed"] == 3 * 5 + 1


def test_nothing_is_removed_where_the_broker_is_in_charge(swept: Told) -> None:
    assert "DEAD" not in swept["states"]["the broker sweeps"].values()
    assert len(swept["offsets"]["the broker sweeps"]) == 6
    assert swept["tombstones"]["the broker sweeps"] == []


def test_once_the_description_is_deleted_the_next_sweep_removes_the_group(swept: Told) -> None:
    """167, 169: deleteTopology first, then the tombstone; the sweep that changed nothing else."""
    session = swept["session"]
    for name in RULE_SETS:
        assert swept["later states"][name]["160 stored"] == "DEAD"
        called, removed = rows(
            session,
            "select max(calls.finished_at_ms), max(tombstones.removed_at_ms) "
            "from history.plugin_calls as calls join history.tombstones as tombstones "
            "on calls.cluster_id = tombstones.cluster_id and calls.group_id = tombstones.group_id "
            f"where calls.cluster_id = '{name}' and tombstones.topic_name is null",
        )[0]
        assert called <= removed
    assert swept["second"].counts["groups_removed"] == 2
    assert "offsets_removed" not in swept["second"].counts


def test_what_the_sweep_removed_is_revived_by_a_later_record_only(swept: Told) -> None:
    session, log, name = swept["session"], swept["log"], "swept draft"
    fold_records(session, {name: log.records})  # the same again
    assert states(session, name)["simple"] == "DEAD"
    count = len(log.records)
    log.commit("simple", at_ms=AT_MS)
    log.remove_commit("161 not stored")
    log.commit("160 stored", at_ms=AT_MS)
    fold_records(session, {name: log.records[count:]})
    found = states(session, name)
    assert (found["simple"], found["161 not stored"]) == ("EMPTY", "DEAD")
    epochs = "select group_state, stored_description_topology_epoch from state.groups "
    of_group = f"where cluster_id = '{name}' and group_id = '160 stored'"
    assert rows(session, epochs + of_group) == [("EMPTY", -1)]  # not the 4 of its old record
    assert ("simple", "t") in live_offsets(session, name)
    by = rows(
        session,
        "select group_id, deleted_by from state.groups "
        f"where cluster_id = '{name}' and group_id in ('simple', '161 not stored') order by 1",
    )
    assert by == [("161 not stored", "sweep"), ("simple", None)]


def test_a_commit_between_decision_and_sweep_saves_the_offset_and_the_group(swept: Told) -> None:
    assert swept["offsets"]["saved"] == {("g", "t")}
    assert swept["states"]["saved"] == {"g": "EMPTY", "other": "DEAD"}


def test_what_was_removed_is_recorded_though_the_authority_was_withdrawn_before_the_run_ended(
    swept: Told,
) -> None:
    session = swept["session"]
    with dying_at("after_clear"):
        decide(session, "sweep", ["relieved"], AT_MS, is_dry_run=False)
    assert states(session, "relieved") == {"simple": "DEAD"}
    [run] = finish_interrupted(with_clusters(session, {"relieved": "{authority: broker}"}))
    assert (run.counts["offsets_removed"], run.counts["groups_removed"]) == (1, 1)
    assert [row[:2] for row in tombstones(session, "relieved")] == [
        ("simple", None),
        ("simple", "t"),
    ]


def test_the_gate_tells_what_it_waits_for_and_opens(swept: Told) -> None:
    """A run of both kinds at one instant: the sweep sees what the cycle released."""
    session = swept["session"]
    for at_ms in (AT_MS, AT_MS + 1):
        decide(session, "cycle", ["gated"], at_ms, is_dry_run=False)
        decide(session, "sweep", ["gated"], at_ms, is_dry_run=False)
    of_cluster = "where cluster_id = 'gated'"
    held = "select group_id, failed_attempts, last_plugin_message from marts.deferred_groups"
    assert rows(session, f"{held} {of_cluster}") == [("fail-g", 2, "plugin offline")]
    calendar = f"select topic_name from marts.expiry_calendar {of_cluster}"
    assert rows(session, calendar) == [("young",)], "what was removed is no longer foretold"
    preview = f"select group_id from marts.cleanup_preview {of_cluster} order by 1"
    assert rows(session, preview) == [("fail-g",), ("simple",)]

    (swept["healing"] / "healed").touch()
    for kind in ("cycle", "sweep"):
        decide(session, kind, ["gated"], AT_MS + 2, is_dry_run=False)
    assert states(session, "gated") == {"fail-g": "DEAD", "simple": "EMPTY"}
    assert rows(session, f"{held} {of_cluster}") == []


def test_what_comes_after_a_sweep_may_be_loaded_in_any_order(swept: Told) -> None:
    """The group came back and went again, by the broker."""
    session, log = swept["session"], returning_log()
    assert swept["states"]["at once"] == {"g": "DEAD", "k": "DEAD"}
    before = len(log.records)
    for group in ("g", "k"):
        log.commit(group, "t2", at_ms=AT_MS)
    parted = len(log.records)
    for group in ("g", "k"):
        log.remove_commit(group, "t2")
    log.add(log.group_key("g"), None)
    log.add(log.group_key("k", 2), None)
    batches = (log.records[before:parted], log.records[parted:], log.records[before:])
    for step in range(2):
        coming = {n: batches[which[step]] for n, which in RETURNING.items() if step < len(which)}
        fold_records(session, coming)
    for name in RETURNING:
        assert states(session, name) == {"g": "DEAD", "k": "DEAD"}, name
        assert rows(
            session,
            "select distinct deleted_by, tombstone_log_offset > 0 from state.groups "
            f"where cluster_id = {name!r}",
        ) == [("broker", True)], name


def test_a_fold_notes_when_the_first_offset_of_a_group_is_due(session: Session) -> None:
    """Of each of the clocks the earliest offset, and of these the earliest."""
    log, week = Log(), 7 * DAY_MS

    def explicit(group: str, topic: str, expire_at_ms: int) -> None:
        told = {"offset": 5, "commitTimestamp": 1, "expireTimestamp": expire_at_ms}
        value = encode_value("consumer_offsets", 1, 1, told)
        log.add(log.commit_key(group, topic), value, 1)

    for group in ("own time", "commit", "empty"):
        explicit(group, "late", 9 * week)
        log.commit(group, "early", at_ms=3_000)
        log.commit(group, "later", at_ms=4_000)
    explicit("own time", "soon", 5_000)
    log.classic("empty")  # since 7
    log.classic("empty, own time")
    explicit("empty, own time", "soon", 5_000)
    log.commit("none left", at_ms=3_000)
    log.remove_commit("none left")
    fold_records(session, {"noted when due": log.records})
    noted = "select group_id, next_due_at_ms from state.groups where cluster_id = 'noted when due'"
    assert dict(rows(session, noted)) == {
        "own time": 5_000,
        "commit": 3_000 + week,
        "empty": 7 + week,
        "empty, own time": 5_000,
        "none left": None,
    }
