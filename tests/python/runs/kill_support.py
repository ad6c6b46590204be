"""Clusters that are killed and their calm twins: every rule set with every built-in plugin."""

from __future__ import annotations

import json
import threading
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import product
from pathlib import Path
from typing import Any

from log_support import Log
from spark_support import contents, fold_records, rows

from moldau.sessions.session import Session
from moldau.settings.rule_sets import rule_sets

AT_MS = 1_800_000_000_000
GROUPS = ("a", "b", "c/'d")
# kind of run -> table that it writes -> the columns in which two runs differ
WRITTEN = {
    "cycle": {
        "state.groups": ["changed_in_run_id", "deleted_run_id", "deleted_at_ms"],
        "state.group_offsets": ["changed_in_run_id", "deleted_run_id", "deleted_at_ms"],
        "history.plugin_calls": ["call_id", "run_id", "started_at_ms", "finished_at_ms"],
        "history.epoch_clears": ["run_id", "written_at_ms"],
        "decisions.cleanup_eligibility": ["run_id", "changed_in_run_id", "settings_hash"],
        "history.decision_changes": ["run_id"],
    },
    "sweep": {
        "history.tombstones": ["run_id", "removed_at_ms"],
        "decisions.group_sweeps": ["run_id", "changed_in_run_id", "settings_hash"],
    },
    "tiers": {
        "decisions.upload_candidates": ["run_id", "changed_in_run_id", "settings_hash"],
        "decisions.delete_candidates": ["run_id", "changed_in_run_id", "settings_hash"],
        "state.tier_lag": ["run_id"],
        "history.tier_lag": ["run_id"],
    },
}
NAMES_THE_CYCLE = ("epochs_written_in_run_id", "description_settled_in_run_id")
Told = dict[str, Any]


class Descriptions(BaseHTTPRequestHandler):
    """What a webhook talks to."""

    def do_DELETE(self) -> None:
        self.send_response(204)
        self.end_headers()

    def log_message(self, *_: Any) -> None:
        pass


@contextmanager
def webhook() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Descriptions)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()


def calm(names: Sequence[str]) -> list[str]:
    return [f"calm {name}" for name in names]


def settings_of(folder: Path, url: str) -> dict[str, str]:
    """By name of the cluster; `scripted` notes its calls in the folder."""
    plugins = {
        "directory": f"{{name: directory, path: {folder}/descriptions}}",
        "delta": "{name: delta, timeout_seconds: 60}",
        "webhook": f"{{name: webhook, url: {url}}}",
        "scripted": f"{{name: scripted, folder: {folder}}}",
    }
    return {
        f"{ruleset} {plugin}": "{authority: moldau, "
        f"ruleset: {{groups: {ruleset}}}, plugin: {plugins[plugin]}}}"
        for ruleset, plugin in product(rule_sets("groups"), plugins)
    }


def fold_groups(session: Session, names: Sequence[str]) -> None:
    """For each and its twin groups to clean up, and one offset to expire."""
    log = Log()
    for group in GROUPS:
        log.streams(group, stored=3)
    log.commit("simple", at_ms=AT_MS - 10**10)
    fold_records(session, {name: log.records for name in [*names, *calm(names)]})


def told_of(session: Session, names: Sequence[str], *kinds: str) -> Told:
    """Table -> cluster -> rows, and the runs that decided about these clusters or their twins."""
    tables = {table: hidden for kind in kinds for table, hidden in WRITTEN[kind].items()}
    if "sweep" not in kinds:  # a group that was removed does not name the cycle
        tables["state.groups"] = [*tables["state.groups"], *NAMES_THE_CYCLE]
    told: Told = {table: contents(session, table, hidden) for table, hidden in tables.items()}
    runs = rows(session, "select kind, counts, cluster_ids from state.runs order by run_id")
    of_these = {*names, *calm(names)}
    told["runs"] = [(kind, counts) for kind, counts, about in runs if of_these & {*about}]
    return told | {"names": list(names)}


def calls_in(folder: Path) -> Counter[str]:
    """How often each group was asked about in the clusters whose plugin is `scripted`."""
    return Counter((folder / "calls.txt").read_text().splitlines())


def expect_same_end(told: Told) -> None:
    """Every table says of each cluster what it says of its twin."""
    for table in told:
        if "." in table:
            assert any(name in told[table] for name in told["names"]), table
            for name in told["names"]:
                assert told[table].get(name) == told[table].get(f"calm {name}"), (table, name)


def expect_each_once(told: Told) -> None:
    """A call for each group, and each step of its clear."""
    for name in told["names"]:
        assert len(told["history.plugin_calls"][name]) == len(GROUPS)
        steps = [json.loads(row)["step"] for row in told["history.epoch_clears"][name]]
        expected = ["barrier", "finalise"] if "4_4" in name else ["clear"]
        assert Counter(steps) == dict.fromkeys(expected, len(GROUPS))
