"""A warehouse that was hurt: what cannot be read is named, exit 1; what can be made anew is."""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from moldau.cli import run
from moldau.project import SAMPLES
from moldau.runs.load import load
from moldau.runs.opening import open_session
from moldau.settings import load_settings
from moldau.warehouse.ask import ask_rows
from moldau.warehouse.damage import data_files, open_table, sizes_told
from moldau.warehouse.delta_log import newest_version
from moldau.warehouse.left import find_lost
from moldau.warehouse.paths import IDLE, LEFT, LOADS, LOCK, NEW, RUNS, SCHEMA, SEEDED

AT = "2026-11-21T08:00:00Z"


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A load, a cycle, a sweep, and a cycle that stood still."""
    warehouse = tmp_path_factory.mktemp("damaged") / "warehouse"
    records = str(SAMPLES / "west" / "__consumer_offsets.jsonl")
    place = ["--warehouse", str(warehouse)]
    assert run(["load", records, "--cluster", "west", "--kind", "records", *place]) == 0
    for kind in ("cycle", "sweep", "cycle"):
        assert run([kind, "--at", AT, *place]) == 0
    return warehouse


@pytest.fixture
def warehouse(whole: Path, tmp_path: Path) -> Path:
    return shutil.copytree(whole, tmp_path / "warehouse")


@pytest.fixture
def moldau(warehouse: Path, capfd: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str]]:
    """Exit code of a command, and all that it said."""

    def command(*words: str) -> tuple[int, str]:
        capfd.readouterr()
        code = run([*words, "--warehouse", str(warehouse)])
        said = capfd.readouterr()
        return code, said.out + said.err

    return command


Moldau = Callable[..., tuple[int, str]]


def newest(warehouse: Path, table: str) -> Path:
    """The data file that the last commit added."""
    folder = warehouse.joinpath(*table.split("."))
    commits = sorted((folder / "_delta_log").glob("*.json"), reverse=True)
    for commit in commits:
        if found := re.search(r'"add":\{"path":"([^"]+)"', commit.read_text()):
            return folder / found[1]
    raise AssertionError(table)


def flip(path: Path, at: int) -> None:
    data = bytearray(path.read_bytes())
    data[at] ^= 0b100
    path.write_bytes(data)


def flip_page(path: Path, column: str) -> None:
    """A bit in the middle of the column's first page of data."""
    group = pq.ParquetFile(path).metadata.row_group(0)
    for one in map(group.column, range(group.num_columns)):
        if one.path_in_schema.split(".")[0] == column:
            start = one.dictionary_page_offset or one.data_page_offset
            flip(path, start + one.total_compressed_size - 2)
            return
    raise AssertionError(column)


HURTS: dict[str, Callable[[Path], None]] = {
    "cut short": lambda path: os.truncate(path, path.stat().st_size // 2),
    "a byte longer": lambda path: path.write_bytes(path.read_bytes() + b"\0"),
    "empty": lambda path: os.truncate(path, 0),
}


@pytest.mark.parametrize("hurt", HURTS)
@pytest.mark.parametrize("table", ["state.runs", "state.group_offsets", "raw.records"])
def test_a_file_of_another_size_is_named(
    warehouse: Path, moldau: Moldau, table: str, hurt: str
) -> None:
    path = newest(warehouse, table)
    HURTS[hurt](path)
    idle = [["cycle", "--at", AT]] if table != "raw.records" else []  # which reads none of that
    for words in (*idle, ["init"], ["doctor"]):
        code, said = moldau(*words)
        assert code == (2 if words == ["doctor"] else 1)
        assert f"{table} in " in said
        assert f"the data file {path.name} has {path.stat().st_size} bytes instead of" in said
    assert path.name in moldau("status")[1]


@pytest.mark.parametrize(
    ("table", "column"),
    [("state.runs", "status"), ("state.groups", "log_offset"), ("raw.records", "record_value")],
)
def test_a_flipped_bit_is_found_by_deep(
    warehouse: Path, moldau: Moldau, table: str, column: str
) -> None:
    path = newest(warehouse, table)
    flip_page(path, column)
    code, said = moldau("doctor", "--deep")
    assert code == 2
    assert f"{table}: the data file {path.name} cannot be read" in said
    assert "restore the folder from a copy" in said
    words = {"state.runs": "only a copy has it", "raw.records": "load the original files again"}
    assert words.get(table, "can be rebuilt from what was loaded") in said


def test_a_whole_warehouse_is_whole_to_its_last_page(moldau: Moldau) -> None:
    code, said = moldau("doctor", "--deep")
    assert re.search(r"every page of (\d+) data files was read: \1 are whole\n", said), said
    assert code in (0, 2)  # the machine may lack jars
    assert "MEND  every" not in said and "is damaged" not in said


@pytest.mark.parametrize(
    ("table", "where"),
    [
        ("state.groups", "header"),
        ("state.groups", "block"),
        ("state.groups", "footer"),
        ("state.runs", "block"),
        ("state.group_offsets", "footer"),
    ],
)
def test_what_cannot_be_read_is_no_internal_error(
    warehouse: Path, moldau: Moldau, table: str, where: str
) -> None:
    """Of the same size, so that only who reads it finds out."""
    path = newest(warehouse, table)
    size = path.stat().st_size
    data = bytearray(path.read_bytes())
    at = {"header": 4, "block": size // 3, "footer": size - 40}[where]
    data[at : at + 24] = b"\xff" * 24
    path.write_bytes(data)
    later = str(SAMPLES / "west" / "__consumer_offsets.later.jsonl")
    for words in (
        ["load", later, "--cluster", "west", "--kind", "records"],
        ["sweep", "--at", "2026-11-21T09:00:00Z"],
        ["cycle", "--at", "2026-11-21T09:00:00Z"],
    ):
        code, said = moldau(*words)
        assert code in (0, 1), said  # 0: nobody needed what was hurt
        assert "internal error" not in said
        if code:
            assert path.name in said
            assert table in said
    assert moldau("show", table)[0] in (0, 1)
    code, said = moldau("doctor", "--deep")
    assert code == 2
    assert path.name in said


@pytest.mark.parametrize(
    "table",
    [
        "state.runs",
        "state.groups",
        "raw.records",
        "decisions.group_sweeps",
        "history.decision_changes",
    ],
)
def test_a_lost_commit_is_noticed(warehouse: Path, moldau: Moldau, table: str) -> None:
    log = warehouse.joinpath(*table.split("."), "_delta_log")
    commit = max(log.glob("*.json"))
    commit.rename(warehouse / "kept.json")
    version = int(commit.stem)
    before = newest_version(warehouse / "state" / "runs")
    for words in (["cycle", "--at", AT], ["init"], ["doctor"]):
        code, said = moldau(*words)
        assert code == (2 if words == ["doctor"] else 1)
        assert f"{table} in " in said
        assert f"its log ends at version {version - 1}, and " in said
        assert f"left version {version}" in said
    assert newest_version(warehouse / "state" / "runs") == before  # nothing was written
    (warehouse / "kept.json").rename(commit)
    assert moldau("cycle", "--at", AT)[0] == 0


def test_the_row_of_the_last_run_knows_it_as_well(warehouse: Path) -> None:
    (warehouse / LEFT).unlink()
    assert find_lost(warehouse) is None
    max((warehouse / "state" / "groups" / "_delta_log").glob("*.json")).unlink()
    assert "00000004-cycle left version" in str(find_lost(warehouse))


@pytest.mark.parametrize("note", ["missing", "older", "rubbish", "a changed digit"])
def test_no_run_id_is_given_twice_and_no_loss_is_invented(
    warehouse: Path, moldau: Moldau, note: str
) -> None:
    """Whoever is killed between the row and the note leaves an older one."""
    place = warehouse / LEFT
    of_before = place.read_text()
    assert moldau("cycle", "--at", AT)[0] == 0
    assert json.loads(place.read_text())["run_id"] == "00000005-cycle"
    match note:
        case "missing":
            place.unlink()
        case "older":
            place.write_text(of_before)
        case "rubbish":
            place.write_bytes(b"\xff{\0")
        case _:
            place.write_text(place.read_text().replace('"state.runs": 5', '"state.runs": 7'))
    assert moldau("cycle", "--at", AT)[0] == 0
    assert moldau("sweep", "--at", AT)[0] == 0
    ids = [row[0] for row in ask_rows(warehouse, "state.runs", "select run_id from t order by 1")]
    assert [one[:8] for one in ids] == [f"{number:08d}" for number in range(1, 8)]
    assert json.loads(place.read_text())["run_id"] == ids[-1]


def test_an_id_whose_row_is_lost_is_not_given_again(warehouse: Path, moldau: Moldau) -> None:
    """Nothing knows of the row but the rows that its run wrote."""
    later = str(SAMPLES / "west" / "__consumer_offsets.later.jsonl")
    assert moldau("load", later, "--cluster", "west", "--kind", "records")[0] == 0
    (warehouse / LEFT).unlink()
    max((warehouse / "state" / "runs" / "_delta_log").glob("*.json")).unlink()
    assert moldau("sweep", "--at", AT)[0] == 0
    last = ask_rows(warehouse, "state.runs", "select max(run_id) from t")
    assert last == [("00000006-sweep",)]


def test_other_writers_may_go_forward(warehouse: Path, moldau: Moldau) -> None:
    for table in ("runs", "groups"):
        opened = open_table(warehouse / "state" / table)
        opened.optimize.compact()
        opened.create_checkpoint()
        opened.alter.set_table_properties({"delta.logRetentionDuration": "interval 1 days"})
    assert moldau("sweep", "--at", AT)[0] == 0
    assert find_lost(warehouse) is None


def test_a_warehouse_that_knows_nothing_is_no_damage(warehouse: Path, moldau: Moldau) -> None:
    """Rows of an earlier moldau have no versions."""
    (warehouse / LEFT).unlink()
    runs = open_table(warehouse / "state" / "runs")
    runs.update({"table_versions": "null"})
    max((warehouse / "state" / "groups" / "_delta_log").glob("*.json")).unlink()
    assert find_lost(warehouse) is None
    assert moldau("sweep", "--at", AT)[0] == 0


def _as_folder(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path)
        path.write_text("rubbish")
    else:
        path.unlink(missing_ok=True)
        (path / "inside").mkdir(parents=True)


_SPOILS: dict[str, Callable[[Path], object]] = {
    "rubbish": lambda path: path.write_bytes(os.urandom(64)),
    "empty": lambda path: path.write_bytes(b""),
    "other encoding": lambda path: path.write_text("{}", encoding="utf-16"),
    "missing": lambda path: path.unlink(),
    "of the other kind": _as_folder,
}
_NOTES = (SEEDED, SCHEMA, LEFT, LOCK, IDLE / "cycle.json", IDLE / "sweep.json")


@pytest.mark.parametrize("spoil", _SPOILS)
def test_notes_that_can_be_made_anew_are(warehouse: Path, moldau: Moldau, spoil: str) -> None:
    """All of them at once, before each of three verbs that write, and a reading one."""
    for words in (
        ["cycle", "--at", AT],
        ["sweep", "--at", AT],
        ["init"],
    ):
        for note in _NOTES:
            if (warehouse / note).exists():
                _SPOILS[spoil](warehouse / note)
        assert moldau("status")[0] == 0
        code, said = moldau(*words)
        assert code == 0, said
        for note in (SEEDED, SCHEMA, LEFT):
            assert (warehouse / note).is_file()
    assert find_lost(warehouse) is None


def test_folders_that_can_be_made_anew_are(warehouse: Path, moldau: Moldau) -> None:
    for folder in (LOADS, RUNS, NEW, IDLE):
        _as_folder(warehouse / folder)
    assert moldau("status")[0] == 0
    later = str(SAMPLES / "west" / "__consumer_offsets.later.jsonl")
    code, said = moldau("load", later, "--cluster", "west", "--kind", "records")
    assert code == 0, said
    assert moldau("sweep", "--at", AT)[0] == 0


@pytest.mark.parametrize("content", [None, b"", b"\xff\xfe", b"[" * 10_000])
def test_a_journal_that_nobody_understands_is_set_aside(
    warehouse: Path, moldau: Moldau, content: bytes | None
) -> None:
    """Also one that is a folder; its id is not given again."""
    note = warehouse / RUNS / "00000005-cycle.json"
    note.mkdir(parents=True) if content is None else note.write_bytes(content)
    assert moldau("sweep", "--at", AT)[0] == 0
    assert not note.exists()
    assert "00000005-cycle could not be finished" in moldau("doctor")[1]
    ids = ask_rows(warehouse, "state.runs", "select max(run_id) from t")
    assert ids == [("00000006-sweep",)]


@pytest.mark.parametrize("hurt", ["cut short", "empty", "a flipped bit"])
def test_a_load_whose_rows_are_damaged_is_set_aside(
    warehouse: Path, moldau: Moldau, monkeypatch: pytest.MonkeyPatch, hurt: str
) -> None:
    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    later = SAMPLES / "west" / "__consumer_offsets.later.jsonl"
    settings = load_settings(None, warehouse)
    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr("moldau.runs.load.carry_out", killed)
        with open_session(settings, "pytest") as session:
            load(session, [later], "west", "records")
    [path] = (warehouse / LOADS).rglob("*.parquet")
    if hurt == "a flipped bit":
        flip_page(path, "record_value")
    else:
        HURTS[hurt](path)
    assert moldau("sweep", "--at", AT)[0] == 0
    assert "00000005-load could not be finished and is set aside" in moldau("doctor")[1]
    counted = ask_rows(warehouse, "raw.records", "select count(*) from t where run_id > '00000002'")
    assert counted == [(0,)]


def test_every_live_file_has_the_size_that_the_log_tells(warehouse: Path) -> None:
    for table in ("state.runs", "raw.records", "seeds.rule_sets"):
        opened = open_table(warehouse.joinpath(*table.split(".")))
        sizes = sizes_told(opened)
        assert sorted(sizes) == sorted(data_files(opened))
        assert all(os.path.getsize(path) == told for path, told in sizes.items())
