"""One Spark session for many tests: starting one costs more than most of them.

One worker has the tests that share the session, another those that start processes of their own;
whoever is done first has those of tiers, then of the captures, in sessions of their own, and the
rest fills in.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator

import pytest
from spark_support import DISTRIBUTION
from xdist.remote import Producer
from xdist.scheduler import LoadScopeScheduling

from moldau.runs.session import Session, open_session
from moldau.settings import load_settings

PROCESSES = {
    "cli/test_demo.py",
    "cli/test_whole_command_line.py",
    "loading/test_crash.py",
    "runs/test_kills.py",
    "runs/test_watch_process.py",
}
SESSION = {
    "captures/test_cleanup_previews.py",
    "captures/test_cleanup_replays.py",
    "captures/test_group_answers.py",
    "captures/test_marts_of_captures.py",
    "dumping/test_dump.py",
    "engine/test_quoting.py",
    "loading/test_big_tables.py",
    "loading/test_fold.py",
    "loading/test_load.py",
    "loading/test_two_writers.py",
    "records/test_extremes.py",
    "reading/test_spark_sql.py",
    "runs/test_cycle.py",
    "runs/test_idle.py",
    "runs/test_marts_of_runs.py",
    "runs/test_set_aside.py",
    "runs/test_shutdown.py",
    "runs/test_statements.py",
    "runs/test_sweep.py",
    "runs/test_what_is_owed.py",
    "tiers/test_random_histories.py",
    "tiers/test_remote_segment_folds.py",
    "tiers/test_tier_cases.py",
    "tiers/test_tier_runs.py",
    "tiers/test_tier_stages.py",
    "test_dbt.py",
    "tiers/test_kafka_gauges.py",
    "tiers/test_marts_of_tiers.py",
    "tiers/test_tiered_capture.py",
    "tiers/test_what_dbt_says.py",
    "test_invariants.py",
    "test_models_in_spark.py",
    "warehouse/test_create.py",
}


@pytest.fixture(scope="session")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    """A warehouse that all tests share, each with clusters of its own names."""
    os.environ.setdefault("MOLDAU_DRIVER_MEMORY", "2g")
    sys.path.append(DISTRIBUTION)
    os.environ["PYTHONPATH"] = os.pathsep.join(
        filter(None, [os.environ.get("PYTHONPATH"), DISTRIBUTION])
    )
    warehouse = tmp_path_factory.mktemp("moldau") / "warehouse"
    with open_session(load_settings(None, warehouse), "pytest") as opened:
        yield opened
        opened.spark.stop()


def group_of(file: str) -> str:
    if file in PROCESSES:
        return "processes"
    if file in SESSION:
        folder = file.split("/")[0]
        return folder if folder in ("tiers", "captures") else "session"
    return file


class LongGroups(LoadScopeScheduling):
    """The files of a group stay on one worker; others fill in, file by file."""

    def _split_scope(self, nodeid: str) -> str:
        return group_of(nodeid.split("::")[0].removeprefix("tests/python/"))


def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> LongGroups:
    return LongGroups(config, log)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The long groups come first; a test of the session stands in a file of the list."""
    for item in items:
        if "session" in getattr(item, "fixturenames", ()):
            assert item.location[0].removeprefix("tests/python/") in SESSION, item.nodeid
    groups = ("processes", "session", "tiers", "captures")

    def place(item: pytest.Item) -> tuple[int, bool]:
        group = group_of(item.location[0].removeprefix("tests/python/"))
        is_last = item.get_closest_marker("last") is not None
        return (groups.index(group) if group in groups else len(groups), is_last)

    items.sort(key=place)
