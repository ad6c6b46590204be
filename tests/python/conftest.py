"""One Spark session for many tests: starting one costs more than most of them.

One worker has the tests that share the session, another those that start processes of their own;
whoever is done first has those of tiers, then of the captures, in sessions of their own, and the
rest fills in.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest
from spark_support import DISTRIBUTION
from xdist.remote import Producer
from xdist.scheduler import LoadScopeScheduling

from moldau.runs.session import Session, open_session
from moldau.settings import load_settings

GROUPS = ("processes", "session", "tiers", "captures")


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


def groups_of(items: Iterable[pytest.Item]) -> dict[str, str]:
    """File -> group, by marks and fixtures: a new file of tests is told of nowhere else.

    Files with the session in a folder that is named here are a group of their own.
    """
    found: dict[str, str] = {}
    for item in items:
        file = item.location[0]
        folder = Path(file).parent.name
        if item.get_closest_marker("processes"):
            found[file] = "processes"
        elif "session" in getattr(item, "fixturenames", ()):
            found[file] = folder if folder in GROUPS else "session"
        found.setdefault(file, file)
    return found


class LongGroups(LoadScopeScheduling):
    """The tests of a group stay on one worker; others fill in, file by file."""

    def _split_scope(self, nodeid: str) -> str:
        return nodeid.rpartition("@")[2]


def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> LongGroups:
    return LongGroups(config, log)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The long groups come first, and in each what is about all that the others have left."""
    groups = groups_of(items)

    def place(item: pytest.Item) -> tuple[int, bool]:
        group = groups[item.location[0]]
        return [*GROUPS, group].index(group), item.get_closest_marker("last") is not None

    items.sort(key=place)


@pytest.hookimpl(wrapper=True)
def pytest_collection_finish(session: pytest.Session) -> Iterator[None]:
    """A worker tells the scheduler ids alone: for that moment they end with the group."""
    names = [item.nodeid for item in session.items]
    if hasattr(session.config, "workerinput"):
        groups = groups_of(session.items)
        for item in session.items:
            item._nodeid = f"{item.nodeid}@{groups[item.location[0]]}"
    yield
    for item, name in zip(session.items, names, strict=True):
        item._nodeid = name
