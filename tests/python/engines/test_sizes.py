"""What runs read tells whether Spark compiles: on much it pays, on little it does not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from deltalake import DeltaTable, write_deltalake

from moldau.engines import sizes
from moldau.engines.sizes import bytes_read
from moldau.warehouse.append import append
from moldau.warehouse.create import create
from moldau.warehouse.damage import open_table


def row(schema: pa.Schema) -> pa.RecordBatch:
    """Nothing where that is allowed, and the least elsewhere."""
    least = {"string": "", "bool": False}
    values = [
        pa.array([None if field.nullable else least.get(str(field.type), 0)], field.type)
        for field in schema
    ]
    return pa.record_batch(values, schema=schema)


def write_row(folder: Path) -> None:
    """As another process does."""
    write_deltalake(folder, [row(pa.schema(open_table(folder).schema()))], mode="append")


def test_history_that_nothing_folds_again_is_not_counted(tmp_path: Path) -> None:
    create(tmp_path)
    counted = {
        "decoded.group_records": False,
        "decoded.offset_syncs": True,
        "state.source_topics": True,
    }
    for table, is_counted in counted.items():
        before = bytes_read(tmp_path)
        schema = pa.schema(open_table(tmp_path.joinpath(*table.split("."))).schema())
        append(tmp_path, table, [row(schema)])
        assert (bytes_read(tmp_path) > before) is is_counted, table


def test_a_table_is_opened_once_where_files_of_earlier_versions_are_many(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    create(tmp_path)
    write_row(tmp_path / "state" / "source_topics")
    opened: list[str] = []
    plain = DeltaTable.__init__

    def opening(table: DeltaTable, uri: Any, *words: Any, **more: Any) -> None:
        opened.append(Path(uri).name)
        plain(table, uri, *words, **more)

    monkeypatch.setattr(sizes, "small_bytes", lambda: 1)
    monkeypatch.setattr(DeltaTable, "__init__", opening)
    before = bytes_read(tmp_path)
    assert opened == ["source_topics"]
    write_row(tmp_path / "state" / "source_topics")
    opened.clear()
    assert bytes_read(tmp_path) > before
    assert opened == []


def test_a_file_that_another_writer_removed_meanwhile_counts_nothing(tmp_path: Path) -> None:
    create(tmp_path)
    before = bytes_read(tmp_path)
    (tmp_path / "state" / "groups" / "gone.parquet").symlink_to(tmp_path / "gone")
    sizes._bytes_found.cache_clear()
    assert bytes_read(tmp_path) == before


def test_files_of_earlier_versions_count_only_while_all_are_little(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    create(tmp_path)
    folder = tmp_path / "state" / "source_topics"
    write_row(folder)
    written = bytes_read(tmp_path)
    open_table(folder).delete()
    assert bytes_read(tmp_path) == written > 0
    monkeypatch.setattr(sizes, "small_bytes", lambda: written)
    assert bytes_read(tmp_path) == 0
