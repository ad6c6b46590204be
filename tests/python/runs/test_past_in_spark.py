"""The past, and what would be, asked of Spark: what the embedded engine answers."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from history_support import INSTANTS, by_moldau, history, opened
from spark_support import Session
from test_as_of import DECIDED, STATE, YML, contents

from moldau.declared import domains
from moldau.engines.engine import EngineName
from moldau.engines.spark import spark_session
from moldau.errors import MoldauError
from moldau.instants import parse_instant
from moldau.runs.as_of import About, as_of
from moldau.runs.otherwise import decide_otherwise
from moldau.settings import Settings, load_settings

pytestmark = pytest.mark.spark

SEED, STEPS = 11, 20
NAMES = (*STATE, *(name for names in DECIDED.values() for name in names))
OTHERWISE = {
    "groups": (INSTANTS[1], {"offsets.retention.minutes": "10"}, "kafka_4_4"),
    "mirrors": (INSTANTS[1], {"anchored": "true"}, "sparse_restart_forgets"),
    "producers": (INSTANTS[1], {"metadata.max.age.ms": "600000"}, "kip_526_draft"),
}


@pytest.fixture(scope="module")
def past(session: Session, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The warehouse of a random history with kills; Spark of the tests is anew after it."""
    folder = tmp_path_factory.mktemp("past")
    (folder / "files").mkdir()
    (folder / "moldau.yml").write_text(YML)
    with opened(folder / "w") as embedded:
        by_moldau(embedded, history(SEED, STEPS, folder / "files"))
    spark_session.end()  # of the warehouse that the tests share
    yield folder / "w"
    spark_session.end()


def settings_of(warehouse: Path, engine: EngineName) -> Settings:
    return load_settings(warehouse.parent / "moldau.yml", warehouse, engine=engine)


def test_a_moment_is_the_same_by_either_engine(past: Path) -> None:
    """As of the instant of the last runs, which is what they left."""
    found: dict[str, Any] = {}
    for engine in ("duckdb", "spark"):
        with as_of(settings_of(past, engine), parse_instant(INSTANTS[2]), About()) as moment:
            found[engine] = contents(moment.settings.warehouse, NAMES)
    assert found["spark"] == found["duckdb"] == contents(past, NAMES)
    assert all(found["spark"].values())


@pytest.mark.parametrize("domain", OTHERWISE)
def test_what_would_be_is_the_same_by_either_engine(past: Path, domain: str) -> None:
    [found] = [one for one in domains() if one.name == domain]
    assert found.what_if
    at, changes, ruleset = OTHERWISE[domain]
    for by in found.what_if.told:
        told = {
            engine: decide_otherwise(
                settings_of(past, engine), found, changes, ruleset, (), parse_instant(at), by
            )
            for engine in ("duckdb", "spark")
        }
        assert told["spark"] == told["duckdb"], by
        assert told["spark"][1], by


def test_a_spark_server_has_no_room_for_a_moment(
    past: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SPARK_REMOTE", "sc://127.0.0.1:1")
    at_ms = parse_instant(INSTANTS[1])
    with (
        pytest.raises(MoldauError, match="--as-of needs a Spark of its own"),
        as_of(settings_of(past, "spark"), at_ms, About()),
    ):
        pass
