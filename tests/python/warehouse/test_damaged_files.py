"""Files of tables carry checksums, are of one size, and hold only rows that keep the contract."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from moldau.sessions.run import Run, row_of
from moldau.sessions.run_rows import append_row
from moldau.warehouse import files
from moldau.warehouse.append import append
from moldau.warehouse.create import create
from moldau.warehouse.damage import data_files, open_table
from moldau.warehouse.merge import merge
from moldau.warehouse.rewrite import ACTION
from moldau.warehouse.seeds import seed

RECORDS, BACKOFFS = "raw.records", "state.topology_backoffs"
RECORD = {
    "cluster_id": "c", "topic_name": "t", "partition_index": 0, "recorded_at_ms": 1,
    "run_id": "00000001-load",
}  # fmt: skip


def records(offsets: Iterable[int], **others: Any) -> list[pa.RecordBatch]:
    given = [RECORD | {"log_offset": n, "record_key": b"%d" % n} | others for n in offsets]
    schema = pa.schema(
        [
            ("cluster_id", pa.string()), ("topic_name", pa.string()),
            ("partition_index", pa.int32()), ("log_offset", pa.int64()),
            ("recorded_at_ms", pa.int64()), ("timestamp_type", pa.string()),
            ("record_key", pa.binary()), ("record_value", pa.binary()), ("headers", pa.string()),
            ("run_id", pa.string()),
        ]
    )  # fmt: skip
    return pa.Table.from_pylist(given, schema).to_batches(max_chunksize=100)


def live(warehouse: Path, table: str) -> list[Path]:
    return [Path(path) for path in data_files(open_table(warehouse.joinpath(*table.split("."))))]


def flip(path: Path, at: int) -> None:
    data = bytearray(path.read_bytes())
    data[at] ^= 0b100
    path.write_bytes(data)


def notices(path: Path) -> bool:
    """Whether a reader that looks at checksums refuses it where a bit of any column is another."""
    whole = path.read_bytes()
    group = pq.ParquetFile(path).metadata.row_group(0)
    refused = 0
    for column in map(group.column, range(group.num_columns)):
        start = column.dictionary_page_offset or column.data_page_offset
        flip(path, start + column.total_compressed_size - 1)
        with contextlib.suppress(OSError):
            pq.read_table(path, page_checksum_verification=True)
            refused -= 1
        refused += 1
        path.write_bytes(whole)
    return refused == group.num_columns


def test_every_way_to_write_writes_checksums(tmp_path: Path) -> None:
    create(tmp_path)
    seed(tmp_path)
    append(tmp_path, RECORDS, records(range(50)))
    append_row(tmp_path, row_of(Run("00000001-cycle", "cycle", ["c"], 1)))
    backoff = {
        "cluster_id": "c", "group_id": "g", "topology_epoch": 1, "next_attempt_at_ms": 1,
        "armed_at_ms": 1, "armed_log_offset": 1, "changed_in_run_id": "1", "attempts": 1,
    }  # fmt: skip
    for action in ("insert", "update"):
        version = open_table(tmp_path / "state" / "topology_backoffs").version()
        rows = pa.Table.from_pylist([backoff | {ACTION: action}]).to_batches()
        merge(tmp_path, BACKOFFS, ("cluster_id", "group_id"), rows, version)
    for table in (RECORDS, "state.runs", BACKOFFS, "seeds.rule_sets"):
        [path] = live(tmp_path, table)
        assert notices(path), table


def test_files_are_full_and_the_log_knows_what_they_hold(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "FILE_BYTES", 20_000)
    create(tmp_path)
    append(tmp_path, RECORDS, records(range(20_000), record_value=b"v"))
    opened = open_table(tmp_path / "raw" / "records")
    told = pa.table(opened.get_add_actions(flatten=True)).to_pylist()
    assert 4 < len(told) < 60
    ends = []
    for file in told:
        path = tmp_path / "raw" / "records" / file["path"]
        rows = pq.read_table(path)
        assert path.stat().st_size == file["size_bytes"] < 60_000
        assert rows.num_rows == file["num_records"]
        found = pc.min_max(rows["log_offset"]).as_py()
        assert found == {"min": file["min.log_offset"], "max": file["max.log_offset"]}
        assert file["null_count.log_offset"] == 0
        ends.append((found["min"], found["max"]))
    ends.sort()
    assert [least for least, _ in ends[1:]] == [most + 1 for _, most in ends[:-1]]  # in order
    assert (ends[0][0], ends[-1][1]) == (0, 19_999)


def test_rows_instead_of_others_are_one_commit(tmp_path: Path) -> None:
    create(tmp_path)
    append(tmp_path, RECORDS, records(range(5)))
    opened = append(tmp_path, RECORDS, records(range(7, 9)), is_instead=True)
    assert opened.version() == 2
    assert opened.to_pyarrow_table()["log_offset"].to_pylist() == [7, 8]
    assert append(tmp_path, RECORDS, [], is_instead=True).file_uris() == []


@pytest.mark.parametrize(
    ("others", "words"),
    [
        ({"topic_name": None}, "topic_name"),
        ({"log_offset": -1}, "failed validation check"),
        ({"partition_index": None, "headers": "{}"}, "partition_index"),
    ],
)
def test_rows_that_break_the_contract_leave_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, others: dict[str, Any], words: str
) -> None:
    """The first files are written when the row comes."""
    monkeypatch.setattr(files, "FILE_BYTES", 2_000)
    create(tmp_path)
    with pytest.raises(Exception, match=words):
        append(tmp_path, RECORDS, [*records(range(5_000)), *records([1], **others)])
    assert not list((tmp_path / "raw" / "records").glob("*.parquet"))
    assert open_table(tmp_path / "raw" / "records").version() == 0


def test_a_check_that_somebody_added_holds(tmp_path: Path) -> None:
    create(tmp_path)
    opened = open_table(tmp_path / "raw" / "records")
    opened.alter.add_constraint({"short": "headers is null or character_length(headers) < 5"})
    append(tmp_path, RECORDS, records([1], headers="{}"))
    with pytest.raises(Exception, match="failed validation check"):
        append(tmp_path, RECORDS, records([2], headers='{"a": 1}'))


def test_a_table_that_somebody_partitioned_gains_rows(tmp_path: Path) -> None:
    from deltalake import write_deltalake

    create(tmp_path)
    folder = tmp_path / "raw" / "records"
    empty = open_table(folder).to_pyarrow_table()
    write_deltalake(
        folder, empty, mode="overwrite", partition_by=["topic_name"], schema_mode="overwrite"
    )
    append(tmp_path, RECORDS, records([1, 2]))
    assert sorted(open_table(folder).to_pyarrow_table()["log_offset"].to_pylist()) == [1, 2]
    assert [path.parent.name for path in live(tmp_path, RECORDS)] == ["topic_name=t"]


def test_statistics_speak_every_language(tmp_path: Path) -> None:
    create(tmp_path)
    append(tmp_path, RECORDS, records([1], topic_name='😀"ü\\\n'))
    [commit] = (tmp_path / "raw" / "records" / "_delta_log").glob("*1.json")
    [add] = [json.loads(line)["add"] for line in commit.read_text().splitlines() if '"add"' in line]
    assert json.loads(add["stats"])["minValues"]["topic_name"] == '😀"ü\\\n'
