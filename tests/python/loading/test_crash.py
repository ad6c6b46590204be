"""A load that is killed at any moment is finished by the next command: nothing lost or doubled.

Each process loads one cluster more and is killed at a later moment; the last one is not.
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
from spark_support import CAPTURES

from moldau.errors import MoldauError
from moldau.runs.session import open_session
from moldau.settings import load_settings
from moldau.warehouse.lock import locked

SOURCE = CAPTURES / "cleanup-noplugin" / "__consumer_offsets.jsonl"
# a cluster for each moment at which its load is killed: which file appeared last
MOMENTS = {
    "staged": "_moldau/loads/*/load.json",
    "appended": "raw/records/_delta_log/*.json",
    "half-folded": "state/group_records/_delta_log/*.json",
}
UNDISTURBED = "undisturbed"
LOAD = """
import json, sys
from pathlib import Path
from spark_support import contents
from moldau.loading.journal import load
from moldau.runs.session import open_session
from moldau.settings import load_settings

warehouse, source, cluster, told = sys.argv[1:]
with open_session(load_settings(None, Path(warehouse)), "load " + cluster) as session:
    load(session, [Path(source)], cluster, "records")
    tables = {
        "raw.records": ["run_id"],
        "decoded.group_records": ["run_id"],
        "state.groups": ["changed_in_run_id"],
        "state.group_offsets": ["changed_in_run_id"],
        "state.group_records": [],
    }
    found = {name: contents(session, name, hidden) for name, hidden in tables.items()}
    runs = [row[0] for row in session.sql("select run_id from state.runs where kind = 'load'")]
    Path(told).write_text(json.dumps(found | {"runs": runs}))
"""


def start(warehouse: Path, cluster: str, told: Path) -> subprocess.Popen[bytes]:
    paths = [Path(__file__).parents[1], *sys.path]
    environment = os.environ | {
        "PYTHONPATH": os.pathsep.join(map(str, paths)),
        "MOLDAU_DRIVER_MEMORY": "1g",
        "MOLDAU_JAVA_OPTIONS": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    }
    arguments = [str(warehouse), str(SOURCE), cluster, str(told)]
    return subprocess.Popen(
        [sys.executable, "-c", LOAD, *arguments], env=environment, start_new_session=True
    )


def wait_until(happened: Callable[[], bool], process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + 300
    while not happened():
        assert process.poll() is None, "the load ended before it could be killed"
        assert time.monotonic() < deadline
        time.sleep(0.002)


def kill(process: subprocess.Popen[bytes]) -> None:
    os.killpg(process.pid, 9)
    process.wait()


def kill_at(warehouse: Path, cluster: str, pattern: str, process: subprocess.Popen[bytes]) -> None:
    def staged() -> bool:
        """Of this cluster: the load before may be finished first."""
        for marker in warehouse.glob(MOMENTS["staged"]):
            try:
                return json.loads(marker.read_text())["cluster_id"] == cluster  # type: ignore[no-any-return]
            except (OSError, ValueError):
                continue
        return False

    wait_until(staged, process)
    if pattern != MOMENTS["staged"]:
        before = len(list(warehouse.glob(pattern)))
        wait_until(lambda: len(list(warehouse.glob(pattern))) > before, process)
    kill(process)


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("crash")
    warehouse, answer = folder / "warehouse", folder / "told.json"
    outcome: dict[str, Any] = {}
    for cluster, pattern in MOMENTS.items():
        process = start(warehouse, cluster, answer)
        try:
            if cluster == "staged":
                outcome |= meet_the_lock(warehouse, process)
            kill_at(warehouse, cluster, pattern, process)
        finally:
            if process.poll() is None:
                kill(process)
        assert not answer.exists()
    assert start(warehouse, UNDISTURBED, answer).wait(timeout=300) == 0
    outcome["left"] = [str(path) for path in (warehouse / "_moldau" / "loads").glob("*")]
    return outcome | json.loads(answer.read_text())


def meet_the_lock(warehouse: Path, process: subprocess.Popen[bytes]) -> dict[str, Any]:
    """What a second command is told at once; and that one which waits gets in at last."""
    wait_until(lambda: (warehouse / "state" / "runs" / "_delta_log").is_dir(), process)
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


def test_a_second_process_is_told_who_holds_the_warehouse(told: dict[str, Any]) -> None:
    assert f"is in use by `load staged` (pid {told['pid']})" in told["refused"]


def test_a_process_that_waits_gets_in_when_the_holder_is_gone(told: dict[str, Any]) -> None:
    assert told["waited"].is_set()


@pytest.mark.parametrize("moment", MOMENTS)
def test_a_killed_load_ends_in_the_state_of_an_undisturbed_one(
    told: dict[str, Any], moment: str
) -> None:
    for table in ("raw.records", "decoded.group_records", "state.groups", "state.group_offsets",
                  "state.group_records"):  # fmt: skip
        assert told[table][UNDISTURBED]
        assert told[table].get(moment) == told[table][UNDISTURBED], table


def test_each_load_has_one_run_and_leaves_nothing_behind(told: dict[str, Any]) -> None:
    assert sorted(told["runs"]) == [f"{number:08d}-load" for number in range(1, 5)]
    assert told["left"] == []
