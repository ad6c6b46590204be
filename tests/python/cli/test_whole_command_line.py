"""The verbs that write, as a person types them: one session by `exec`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from shell_support import Shell

pytestmark = pytest.mark.processes

PROJECT = Path(__file__).resolve().parents[3]
SAMPLES = PROJECT / "samples"
WEST_AT = "2026-11-21T07:56:22.363Z"

LINES = f"""
# comments and blank lines are skipped

init
load {SAMPLES}/west/open_transactions.jsonl --cluster west --kind open_transactions
load {SAMPLES}/west/__consumer_offsets.jsonl --cluster west --kind records --format json
load {SAMPLES}/west/__consumer_offsets.jsonl --cluster west --kind records --format json
load {SAMPLES}/west/open_transactions.jsonl --cluster west --kind open_transactions --format json
load {SAMPLES}/bad.jsonl --cluster west --kind records
moldau cycle --dry-run --at {WEST_AT} --format json
sweep --engine duckdb --dry-run --at {WEST_AT} --format json
sweep --engine sparkle
sweep --dry-run --cluster nowhere
compare --ruleset kip_1331_v1 --ruleset kafka_4_4 --at {WEST_AT} --format json
compare --ruleset kip_1331_v1 --ruleset no_such
show marts.cleanup_preview --where "next_cycle = 'eligible'" --format json
explain cleanup c-txn-off
sql "select count(*) as groups from marts.groups" --format json
exec somewhere
nonsense
{(SAMPLES / "tiers" / "verbs.txt").read_text()}
explain tier tier-a-0
what-if tiers --topic tier-a --set retention.bytes=-1 --at 2026-11-21T07:59:58.738Z --format json
""".replace(f"{SAMPLES}/bad.jsonl", "{bad}")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cli")


@pytest.fixture(scope="module")
def answers(shell: Shell, folder: Path) -> list[dict[str, Any]]:
    bad = folder / "bad.jsonl"
    good = (SAMPLES / "east" / "__consumer_offsets.jsonl").read_text().splitlines()[0]
    elsewhere = good.replace('"partition":0', '"partition":7')
    bad.write_text(elsewhere + "\nnot json\n")
    verbs = folder / "verbs.txt"
    verbs.write_text(LINES.format(bad=bad))
    config = ["--config", str(SAMPLES / "moldau.yml"), "--warehouse", str(folder / "w")]
    told = shell("exec", str(verbs), *config, folder=PROJECT)
    assert told.code == 2, told.err
    lines = [json.loads(line) for line in told.out.splitlines()]
    early = lines.pop(1)
    assert early["exit_code"] == 0, "transactions may come before every record"
    return lines


def test_each_line_answers_with_its_exit_code(answers: list[dict[str, Any]]) -> None:
    codes = [(answer["command"].split()[0], answer["exit_code"]) for answer in answers]
    assert codes == [
        ("init", 0), ("load", 0), ("load", 0), ("load", 0), ("load", 2), ("moldau", 0),
        ("sweep", 0), ("sweep", 1), ("sweep", 1), ("compare", 0), ("compare", 1), ("show", 0),
        ("explain", 0), ("sql", 0), ("exec", 1), ("nonsense", 1),
        *[("load", 0)] * 5, ("tiers", 0), ("explain", 0), ("what-if", 0),
    ]  # fmt: skip
    assert answers[0]["line"] == 4


def test_a_second_load_of_the_same_file_adds_nothing(answers: list[dict[str, Any]]) -> None:
    first, second = (json.loads(answers[i]["output"])[0] for i in (1, 2))
    assert (first["rows_new"], first["rows_already_there"]) == (198, 0)
    assert (second["rows_new"], second["rows_already_there"]) == (0, 198)


def test_a_bad_line_is_named_and_the_others_load(answers: list[dict[str, Any]]) -> None:
    assert ":2: the line is not JSON" in answers[4]["errors"]


def test_the_runs_decide_what_the_broker_then_did(answers: list[dict[str, Any]]) -> None:
    cycle, sweep = (json.loads(answers[i]["output"])[0] for i in (5, 6))
    assert (cycle["eligible"], sweep["defer"]) == (1, 1)
    assert [row["group_id"] for row in json.loads(answers[11]["output"])] == ["c-vanish-off"]


def test_an_engine_has_its_name(answers: list[dict[str, Any]]) -> None:
    assert [json.loads(answers[i]["output"])[0]["engine"] for i in (5, 6)] == ["duckdb", "duckdb"]
    assert "'sparkle' is not one of 'auto', 'spark', 'duckdb'" in answers[7]["output"]


def test_compare_shows_the_subjects_that_differ(answers: list[dict[str, Any]]) -> None:
    differing = json.loads(answers[9]["output"])
    assert [row["subject"] for row in differing] == ["cleanup c-repeat-off"]
    assert differing[0]["reason_code_a"] == "OFFSETS_NOT_EXPIRED"
    assert differing[0]["reason_code_b"] == "OFFSETS_PRESENT"


def test_refusals_say_what_is_allowed(answers: list[dict[str, Any]]) -> None:
    assert "cluster 'nowhere' is not known: east, west" in answers[8]["output"]
    assert "kip_1331_draft" in answers[10]["output"]


def test_explain_names_the_open_transaction(answers: list[dict[str, Any]]) -> None:
    assert "open transaction of producer 0 on in-1" in answers[12]["output"]


def test_spark_sql_answers_too(answers: list[dict[str, Any]]) -> None:
    assert json.loads(answers[13]["output"]) == [{"groups": 14}]


def test_a_partition_of_tiered_storage_is_explained(answers: list[dict[str, Any]]) -> None:
    assert "1003020 bytes too much" in answers[-2]["output"]
    lags = {row["partition_index"]: row for row in json.loads(answers[-1]["output"])}
    assert (lags[0]["delete_tier_lag"], lags[0]["delete_tier_lag_then"]) == (1000, 800)
