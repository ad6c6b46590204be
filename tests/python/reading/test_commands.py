"""The reading verbs as a person runs them."""

from __future__ import annotations

import base64
import csv
import fcntl
import gzip
import io
import json
import os
import subprocess
import sys
from pathlib import Path

import click
import pytest
from click.testing import CliRunner, Result
from deltalake import DeltaTable
from rows_support import Write

from moldau.cli.deciding import deciding_verb
from moldau.cli.decode import decode
from moldau.cli.doctor import doctor
from moldau.cli.exec_verb import exec_verb
from moldau.cli.explain import explain
from moldau.cli.export import export
from moldau.cli.init import init
from moldau.cli.load import load
from moldau.cli.show import show
from moldau.cli.sql import sql
from moldau.cli.status import status
from moldau.declared import kinds
from moldau.errors import MoldauError
from moldau.warehouse.contracts import tables
from moldau.warehouse.schema import write_schema

ODD = ["a'b", 'a"b', "a\\b", "a\0b\nc", "🦀", "x" * 32_768]


def run(command: click.Command, *arguments: str) -> Result:
    result = CliRunner().invoke(command, arguments)
    if result.exception and not isinstance(result.exception, SystemExit | MoldauError):
        raise result.exception
    return result


@pytest.fixture
def odd(warehouse: Path, write: Write) -> Path:
    rows = [{"cluster_id": "c", "group_id": name, "partition_index": 0} for name in ODD]
    write("state.group_offsets", *rows)
    return warehouse


def test_json_is_exact(odd: Path) -> None:
    result = run(show, "state.group_offsets", "--warehouse", str(odd), "--format", "json")
    assert sorted(row["group_id"] for row in json.loads(result.stdout)) == sorted(ODD)


def test_csv_is_exact(odd: Path) -> None:
    result = run(show, "state.group_offsets", "--warehouse", str(odd), "--format", "csv")
    rows = csv.DictReader(io.StringIO(result.stdout, newline=""))
    csv.field_size_limit(1 << 20)
    assert sorted(row["group_id"] for row in rows) == sorted(ODD)


def test_a_table_shows_control_characters_and_stays_readable(odd: Path) -> None:
    result = run(show, "state.group_offsets", "--warehouse", str(odd))
    assert "a\\0b\\nc" in result.stdout
    assert "\0" not in result.stdout
    lines = result.stdout.splitlines()
    assert len(lines) == 2 + len(ODD)
    assert max(map(len, lines)) < 1000


def test_rows_come_in_the_order_of_the_key_and_limited(odd: Path) -> None:
    result = run(
        show, "state.group_offsets", "--warehouse", str(odd), "--format", "json",
        "--where", "group_id < 'b'", "--limit", "2",
    )  # fmt: skip
    expected = sorted(name for name in ODD if name < "b")[:2]
    assert [row["group_id"] for row in json.loads(result.stdout)] == expected


def test_no_rows_are_an_empty_array(warehouse: Path, write: Write) -> None:
    write("state.runs")
    result = run(show, "state.runs", "--warehouse", str(warehouse), "--format", "json")
    assert json.loads(result.stdout) == []


def test_timestamps_bytes_and_maps_are_json(hidden_rows: Path) -> None:
    result = run(
        show, "hidden_rows", "--warehouse", str(hidden_rows), "--format", "json",
        "--where", "name = 'row-7'",
    )  # fmt: skip
    assert json.loads(result.stdout) == [
        {
            "name": "row-7",
            "at": "2025-09-01T12:00:00.007000Z",
            "topics": ["a", "7"],
            "counts": {"n": 7},
            "bytes": base64.b64encode(b"b7").decode(),
            "later": None,
        }
    ]


def test_sql_answers_with_duckdb(odd: Path) -> None:
    result = run(
        sql, "select count(*) as n from state.group_offsets", "--engine", "duckdb",
        "--warehouse", str(odd), "--format", "json",
    )  # fmt: skip
    assert json.loads(result.stdout) == [{"n": len(ODD)}]


def test_spark_is_not_started_for_what_is_no_query(
    odd: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "moldau.reading.tables.in_spark.start", lambda _warehouse: pytest.fail("started")
    )
    result = run(sql, "delete from state.group_offsets", "--warehouse", str(odd))
    assert isinstance(result.exception, MoldauError)


@pytest.mark.parametrize("ending", ["csv", "json", "jsonl", "parquet"])
def test_an_export_holds_every_row(odd: Path, tmp_path: Path, ending: str) -> None:
    target = tmp_path / f"it's {ending}.{ending}"
    result = run(export, "state.group_offsets", "--to", str(target), "--warehouse", str(odd))
    assert result.exit_code == 0, result.output
    assert f"{len(ODD)} rows written" in result.stdout
    assert sorted(_read(target)) == sorted(ODD)
    assert [path for path in tmp_path.iterdir() if "unfinished" in path.name] == []


def _read(path: Path) -> list[str]:
    if path.suffix == ".parquet":
        import pyarrow.parquet as pq

        return [str(name) for name in pq.read_table(path)["group_id"].to_pylist()]
    with path.open(encoding="utf-8", newline="") as file:
        if path.suffix == ".csv":
            return [row["group_id"] for row in csv.DictReader(file)]
        rows = json.load(file) if path.suffix == ".json" else [json.loads(line) for line in file]
    return [row["group_id"] for row in rows]


FORMULAS = [
    "=1+1", "+cmd", "-2", "@SUM(1)", "\t=1", "\r=1", "\n=1", " =1",
    "\uff1d1", "\uff0b1", "\uff0d1", "\uff20a", '"=1', "'=1", "\ufeff=1",
]  # fmt: skip
HARMLESS = ["a=1", "a;=1", "1-2", "_", "", "#1", "(=1)"]


def test_a_csv_for_spreadsheets_holds_no_formula(
    warehouse: Path, write: Write, tmp_path: Path
) -> None:
    """Only texts are data that somebody else chose: `-1` as a number stays one."""
    names = [*FORMULAS, *HARMLESS]
    rows = [
        {"cluster_id": "c", "group_id": name, "partition_index": 0, "leader_epoch": -1}
        for name in names
    ]
    write("state.group_offsets", *rows)
    target = tmp_path / "safe.csv"
    where = ("--warehouse", str(warehouse))
    exported = run(export, "state.group_offsets", "--to", str(target), "--safe-csv", *where)
    assert exported.exit_code == 0, exported.output
    shown = run(show, "state.group_offsets", "--safe-csv", *where).stdout
    query = """select *, '\\xF8'::blob as "=bytes", (-1.5)::decimal(3, 1) as n,
        (-1)::double as d, [-1] as l
        from state.group_offsets"""
    asked = run(sql, "--engine", "duckdb", query, "--format", "csv", "--safe-csv", *where).stdout
    safe = sorted(f"'{name}" if name in FORMULAS else name for name in names)
    for text in (target.read_bytes().decode(), shown, asked):
        found = list(csv.DictReader(io.StringIO(text, newline="")))
        assert sorted(row["group_id"] for row in found) == safe
        assert {row["leader_epoch"] for row in found} == {"-1"}
        assert '"a;=1"' in text, "quoted, or a spreadsheet that splits at ; reads another cell"
    assert {(row["'=bytes"], row["n"], row["d"], row["l"]) for row in found} == {
        ("'+A==", "-1.5", "-1.0", "[-1]")
    }
    exact = run(show, "state.group_offsets", "--format", "csv", *where).stdout
    read = csv.DictReader(io.StringIO(exact, newline=""))
    assert sorted(row["group_id"] for row in read) == sorted(names)


def test_only_csv_is_made_safe_for_spreadsheets(odd: Path, tmp_path: Path) -> None:
    where = ("--warehouse", str(odd))
    target = tmp_path / "x.json"
    refused = run(export, "state.group_offsets", "--to", str(target), "--safe-csv", *where)
    assert isinstance(refused.exception, MoldauError) and not target.exists()
    both = run(show, "state.group_offsets", "--format", "json", "--safe-csv", *where)
    assert both.exit_code == 2 and "--safe-csv is CSV" in both.output
    assert "spreadsheet" in run(export, "--help").output
    assert "spreadsheet" in run(show, "--help").output
    assert run(status, "--safe-csv", *where).stdout.startswith('"table"')


def test_an_export_to_another_ending_is_refused(odd: Path, tmp_path: Path) -> None:
    result = run(
        export, "state.group_offsets", "--to", str(tmp_path / "x.xls"), "--warehouse", str(odd)
    )
    assert isinstance(result.exception, MoldauError)
    assert list(tmp_path.glob("x*")) == []


def test_status_tells_tables_runs_loads_and_the_lock(warehouse: Path, write: Write) -> None:
    write("state.runs", {"run_id": "00000001-load", "kind": "load", "cluster_ids": ["east"],
                         "status": "succeeded", "counts": [("rows_new", 3)]})  # fmt: skip
    rulesets = {"tiers": "kafka_4_4", "groups": "kip_1331_draft"}
    write("state.settings", {"cluster_id": "east", "authority": "broker", "rulesets": rulesets})
    (warehouse / "_moldau/loads/00000002-load").mkdir(parents=True)
    lock = warehouse / "_moldau/lock"
    lock.write_text(json.dumps({"pid": 4711, "command": "load x", "since_ms": 1_756_728_000_000}))
    assert "In use" not in run(status, "--warehouse", str(warehouse)).stdout

    with lock.open("r+") as holder:
        fcntl.flock(holder, fcntl.LOCK_EX)
        text = run(status, "--warehouse", str(warehouse)).stdout
        assert "groups: kip_1331_draft, tiers: kafka_4_4" in text
    assert "In use by `load x` (pid 4711) since 2025-09-01T12:00:00Z" in text
    assert "load 00000002-load" in text
    assert "state.runs" in text
    assert "rows_new 3" in text

    result = run(status, "--warehouse", str(warehouse), "--format", "json")
    told = json.loads(result.stdout)
    assert told["lock"] is None
    assert told["loads"] == ["00000002-load"]
    assert {row["table"]: row["rows"] for row in told["tables"]} == {
        "state.runs": 1,
        "state.settings": 1,
    }


def test_status_counts_hidden_rows_and_names_a_damaged_table(
    hidden_rows: Path, warehouse: Path, write: Write
) -> None:
    told = json.loads(run(status, "--warehouse", str(hidden_rows), "--format", "json").stdout)
    assert [row["rows"] for row in told["tables"]] == [19]
    write("state.runs")
    (warehouse / "state/runs/_delta_log/00000000000000000000.json").write_bytes(b"{")
    assert "Damaged: state.runs" in run(status, "--warehouse", str(warehouse)).stdout


def test_doctor_names_what_is_to_mend(warehouse: Path, write: Write) -> None:
    for name in tables():
        write(name)
    write_schema(warehouse)
    write("state.groups",
          {"cluster_id": "c", "group_id": "sh", "group_type": "share", "is_readable": True},
          {"cluster_id": "c", "group_id": "bad", "group_type": "classic"})  # fmt: skip
    write("state.group_offsets", {"cluster_id": "c", "group_id": "sh", "is_readable": True})
    write("decoded.group_records", {"cluster_id": "c", "decode_status": "bad_value"},
          {"cluster_id": "c", "decode_status": "ok"})  # fmt: skip
    result = run(doctor, "--warehouse", str(warehouse))
    assert result.exit_code == 2
    mend = [line for line in result.stdout.splitlines() if line.startswith("MEND")]
    assert any("share group sh in cluster c holds 1 committed offsets" in line for line in mend)
    assert any("1 rows of state.groups in cluster c" in line and "bad" in line for line in mend)
    assert any("1 records of cluster c have decode_status bad_value" in line for line in mend)
    assert f"{len(tables())} of {len(tables())} tables are present and whole" in result.stdout


def test_doctor_without_a_warehouse_says_what_to_run(tmp_path: Path) -> None:
    result = run(doctor, "--warehouse", str(tmp_path / "none"))
    assert result.exit_code == 2
    assert "moldau init" in result.stdout


UNUSABLE = [
    ("{name: gone, path: hush}", "clusters.e.plugin.name: 'gone' is not allowed"),
    ("{name: delta, x: hush}", "clusters.e.plugin.x: '***' is not allowed"),
    ("{name: directory, path: '${env:MOLDAU_UNSET}'}", "(MOLDAU_UNSET is not)"),
]


@pytest.mark.parametrize(("plugin", "message"), UNUSABLE)
def test_a_plugin_that_cannot_be_used_stops_the_verbs_that_write_alone(
    odd: Path, tmp_path: Path, write: Write, plugin: str, message: str
) -> None:
    settings = tmp_path / "moldau.yml"
    settings.write_text(f"clusters: {{e: {{authority: moldau, plugin: {plugin}}}}}")
    files = ["--config", str(settings), "--warehouse", str(odd)]
    write("state.groups", {"cluster_id": "c", "group_id": "app", "group_type": "classic"})
    write("state.runs")
    assert run(status, *files).exit_code == 0
    assert run(show, "state.group_offsets", *files).exit_code == 0
    assert run(sql, "select 1", "--engine", "duckdb", *files).exit_code == 0
    assert "app" in run(explain, "app", *files).stdout
    told = run(export, "state.group_offsets", "--to", str(tmp_path / "x.csv"), *files)
    assert told.exit_code == 0
    told = run(doctor, *files)
    assert told.exit_code == 2
    assert [line for line in told.stdout.splitlines() if message in line and "MEND" in line]
    for verb in (deciding_verb(kinds()["cycle"]), load, init):
        told = run(verb, *(["x", "--cluster", "e", "--kind", "records"] * (verb is load)), *files)
        assert message in str(told.exception)
        assert "hush" not in str(told.exception)
    verbs = tmp_path / "verbs.txt"
    verbs.write_text("show state.group_offsets\ncycle\n")
    told = run(exec_verb, str(verbs), *files)
    read, refused = map(json.loads, told.stdout.splitlines())
    assert (read["exit_code"], refused["exit_code"]) == (0, 1)
    assert message in refused["errors"]


def test_a_file_of_verbs_has_a_verb_a_line_and_none_without_an_end(
    odd: Path, tmp_path: Path
) -> None:
    verbs = tmp_path / "verbs.txt"
    lines = [
        "serve", "watch", "exec x", "demo", "ingest --cluster c --continuous",
        "explain 'a\u2028b\x85c'",
    ]  # fmt: skip
    verbs.write_text("\r\n".join(lines), encoding="utf-8", newline="")
    told = run(exec_verb, str(verbs), "--warehouse", str(odd))
    answers = [json.loads(answer) for answer in told.stdout.splitlines()]
    assert [(a["line"], a["command"]) for a in answers] == list(enumerate(lines, 1))
    assert {a["exit_code"] for a in answers} == {1}
    refused = [a["errors"] for a in answers if "cannot stand" in a["errors"]]
    assert len(refused) == 5 and "ingest cannot stand in a file of verbs" in refused[4]


def test_columns_of_one_name_keep_their_values_in_json(odd: Path) -> None:
    query = "select 1 as a, 2 as a, 3 as a_1, 4 as a"
    told = run(sql, query, "--engine", "duckdb", "--warehouse", str(odd), "--format", "json")
    assert list(json.loads(told.stdout)[0].values()) == [1, 2, 3, 4]
    assert list(json.loads(told.stdout)[0])[:1] == ["a"]


CAPTURE = Path(__file__).parents[2] / "fixtures/captures/groups/__consumer_offsets.jsonl"


def test_decode_prints_each_record_in_order() -> None:
    result = run(decode, str(CAPTURE))
    assert result.exit_code == 0
    written = [json.loads(line) for line in result.stdout.splitlines()]
    read = [json.loads(line) for line in CAPTURE.read_text().splitlines()]
    assert [(r["topic"], r["partition"], r["offset"]) for r in written] == [
        (r["topic"], r["partition"], r["offset"]) for r in read
    ]
    assert {r["decode_status"] for r in written} <= {"ok", "tombstone", "ok_trailing"}
    assert list(written[0])[:7] == [
        "topic", "partition", "offset", "record_type", "record_name",
        "value_version", "decode_status",
    ]  # fmt: skip


def test_decode_names_malformed_lines_and_goes_on(tmp_path: Path) -> None:
    lines = CAPTURE.read_text().splitlines()[:3]
    lines[1] = lines[1][:20]
    other = json.loads(lines[2]) | {"topic": "orders", "value_base64": "AAE="}
    path = tmp_path / "r.jsonl.gz"
    path.write_bytes(gzip.compress("\n".join([*lines, json.dumps(other)]).encode()))
    result = run(decode, str(path))
    assert result.exit_code == 2
    written = [json.loads(line) for line in result.stdout.splitlines()]
    assert [row["topic"] for row in written] == ["__consumer_offsets"] * 2 + ["orders"]
    assert (written[2]["decode_status"], written[2]["value"]) == ("unknown_type", "AAE=")
    assert f"{path}:2: " in result.stderr


def test_decode_of_a_missing_file_is_refused(tmp_path: Path) -> None:
    assert isinstance(run(decode, str(tmp_path / "no.jsonl")).exception, MoldauError)


@pytest.mark.parametrize("command", [show, sql, export, explain, status, doctor, decode])
def test_every_verb_has_help_with_an_example(command: click.Command) -> None:
    result = run(command, "--help")
    assert result.exit_code == 0
    assert f"moldau {command.name}" in result.stdout.split("Example:")[1]


def test_reading_verbs_import_nothing_heavy(odd: Path, write: Write) -> None:
    write("state.groups", {"cluster_id": "c", "group_id": "app", "group_type": "classic"})
    program = (
        "import sys\n"
        "from moldau.cli.show import show\nfrom moldau.cli.status import status\n"
        "from moldau.cli.explain import explain\nimport moldau.serving.server\n"
        "w = ['--warehouse', sys.argv[1]]\n"
        "show(['state.groups', *w], standalone_mode=False)\n"
        "status(w, standalone_mode=False)\n"
        "explain(['app', *w], standalone_mode=False)\n"
        "heavy = {'pandas', 'pyspark', 'dbt', 'pyarrow', 'polars', 'numpy'} & set(sys.modules)\n"
        "assert not heavy, heavy\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(odd)],
        capture_output=True, text=True,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[3] / "python_udfs")},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert DeltaTable(str(odd / "state/groups")).version() == 0
