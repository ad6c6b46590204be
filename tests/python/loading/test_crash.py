"""A load that dies at any moment is finished by the next command: nothing lost or doubled.

Each cluster's load dies at a later moment, in this process; the next command begins by finishing
it. `runs/test_killed_processes.py` kills a real one while it appends.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from spark_support import CAPTURES, Killed, contents, fresh, rows, with_clusters

from moldau.runs.load import load
from moldau.runs.resume import finish_interrupted
from moldau.sessions import faults
from moldau.sessions.session import Session
from moldau.warehouse.paths import LOADS, RUNS

SOURCE = CAPTURES / "cleanup-noplugin" / "__consumer_offsets.jsonl"
UNDISTURBED = "crash undisturbed"
TABLES = {
    "raw.records": ["run_id"],
    "decoded.group_records": ["run_id"],
    "state.groups": ["changed_in_run_id"],
    "state.group_offsets": ["changed_in_run_id"],
    "state.group_records": [],
}


def die(*_: object, **__: object) -> Any:
    raise Killed


def at(point: str) -> Callable[[pytest.MonkeyPatch], None]:
    def dies(patch: pytest.MonkeyPatch) -> None:
        patch.setenv(faults.VARIABLE, point)
        patch.setattr(faults, "die", die)

    return dies


def once_staged(patch: pytest.MonkeyPatch) -> None:
    patch.setattr("moldau.runs.load.carry_out", die)


def once_appended(patch: pytest.MonkeyPatch) -> None:
    patch.setattr("moldau.loading.bring.append_decoded", die)


def half_folded(patch: pytest.MonkeyPatch) -> None:
    """The first of the models that fold has written, the others have not begun."""
    run_models = Session.run_models

    def run_the_first(session: Session, *names: str) -> None:
        run_models(session, *(n for n in names if n not in ("fold_group_offsets", "fold_groups")))
        if "fold_group_records" in names:
            raise Killed

    patch.setattr(Session, "run_models", run_the_first)


MOMENTS: dict[str, Callable[[pytest.MonkeyPatch], None]] = {
    "crash staged": once_staged,
    "crash appended": once_appended,
    "crash brought": at("after_bring"),
    "crash half-folded": half_folded,
    "crash folded": at("after_fold"),
    "crash without a row": at("before_run_row"),
}


@pytest.fixture(scope="module")
def told(session: Session) -> dict[str, Any]:
    session = with_clusters(session, dict.fromkeys([*MOMENTS, UNDISTURBED], "{}"))
    written = {}
    for cluster, dies in MOMENTS.items():
        with pytest.MonkeyPatch.context() as patch, pytest.raises(Killed):
            dies(patch)
            load(fresh(session), [SOURCE], cluster, "records")
        written[cluster] = _tables_with(session, cluster)
        finish_interrupted(fresh(session))
    load(fresh(session), [SOURCE], UNDISTURBED, "records")
    runs = rows(session, "select cluster_ids[0] from state.runs where kind = 'load'")
    found = {name: contents(session, name, hidden) for name, hidden in TABLES.items()}
    return found | {"written": written, "runs": [name for (name,) in runs]}


def _tables_with(session: Session, cluster: str) -> list[str]:
    where = f"where cluster_id = '{cluster}' limit 1"
    return [name for name in TABLES if rows(session, f"select 1 from {name} {where}")]


def test_each_died_at_its_moment(told: dict[str, Any]) -> None:
    assert told["written"] == {
        "crash staged": [],
        "crash appended": ["raw.records"],
        "crash brought": ["raw.records", "decoded.group_records"],
        "crash half-folded": ["raw.records", "decoded.group_records", "state.group_records"],
        "crash folded": [*TABLES],
        "crash without a row": [*TABLES],
    }


@pytest.mark.parametrize("moment", MOMENTS)
def test_a_killed_load_ends_in_the_state_of_an_undisturbed_one(
    told: dict[str, Any], moment: str
) -> None:
    for table in TABLES:
        assert told[table][UNDISTURBED]
        assert told[table].get(moment) == told[table][UNDISTURBED], table


def test_each_load_has_one_run_and_leaves_nothing_behind(
    told: dict[str, Any], session: Session
) -> None:
    for cluster in (*MOMENTS, UNDISTURBED):
        assert told["runs"].count(cluster) == 1
    for folder in (LOADS, RUNS):
        assert list((session.warehouse / folder).glob("*")) == []
