"""One Spark session for many tests: starting one costs more than most of them.

One worker has the tests that share the session, another those that start processes of their own,
then those of APART in a session of its own, and the rest fills in. Half of what the suite costs is
Java that warms up, so tests that need Spark belong to the first.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections.abc import Iterable, Iterator
from functools import cached_property
from pathlib import Path

import pytest
from shell_support import Shell, end_spark
from spark_support import DISTRIBUTION
from xdist.remote import Producer
from xdist.scheduler import LoadScopeScheduling
from xdist.workermanage import WorkerController

from moldau.runs.opening import open_session
from moldau.sessions.session import Session
from moldau.settings import load_settings

GROUPS = ("processes", "session", "apart")
APART = ("captures", "dumping", "mirrors", "producers", "reading", "tiers")  # folders
FOLDER = pytest.StashKey[tempfile.TemporaryDirectory[str]]()


@pytest.fixture(scope="session")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    """A warehouse that all tests share, each with clusters of its own names."""
    os.environ.setdefault("MOLDAU_DRIVER_MEMORY", "2g")
    sys.path.append(DISTRIBUTION)
    os.environ["PYTHONPATH"] = os.pathsep.join(
        filter(None, [os.environ.get("PYTHONPATH"), DISTRIBUTION])
    )
    warehouse = tmp_path_factory.mktemp("moldau") / "warehouse"
    os.environ["MOLDAU_WAREHOUSE"] = str(warehouse)
    with open_session(load_settings(None, warehouse), "pytest") as opened:
        yield opened
        end_spark()


@pytest.fixture(scope="session")
def shell() -> Iterator[Shell]:
    """A process in which commands are typed."""
    opened = Shell()
    yield opened
    opened.close()


def groups_of(items: Iterable[pytest.Item]) -> dict[str, str]:
    """File -> group, by marks and fixtures: a new file of tests is told of nowhere else."""
    found: dict[str, str] = {}
    for item in items:
        file = item.location[0]
        if item.get_closest_marker("processes"):
            found[file] = "processes"
        elif "session" in getattr(item, "fixturenames", ()):
            is_apart = Path(file).parent.name in APART and not item.get_closest_marker("spark")
            found[file] = "apart" if is_apart else "session"
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
        return self._groups[nodeid.split("::")[0]]


def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> LongGroups:
    return LongGroups(config, log)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """The long groups come first, and in each what is about all that the others have left."""
    groups = groups_of(items)

    def place(item: pytest.Item) -> tuple[int, int]:
        group = groups[item.location[0]]
        last = item.get_closest_marker("last")
        return [*GROUPS, group].index(group), 0 if last is None else (*last.args, 1)[0]

    items.sort(key=place)
    if hasattr(config, "workerinput"):
        Path(config.workerinput["groups"]).write_text(json.dumps(groups))
