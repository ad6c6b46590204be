"""Files are written anew where rows change, each by itself, and keys stay where they are."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from deltalake import TableFeatures

from moldau.errors import MoldauError
from moldau.warehouse import files as parquet_files
from moldau.warehouse import rewrite
from moldau.warehouse.append import append
from moldau.warehouse.create import create
from moldau.warehouse.damage import DamagedError, data_files, open_table
from moldau.warehouse.merge import ChangedMeanwhileError, merge
from moldau.warehouse.paths import NEW
from moldau.warehouse.rewrite import ACTION

CONFIGS, SEGMENTS = "state.topic_configs", "state.local_segments"
KEYS = {
    CONFIGS: ("cluster_id", "topic_id", "valid_from_ms"),
    SEGMENTS: ("cluster_id", "topic_id", "partition_index", "broker_id"),
}
Rows = dict[tuple[Any, ...], dict[str, Any]]


@pytest.fixture
def warehouse(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """In it a file is full with about forty rows."""
    create(tmp_path)
    monkeypatch.setattr(rewrite, "FILE_BYTES", 12_000)
    return tmp_path


def row(table: str, number: int, chance: random.Random) -> dict[str, Any]:
    text = f"{chance.getrandbits(800):x}"
    topic = f"topic-{number:05d}"
    if table == CONFIGS:
        return {
            "cluster_id": f"c{number % 2}", "topic_id": topic, "topic_name": text, "run_id": "1",
            "configs": [("retention.ms", str(number)), (text, "")], "valid_from_ms": number,
        }  # fmt: skip
    segment = {
        "base_offset": number, "size_bytes": number, "max_timestamp_ms": -1, "is_active": False,
        "record_count": chance.choice([None, 1]),
    }  # fmt: skip
    return {
        "cluster_id": "c", "topic_id": topic, "topic_name": text, "partition_index": number % 3,
        "broker_id": 1, "segments": chance.choice([[], [segment], [segment] * 3]),
        "run_id": "1", "changed_in_run_id": "1",
    }  # fmt: skip


def change(warehouse: Path, table: str, action: str, rows: list[dict[str, Any]]) -> None:
    merge_rows(warehouse, table, [one | {ACTION: action} for one in rows])


def merge_rows(warehouse: Path, table: str, rows: list[dict[str, Any]]) -> None:
    opened = open_table(warehouse.joinpath(*table.split(".")))
    schema = pa.schema(opened.schema().to_arrow()).append(pa.field(ACTION, pa.string()))
    batches = pa.Table.from_pylist(rows, pa.schema([f.with_nullable(True) for f in schema]))
    after = merge(warehouse, table, KEYS[table], batches.to_batches(), opened.version())
    latest = open_table(warehouse.joinpath(*table.split(".")))
    assert after and after.version() == latest.version()
    assert after.file_uris() == latest.file_uris()


def key_of(table: str, one: dict[str, Any]) -> tuple[Any, ...]:
    return tuple(one[name] for name in KEYS[table])


def found(warehouse: Path, table: str) -> Rows:
    rows = open_table(warehouse.joinpath(*table.split("."))).to_pyarrow_table().to_pylist()
    assert len({key_of(table, one) for one in rows}) == len(rows)
    return {key_of(table, one): one for one in rows}


def ends(warehouse: Path, table: str) -> Iterator[tuple[tuple[Any, ...], tuple[Any, ...]]]:
    """Least and greatest key of each file, as Delta knows them and as they are."""
    opened = open_table(warehouse.joinpath(*table.split(".")))
    for piece in rewrite._pieces(opened, KEYS[table]):
        for path in piece.paths:
            rows = pq.read_table(warehouse.joinpath(*table.split("."), path)).to_pylist()
            for one in rows:
                columns = zip(piece.least, key_of(table, one), piece.greatest, strict=True)
                assert all(least <= value <= greatest for least, value, greatest in columns)
            keys = [key_of(table, one) for one in rows]
            yield min(keys), max(keys)


def files(warehouse: Path, table: str) -> set[str]:
    return set(data_files(open_table(warehouse.joinpath(*table.split(".")))))


@pytest.mark.parametrize("table", KEYS)
@pytest.mark.parametrize("seed", range(4))
def test_random_merges_leave_the_rows_that_a_dictionary_has(
    warehouse: Path, table: str, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    if seed % 2:
        monkeypatch.setattr(parquet_files, "_FEW_ROWS_IN_GROUP", 10)
    chance = random.Random(seed)
    expected: Rows = {}
    most_files = 0
    for _ in range(12):
        changes = []
        chosen = chance.sample(range(600), chance.choice([1, 3, 50, 200]))
        for number in chosen:
            one = row(table, number, chance)
            key = key_of(table, one)
            action = "insert" if key not in expected else chance.choice(["update", "delete"])
            if action == "delete":
                one = {name: one[name] for name in KEYS[table]}
                del expected[key]
            else:
                expected[key] = one
            changes.append(one | {ACTION: action})
        merge_rows(warehouse, table, changes)
        assert found(warehouse, table) == expected
        in_files = list(ends(warehouse, table))
        most_files = max(most_files, len(in_files))
    assert most_files > 5


def fill(warehouse: Path, table: str, numbers: range) -> list[dict[str, Any]]:
    """In two merges: the first, into an empty table, is an append."""
    chance = random.Random(0)
    rows = [row(table, number, chance) for number in numbers]
    change(warehouse, table, "insert", rows[:1])
    change(warehouse, table, "insert", rows[1:])
    return rows


def test_one_changed_row_is_one_file_written_anew(warehouse: Path) -> None:
    rows = fill(warehouse, SEGMENTS, range(1000))
    before = files(warehouse, SEGMENTS)
    assert len(before) > 10
    change(warehouse, SEGMENTS, "update", [rows[500] | {"topic_name": "other"}])
    after = files(warehouse, SEGMENTS)
    assert len(before - after) == len(after - before) == 1


def test_groups_of_rows_that_stay_are_carried_over(
    warehouse: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A changed row is written where it was, a new one where it belongs; no value stays for
    nothing, and a group that loses its rows is gone."""
    monkeypatch.setattr(parquet_files, "_FEW_ROWS_IN_GROUP", 3)
    rows = fill(warehouse, SEGMENTS, range(0, 2000, 2))
    anew: list[int] = []
    plain = parquet_files.encoded

    def noting(some: pa.Table) -> pa.Table:
        anew.append(some.num_rows)
        return plain(some)

    monkeypatch.setattr(rewrite, "encoded", noting)
    other = rows[500] | {"topic_name": "other", "changed_in_run_id": "2"}
    new = row(SEGMENTS, 1005, random.Random(1))
    [file] = written_by(warehouse, lambda: merge_rows(warehouse, SEGMENTS, [
        other | {ACTION: "update"}, new | {ACTION: "insert"}
    ]))  # fmt: skip
    assert 0 < sum(anew) <= 9, "rows of two groups at most"
    keys = [[one["topic_id"] for one in group] for group in groups_of(file)]
    assert len(keys) > 2
    firsts = [min(some) for some in keys]
    assert firsts == sorted(firsts)
    assert all(max(one) < min(following) for one, following in pairwise(keys))
    assert found(warehouse, SEGMENTS)[key_of(SEGMENTS, other)] == other
    gone = groups_of(file)[1]
    [after] = written_by(warehouse, lambda: change(warehouse, SEGMENTS, "delete", gone))
    assert len(groups_of(after)) == len(keys) - 1
    list(ends(warehouse, SEGMENTS))


def written_by(warehouse: Path, work: Callable[[], None]) -> set[str]:
    before = files(warehouse, SEGMENTS)
    work()
    return files(warehouse, SEGMENTS) - before


def groups_of(file: str) -> list[list[dict[str, Any]]]:
    with pq.ParquetFile(file) as opened:
        groups = map(opened.read_row_group, range(opened.num_row_groups))
        return [group.to_pylist() for group in groups]


def test_statistics_are_those_that_the_contract_asks_for(warehouse: Path) -> None:
    rows = fill(warehouse, SEGMENTS, range(3))
    change(warehouse, SEGMENTS, "update", [rows[1] | {"changed_in_run_id": "7"}])
    [file] = pa.table(open_table(folder(warehouse)).get_add_actions(flatten=True)).to_pylist()
    ends = {name: (file[f"min.{name}"], file[f"max.{name}"]) for name in KEYS[SEGMENTS]}
    assert ends == {
        "cluster_id": ("c", "c"),
        "topic_id": ("topic-00000", "topic-00002"),
        "partition_index": (0, 2),
        "broker_id": (1, 1),
    }
    assert (file["min.changed_in_run_id"], file["max.changed_in_run_id"]) == ("1", "7")
    assert file["num_records"] == 3
    assert "min.segments" not in file


def test_changes_everywhere_leave_the_order(warehouse: Path) -> None:
    rows = fill(warehouse, SEGMENTS, range(1000))
    before = files(warehouse, SEGMENTS)
    change(warehouse, SEGMENTS, "update", [one | {"topic_name": "o"} for one in rows[::10]])
    assert not before & files(warehouse, SEGMENTS)
    in_order = sorted(ends(warehouse, SEGMENTS))
    assert all(one[1] < other[0] for one, other in pairwise(in_order))


def test_a_new_row_goes_among_its_neighbours(warehouse: Path) -> None:
    chance = random.Random(0)
    fill(warehouse, SEGMENTS, range(0, 2000, 2))
    before = files(warehouse, SEGMENTS)
    change(warehouse, SEGMENTS, "insert", [row(SEGMENTS, 901, chance)])
    assert len(before - files(warehouse, SEGMENTS)) == 1
    in_order = sorted(ends(warehouse, SEGMENTS))
    assert all(one[1] < other[0] for one, other in pairwise(in_order))


def test_many_new_rows_get_files_of_their_own(
    warehouse: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = fill(warehouse, SEGMENTS, range(0, 1000, 2))
    before = files(warehouse, SEGMENTS)
    monkeypatch.setattr(rewrite, "ROWS_IN_GROUP", 100)
    chance = random.Random(1)
    new = [row(SEGMENTS, number, chance) for number in range(1, 1000, 2)]
    change(warehouse, SEGMENTS, "insert", new)
    assert before < files(warehouse, SEGMENTS)
    assert found(warehouse, SEGMENTS) == {key_of(SEGMENTS, one): one for one in [*rows, *new]}
    change(warehouse, SEGMENTS, "delete", new)
    assert found(warehouse, SEGMENTS) == {key_of(SEGMENTS, one): one for one in rows}


def test_small_files_become_one(warehouse: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rewrite, "FILE_BYTES", 100_000)
    chance = random.Random(0)
    rows = [row(SEGMENTS, number, chance) for number in range(4)]
    for one in rows:
        append(warehouse, SEGMENTS, batches(warehouse, [one]))
    assert len(files(warehouse, SEGMENTS)) == 4
    change(warehouse, SEGMENTS, "delete", rows[:1])
    assert len(files(warehouse, SEGMENTS)) == 1
    assert len(found(warehouse, SEGMENTS)) == 3


def test_rows_are_found_in_files_without_order(warehouse: Path) -> None:
    chance = random.Random(0)
    rows = [row(SEGMENTS, number, chance) for number in range(1000)]
    for start in range(5):
        append(warehouse, SEGMENTS, batches(warehouse, rows[start::5]))
    changed = [one | {"topic_name": "other"} for one in rows[500:520]]
    change(warehouse, SEGMENTS, "update", changed)
    expected = {key_of(SEGMENTS, one): one for one in [*rows[:500], *changed, *rows[520:]]}
    assert found(warehouse, SEGMENTS) == expected


def test_a_table_may_lose_all_its_rows(warehouse: Path) -> None:
    rows = fill(warehouse, CONFIGS, range(200))
    change(warehouse, CONFIGS, "delete", rows)
    assert not files(warehouse, CONFIGS)
    change(warehouse, CONFIGS, "insert", rows[:5])
    assert len(found(warehouse, CONFIGS)) == 5


def test_who_commits_while_rows_come_is_not_merged_over(warehouse: Path) -> None:
    rows = fill(warehouse, SEGMENTS, range(10))
    opened = open_table(warehouse.joinpath(*SEGMENTS.split(".")))

    def coming() -> Iterator[pa.RecordBatch]:
        yield from batches(warehouse, rows[:1], "update")
        append(warehouse, SEGMENTS, batches(warehouse, [row(SEGMENTS, 99, random.Random(0))]))
        yield from batches(warehouse, rows[1:2], "update")

    with pytest.raises(ChangedMeanwhileError):
        merge(warehouse, SEGMENTS, KEYS[SEGMENTS], coming(), opened.version())
    assert len(found(warehouse, SEGMENTS)) == 11


def test_a_row_that_is_not_there_is_not_changed(warehouse: Path) -> None:
    rows = fill(warehouse, SEGMENTS, range(10))
    before = files(warehouse, SEGMENTS), on_disk(warehouse)
    with pytest.raises(MoldauError, match=r"local_segments: no file has a row that is to be"):
        change(warehouse, SEGMENTS, "update", [rows[0], row(SEGMENTS, 99, random.Random(0))])
    assert (files(warehouse, SEGMENTS), on_disk(warehouse)) == before


def test_what_was_checked_is_thrown_away(warehouse: Path) -> None:
    """What a kill leaves goes with the next session."""
    fill(warehouse, SEGMENTS, range(10))
    assert not list((warehouse / NEW).iterdir())
    (warehouse / NEW / "left" / "_delta_log").mkdir(parents=True)
    create(warehouse)
    assert not (warehouse / NEW).exists()


def on_disk(warehouse: Path) -> set[str]:
    return {str(path) for path in folder(warehouse).glob("*.parquet")}


@pytest.mark.parametrize("damage", ["torn", "missing", "other bytes"])
def test_a_damaged_file_is_named_and_nothing_is_changed(warehouse: Path, damage: str) -> None:
    rows = fill(warehouse, SEGMENTS, range(200))
    log = sorted((folder(warehouse) / "_delta_log").iterdir())
    for path in map(Path, files(warehouse, SEGMENTS)):
        data = path.read_bytes()
        if damage == "missing":
            path.unlink()
        else:
            half = len(data) // 2
            path.write_bytes(
                data[:half] + (b"" if damage == "torn" else bytes(half - 2000) + data[-2000:])
            )
    with pytest.raises(DamagedError, match=r"local_segments cannot be read: .*part-.*parquet"):
        change(warehouse, SEGMENTS, "update", rows[:1])
    assert sorted((folder(warehouse) / "_delta_log").iterdir()) == log


def folder(warehouse: Path) -> Path:
    return warehouse.joinpath(*SEGMENTS.split("."))


def batches(
    warehouse: Path, rows: list[dict[str, Any]], action: str | None = None
) -> list[pa.RecordBatch]:
    schema = pa.schema(open_table(folder(warehouse)).schema().to_arrow())
    table = pa.Table.from_pylist(rows, schema)
    if action:
        table = table.append_column(ACTION, pa.array([action] * len(rows)))
    return table.to_batches()


def test_the_log_tells_what_was_merged(warehouse: Path) -> None:
    chance = random.Random(1)
    change(warehouse, CONFIGS, "insert", [row(CONFIGS, number, chance) for number in range(3)])
    changed = [row(CONFIGS, number, chance) | {ACTION: "update"} for number in (0, 1)]
    gone = [row(CONFIGS, 2, chance) | {ACTION: "delete"}]
    merge_rows(warehouse, CONFIGS, [*changed, *gone])
    [last] = open_table(warehouse.joinpath(*CONFIGS.split("."))).history(1)
    assert last["operation"] == "MERGE"
    assert "t.topic_id = s.topic_id" in last["operationParameters"]["predicate"]
    expected = {"Inserted": "0", "Updated": "2", "Deleted": "1"}
    metrics = last["operationMetrics"]
    assert {kind: metrics[f"numTargetRows{kind}"] for kind in expected} == expected
    assert (metrics["numTargetFilesAdded"], metrics["numTargetFilesRemoved"]) == ("1", "1")


def test_the_log_has_a_checkpoint_at_its_distance(warehouse: Path) -> None:
    folder = warehouse.joinpath(*CONFIGS.split("."))
    open_table(folder).alter.set_table_properties({"delta.checkpointInterval": "4"})
    chance = random.Random(2)
    change(warehouse, CONFIGS, "insert", [row(CONFIGS, 0, chance)])
    for _ in range(5):
        change(warehouse, CONFIGS, "update", [row(CONFIGS, 0, chance)])
    checkpoints = (folder / "_delta_log").glob("*.checkpoint.parquet")
    versions = [int(file.name[:20]) for file in checkpoints]
    assert versions and all(version % 4 == 0 for version in versions)
    assert len(found(warehouse, CONFIGS)) == 1


def test_a_table_that_asks_more_of_a_commit_has_it_from_deltas_library(warehouse: Path) -> None:
    folder = warehouse.joinpath(*CONFIGS.split("."))
    open_table(folder).alter.add_feature(
        [TableFeatures.ChangeDataFeed], allow_protocol_versions_increase=True
    )
    chance = random.Random(3)
    change(warehouse, CONFIGS, "insert", [row(CONFIGS, 0, chance)])
    change(warehouse, CONFIGS, "update", [row(CONFIGS, 0, chance)])
    assert open_table(folder).history(1)[0]["operation"] == "WRITE"
