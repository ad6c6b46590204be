"""A run that is asked to stop does so between two stages, and the next command finishes it.

The case numbers are those of the specification, section 10.8.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from log_support import Log
from spark_support import fold_records, rows, with_clusters

from moldau.runs.decide import decide
from moldau.runs.resume import finish_interrupted
from moldau.sessions.open_run import next_run_id
from moldau.sessions.run import SKIPPED, Run
from moldau.sessions.run_rows import append_rows
from moldau.sessions.session import Session
from moldau.sessions.shutdown import ShutdownRequested, Signals, stops_when

AT_MS = 1_800_000_000_000
BEFORE, BETWEEN, UNCERTAIN = "stopped before", "stopped between", "stopped uncertain"
STORIES = {BEFORE: "kip_1331_draft", BETWEEN: "kip_1331_draft", UNCERTAIN: "kafka_4_4"}
Found = tuple[list[str], int, int]


def found(session: Session, cluster: str) -> Found:
    """Outcomes of the calls, the stored epoch, rows of finished cycles."""
    calls = rows(
        session, f"select outcome from history.plugin_calls where cluster_id = '{cluster}'"
    )
    epoch = "select stored_description_topology_epoch from state.groups"
    runs = "select count(*) from state.runs where kind = 'cycle' and status = 'succeeded'"
    return (
        [row[0] for row in calls],
        rows(session, f"{epoch} where cluster_id = '{cluster}'")[0][0],
        rows(session, f"{runs} and array_contains(cluster_ids, '{cluster}')")[0][0],
    )


@pytest.fixture(scope="module")
def folders(session: Session, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Each story is a cluster with one eligible group; its plugin notes its calls in a folder."""
    found = {story: tmp_path_factory.mktemp("stopped") for story in STORIES}
    log = Log()
    log.streams("g", stored=3)
    configured = with_clusters(session, {name: yml_of(name, found[name]) for name in STORIES})
    fold_records(configured, dict.fromkeys(STORIES, log.records))
    return found


def yml_of(story: str, folder: Path) -> str:
    plugin = f"{{name: scripted, folder: {folder}}}"
    return f"{{authority: moldau, ruleset: {{groups: {STORIES[story]}}}, plugin: {plugin}}}"


def stopped(session: Session, story: str, folder: Path, when: Callable[[], bool]) -> Any:
    """What a cycle over one eligible group leaves behind, and what it is once finished."""
    session = with_clusters(session, {story: yml_of(story, folder)})
    with pytest.raises(ShutdownRequested), stops_when(when):
        decide(session, "cycle", [story], AT_MS, is_dry_run=False)
    left = found(session, story)
    dropped = [Run("", "cycle", [story], AT_MS) for _ in range(2)]
    append_rows(session.warehouse, dropped, SKIPPED)
    finish_interrupted(session)
    return {"left": left, "dropped": dropped, "finished": found(session, story), "as": story}


def test_case_133_shutdown_before_the_calls(session: Session, folders: dict[str, Path]) -> None:
    told = stopped(session, BEFORE, folders[BEFORE], lambda: True)
    assert told["left"] == ([], 3, 0), "no delete, no write"
    assert told["finished"] == (["success"], -1, 1)
    finished = rows(
        session,
        "select run_id, counts['cleared'] from state.runs "
        f"where array_contains(cluster_ids, '{told['as']}') and status = 'succeeded' "
        "and kind = 'cycle'",
    )[0]
    first, second = (run.run_id for run in told["dropped"])
    assert finished == (f"{int(first[:8]) - 1:08d}-cycle", 1), "it kept its number"
    assert second == f"{int(first[:8]) + 1:08d}-cycle"
    assert next_run_id(session, "load") == f"{int(first[:8]) + 2:08d}-load"
    changed = f"from history.decision_changes where cluster_id = '{told['as']}'"
    assert rows(session, f"select run_id, reason_code {changed}") == [
        (finished[0], rows(session, f"select reason_code {changed}")[0][0])
    ], "although the rows of the dropped ticks stood before it"


def test_case_134_shutdown_between_delete_and_write(
    session: Session, folders: dict[str, Path]
) -> None:
    called = folders[BETWEEN] / "calls.txt"
    told = stopped(session, BETWEEN, folders[BETWEEN], called.exists)
    assert told["left"] == (["success"], 3, 0), "the delete is counted, nothing is written"
    assert told["finished"] == (["success"], -1, 1)
    assert called.read_text() == "g\n", "and not called again"


def test_case_134_after_the_barrier_the_epoch_stays_uncertain(
    session: Session, folders: dict[str, Path]
) -> None:
    folder = folders[UNCERTAIN]
    told = stopped(session, UNCERTAIN, folder, (folder / "calls.txt").exists)
    assert told["left"] == (["success"], -2, 0)
    assert told["finished"] == (["success"], -1, 1)


def test_a_signal_wakes_whoever_waits_and_stays_received() -> None:
    kept = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)}
    signals = Signals()
    try:
        signals.listen()
        assert not signals.wait(1)
        os.kill(os.getpid(), signal.SIGTERM)
        began = time.monotonic()
        assert signals.wait(600_000)
        assert signals.wait(600_000)
        assert time.monotonic() - began < 600, "it did not wait until its time was over"
    finally:
        for number, handler in kept.items():
            signal.signal(number, handler)
