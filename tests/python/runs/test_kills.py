"""A cycle, a sweep and a run of tiers that are killed again and again end like undisturbed ones.

Real processes, each killed (with its JVM) at the next point of the same run; the command after it
goes on from there. Every rule set and every built-in plugin is a cluster of its own.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from spark_support import DISTRIBUTION

from moldau.settings.rule_sets import rule_sets

AT_MS = 1_800_000_000_000
GROUPS = ("a", "b", "c/'d")
KILLS = [
    ("cycle", "after_decide"),
    ("", "in_call"),
    ("", "after_call"),
    ("", "before_clear"),
    ("", "after_clear"),
    ("", "before_run_row"),
    ("sweep", "after_decide"),
    ("", "before_clear"),
    ("", "after_clear"),
    ("", "before_run_row"),
    ("tiers", "after_decide"),
    ("", "before_run_row"),
]
PROGRAM = """
import json, os, sys
from pathlib import Path
from kafka_metadata import COPY_FINISHED, COPY_STARTED, Event, Segment
from kafka_reference import Config, Partition, from_bases
from log_support import Log
from spark_support import contents, fold_records, rows
from tier_support import fold_tiers, tiered
from moldau.runs.decide import decide
from moldau.runs.session import open_session
from moldau.settings import load_settings

folder, kind, point, clusters, groups, at_ms = json.loads(sys.argv[1])
folder = Path(folder)
calm = list(map("calm {}".format, clusters))
if not kind:
    os.environ["MOLDAU_FAIL_AT"] = point
settings = load_settings(folder / "moldau.yml", folder / "w")
with open_session(settings, "killed") as session:
    if not session.sql("select 1 from state.groups limit 1"):
        log = Log()
        for group in groups:
            log.streams(group, stored=3)
        log.commit("simple", at_ms=at_ms - 10**10)
        fold_records(session, {name: log.records for name in [*clusters, *calm]})
        old = Segment("old", 0, 99, {0: 0}, max_timestamp_ms=0)
        copied = [Event("old", COPY_STARTED, copy=old), Event("old", COPY_FINISHED)]
        ends = {"last_stable": 310, "high_watermark": 310, "log_end": 310}
        config = Config(retention_ms=1000)
        partition = Partition(local=from_bases([0, 100, 200, 300]), config=config, **ends)
        told = [tiered("t", partition, copied)]
        fold_tiers(session, {name: told for name in [*clusters, *calm]})
    os.environ["MOLDAU_FAIL_AT"] = point
    if kind:
        decide(session, kind, clusters, at_ms, is_dry_run=False)
    if not point:
        for kind in ("cycle", "sweep", "tiers"):
            decide(session, kind, calm, at_ms, is_dry_run=False)
        hidden = {
            "state.groups": ["changed_in_run_id", "deleted_run_id", "deleted_at_ms"],
            "state.group_offsets": ["changed_in_run_id", "deleted_run_id", "deleted_at_ms"],
            "history.plugin_calls": ["call_id", "run_id", "started_at_ms", "finished_at_ms"],
            "history.epoch_clears": ["run_id", "written_at_ms"],
            "history.tombstones": ["run_id", "removed_at_ms"],
            "decisions.cleanup_eligibility": ["run_id", "changed_in_run_id", "settings_hash"],
            "decisions.group_sweeps": ["run_id", "changed_in_run_id", "settings_hash"],
            "decisions.upload_candidates": ["run_id", "changed_in_run_id", "settings_hash"],
            "decisions.delete_candidates": ["run_id", "changed_in_run_id", "settings_hash"],
            "history.tier_lag": ["run_id"],
            "marts.tier_lag": ["run_id", "measured_at"],
            "history.decision_changes": ["run_id"],
        }
        told = {table: contents(session, table, columns) for table, columns in hidden.items()}
        told["runs"] = rows(session, "select run_id, kind, counts from state.runs order by 1")
        (folder / "told.json").write_text(json.dumps(told))
"""


class Descriptions(BaseHTTPRequestHandler):
    """What a webhook talks to."""

    def do_DELETE(self) -> None:
        self.send_response(204)
        self.end_headers()

    def log_message(self, *_: Any) -> None:
        pass


def clusters_yml(folder: Path, url: str) -> tuple[list[str], str]:
    plugins = {
        "directory": f"{{name: directory, path: {folder}/descriptions}}",
        "delta": "{name: delta, timeout_seconds: 60}",
        "webhook": f"{{name: webhook, url: {url}}}",
        "scripted": f"{{name: scripted, folder: {folder}}}",
    }
    names, text = [], "clusters:\n"
    for ruleset, plugin in product(rule_sets("groups"), plugins):
        names.append(f"{ruleset} {plugin}")
        for prefix in ("", "calm "):
            text += f"  {prefix}{names[-1]}: {{authority: moldau, "
            text += f"ruleset: {{groups: {ruleset}}}, plugin: {plugins[plugin]}}}\n"
    return names, text


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("kills")
    server = ThreadingHTTPServer(("127.0.0.1", 0), Descriptions)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    names, text = clusters_yml(folder, f"http://127.0.0.1:{server.server_port}")
    (folder / "moldau.yml").write_text(text)

    def run(kind: str, point: str) -> int:
        tests = Path(__file__).parents[1]
        paths = [tests, tests / "tiers", DISTRIBUTION, *sys.path]
        environment = os.environ | {
            "PYTHONPATH": os.pathsep.join(map(str, paths)),
            "MOLDAU_DRIVER_MEMORY": "1g",
            "MOLDAU_JAVA_OPTIONS": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
        }
        words = json.dumps([str(folder), kind, point, names, GROUPS, AT_MS])
        command = [sys.executable, "-c", PROGRAM, words]
        return subprocess.run(command, env=environment, timeout=600).returncode

    codes = [run(kind, point) for kind, point in KILLS]
    codes.append(run("", ""))
    server.shutdown()
    called = Counter((folder / "calls.txt").read_text().splitlines())
    found = json.loads((folder / "told.json").read_text())
    return found | {"codes": codes, "names": names, "called": called}


def test_each_process_was_killed_and_the_last_one_ended(told: dict[str, Any]) -> None:
    assert told["codes"] == [-9] * len(KILLS) + [0]


def test_what_was_killed_ends_like_what_was_not(told: dict[str, Any]) -> None:
    for table, found in told.items():
        if "." in table:
            for name in told["names"]:
                assert found[name] == found[f"calm {name}"], f"{table} of {name}"


def test_each_call_is_recorded_and_each_epoch_cleared_once(told: dict[str, Any]) -> None:
    for name in told["names"]:
        assert len(told["history.plugin_calls"][name]) == len(GROUPS)
        steps = [json.loads(row)["step"] for row in told["history.epoch_clears"][name]]
        expected = ["barrier", "finalise"] if "4_4" in name else ["clear"]
        assert Counter(steps) == dict.fromkeys(expected, len(GROUPS))


def test_a_call_is_repeated_only_where_its_outcome_was_not_recorded(told: dict[str, Any]) -> None:
    """Killed once in the calls: a cluster of each rule set and its calm one use this plugin."""
    clusters = len(rule_sets("groups"))
    assert all(0 <= count - 2 * clusters <= clusters for count in told["called"].values())
    assert set(told["called"]) == set(GROUPS)


def test_a_killed_run_keeps_its_id_and_has_one_row(told: dict[str, Any]) -> None:
    kinds = [kind for _, kind, _ in told["runs"] if kind != "load"]
    assert kinds == ["cycle", "sweep", "tiers"] * 2
    decided = [counts for _, kind, counts in told["runs"] if kind != "load"]
    assert decided[:3] == decided[3:]
