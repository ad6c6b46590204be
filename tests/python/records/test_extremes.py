"""Whatever a record can say, the load ends, everything is decided, and the warehouse goes on.

What it leaves is compared by `runs/test_marts_of_runs.py`; others that decide come before it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from extremes import group_extremes, other_extremes, tier_extremes
from marts_alike import compared, said_by_spark
from spark_support import rows

from moldau.cli import run
from moldau.cli.held import Held
from moldau.sessions.session import Session
from moldau.settings import Settings, load_settings
from moldau.warehouse.contracts import marts, tables

pytestmark = [pytest.mark.spark, pytest.mark.last(1)]
FIRST, LAST = "1970-01-01T00:00:00Z", "9999-12-31T23:59:59.999Z"
LAST_MS = 253_402_300_799_999
SETTINGS = """
clusters:
  extreme ours: {authority: moldau, plugin: {name: delta}, ruleset: {groups: kafka_4_4}}
"""


class Verbs:
    """The command line on the session that the tests share."""

    def __init__(
        self, session: Session, settings: Settings, capture: pytest.CaptureFixture[str]
    ) -> None:
        self.held = Held(settings, "pytest", 0)
        self.held._session, self.held._is_locked = session, True
        self._capture = capture

    def __call__(self, *words: str) -> str:
        code = run(list(words), obj=self.held)
        said = self._capture.readouterr()
        assert code in (0, 2), said.err
        return said.out


@pytest.fixture
def verbs(session: Session, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Iterator[Verbs]:
    file = tmp_path / "moldau.yml"
    file.write_text(SETTINGS)
    settings = session.settings
    yield Verbs(session, load_settings(file, session.warehouse), capsys)
    session.settings = settings


def load(verbs: Verbs, folder: Path, lines: list[str], cluster: str, kind: str) -> None:
    file = folder / f"{cluster} {kind}.jsonl"
    file.write_text("".join(f"{line}\n" for line in lines))
    told = json.loads(
        verbs("load", str(file), "--cluster", cluster, "--kind", kind, "--format", "json")
    )
    assert (told[0]["rows_new"], told[0]["rows_refused"]) == (len(lines), 0)


def decide(verbs: Verbs, at: str, *dry_run: str) -> None:
    for kind in ("cycle", "sweep"):
        verbs(kind, "--cluster", "extreme", "--cluster", "extreme ours", "--at", at, *dry_run)
    verbs("tiers", "--cluster", "extreme tiers", "--at", at)


def test_a_thousand_records_with_an_extreme_each_stop_nothing(
    verbs: Verbs, session: Session, tmp_path: Path
) -> None:
    all_told, left_alone = group_extremes(True), group_extremes(False)
    tiers = tier_extremes()
    load(verbs, tmp_path, all_told, "extreme", "records")
    load(verbs, tmp_path, left_alone, "extreme ours", "records")
    for kind, lines in tiers.snapshots.items():
        load(verbs, tmp_path, lines, "extreme tiers", kind)
    load(verbs, tmp_path, [*tiers.lines, *other_extremes()], "extreme tiers", "records")
    decide(verbs, FIRST, "--dry-run")
    decide(verbs, LAST)  # moldau is in charge of groups with such names, too
    cleared = "select count(*) from history.epoch_clears where cluster_id = 'extreme ours'"
    removed = "select count(*) from history.tombstones where cluster_id = 'extreme ours'"
    assert all(rows(session, count)[0][0] > 100 for count in (cleared, removed))
    groups = "select count(*) from state.groups where cluster_id = 'extreme' and group_id like 'g%'"
    assert rows(session, groups)[0][0] > 900
    # no lag is below zero, whatever the offsets; sizes below zero are summed, as in Kafka
    names = [column.name for column in marts()["marts.tier_lag"].columns]
    lags = [name for name in names if "_lag" in name and not name.endswith("_bytes")]
    below = " or ".join(f"{name} < 0" for name in lags)
    told = f"select count_if(delete_tier_lag > 0) > 0, count_if({below}) from marts.tier_lag"
    assert rows(session, told + " where cluster_id = 'extreme tiers'") == [(True, 0)]
    # every verb that reads goes on
    for name in (*tables(), *marts()):
        verbs("show", name, "--where", "true", "--limit", "5000", "--format", "json")
    # in Spark, too; a sum near 2^63 is not the same in both engines
    names = compared("tiers", "run")
    assert {name for name, *_ in said_by_spark(session, names, LAST_MS)} == set(names)
    for verb in ("status", "doctor"):
        verbs(verb, "--format", "json")
    verbs("explain", "cleanup g0", "--cluster", "extreme")
    # and so does the warehouse
    load(verbs, tmp_path, [_behind(all_told)], "extreme", "records")


def _behind(lines: list[str]) -> str:
    last = json.loads(lines[-1])
    return json.dumps(last | {"offset": last["offset"] + 1})
