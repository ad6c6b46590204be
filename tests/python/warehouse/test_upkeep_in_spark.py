"""Spark's OPTIMIZE and VACUUM do what is due, also where moldau leaves files to another writer."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

from moldau.engines.spark.upkeep import maintain_in_spark
from moldau.sessions.session import Session
from moldau.warehouse.append import append
from moldau.warehouse.ask import ask_rows
from moldau.warehouse.create import create
from moldau.warehouse.damage import data_files, open_table
from moldau.warehouse.upkeep import MANY, delete_unneeded, maintain

pytestmark = pytest.mark.spark
CLEARS = "history.epoch_clears"


def test_a_table_that_hides_rows_is_joined_and_freed(session: Session, tmp_path: Path) -> None:
    warehouse = tmp_path / "ware`house"
    create(warehouse)
    folder = warehouse / "history" / "epoch_clears"
    schema = pa.schema(open_table(folder).schema().to_arrow())
    for number in range(MANY):
        row = {
            "run_id": f"{number:08d}-cycle", "cluster_id": "c", "group_id": "g", "step": "clear",
            "observed_epoch": 3, "epoch_after": -1, "outcome": "cleared", "written_at_ms": 1,
        }  # fmt: skip
        rows = pa.Table.from_pylist([row, row | {"group_id": "h"}], schema)
        append(warehouse, CLEARS, rows.to_batches())
    spark, name = session.engines.spark.session, str(folder).replace("`", "``")
    enabled = "'delta.enableDeletionVectors' = 'true'"
    spark.sql(f"alter table delta.`{name}` set tblproperties ({enabled})")
    spark.sql(f"delete from delta.`{name}` where group_id = 'h' and run_id < '00000008'")

    left = maintain(warehouse, CLEARS, lambda _: 0)
    assert (left.files_joined, left.files_deleted) == (0, 0), "what hides rows stays"
    assert left.left and "hidden rows" in left.left
    assert maintain_in_spark(spark, warehouse, CLEARS, lambda _: None).files_joined == MANY
    [file] = data_files(open_table(folder))
    # what moldau deletes itself of such a table, and Spark the vectors, too
    vectors = set(folder.glob("*.bin"))
    assert vectors
    delete_unneeded(open_table(folder), 0)
    assert [str(kept) for kept in folder.glob("*.parquet")] == [file]
    assert set(folder.glob("*.bin")) == vectors
    gone = maintain_in_spark(spark, warehouse, CLEARS, lambda _: 0)
    assert (gone.files_joined, gone.left) == (0, None)
    assert not list(folder.glob("*.bin"))
    counted = "select count(*), count(distinct run_id) from t"
    assert ask_rows(warehouse, CLEARS, counted) == [(MANY + MANY // 2, MANY)]
