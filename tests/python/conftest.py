"""One Spark session for the whole run: starting one costs more than most tests.

One worker has the tests that share the session, another those that start processes of their own;
the rest fills in.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from moldau.runs.session import Session, open_session
from moldau.settings import load_settings


@pytest.fixture(scope="session")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    """A warehouse that all tests share, each with clusters of its own names."""
    os.environ.setdefault("MOLDAU_DRIVER_MEMORY", "2g")
    warehouse = tmp_path_factory.mktemp("moldau") / "warehouse"
    with open_session(load_settings(None, warehouse), "pytest") as opened:
        yield opened
        opened.spark.stop()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The two long groups come first, each kept together."""
    groups = {item: _group(item) for item in items}
    items.sort(key=lambda item: groups[item] is None)
    for item, group in groups.items():
        if group:
            item.add_marker(pytest.mark.xdist_group(group))


def _group(item: pytest.Item) -> str | None:
    fixtures = getattr(item, "fixturenames", ())
    if "session" in fixtures:
        return "session"
    return "processes" if {"answers", "told"} & set(fixtures) else None
