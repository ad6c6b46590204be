"""`moldau watch` as a process: ticks, dropped ticks, a JVM that dies, SIGTERM."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from moldau.engines.spark.spark_session import BRIEF_OPTIONS
from moldau.reading.health.status import lock_holder
from moldau.reading.tables.query import Tables
from moldau.warehouse.create import is_initialised
from moldau.warehouse.lock import locked
from moldau.warehouse.paths import IDLE

pytestmark = pytest.mark.processes

YML = """
clusters:
  east:
    authority: moldau
    plugin: {{name: directory, path: {folder}/descriptions}}
    offsets.retention.check.interval.ms: 1000
  west:
    authority: moldau
    offsets.retention.check.interval.ms: {west_ms}
"""
Row = dict[str, Any]


class Watching:
    def __init__(self, folder: Path, west_ms: int, *words: str) -> None:
        self.warehouse = folder / "w"
        (folder / "moldau.yml").write_text(YML.format(folder=folder, west_ms=west_ms))
        environment = os.environ | {
            "PYTHONPATH": os.pathsep.join(sys.path),
            "MOLDAU_DRIVER_MEMORY": "1g",
            "MOLDAU_JAVA_OPTIONS": BRIEF_OPTIONS,
        }
        program = [sys.executable, "-c", "from moldau.cli import main; main()"]
        paths = ["--config", str(folder / "moldau.yml"), "--warehouse", str(self.warehouse)]
        self._read: tuple[str, list[Row]] = ("", [])  # the last commit, and the rows then
        self.out, self.err = folder / "out", folder / "err"
        with self.out.open("w") as out, self.err.open("w") as err:
            self.process = subprocess.Popen(
                [*program, "watch", *paths, "--format", "json", *words],
                stdout=out,
                stderr=err,
                env=environment,
            )

    def until(self, happened: Callable[[], Any], seconds: int = 400) -> None:
        deadline = time.monotonic() + seconds
        while not happened():
            assert self.process.poll() is None, self.err.read_text()
            assert time.monotonic() < deadline, self.err.read_text()
            time.sleep(0.1)

    def rows(self, **wanted: Any) -> list[Row]:
        if not is_initialised(self.warehouse):
            return []
        log = self.warehouse / "state" / "runs" / "_delta_log"
        last = max((commit.name for commit in log.glob("*.json")), default="")
        if self._read[0] != last:  # to read takes as long as several looks
            tables = Tables(self.warehouse, ["state.runs"])
            self._read = last, tables.rows("state.runs", "order by run_id", [])
        rows = self._read[1]
        return [row for row in rows if all(row[name] == value for name, value in wanted.items())]

    def end(self) -> int:
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(timeout=300)

    def succeeded(self, kind: str, cluster: str) -> int:
        return len(self.rows(kind=kind, cluster_ids=[cluster], status="succeeded"))

    def told(self) -> Row:
        """What it left when it was asked to end."""
        return {
            "code": self.end(),
            "rows": self.rows(),
            "out": [json.loads(line) for line in self.out.read_text().splitlines()],
            "err": self.err.read_text(),
            "lock": lock_holder(self.warehouse),
        }


@contextlib.contextmanager
def watching(*arguments: Any, **more: Any) -> Iterator[Watching]:
    started = Watching(*arguments, **more)
    try:
        yield started
    finally:
        if started.process.poll() is None:
            started.process.kill()


@pytest.fixture(scope="module")
def in_use(tmp_path_factory: pytest.TempPathFactory) -> Row:
    """Another command had the warehouse for a while."""
    with watching(tmp_path_factory.mktemp("watch"), 3_000) as watch:
        watch.until(lambda: watch.succeeded("cycle", "east") and watch.succeeded("sweep", "west"))
        with locked(watch.warehouse, "moldau load", wait_seconds=300):
            watch.until(lambda: "in use by `moldau load`" in watch.err.read_text())
        before = watch.succeeded("sweep", "east")
        watch.until(lambda: watch.succeeded("sweep", "east") > before)
        return watch.told()


@pytest.fixture(scope="module")
def with_dead_jvm(tmp_path_factory: pytest.TempPathFactory) -> Row:
    """Its JVM was killed; the interval is shorter than the start of another."""
    folder = tmp_path_factory.mktemp("watch")
    with watching(folder, 1_000, "--cluster", "west", "--engine", "spark") as watch:
        watch.until(lambda: watch.succeeded("sweep", "west"))
        found = subprocess.run(
            ["pgrep", "-P", str(watch.process.pid), "java"], capture_output=True, text=True
        )
        os.kill(int(found.stdout.split()[0]), signal.SIGKILL)
        for note in (watch.warehouse / IDLE).glob("*.json"):
            note.unlink()  # the next tick may not tell without Spark that nothing has changed
        before = watch.succeeded("sweep", "west")
        watch.until(lambda: watch.succeeded("sweep", "west") > before)
        return watch.told()


@pytest.fixture(params=["in_use", "with_dead_jvm"])
def told(request: pytest.FixtureRequest) -> Row:
    found: Row = request.getfixturevalue(request.param)
    return found


def test_sigterm_ends_it_cleanly(told: Row) -> None:
    assert told["code"] == 0
    assert told["lock"] is None
    assert "Traceback" not in told["err"]


def test_each_cluster_ticks_and_only_one_with_a_plugin_has_cycles(in_use: Row) -> None:
    kinds = {(row["kind"], *row["cluster_ids"]) for row in in_use["rows"]}
    assert kinds == {("cycle", "east"), ("sweep", "east"), ("sweep", "west")}


def test_dropped_ticks_are_warned_of_and_recorded(told: Row) -> None:
    """Case 128."""
    skipped = [row for row in told["rows"] if row["status"] == "skipped_in_flight"]
    assert skipped
    assert all(row["decided_at_ms"] is None and not row["is_dry_run"] for row in skipped)
    warned = [line for line in told["err"].splitlines() if " skipped: " in line]
    assert len(warned) == len(skipped)


def test_a_tick_while_the_previous_one_runs_is_dropped(with_dead_jvm: Row) -> None:
    assert "the previous one is still in flight" in with_dead_jvm["err"]


def test_run_ids_are_unique_and_stdout_tells_each_run(told: Row) -> None:
    ids = [row["run_id"] for row in told["rows"]]
    assert len({run_id[:8] for run_id in ids}) == len(ids)
    assert {line["run_id"] for line in told["out"]} <= set(ids)
    last = max(row["run_id"] for row in told["rows"] if row["status"] == "skipped_in_flight")
    assert last in {line["run_id"] for line in told["out"]}


def test_a_jvm_that_died_is_replaced(with_dead_jvm: Row) -> None:
    assert "Unexpected error running the " in with_dead_jvm["err"]


def test_sigterm_while_it_waits(tmp_path: Path) -> None:
    """Case 136, and nothing was touched."""
    with watching(tmp_path, 600_000, "--cluster", "west") as watch:
        watch.until(lambda: "watching 1 cluster, 0 with cycles" in watch.err.read_text())
        assert watch.end() == 0
        assert watch.out.read_text() == ""
        assert not watch.warehouse.exists()


def test_the_engine_is_the_one_that_was_named(in_use: Row, with_dead_jvm: Row) -> None:
    """An idle tick needs none."""
    assert {row["engine"] for row in in_use["rows"]} == {"duckdb", None}
    assert "spark" in {row["engine"] for row in with_dead_jvm["rows"]} <= {"spark", None}
