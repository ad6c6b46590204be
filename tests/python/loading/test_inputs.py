"""Files as people have them: folders, patterns, standard input, packed or not, JSON in any form."""

from __future__ import annotations

import gzip
import io
import json
import os
from collections.abc import Callable
from pathlib import Path
from threading import Thread
from typing import Any

import pyarrow as pa
import pyarrow.parquet
import pytest
from deltalake import write_deltalake

from moldau.cli import run
from moldau.errors import MoldauError
from moldau.loading.inputs import inputs
from moldau.loading.shapes import RECORDS, shapes
from moldau.loading.sources import sources
from moldau.settings.limits import Limits

KIND = "coordinator_unloads"
ROWS = [{"offsets_partition_index": number, "at_ms": 5} for number in range(5)]
T = 1_795_000_000_000


def lines(rows: list[dict[str, Any]]) -> bytes:
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


def array(rows: list[dict[str, Any]]) -> bytes:
    return json.dumps(rows, indent=2).encode()


def zstd(content: bytes) -> bytes:
    return bytes(pa.Codec("zstd").compress(content, asbytes=True))


def read(
    *words: Path | str, kind: str = KIND, limits: Limits | None = None
) -> tuple[list[Any], list[tuple[int, str]]]:
    rows: list[Any] = []
    refused: list[tuple[int, str]] = []
    found = inputs([Path(word) for word in words], print)
    for _, chunks in sources(found, shapes()[kind], limits or Limits(), print):
        for table, refusals in chunks:
            refused += [(refusal.line, refusal.reason) for refusal in refusals]
            rows += table.drop_columns(["line"]).to_pylist()
    return rows, refused


PACKINGS: dict[str, Callable[[bytes], bytes]] = {"": bytes, ".gz": gzip.compress, ".zst": zstd}


@pytest.mark.parametrize("packing", PACKINGS)
@pytest.mark.parametrize(
    ("name", "form"),
    [("r.jsonl", lines), ("r.ndjson", lines), ("r.json", lines), ("r.json", array),
     ("r.JSON", array), ("r.jsonl", array)],
)  # fmt: skip
def test_json_in_every_form(
    name: str, form: Callable[[list[dict[str, Any]]], bytes], packing: str, tmp_path: Path
) -> None:
    file = tmp_path / (name + packing)
    file.write_bytes(PACKINGS[packing](b"\xef\xbb\xbf" + form(ROWS)))
    assert read(file) == (ROWS, [])
    file.write_bytes(PACKINGS[packing](form([])))
    assert read(file) == ([], [])


@pytest.mark.parametrize("packing", PACKINGS)
@pytest.mark.parametrize("form", [lines, array])
def test_standard_input(
    form: Callable[[list[dict[str, Any]]], bytes], packing: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    content = PACKINGS[packing](form(ROWS))
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(content)))
    assert read("-") == (ROWS, [])


@pytest.mark.parametrize("packing", PACKINGS)
def test_a_pipe_of_a_shell(packing: str, tmp_path: Path) -> None:
    """`<(...)` has a name without an ending."""
    pipe = tmp_path / "63"
    os.mkfifo(pipe)
    writer = Thread(target=pipe.write_bytes, args=(PACKINGS[packing](lines(ROWS)),))
    writer.start()
    assert read(pipe) == (ROWS, [])
    writer.join()


def test_folders_and_patterns(tmp_path: Path) -> None:
    """However deep; what is hidden, and what cannot be loaded, is not meant."""
    for number, row in enumerate(ROWS):
        folder = tmp_path / "in" / f"day={number}"
        folder.mkdir(parents=True)
        (folder / "part-0.jsonl").write_bytes(lines([row]))
        (folder / "_SUCCESS").touch()
        (folder / "notes.md").write_text("nothing")
        (folder / ".part-0.jsonl.crc").write_text("nothing")
    (tmp_path / "in" / "_temporary").mkdir()
    (tmp_path / "in" / "_temporary" / "part-1.jsonl").write_text("half a line")
    (tmp_path / "in" / "warehouse" / "_moldau").mkdir(parents=True)
    write_deltalake(tmp_path / "in" / "warehouse" / "state" / "groups", pa.table({"a": [1]}))
    (tmp_path / "in" / "day=0" / "back").symlink_to(tmp_path / "in")
    assert read(tmp_path / "in") == (ROWS, [])
    assert read(f"{tmp_path}/in/day=[13]/*.jsonl") == ([ROWS[1], ROWS[3]], [])
    (tmp_path / "in" / "day=0" / "back").unlink()
    assert read(f"{tmp_path}/in/**/part-0.jsonl") == (ROWS, [])
    assert read(f"{tmp_path}/in/day=?") == (ROWS, [])
    # once each, in the order of the words
    last = tmp_path / "in" / "day=4" / "part-0.jsonl"
    assert read(last, tmp_path / "in") == ([ROWS[4], *ROWS[:4]], [])
    for word, told in (
        (tmp_path / "none", "none is not a file or folder"),
        (f"{tmp_path}/in/*.parquet", "can be loaded"),
        (tmp_path / "in" / "warehouse", "nothing in .*warehouse can be loaded"),
    ):
        with pytest.raises(MoldauError, match=told):
            read(word)
    (tmp_path / "empty").mkdir()
    with pytest.raises(MoldauError, match=r"nothing in .*empty can be loaded: \.jsonl"):
        read(tmp_path / "empty")
    with pytest.raises(MoldauError, match=r"notes\.md is not a file that can be loaded"):
        read(tmp_path / "in" / "day=0" / "notes.md")


def test_a_name_with_letters_of_a_pattern_is_the_file_of_that_name(tmp_path: Path) -> None:
    file = tmp_path / "r[1].jsonl"
    file.write_bytes(lines(ROWS))
    assert read(file) == (ROWS, [])


def test_bad_elements_of_an_array_are_refused_one_by_one(tmp_path: Path) -> None:
    file = tmp_path / "r.json"
    file.write_text(json.dumps([ROWS[0], 5, {"at_ms": 5}, ROWS[1], None]))
    rows, refused = read(file)
    assert rows == ROWS[:2]
    assert refused == [
        (2, "the element is not a JSON object"),
        (3, "offsets_partition_index is missing"),
        (5, "the element is not a JSON object"),
    ]


@pytest.mark.parametrize(
    ("text", "number", "told"),
    [
        ("[%s, {bad}, %s]", 2, "it is not JSON"),
        ("[%s, {\"a\": ", 2, "it is not JSON"),
        ("[%s", 2, "the file ends within the array"),
        ("[%s %s]", 2, "'{' is not expected"),
        ("[%s] more", 1, "something follows behind the array"),
    ],
)  # fmt: skip
def test_an_array_that_is_broken_is_read_up_to_there(
    text: str, number: int, told: str, tmp_path: Path
) -> None:
    file = tmp_path / "r.json"
    file.write_text(text.replace("%s", json.dumps(ROWS[0])))
    rows, [(line, reason)] = read(file)
    assert rows == [ROWS[0]]
    assert line == number
    assert reason.startswith(told)
    assert reason.endswith("nothing from here on is read")


def test_an_array_is_read_in_pieces(tmp_path: Path) -> None:
    """An element that is too long ends it; letters of several bytes lie on every border."""
    rows = [{"offsets_partition_index": n % 50, "at_ms": 5, "é": "é€" * 300} for n in range(3_000)]
    file = tmp_path / "r.json"
    file.write_text(json.dumps(rows, ensure_ascii=False))
    assert file.stat().st_size > 3 * 1024 * 1024
    assert len(read(file)[0]) == 3_000
    rows[7]["long"] = "x" * 5_000_000
    file.write_text(json.dumps(rows))
    found, [(line, reason)] = read(file, limits=Limits(line_bytes=100_000))
    assert (len(found), line) == (7, 8)
    assert "(`limits: line_bytes`)" in reason
    assert len(read(file)[0]) == 3_000


def test_a_bomb_is_refused_in_every_packing(tmp_path: Path) -> None:
    content = b"[" + b" " * 100_000_000 + b"]"
    for packing in (".gz", ".zst"):
        file = tmp_path / f"r.json{packing}"
        file.write_bytes(PACKINGS[packing](content))
        with pytest.raises(MoldauError, match="limits: expansion"):
            read(file)
    (tmp_path / "r.json.zst").write_bytes(b"nothing of the kind")
    with pytest.raises(MoldauError, match=r"r\.json\.zst cannot be read"):
        read(tmp_path / "r.json.zst")


def kafka_rows() -> pa.Table:
    """As Spark's Kafka source has them."""
    header = pa.list_(pa.struct([("key", pa.string()), ("value", pa.binary())]))
    return pa.table(
        {
            "key": pa.array([b"\xff\0", None, b""], pa.binary()),
            "value": pa.array([None, b"\xfe", b"v"], pa.binary()),
            "topic": ["__consumer_offsets"] * 3,
            "partition": pa.array([3, 3, 4], pa.int32()),
            "offset": pa.array([7, 8, 9], pa.int64()),
            "timestamp": pa.array([T * 1_000, T * 1_000 + 1_999, 0], pa.timestamp("us", "UTC")),
            "timestampType": pa.array([0, 1, -1], pa.int32()),
            "headers": pa.array([[{"key": "h", "value": b"\xff"}], None, []], header),
        }
    )


RIGHT = [
    (3, 7, T, "CreateTime", b"\xff\0", None, '[{"key": "h", "value_base64": "/w=="}]'),
    (3, 8, T + 1, "LogAppendTime", None, b"\xfe", None),
    (4, 9, 0, None, b"", b"v", None),
]


def kafka_rows_of(*words: Path) -> list[tuple[Any, ...]]:
    rows, refused = read(*words, kind="records")
    assert refused == []
    assert {row.pop("topic_name") for row in rows} == {"__consumer_offsets"}
    return sorted((tuple(row.values()) for row in rows), key=str)


def test_parquet_with_the_names_of_sparks_kafka_source(tmp_path: Path) -> None:
    file = tmp_path / "r.parquet"
    pa.parquet.write_table(kafka_rows(), file)
    assert kafka_rows_of(file) == RIGHT
    # without what is optional; times as numbers; partitioned by names of folders
    table = kafka_rows().drop_columns(["timestampType", "headers", "topic", "partition"])
    times = pa.array([T, T + 1, 0], pa.int64())
    table = table.set_column(3, "timestamp", times)
    for partition, rows in ((3, table[:2]), (4, table[2:])):
        folder = tmp_path / "by" / "topic=__consumer_offsets" / f"partition={partition}"
        folder.mkdir(parents=True)
        pa.parquet.write_table(rows, folder / "part-0.parquet")
    without = [(*row[:3], None, *row[4:6], None) for row in RIGHT]
    assert kafka_rows_of(tmp_path / "by") == without


def test_parquet_as_connect_writes_it(tmp_path: Path) -> None:
    """Large and dictionary types, and a text where the timestamp's type is named."""
    table = kafka_rows()
    for name in ("key", "value"):
        at = table.column_names.index(name)
        table = table.set_column(at, name, table[name].cast(pa.large_binary()))
    names = pa.array(["CreateTime", "LogAppendTime", None])
    table = table.set_column(6, "timestampType", names)
    file = tmp_path / "topic+3+0000000007.parquet"
    pa.parquet.write_table(table, file)
    assert kafka_rows_of(file) == RIGHT


def test_delta_tables(tmp_path: Path) -> None:
    """What was deleted or overwritten is not there any more."""
    whole, partitioned = tmp_path / "whole", tmp_path / "in" / "partitioned"
    old = kafka_rows().set_column(4, "offset", pa.array([70, 80, 90], pa.int64()))
    write_deltalake(whole, old)
    write_deltalake(whole, kafka_rows(), mode="overwrite")
    write_deltalake(partitioned, kafka_rows(), partition_by=["topic", "partition"])
    assert kafka_rows_of(whole) == RIGHT
    assert kafka_rows_of(tmp_path / "in") == RIGHT, "a folder of tables"
    (whole / "_delta_log" / f"{0:020}.json").write_text("{")
    with pytest.raises(MoldauError, match="cannot be read as a Delta table"):
        read(whole, kind="records")


@pytest.mark.parametrize(
    ("columns", "told"),
    [
        ({"topic": None}, "has no column topic"),
        ({"timestamp": None}, "has no column timestamp_ms"),
        ({"key": pa.array([1, 2, 3])}, "column key holds int64, not bytes"),
    ],
)
def test_what_lacks_a_column_of_kafkas_is_refused(
    columns: dict[str, pa.Array | None], told: str, tmp_path: Path
) -> None:
    table = kafka_rows()
    for name, column in columns.items():
        at = table.column_names.index(name)
        table = table.drop_columns([name]) if column is None else table.set_column(at, name, column)
    pa.parquet.write_table(table, tmp_path / "r.parquet")
    with pytest.raises(MoldauError, match=told):
        read(tmp_path / "r.parquet", kind="records")


def test_on_the_command_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "moldau.yml").write_text("clusters: {east: {}}\n")
    words = [
        "--cluster", "east", "--config", str(tmp_path / "moldau.yml"),
        "--warehouse", str(tmp_path / "warehouse"), "--format", "json",
    ]  # fmt: skip
    pa.parquet.write_table(kafka_rows(), tmp_path / "r.parquet")
    assert run(["load", str(tmp_path), *words]) == 1
    assert "--kind is missing" in capsys.readouterr().err
    assert run(["load", str(tmp_path), *words, "--kind", "records"]) == 0
    assert json.loads(capsys.readouterr().out)[0]["rows_new"] == 3
    row = {
        "topic": "__consumer_offsets", "partition": 0, "offset": 0, "timestamp_ms": 1,
        "key_base64": "/w==", "value_base64": None,
    }  # fmt: skip
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(lines([row]))))
    assert run(["load", "-", *words, "--kind", "records"]) == 0
    assert json.loads(capsys.readouterr().out)[0]["rows_new"] == 1
    assert run(["decode", str(tmp_path / "r.parquet")]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 3
    assert RECORDS.kind == "records"
