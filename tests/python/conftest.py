"""One Spark session for all tests that need it: starting one costs more than most of them.

One worker has the files marked `spark`, another those that start processes of their own, and those
that wait for a broker; then come folder by folder the files that share a warehouse, without Spark,
and the rest fills in.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from pathlib import Path

import pytest
from samples_support import fill
from shell_support import Shell, end_spark
from spark_support import DISTRIBUTION
from xdist.remote import Producer
from xdist.scheduler import LoadScopeScheduling
from xdist.workermanage import WorkerController

from moldau.runs.opening import open_session
from moldau.sessions.session import Session
from moldau.settings import load_settings

SPARK = "spark"
BROKER = "broker"  # the name of the fixture, too: who waits for Kafka waits beside Spark
# the long ones come first
GROUPS = ("processes", SPARK, BROKER, "mirrors", "runs", "producers", "tiers", "loading")
WORN = 150  # runs: each makes the next one a little longer
FOLDER = pytest.StashKey[tempfile.TemporaryDirectory[str]]()
# workers share the cores with each other's JVMs: what is compiled with all care costs a fifth of
# what Spark takes here, and wins it back after hours
LATER = {"Invocation": 50_000, "MinInvocation": 10_000, "Compile": 150_000, "BackEdge": 400_000}
JAVA_OPTIONS = " ".join([
    "-XX:+UseParallelGC", *(f"-XX:Tier4{name}Threshold={value}" for name, value in LATER.items()),
    "-XX:MaxInlineLevel=9", "-XX:InlineSmallCode=1200", "-XX:LoopUnrollLimit=4",
    "-XX:-DoEscapeAnalysis", "-XX:-UseLoopPredicate", "-XX:-UseSuperWord",
])  # fmt: skip


class Warehouses:
    """The warehouse that the files of a group share; after many runs the next file has a new one.

    `left`: those that were full, of the group that is at work.
    """

    def __init__(self, new_folder: Callable[[], Path]) -> None:
        self._new_folder = new_folder
        self._open = contextlib.ExitStack()
        self._group = ""
        self.left: list[Path] = []
        self.current: Session | None = None

    def of(self, group: str) -> Session:
        if group != self._group:
            self.close()
            self._group, self.left = group, []
        elif self.current and group != SPARK and _runs(self.current.warehouse) > WORN:
            self.left.append(self.current.warehouse)
            self.close()
        if self.current is None:
            warehouse = self._new_folder() / "warehouse"
            os.environ["MOLDAU_WAREHOUSE"] = str(warehouse)
            opened = open_session(load_settings(None, warehouse), "pytest")
            self.current = self._open.enter_context(opened)
            if group != SPARK:
                self.current.engines.spark._start_spark = _no_spark
        return self.current

    def close(self) -> None:
        if self.current and self._group == SPARK:
            end_spark()
        self._open.close()
        self.current = None


def _runs(warehouse: Path) -> int:
    return len(list((warehouse / "state" / "runs" / "_delta_log").glob("*.json")))


def _no_spark() -> None:
    raise AssertionError("a file of tests that needs Spark says `pytestmark = pytest.mark.spark`")


@pytest.fixture(scope="session")
def warehouses(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Warehouses]:
    os.environ.setdefault("MOLDAU_DRIVER_MEMORY", "2g")
    os.environ.setdefault("MOLDAU_JAVA_OPTIONS", JAVA_OPTIONS)
    sys.path.append(DISTRIBUTION)
    os.environ["PYTHONPATH"] = os.pathsep.join(
        filter(None, [os.environ.get("PYTHONPATH"), DISTRIBUTION])
    )
    opened = Warehouses(lambda: tmp_path_factory.mktemp("moldau"))
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def session(request: pytest.FixtureRequest, warehouses: Warehouses) -> Session:
    """A warehouse that files of tests share, each with clusters of its own names."""
    return warehouses.of(group_of(request.node))


@pytest.fixture(scope="session")
def shell() -> Iterator[Shell]:
    """A process in which commands are typed."""
    opened = Shell()
    yield opened
    opened.close()


@pytest.fixture(scope="session")
def sampled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A warehouse filled from the samples of every domain, which tests only read."""
    warehouse = tmp_path_factory.mktemp("sampled") / "warehouse"
    fill(warehouse)
    return warehouse


def group_of(module: pytest.Item | pytest.Collector) -> str:
    """Of a file that uses `session`."""
    return SPARK if module.get_closest_marker("spark") else module.path.parent.name


def _file(nodeid: str) -> str:
    """The file that a test is collected in: one that is imported is written in another."""
    return nodeid.split("::")[0]


def groups_of(items: Iterable[pytest.Item]) -> dict[str, str]:
    """File -> group, by marks and fixtures: a new file of tests is told of nowhere else."""
    found: dict[str, str] = {}
    for item in items:
        file = _file(item.nodeid)
        if item.get_closest_marker("processes"):
            found[file] = "processes"
        elif "session" in getattr(item, "fixturenames", ()):
            found[file] = group_of(item)
        elif BROKER in getattr(item, "fixturenames", ()):
            found[file] = BROKER
        elif "sampled" in getattr(item, "fixturenames", ()):
            found[file] = "sampled"  # filled once
        found.setdefault(file, file)
    return found


def pytest_configure_node(node: WorkerController) -> None:
    """Workers alone see the tests: each writes down for the scheduler which groups they are in."""
    node.workerinput["groups"] = str(_groups_folder(node.config) / f"{node.gateway.id}.json")


def _groups_folder(config: pytest.Config) -> Path:
    if FOLDER not in config.stash:
        config.stash[FOLDER] = tempfile.TemporaryDirectory(prefix="moldau-groups-")
    return Path(config.stash[FOLDER].name)


class LongGroups(LoadScopeScheduling):
    """The tests of a group stay on one worker; others fill in, file by file."""

    @cached_property
    def _groups(self) -> dict[str, str]:
        told = [file.read_text() for file in _groups_folder(self.config).iterdir()]
        return json.loads(told[0])  # type: ignore[no-any-return]

    def _split_scope(self, nodeid: str) -> str:
        return self._groups[_file(nodeid)]


def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> LongGroups:
    return LongGroups(config, log)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """The long groups come first, and in each what is about all that the others have left."""
    groups = groups_of(items)

    def place(item: pytest.Item) -> tuple[int, int]:
        group = groups[_file(item.nodeid)]
        last = item.get_closest_marker("last")
        return [*GROUPS, group].index(group), 0 if last is None else (*last.args, 1)[0]

    items.sort(key=place)
    if hasattr(config, "workerinput"):
        Path(config.workerinput["groups"]).write_text(json.dumps(groups))
