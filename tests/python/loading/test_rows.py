"""Rows that stand in no file are loaded as the lines of one: checked, whole, and not lost."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from spark_support import Killed, dicts

from moldau.runs.load import load, load_rows
from moldau.runs.resume import finish_interrupted
from moldau.sessions.session import Session

KIND, TABLE = "partition_states", "state.partition_states"
ORIGIN = "broker:9092"
OF_THE_RUN = {"cluster_id", "run_id", "changed_in_run_id"}


def state(topic: str, end: int, **more: Any) -> dict[str, Any]:
    told = {"topic": topic, "partition": 0, "broker_id": 1, "is_leader": True, "taken_at_ms": 1}
    return {**told, "high_watermark": end, **more}


def of(session: Session, cluster: str) -> list[dict[str, Any]]:
    found = dicts(session, f"select * from {TABLE} where cluster_id = '{cluster}'")
    return [{k: v for k, v in row.items() if k not in OF_THE_RUN} for row in found]


def test_rows_are_loaded_as_lines_are(session: Session, tmp_path: Path) -> None:
    told = [state("orders", 7, leader_epoch=3), state("ümläut \x1b[1m", 2**63 - 1)]
    file = tmp_path / "states.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in told))
    of_file = load(session, [file], "of-file", KIND)
    of_rows = load_rows(session, told, ORIGIN, "of-rows", KIND)
    assert (of_rows.rows_new, of_rows.kind) == (of_file.rows_new, KIND) == (2, KIND)
    assert of(session, "of-rows") == of(session, "of-file")

    emptied = load_rows(session, iter(()), ORIGIN, "of-rows", KIND)
    assert (emptied.rows_new, of(session, "of-rows")) == (0, [])


def test_a_row_that_is_wrong_is_named_by_where_it_is_from(session: Session) -> None:
    load_rows(session, [state("orders", 7)], ORIGIN, "wrong", KIND)
    before = of(session, "wrong")
    refused = load_rows(session, [state("a", 1), state("", 1)], ORIGIN, "wrong", KIND)
    assert [str(each) for each in refused.refused] == [f"{ORIGIN}:2: topic is empty"]
    assert of(session, "wrong") == before, "a snapshot is whole or not there"


def test_rows_that_a_killed_command_had_are_not_lost(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    def die(*_: object) -> None:
        raise Killed

    with monkeypatch.context() as patch:
        patch.setattr("moldau.runs.load.carry_out", die)
        with pytest.raises(Killed):
            load_rows(session, [state("orders", 7)], ORIGIN, "killed", KIND)
    assert of(session, "killed") == []
    finish_interrupted(session)
    assert [row["high_watermark"] for row in of(session, "killed")] == [7]
