"""A load and a cycle whose processes are killed with their JVM end like undisturbed ones.

Four commands on one warehouse: a load is killed while it appends; the next command finishes it,
and its cycle is killed within a plugin's call; the third goes on with the cycle until it is killed
after the clear; the last one is not. The other points at which a run or a load may end are those of
`test_kills.py` and `loading/test_crash.py`, where they cost no process.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from kill_support import (
    GROUPS,
    Told,
    calls_in,
    expect_each_once,
    expect_same_end,
    settings_of,
    webhook,
)
from spark_support import CAPTURES, DISTRIBUTION

from moldau.engines.spark.spark_session import BRIEF_OPTIONS
from moldau.errors import MoldauError
from moldau.runs.opening import open_session
from moldau.settings import load_settings
from moldau.settings.rule_sets import rule_sets
from moldau.warehouse.lock import locked

pytestmark = pytest.mark.processes
SOURCE = CAPTURES / "cleanup-noplugin" / "__consumer_offsets.jsonl"
LOADED, UNDISTURBED = "loaded", "undisturbed"
STAGED, APPENDED = "_moldau/runs/*-load.json", "raw/records/_delta_log/*.json"
# what the cycle does is begun by the second command and told of by the last one
PROGRAM = """
import json, os, sys
from pathlib import Path
from kill_support import AT_MS, calm, fold_groups, told_of
from spark_support import contents, rows
from moldau.runs.load import load
from moldau.runs.decide import decide
from moldau.runs.opening import open_session
from moldau.settings import load_settings

folder, source, names, point = json.loads(sys.argv[1])
folder = Path(folder)
settings = load_settings(folder / "moldau.yml", folder / "w")
with open_session(settings, "load " + point) as session:
    if point == "append":
        load(session, [Path(source)], "loaded", "records")
    if point == "in_call":
        fold_groups(session, names)
        os.environ["MOLDAU_FAIL_AT"] = point
        decide(session, "cycle", names, AT_MS, is_dry_run=False)
    decide(session, "cycle", calm(names), AT_MS, is_dry_run=False)
    load(session, [Path(source)], "undisturbed", "records")
    told = told_of(session, names, "cycle")
    loads = "select run_id, cluster_ids[0] from state.runs where kind = 'load' order by 1"
    told["loads"] = [row for row in rows(session, loads) if row[1]]
    for table, hidden in {
        "raw.records": ["run_id"],
        "decoded.group_records": ["run_id"],
        "state.groups": ["changed_in_run_id"],
        "state.group_offsets": ["changed_in_run_id"],
        "state.group_records": [],
    }.items():
        where = "cluster_id in ('loaded', 'undisturbed')"
        told[f"loaded {table}"] = contents(session, table, hidden, where)
    (folder / "told.json").write_text(json.dumps(told))
"""


def start(folder: Path, names: list[str], point: str) -> subprocess.Popen[bytes]:
    here = Path(__file__).parent
    environment = os.environ | {
        "PYTHONPATH": os.pathsep.join(map(str, [here, here.parent, DISTRIBUTION, *sys.path])),
        "MOLDAU_DRIVER_MEMORY": "1g",
        "MOLDAU_JAVA_OPTIONS": BRIEF_OPTIONS,
    }
    if point == "after_clear":  # the run is begun already
        environment["MOLDAU_FAIL_AT"] = point
    words = json.dumps([str(folder), str(SOURCE), names, point])
    command = [sys.executable, "-c", PROGRAM, words]
    return subprocess.Popen(command, env=environment, start_new_session=True)


def wait_until(happened: Callable[[], Any], process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + 300
    while not happened():
        assert process.poll() is None, "the load ended before it could be killed"
        assert time.monotonic() < deadline
        time.sleep(0.002)


def meet_the_lock(warehouse: Path, process: subprocess.Popen[bytes]) -> dict[str, Any]:
    """What a second command is told at once; and that one which waits gets in at last."""
    wait_until((warehouse / "state" / "runs" / "_delta_log").is_dir, process)
    with (
        pytest.raises(MoldauError) as refused,
        open_session(load_settings(None, warehouse), "second"),
    ):
        pass
    waited = threading.Event()

    def wait() -> None:
        with locked(warehouse, "third", wait_seconds=300):
            waited.set()

    threading.Thread(target=wait, daemon=True).start()
    return {"refused": str(refused.value), "pid": process.pid, "waited": waited}


def kill_while_it_appends(warehouse: Path, process: subprocess.Popen[bytes]) -> None:
    wait_until(lambda: [*warehouse.glob(STAGED)], process)
    before = len([*warehouse.glob(APPENDED)])
    wait_until(lambda: len([*warehouse.glob(APPENDED)]) > before, process)
    os.killpg(process.pid, 9)


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> Told:
    folder = tmp_path_factory.mktemp("killed")
    warehouse = folder / "w"
    with webhook() as url:
        settings = settings_of(folder, url)
        lines = [
            f"  {prefix}{name}: {of_name}\n"
            for name, of_name in settings.items()
            for prefix in ("", "calm ")
        ]
        (folder / "moldau.yml").write_text("clusters:\n" + "".join(lines))
        loading = start(folder, [*settings], "append")
        try:
            lock = meet_the_lock(warehouse, loading)
            kill_while_it_appends(warehouse, loading)
        finally:
            if loading.poll() is None:
                os.killpg(loading.pid, 9)
        codes = [loading.wait()]
        assert lock["waited"].wait(timeout=60)
        for point in ("in_call", "after_clear", ""):
            codes.append(start(folder, [*settings], point).wait(timeout=600))
    found = json.loads((folder / "told.json").read_text())
    left = [str(path) for path in (warehouse / "_moldau" / "loads").glob("*")]
    return found | lock | {"codes": codes, "left": left, "called": calls_in(folder)}


def test_each_process_was_killed_and_the_last_one_ended(told: Told) -> None:
    assert told["codes"] == [-9, -9, -9, 0]


def test_a_second_process_is_told_who_holds_the_warehouse(told: Told) -> None:
    assert f"is in use by `load append` (pid {told['pid']})" in told["refused"]


def test_a_process_that_waits_gets_in_when_the_holder_is_gone(told: Told) -> None:
    assert told["waited"].is_set()


def test_a_killed_load_ends_in_the_state_of_an_undisturbed_one(told: Told) -> None:
    tables = {name: found for name, found in told.items() if name.startswith("loaded ")}
    assert len(tables) == 5
    for table, found in tables.items():
        assert found[UNDISTURBED]
        assert found[LOADED] == found[UNDISTURBED], table


def test_each_load_has_one_run_and_leaves_nothing_behind(told: Told) -> None:
    [first, second] = told["loads"]
    assert (first, second[1]) == (["00000001-load", LOADED], UNDISTURBED)
    assert told["left"] == []


def test_a_killed_cycle_ends_like_one_that_was_not(told: Told) -> None:
    expect_same_end({name: of for name, of in told.items() if not name.startswith("loaded ")})


def test_each_call_is_recorded_and_each_epoch_cleared_once(told: Told) -> None:
    expect_each_once(told)


def test_a_call_is_repeated_only_where_its_outcome_was_not_recorded(told: Told) -> None:
    """Killed once in the calls: a cluster of each rule set and its calm one use this plugin."""
    clusters = len(rule_sets("groups"))
    assert all(0 <= count - 2 * clusters <= clusters for count in told["called"].values())
    assert set(told["called"]) == set(GROUPS)


def test_a_killed_cycle_keeps_its_id_and_has_one_row(told: Told) -> None:
    assert [kind for kind, _ in told["runs"]] == ["cycle", "cycle"]
    assert told["runs"][0] == told["runs"][1]
