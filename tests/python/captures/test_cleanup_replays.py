"""moldau in the broker's place does what the broker did: epochs and tombstones of every group.

moldau gets the records that clients caused (joins, pushes, commits, leaves, DeleteGroups, the
classic join), up to the instant of each run, and decides and applies by itself; the plugin's
deletes end as the broker's did. Runs are told apart, so each step is made in the run that stands
for the broker's tick, and none earlier or later. The differences in timing are these:

* A sweep that expires offsets runs at the broker's instant to the millisecond, and the one before
  it, which must keep them, a check interval earlier. All other runs keep only the broker's order:
  with `kafka_4_4` neither a cycle nor the tombstone of a group without offsets asks the clock.
* Of the ticks at which the broker wrote nothing about a group (most of some hundred) those next
  to its acts are run. A delete that the broker's plugin failed up to 107 times fails here twice.
* A cycle is one run, where a slow plugin kept the broker's open for eight seconds.

After moldau's first write records leave the epochs alone, and a push reaches moldau as a request
of its own. One group pushes again before it is tombstoned (slow-race, while its delete is in
progress): there the test writes what the push leaves. All other records are replayed to their end.
"""

from __future__ import annotations

import contextlib
import json
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow as pa
import pytest
from cleanup_support import expected_of
from replay_support import AT_MS, RUNS, replays_of
from spark_support import change, fold, parquet_of, rows, with_clusters

from moldau.runs.decide import decide
from moldau.sessions.session import Session

CAPTURES = ("cleanup-inmemory", "cleanup-failing")
REPLAYS = {capture: replays_of(capture) for capture in CAPTURES}
ALL = [replay for replays in REPLAYS.values() for replay in replays]
# a transaction with a commit of this group is open until the capture's script aborts it
TRANSACTION = next(replay for replay in ALL if replay.life.group == "c-txn-off")
# how the plugin's protocol names what became of the broker's future, or of its lack
OUTCOMES = {
    "ok": "success",
    "slow start": "success",
    "fail": "transient_failure",
    "throw": "permanent_failure",
}
CYCLES_THAT_CALL = 2  # the cycle before a group's first act finds nothing to delete


@dataclass
class Told:
    """By cluster: what was written, in its order, and how the plugin's calls ended."""

    steps: dict[str, list[str]]
    calls: dict[str, list[str]]
    # by number of the run: stored and failed epoch of every streams group that is alive
    epochs: list[dict[str, tuple[int, int]]] = field(default_factory=list)


@pytest.fixture(scope="module")
def told(session: Session, tmp_path_factory: pytest.TempPathFactory) -> Told:
    folder = tmp_path_factory.mktemp("plugin")
    results = {replay.life.group: replay.life.deletes() for replay in ALL}
    (folder / "results.json").write_text(json.dumps(results))
    plugin = f"{{name: replayed, folder: {folder}, timeout_seconds: 60}}"
    common = f"authority: moldau, ruleset: {{groups: kafka_4_4}}, plugin: {plugin}"
    minutes = {name: expected_of(name)["config"]["offsets.retention.minutes"] for name in CAPTURES}
    settings = {
        replay.cluster: f"{{{common}, offsets.retention.minutes: {minutes[replay.life.capture]}}}"
        for replay in ALL
    }
    session = with_clusters(session, settings)
    told = Told({}, {})
    run_ids = []
    for number, kind in enumerate(RUNS):
        came = [replay.decoded(number) for replay in ALL if replay.records(number)]
        if came:
            relation = parquet_of(session, pa.concat_tables(came))
            fold(session, list(settings), f"select * from {relation}")
        replace_open_transactions(session, number)
        with clients_during_the_calls(session, number, folder):
            run = decide(session, kind, list(settings), AT_MS[number], is_dry_run=False)
        run_ids.append(run.run_id)
        told.epochs.append(epochs(session))
    told.steps = steps(session, run_ids)
    told.calls = calls(session, run_ids)
    return told


def replace_open_transactions(session: Session, number: int) -> None:
    """The snapshot before the first run, and the empty one once the transaction was aborted."""
    script = expected_of(TRANSACTION.life.capture)["actions"]
    aborted_at_ms = script["t0_ms"] + script["txn_end_s"] * 1000
    is_open = [at_ms < aborted_at_ms for at_ms in TRANSACTION.instants]
    if number == 0 or is_open[number - 1] > is_open[number]:
        pending = (
            f"select '{TRANSACTION.cluster}' as cluster_id, '{TRANSACTION.life.group}' as group_id,"
            " 'in' as topic_name, 1 as partition_index, 1L as producer_id "
            f"where {is_open[number]}"
        )
        fold(session, [TRANSACTION.cluster], pending, "open_transactions")


@contextlib.contextmanager
def clients_during_the_calls(session: Session, number: int, folder: Path) -> Iterator[None]:
    """Lets a slow delete end once the group's clients have pushed what they pushed meanwhile."""
    slow = {it.life.group: it for it in ALL if "slow start" in it.life.deletes()}
    is_over = threading.Event()

    def let_go() -> None:
        while not is_over.wait(0.05):
            for group in [group for group in slow if (folder / f"{group}.called").exists()]:
                replay = slow.pop(group)
                pushed = replay.pushed(number)
                if pushed is not None:
                    change(
                        session,
                        f"update state.groups set stored_description_topology_epoch = {pushed}, "
                        "group_state = 'STABLE', member_count = 1 "
                        f"where cluster_id = '{replay.cluster}'",
                    )
                (folder / f"{group}.go").touch()

    thread = threading.Thread(target=let_go, daemon=True)
    thread.start()
    try:
        yield
    finally:
        is_over.set()
        thread.join()


def epochs(session: Session) -> dict[str, tuple[int, int]]:
    clusters = {replay.cluster for replay in ALL}
    statement = (
        "select cluster_id, stored_description_topology_epoch, failed_description_topology_epoch "
        "from state.groups where group_type = 'streams' and not is_deleted"
    )
    return {row[0]: row[1:] for row in rows(session, statement) if row[0] in clusters}


def steps(session: Session, run_ids: list[str]) -> dict[str, list[str]]:
    """Steps on epochs and tombstones, each with the number of its run, in the order of the log."""
    found = rows(
        session,
        "select cluster_id, run_id, concat_ws(' ', step, epoch_after) as step, "
        "step <> 'barrier' as comes_second from history.epoch_clears "
        "union all "
        "select cluster_id, run_id, "
        "coalesce(concat('offset ', topic_name, '-', partition_index), 'group') as step, "
        "topic_name is null as comes_second from history.tombstones "
        "order by cluster_id, run_id, comes_second, step",
    )
    of_clusters: dict[str, list[str]] = {replay.cluster: [] for replay in ALL}
    for cluster, run_id, step, _ in found:
        if cluster in of_clusters:
            of_clusters[cluster].append(f"{run_ids.index(run_id)} {step}")
    return of_clusters


def calls(session: Session, run_ids: list[str]) -> dict[str, list[str]]:
    found = rows(
        session,
        "select cluster_id, run_id, outcome from history.plugin_calls order by cluster_id, run_id",
    )
    of_clusters: dict[str, list[str]] = {replay.cluster: [] for replay in ALL}
    for cluster, run_id, outcome in found:
        if cluster in of_clusters:
            assert run_id in run_ids
            of_clusters[cluster].append(outcome)
    return of_clusters


@pytest.mark.parametrize("capture", CAPTURES)
def test_the_replay_holds_the_whole_capture(capture: str) -> None:
    """As the capture's own facts count it, which were taken while the broker ran."""
    replays, facts = REPLAYS[capture], expected_of(capture)["facts"]
    assert {replay.life.group for replay in replays} >= set(facts)
    for replay in replays:
        given = [record for number in range(len(RUNS)) for record in replay.records(number)]
        assert given == replay.life.records
        ended = [step.partition(" ")[2] for step in replay.expected]
        fact = facts[replay.life.group]
        by_sweep = [step for step in ended if step.startswith("offset")]
        is_removed = fact["group_tombstone"] is not None
        if ended:
            assert len(by_sweep) == len(fact["offset_tombstones"])
            assert ("group" in ended) == is_removed
        else:
            assert is_removed, "its clients removed it"
    for replay in replays:
        succeeded = [it for it in replay.life.deletes() if OUTCOMES[it] == "success"]
        assert sum("finalise" in step for step in replay.expected) == len(succeeded)


@pytest.mark.parametrize("capture", CAPTURES)
def test_each_group_has_the_brokers_epochs_and_tombstones(told: Told, capture: str) -> None:
    expected = {replay.cluster: replay.expected for replay in REPLAYS[capture]}
    words = [step.split()[1] for steps in expected.values() for step in steps]
    assert {"barrier", "finalise", "offset", "group"} == set(words)
    assert {cluster: told.steps[cluster] for cluster in expected} == expected


@pytest.mark.parametrize("number", range(len(RUNS)))
def test_the_epochs_after_each_run_are_the_brokers(told: Told, number: int) -> None:
    """The failed epoch too: a clear keeps it."""
    expected = {it.cluster: it.life.epochs_at(it.ended_ms(number)) for it in ALL}
    assert told.epochs[number] == {name: value for name, value in expected.items() if value}


def test_the_plugin_was_called_as_often_as_by_the_broker_and_answered_as_there(told: Told) -> None:
    expected = {
        replay.cluster: [OUTCOMES[result] for result in replay.life.deletes()[:CYCLES_THAT_CALL]]
        for replay in ALL
    }
    assert {outcome for outcomes in expected.values() for outcome in outcomes} == {
        *OUTCOMES.values()
    }
    assert told.calls == expected
