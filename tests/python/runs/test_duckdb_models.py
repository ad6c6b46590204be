"""When DuckDB makes models; its merges beside other writers: what they wrote decides, too."""

from __future__ import annotations

from typing import Any

import pytest
from log_support import Log
from spark_support import change, fold_records, rows

from moldau.engine.dbt import DbtError
from moldau.sessions import duckdb_models, run
from moldau.sessions.session import Session
from moldau.warehouse.append import ChangedMeanwhileError
from moldau.warehouse.sizes import DUCKDB_BYTES


@pytest.mark.parametrize("bytes_there", [DUCKDB_BYTES - 1, DUCKDB_BYTES])
def test_what_is_too_big_for_duckdb_is_made_by_spark(
    session: Session, monkeypatch: pytest.MonkeyPatch, bytes_there: int
) -> None:
    """Of tables and of what is brought."""
    one = run.Run(run.next_run_id(session, "compare"), "compare", ["big"], 0)
    monkeypatch.setattr(run, "bytes_read", lambda _: bytes_there - 7)
    run.open_run(session, one, bytes_brought=7)
    is_big = bytes_there == DUCKDB_BYTES
    assert session.engines.at_hand is (session.engines.spark if is_big else session.engines.duckdb)


def test_a_merge_that_another_writer_outran_is_decided_anew(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A group that a sweep removed meanwhile, after all of these records, stays removed."""
    log = Log()
    log.streams("g", stored=3)
    fold_records(session, {"outrun": log.records})
    log.streams("g", stored=5)
    merge, tables = duckdb_models.merge, []

    def outrun(warehouse: Any, table: str, *rest: Any) -> None:
        if table == "state.groups" and table not in tables:
            change(
                session,
                "update state.groups set is_deleted = true, group_state = 'DEAD', "
                "deleted_by = 'sweep', deleted_run_id = 'another', log_offset = log_offset + 100 "
                "where cluster_id = 'outrun'",
            )
        tables.append(table)
        merge(warehouse, table, *rest)

    with monkeypatch.context() as patch:
        patch.setattr(duckdb_models, "merge", outrun)
        fold_records(session, {"outrun": log.records})
    assert tables.count("state.groups") == 2
    state = "select group_state, deleted_run_id from state.groups where cluster_id = 'outrun'"
    assert rows(session, state) == [("DEAD", "another")]


def test_a_merge_that_is_always_outrun_gives_up(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    def outrun(*_: Any) -> None:
        raise ChangedMeanwhileError

    log = Log()
    log.streams("g", stored=3)
    monkeypatch.setattr(duckdb_models, "merge", outrun)
    with pytest.raises(DbtError, match="is changed by others all the time"):
        fold_records(session, {"always outrun": log.records})
