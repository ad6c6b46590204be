"""A warehouse of moldau 0.1 is loaded into, and decided about, by this version."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from growing_support import unpack
from shell_support import Shell

from moldau.project import SAMPLES
from moldau.reading.tables.query import Tables
from moldau.warehouse.create import check

pytestmark = pytest.mark.processes
VERBS = f"""
load {SAMPLES}/west/__consumer_offsets.later.jsonl --cluster west --kind records
cycle --at 2026-11-21T08:10:00Z
"""


def test_verbs_go_on_where_the_earlier_version_ended(shell: Shell, tmp_path: Path) -> None:
    warehouse = unpack(tmp_path)
    journal = warehouse / "_moldau" / "runs" / "00000011-cycle.json"  # its row is there already
    other = journal.read_text().replace("00000011", "00000012")
    journal.with_name("00000012-cycle.json").write_text(other)
    (tmp_path / "verbs.txt").write_text(VERBS)
    config = ["--config", str(SAMPLES / "moldau.yml"), "--warehouse", str(warehouse)]
    told = shell("exec", str(tmp_path / "verbs.txt"), *config)
    answers = [json.loads(line) for line in told.out.splitlines()]
    assert [answer["exit_code"] for answer in answers] == [0, 0], (told.err, answers)
    assert "Traceback" not in told.err
    assert answers[0]["errors"] == "moldau: finished 00000012-cycle, which was interrupted\n"
    assert not list(journal.parent.iterdir())
    check(warehouse)
    kept = Tables(warehouse, ["state.tier_lag", "history.tier_lag"])
    [counted] = kept.ask(
        "select (select count(*) from state.tier_lag) as kept, (select count(distinct "
        "(cluster_id, topic_id, partition_index)) from history.tier_lag) as known"
    )
    assert counted["kept"] == counted["known"] > 0
    runs = Tables(warehouse, ["state.runs"]).ask(
        "select kind, counts['rows_new'] as n from state.runs "
        "where run_id > '00000011-cycle' order by run_id"
    )
    assert [run["kind"] for run in runs] == ["cycle", "load", "cycle"]
    assert runs[1]["n"] > 0
