"""The file of a dump: complete under its name or not there, and as `load` takes it."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from moldau.cli import run
from moldau.dumping.dumped_files import complete_file
from moldau.errors import MoldauError
from moldau.loading.read_lines import read_chunks
from moldau.loading.shapes import RECORDS

REFUSED = 1
ENDINGS = ("jsonl", "jsonl.gz", "parquet")


def row(offset: int, **more: Any) -> dict[str, Any]:
    return {
        "topic": "t", "partition": 0, "offset": offset, "timestamp_ms": -1,
        "timestamp_type": None, "key_base64": "aw==", "value_base64": None, "headers": [],
        **more,
    }  # fmt: skip


HEADER = [{"key": "h", "value_base64": None}]
ROWS = [
    row(0),
    row(1, timestamp_ms=5, timestamp_type="CreateTime", key_base64=None, value_base64=""),
    row(2, headers=HEADER),
]


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize("rows", [ROWS, ROWS[:2], []])
def test_load_reads_what_was_written(
    tmp_path: Path, ending: str, rows: list[dict[str, Any]]
) -> None:
    target = tmp_path / f"records.{ending}"
    with complete_file(target) as write:
        for each in rows:
            write([each])
        write([])
    chunks = list(read_chunks(target, RECORDS))
    assert [refusal for _, refused in chunks for refusal in refused] == []
    found = [each for table, _ in chunks for each in table.drop_columns(["line"]).to_pylist()]
    columns = ["log_offset", "recorded_at_ms", "timestamp_type", "record_key", "record_value"]
    assert [[each[name] for name in columns] for each in found] == [
        [0, -1, None, b"k", None], [1, 5, "CreateTime", None, b""], [2, -1, None, b"k", None],
    ][: len(rows)]  # fmt: skip
    headers = [None, None, '[{"key": "h", "value_base64": null}]']
    assert [each["headers"] for each in found] == headers[: len(rows)]


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize("error", [MoldauError("lost"), KeyboardInterrupt(), OSError(28, "full")])
def test_an_unfinished_file_leaves_the_older_one_and_nothing_beside_it(
    tmp_path: Path, ending: str, error: BaseException
) -> None:
    target = tmp_path / f"records.{ending}"
    target.write_text("older")
    with (
        pytest.raises((MoldauError, KeyboardInterrupt)),
        complete_file(target) as write,
    ):
        write(ROWS)
        raise error
    assert target.read_text() == "older"
    assert list(tmp_path.iterdir()) == [target]


@pytest.mark.parametrize(
    ("name", "topic", "said"),
    [
        ("records.json", "t", "must end in .jsonl, .jsonl.gz or .parquet"),
        ("no-such-folder/records.jsonl", "t", "no-such-folder does not exist"),
        ("folder.jsonl", "t", "is a folder"),
        ("records.jsonl", "", "the topic has no name"),
    ],
)
def test_what_cannot_be_is_refused_before_the_cluster_is_asked(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, topic: str, said: str
) -> None:
    (tmp_path / "folder.jsonl").mkdir()
    words = ["--bootstrap-servers", "127.0.0.1:9", "--topic", topic, "--to", str(tmp_path / name)]
    assert run(["dump", *words]) == REFUSED
    err = capsys.readouterr().err
    assert said in err
    assert err.count("\n") == 1


def test_without_the_extra_the_verb_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for module in [name for name in sys.modules if name.startswith("moldau.dumping")]:
        monkeypatch.delitem(sys.modules, module)
    monkeypatch.setitem(sys.modules, "confluent_kafka", None)
    words = [
        "--bootstrap-servers",
        "127.0.0.1:9",
        "--topic",
        "t",
        "--to",
        str(tmp_path / "t.jsonl"),
    ]
    assert run(["dump", *words]) == REFUSED
    told = "moldau: `moldau dump` needs a Kafka client: pip install 'moldau[kafka]'\n"
    assert capsys.readouterr().err == told


def test_the_help_has_an_example(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["dump", "--help"]) == 0
    assert "moldau dump --bootstrap-servers" in capsys.readouterr().out.split("Example:")[1]
