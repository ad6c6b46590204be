"""`doctor --deep` reads every page: what is damaged, and from what it can be had again."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from deltalake import DeltaTable
from rows_support import Write

from moldau.errors import MoldauError
from moldau.reading.health.doctor import examine
from moldau.reading.tables.query import query
from moldau.warehouse.append import append
from moldau.warehouse.create import create
from moldau.warehouse.damage import DamagedError
from moldau.warehouse.verify import has_checksums, naming_damage, rebuilt_from, verify

TABLE = "state.topology_backoffs"
ROWS = [
    {
        "cluster_id": "c", "group_id": f"group {number:03d}", "topology_epoch": 1,
        "next_attempt_at_ms": 1, "armed_at_ms": 1, "armed_log_offset": 1, "attempts": number,
        "changed_in_run_id": "00000001-cycle",
    }
    for number in range(200)
]  # fmt: skip


@pytest.fixture
def made(warehouse: Path) -> Path:
    """The folder of a table with one file that moldau wrote."""
    create(warehouse)
    append(warehouse, TABLE, pa.Table.from_pylist(ROWS).to_batches())
    return warehouse.joinpath(*TABLE.split("."))


def only_file(folder: Path) -> Path:
    [path] = folder.glob("*.parquet")
    return path


def change_told(folder: Path, change: Callable[[dict[str, object]], object]) -> None:
    """What the log says of the file."""
    commit = folder / "_delta_log" / f"{1:020d}.json"
    actions = [json.loads(line) for line in commit.read_text().splitlines()]
    for action in actions:
        if "add" in action:
            statistics = json.loads(action["add"]["stats"])
            change(statistics)
            action["add"]["stats"] = json.dumps(statistics)
    commit.write_text("\n".join(map(json.dumps, actions)))


def write_other(folder: Path, rows: pa.Table) -> None:
    """A file that reads well in the place of the table's own, and of its size by the log."""
    path = only_file(folder)
    pq.write_table(rows, path)
    commit = folder / "_delta_log" / f"{1:020d}.json"
    actions = [json.loads(line) for line in commit.read_text().splitlines()]
    for action in actions:
        if "add" in action:
            action["add"]["size"] = path.stat().st_size
    commit.write_text("\n".join(map(json.dumps, actions)))


def wrong(folder: Path) -> str:
    [told] = verify(folder).damaged.values()
    return told


def test_a_whole_table_is_whole(made: Path) -> None:
    found = verify(made)
    assert (found.files, found.unguarded, found.damaged) == (1, 0, {})


def test_files_without_checksums_are_counted(warehouse: Path, write: Write) -> None:
    write("state.runs", {"run_id": "1", "counts": []})
    write("state.runs")  # no row, no page
    found = verify(warehouse / "state" / "runs")
    assert (found.unguarded, found.damaged) == (1, {})
    told = [f.message for f in examine(warehouse, is_deep=True) if f.check == "pages"]
    assert "1 of these have no checksums" in told[-1]


@pytest.mark.parametrize("place", [0.5, 0.7, 0.95])
def test_any_bit_of_a_page_is_noticed(made: Path, place: float) -> None:
    path = only_file(made)
    whole = path.read_bytes()
    column = pq.ParquetFile(path).metadata.row_group(0).column(6)
    start = column.dictionary_page_offset or column.data_page_offset
    for bit in range(8):
        data = bytearray(whole)
        data[start + int(place * column.total_compressed_size)] ^= 1 << bit
        path.write_bytes(data)
        assert "cannot be read" in wrong(made)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda told: told.update(numRecords=199), "has 200 rows, and by the log 199"),
        (lambda told: told["maxValues"].update(group_id="group 100"), "other values of group_id"),
        (lambda told: told["minValues"].update(cluster_id="d"), "other values of cluster_id"),
    ],
)
def test_what_the_log_says_of_a_file_is_held_against_it(
    made: Path, change: Callable[[dict[str, object]], object], words: str
) -> None:
    """By it files are left out of a query."""
    change_told(made, change)
    assert words in wrong(made)


def test_a_column_that_is_gone_from_a_file_is_noticed(made: Path) -> None:
    rows = pq.read_table(only_file(made))
    write_other(made, rows.rename_columns({"attempts": "attempus"}))
    assert wrong(made) == "has no column attempts"
    empty = pa.nulls(rows.num_rows, pa.int32())
    write_other(made, rows.set_column(rows.column_names.index("attempts"), "attempts", empty))
    assert wrong(made) == "has a row without attempts"


@pytest.mark.parametrize("damage", ["missing", "short", "log"])
def test_what_is_not_there_is_named_too(warehouse: Path, made: Path, damage: str) -> None:
    path = only_file(made)
    match damage:
        case "missing":
            path.unlink()
        case "short":
            path.write_bytes(path.read_bytes()[:99])
        case _:
            (made / "_delta_log" / f"{1:020d}.json").write_text("{")
    told = [f for f in examine(warehouse, is_deep=True) if f.check == "pages" and not f.is_fine]
    [message] = [finding.message for finding in told]
    assert message.startswith(f"{TABLE}: ")
    assert ("00001.json" if damage == "log" else path.name) in message
    assert rebuilt_from(TABLE) in message


def test_every_table_can_be_had_again_or_not() -> None:
    from moldau.warehouse.contracts import tables

    told = {name: rebuilt_from(name) for name in tables()}
    assert "original files" in told["raw.records"]
    assert "raw.records" in told["decoded.group_records"]
    assert "decided anew" in told["decisions.group_sweeps"]
    assert all("only a copy" in told[name] for name in told if name.startswith("history."))
    assert told["state.runs"] == told["state.settings"] == "only a copy has it"


def test_a_query_names_the_file_that_it_cannot_read(warehouse: Path, made: Path) -> None:
    path = only_file(made)
    data = bytearray(path.read_bytes())
    data[4:200] = b"\xff" * 196
    path.write_bytes(data)
    with pytest.raises(DamagedError, match=rf"topology_backoffs in .* the data file {path.name}"):
        list(query(warehouse, f"select * from {TABLE}").rows)
    with pytest.raises(MoldauError) as refused:
        list(query(warehouse, "select nope from state.topology_backoffs").rows)
    assert not isinstance(refused.value, DamagedError)


def test_an_error_that_comes_of_damage_says_so(warehouse: Path, made: Path) -> None:
    path = only_file(made)
    with pytest.raises(ZeroDivisionError), naming_damage(warehouse, [TABLE, "state.runs"]):
        _ = 1 // 0
    path.write_bytes(path.read_bytes()[:-8] + b"\0" * 8)
    with pytest.raises(DamagedError, match=path.name), naming_damage(warehouse, [TABLE]):
        _ = 1 // 0
    with pytest.raises(MoldauError, match=r"^refused$"), naming_damage(warehouse, [TABLE]):
        raise MoldauError("refused")
    with pytest.raises(OSError, match="full"), naming_damage(warehouse, [TABLE]):
        raise OSError(28, "full")


def test_checksums_are_seen_where_they_are(tmp_path: Path) -> None:
    rows = pa.table({"a": ["x"] * 9, "b": range(9)})
    for written in (True, False):
        pq.write_table(rows, tmp_path / "t.parquet", write_page_checksum=written)
        assert has_checksums(tmp_path / "t.parquet") is written


def test_files_that_deltas_library_has_rewritten_are_no_damage(made: Path) -> None:
    """Its texts are views in Arrow, which know no least one."""
    table = DeltaTable(made)
    table.delete("attempts = 3")
    table.update({"attempts": "7"}, predicate="group_id = 'group 005'")
    assert verify(made).damaged == {}


def test_a_deletion_vector_is_read(hidden_rows: Path) -> None:
    assert verify(hidden_rows / "state" / "hidden_rows").damaged == {}


def test_a_grown_table_has_files_without_its_new_columns(warehouse: Path, write: Write) -> None:
    write("state.runs", {"run_id": "1", "counts": []})
    folder = warehouse / "state" / "runs"
    from deltalake import Field
    from deltalake.schema import PrimitiveType

    DeltaTable(folder).alter.add_columns([Field("mood", PrimitiveType("string"), True)])
    assert verify(folder).damaged == {}
