"""What a command says that fails, and the exit code that a scheduler tells failures apart by."""

from __future__ import annotations

import fcntl
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from deltalake import write_deltalake

from moldau.cli import run, verbs
from moldau.cli.failures import tell

Told = pytest.CaptureFixture[str]
ROWS = pa.table({"cluster_id": ["c"], "group_id": ["g"]})


@pytest.fixture
def warehouse(tmp_path: Path) -> Path:
    write_deltalake(str(tmp_path / "w" / "state" / "groups"), ROWS)
    (tmp_path / "w" / "_moldau").mkdir()
    return tmp_path / "w"


def line(told: Told) -> str:
    """The one line on stderr; nothing is on stdout."""
    said = told.readouterr()
    assert said.out == ""
    assert said.err.startswith("moldau: ") and said.err.count("\n") == 1, said.err
    return said.err


def test_a_bare_moldau_prints_the_help_as_it_is_meant_to_be_read(capsys: Told) -> None:
    assert run(["--help"]) == 0
    page = capsys.readouterr().out
    assert run([]) == 1
    assert capsys.readouterr().err == page
    assert page.count("\n") > len(verbs()) + 20, "not one paragraph"
    assert run(["what-if"]) == 1
    assert "\n\nCommands:\n  groups" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "meant"), [(["shwo"], "show"), (["whatif"], "what-if"), (["show", "--limt"], "limit")]
)
def test_a_mistyped_word_gets_a_suggestion(words: list[str], meant: str, capsys: Told) -> None:
    assert run(words) == 1
    assert meant in line(capsys).lower().split("did you mean")[1]


@pytest.mark.parametrize(
    "words",
    [
        ["export", "groups", "--to", "{folder}/x.parquet", "--where", "nope = 1"],
        ["export", "groups", "--to", "{folder}/x.csv", "--where", "nope = 1"],
        ["export", "groups", "--to", "/proc/x.parquet"],
        ["export", "groups", "--to", "/proc/x.csv"],
        ["export", "groups", "--to", "{folder}"],
        ["export", "groups", "--to", "{folder}/{long}.csv"],
        ["export", "groups", "--to", "{folder}/{long}.parquet"],
        ["show", "groups", "--where", "a\0b"],
        ["show", "groups", "--limit", "99999999999999999999"],
        ["sql", "--engine", "duckdb", "explain analyze copy (select 1) to '{folder}/leak.csv'"],
        ["status", "--config", "{folder}"],
        ["status", "--config", "{file}"],
        ["exec", "{file}"],
        ["exec", "{folder}"],
        ["load", "{folder}", "--cluster", "c", "--kind", "records"],
        ["cycle", "--at", "99999999999999999"],
        ["cycle", "--wait", "nan"],
        ["explain", "\udcff"],
        ["init", "--warehouse", "/proc/w"],
        ["init", "--warehouse", "{folder}/{long}"],
        ["init", "--warehouse", "{file}"],
        ["status", "--warehouse", "{file}"],
        ["status", "--warehouse", "{file}/w"],
        ["cycle", "--warehouse", "{file}/w"],
        ["demo", "--warehouse", "{file}"],
    ],
)
def test_a_mistake_is_one_line_and_exit_code_1(
    warehouse: Path, tmp_path: Path, capsys: Told, words: list[str]
) -> None:
    file = tmp_path / "binary"
    file.write_bytes(b"a: \xff\0")
    before = sorted(tmp_path.rglob("*"))
    named = [w.format(folder=tmp_path, file=file, long="x" * 300) for w in words]
    verb = [] if "--warehouse" in named else ["--warehouse", str(warehouse)]
    assert run([*named, *verb]) == 1
    line(capsys)
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.parametrize(
    "words",
    [
        ["cycle"],
        ["run", "--cluster", "east"],
        ["compare", "--ruleset", "kafka_4_4", "--ruleset", "kip_1331_v1"],
        ["replay", "metadata", "--from", "0", "--to", "1"],
        ["what-if", "tiers", "--topic", "t", "--set", "retention.ms=1"],
        ["load", "--retry", "00000001-load"],
        ["load", "--drop", "00000001-load"],
    ],
)
def test_nothing_is_made_for_what_is_refused(
    tmp_path: Path, capsys: Told, monkeypatch: pytest.MonkeyPatch, words: list[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run([*words, "--warehouse", "w"]) == 1
    line(capsys)
    assert run([*words, "--warehouse", ""]) == 1
    assert "'--warehouse': a folder is expected" in line(capsys)
    assert list(tmp_path.iterdir()) == []


def test_a_timeline_that_ends_before_it_begins_is_a_mistake(warehouse: Path, capsys: Told) -> None:
    words = ["timeline", "g", "--from", "2", "--to", "1"]
    assert run([*words, "--warehouse", str(warehouse)]) == 1
    assert "--from is after --to" in line(capsys)


@pytest.mark.parametrize("harm", range(6))
def test_a_broken_file_of_records_is_a_mistake(tmp_path: Path, capsys: Told, harm: int) -> None:
    good = tmp_path / "good.parquet"
    pq.write_table(pa.table({"topic": ["t"], "partition": [1]}), good)
    whole = good.read_bytes()
    broken: list[Callable[[], bytes]] = [
        lambda: b"",
        lambda: whole[:-20],
        lambda: whole.replace(b"topic", b"\xff\xc1pic"),
        lambda: whole[:40] + b"\xff" * 40 + whole[80:],
        lambda: b"PAR1" + os.urandom(100) + b"PAR1",
        lambda: whole[::-1],
    ]
    file = tmp_path / "f.parquet"
    file.write_bytes(broken[harm]())
    assert run(["decode", str(file)]) == 1
    assert str(file) in line(capsys)


def test_a_warehouse_in_use_is_exit_code_4(warehouse: Path, tmp_path: Path, capsys: Told) -> None:
    with (warehouse / "_moldau" / "lock").open("w") as lock:
        lock.write(json.dumps({"pid": 4711, "command": "moldau load"}))
        lock.flush()
        fcntl.flock(lock, fcntl.LOCK_EX)
        assert run(["sweep", "--warehouse", str(warehouse)]) == 4
        assert "is in use by `moldau load` (pid 4711)" in line(capsys)
        verbs = tmp_path / "verbs.txt"
        verbs.write_text("sweep\nshow groups\nshow nothing\nshow 'a\0b'\n")
        assert run(["exec", str(verbs), "--warehouse", str(warehouse)]) == 2
    answers = map(json.loads, capsys.readouterr().out.splitlines())
    assert [answer["exit_code"] for answer in answers] == [4, 0, 1, 1]


def test_an_error_of_its_own_names_the_logs_and_keeps_the_traceback(
    warehouse: Path, capsys: Told, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("two\nlines\n\tat org.apache.Spark(Spark.scala)\n")

    monkeypatch.setattr("moldau.runs.idle.read_notes", fail)
    (warehouse / "_moldau" / "spark.log").touch()
    assert run(["cycle", "--warehouse", str(warehouse)]) == 3
    said = capsys.readouterr().err.splitlines()
    inside = warehouse / "_moldau"
    assert said == [
        "moldau: internal error: RuntimeError: two lines",
        f"look into {inside}/errors.log, {inside}/spark.log",
    ]
    kept = (inside / "errors.log").read_text()
    assert f" moldau cycle --warehouse {warehouse}\nTraceback" in kept
    assert "in fail" in kept


def test_an_error_of_its_own_tells_no_secret_of_a_plugin(
    warehouse: Path, tmp_path: Path, capsys: Told, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("Basic dTpodW50ZXIyLWh1bnRlcjI= hunter2-hunter2")

    config = tmp_path / "moldau.yml"
    plugin = "{name: webhook, url: 'http://h/', headers: {X: hunter2-hunter2}}"
    config.write_text(f"clusters: {{c: {{plugin: {plugin}}}}}")
    monkeypatch.setattr("moldau.runs.idle.read_notes", fail)
    assert run(["cycle", "--warehouse", str(warehouse), "--config", str(config)]) == 3
    assert "internal error: RuntimeError: Basic *** ***\n" in capsys.readouterr().err
    kept = (warehouse / "_moldau" / "errors.log").read_text()
    assert "RuntimeError: Basic *** ***\n" in kept and "hunter2-hunter2" not in kept


def test_without_a_warehouse_the_traceback_is_on_stderr(
    capsys: Told, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("it")

    monkeypatch.setattr("moldau.cli.options.load_settings", fail)
    assert run(["status"]) == 3
    said = capsys.readouterr().err
    assert said.startswith("moldau: internal error: RuntimeError: it\nTraceback")


def test_a_full_disk_is_told_whoever_meets_it(capsys: Told) -> None:
    for error in (
        OSError(28, "No space left on device", "/w/x"),
        RuntimeError("x: No space left on device"),
    ):
        assert tell(error, []) == 1
        assert "No space left on device" in line(capsys)


def test_what_cannot_be_written_to_stdout_is_told(warehouse: Path) -> None:
    program = "from moldau.cli import main; main()"
    command = [sys.executable, "-c", program, "show", "groups", "--warehouse", str(warehouse)]
    with open("/dev/full", "w") as full:
        told = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True)
    assert (told.returncode, told.stderr.count("\n")) == (1, 1), told.stderr
    reader, writer = os.pipe()
    os.close(reader)
    told = subprocess.run(command, stdout=writer, stderr=subprocess.PIPE, text=True)
    os.close(writer)
    assert (told.returncode, told.stderr) == (0, "")


def test_a_pipe_to_another_process_that_breaks_is_an_error(capsys: Told) -> None:
    assert tell(BrokenPipeError(32, "Broken pipe"), []) == 3
    assert "internal error: BrokenPipeError" in capsys.readouterr().err
