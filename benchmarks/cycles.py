"""What is applied: cycles of `authority: moldau`, idle runs, plugin calls.

    python benchmarks/cycles.py [--groups 10000,1000000] [--calls 10000] [--runs N]

* cycle: a warm cycle of which a tenth (at 1 M groups a hundredth) of the groups are due, to the
  commit of the run's row; Delta commits up to there; plugin `directory`.
* idle: `moldau cycle` in a process of its own when nothing can have changed, without Java.
* calls: a cycle whose every delete takes 5 ms, with a slow directory and with a local webhook.
  Peer: the same calls in as many threads, without moldau, in the same minute.
"""

from __future__ import annotations

import argparse
import os
import platform
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from measure import insert, scratch, timed, versions, written

from moldau.plugins.registry import make_plugin
from moldau.runs.decide import decide
from moldau.runs.opening import open_session
from moldau.sessions.open_run import next_run_id
from moldau.sessions.session import Session
from moldau.settings import load_settings
from moldau.warehouse.damage import open_table

PLUGINS = Path(__file__).parent / "slow_plugins"
AT_MS = 1_800_000_000_000
CALL_SECONDS = 0.005
AT_ONCE = 32  # calls under way, as in the SQL function
EMPTY = """
    0 as offsets_partition_index, 'streams' as group_type,
    'EMPTY' as group_state, 'streams' as protocol_type, 1 as group_epoch, 0 as topology_epoch,
    -1 as failed_description_topology_epoch, 0 as member_count,
    cast(array() as array<string>) as subscribed_topics, false as is_deleted, true as is_readable,
    0L as empty_since_at_ms, id as log_offset, -1L as tombstone_log_offset,
    -1L as last_commit_log_offset, '00000000-load' as changed_in_run_id
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--groups", default="10000,1000000")
    parser.add_argument("--calls", type=int, default=10_000)
    parser.add_argument("--runs", type=int, default=3)
    options = parser.parse_args()
    sys.path.append(str(PLUGINS))
    os.environ["PYTHONPATH"] = os.pathsep.join([*sys.path[-1:], os.environ.get("PYTHONPATH", "")])
    print(f"machine: {platform.machine()}, Python {platform.python_version()}, Spark local[2]")
    with scratch() as folder, webhook() as url:
        with warehouse(folder, url) as session:
            for groups in map(int, options.groups.split(",")):
                bench_cycle(session, folder, groups, options.runs)
            for cluster in ("slow_directory", "webhook"):
                bench_calls(session, folder, cluster, options.calls)
        bench_idle(folder / "moldau.yml", options.runs)


@contextmanager
def warehouse(folder: Path, url: str) -> Iterator[Session]:
    config = folder / "moldau.yml"
    config.write_text(
        f"""
warehouse: {folder / "warehouse"}
clusters:
  directory: {{authority: moldau, plugin: {{name: directory, path: {folder / "d"}}}}}
  slow_directory: {{authority: moldau, plugin: {{name: slow_directory, path: {folder / "d"}}}}}
  webhook: {{authority: moldau, plugin: {{name: webhook, url: {url!r}}}}}
"""
    )
    with open_session(load_settings(config, None), "benchmark") as session:
        yield session


def bench_cycle(session: Session, folder: Path, groups: int, runs: int) -> None:
    """Cold once, then warm: each time other groups have come due."""
    due = groups // 10 if groups < 1_000_000 else groups // 100
    make_groups(session, "directory", groups)
    row_after, told = [], ""
    (folder / "d" / "directory").mkdir(parents=True, exist_ok=True)
    for run in range(runs + 2):
        open_table(session.warehouse / "state" / "groups").update(
            updates={
                "stored_description_topology_epoch": "3",
                "changed_in_run_id": f"'{next_run_id(session, 'load')}'",
            },
            predicate=f"cast(substr(group_id, 7) as bigint) % {groups // due} = {run}",
        )
        before = versions(session.warehouse)
        started = time.time()
        decided = decide(session, "cycle", ["directory"], AT_MS + run, is_dry_run=False)
        row_after.append(row_written_at(session.warehouse) - started)
        commits, files = written(session.warehouse, before)
        assert decided.counts["cleared"] == due, decided.counts
        told = f"{commits} Delta commits, {files} files added"
    print(
        f"cycle, {groups:,} groups, {due:,} due: first {row_after[0]:.1f} s, warm "
        f"{statistics.median(row_after[2:]):.1f} s to the run's row, {told}"
    )


def row_written_at(warehouse: Path) -> float:
    return max(f.stat().st_mtime for f in (warehouse / "state/runs/_delta_log").glob("*.json"))


def make_groups(session: Session, cluster: str, groups: int, stored: int = -1) -> None:
    for table in (("state", "groups"), ("decisions", "cleanup_eligibility")):
        open_table(session.warehouse.joinpath(*table)).delete()
    named = f"'{cluster}' as cluster_id, concat('group-', id) as group_id"
    asked = f"select {named}, {stored} as stored_description_topology_epoch, {EMPTY}"
    insert(session, "state.groups", asked, groups)


def bench_calls(session: Session, folder: Path, cluster: str, calls: int) -> None:
    """The stage of the calls, as history.plugin_calls tells, beside bare threads."""
    make_groups(session, cluster, calls, stored=3)
    spec = session.settings.plugin_spec(cluster)
    assert spec
    (folder / "d" / cluster).mkdir(parents=True, exist_ok=True)
    peer = timed(lambda: call_in_threads(make_plugin(spec), calls))
    run = decide(session, "cycle", [cluster], AT_MS, is_dry_run=False)
    assert run.counts["deletes_success"] == calls, run.counts
    [(stage_ms, busy_ms)] = session.sql(
        "select max(finished_at_ms) - min(started_at_ms), sum(finished_at_ms - started_at_ms) "
        f"from history.plugin_calls where run_id = '{run.run_id}'"
    )
    print(
        f"{calls:,} deletes of {CALL_SECONDS * 1000:.0f} ms, {cluster}: {stage_ms / 1000:.1f} s "
        f"({busy_ms / calls:.1f} ms a call), bare threads {peer:.1f} s "
        f"(ratio {stage_ms / 1000 / peer:.2f})"
    )


def call_in_threads(plugin: Any, calls: int) -> None:
    with ThreadPoolExecutor(AT_ONCE) as pool:
        list(pool.map(plugin.delete_topology, (f"group-{number}" for number in range(calls))))


def bench_idle(config: Path, runs: int) -> None:
    """The whole process: Python's start, the settings, the versions of the tables, the row."""
    words = ["cycle", "--cluster", "directory", "--at", str(AT_MS + 1000), "--config", str(config)]
    program = [sys.executable, "-c", "from moldau.cli import main; main()", *words]

    def ask(environment: dict[str, str] | None = None) -> None:
        subprocess.run(program, check=True, stdout=subprocess.DEVNULL, env=environment)

    ask()  # decides what the idle ones repeat
    without_java = os.environ | {"PATH": "/nowhere", "JAVA_HOME": "/nowhere"}
    times = [timed(lambda: ask(without_java)) for _ in range(max(runs, 5))]
    print(f"idle cycle, no JVM: median {statistics.median(times):.2f} s")


@contextmanager
def webhook() -> Iterator[str]:
    """Answers every request after 5 ms."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def do_DELETE(self) -> None:
            time.sleep(CALL_SECONDS)
            self.send_response(204)
            self.end_headers()

        def log_message(self, format: str, *arguments: Any) -> None: ...

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


if __name__ == "__main__":
    main()
