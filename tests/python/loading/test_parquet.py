"""Parquet files of any schema: what is converted, what is refused, and nothing else happens."""

from __future__ import annotations

import datetime as dt
import json
from decimal import Decimal
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from parquet_support import T, random_table

from moldau.errors import MoldauError
from moldau.loading.read_lines import read_chunks
from moldau.loading.shape import Shape
from moldau.loading.shapes import RECORDS, shapes
from moldau.sessions.brought import Refusal

RECORD = {
    "topic": "t", "partition": 0, "offset": 7, "timestamp_ms": T, "timestamp_type": "CreateTime",
    "key_base64": "AAIAAWE=", "value_base64": None,
}  # fmt: skip
PLACE = {"topic_id": "id", "topic": "t", "partition": 0}
SEGMENT = {
    "base_offset": 0, "size_bytes": 10, "max_timestamp_ms": T, "is_active": False,
    "record_count": None,
}  # fmt: skip
STATE = PLACE | {
    "broker_id": 1, "is_leader": True, "leader_epoch": None, "log_start_offset": 0,
    "local_log_start_offset": 0, "last_stable_offset": 5, "high_watermark": 5,
    "log_end_offset": 5, "taken_at_ms": T,
}  # fmt: skip
MEMBER = {"request_id": "r", "group_id": "g", "member_id": "m", "received_at_ms": T}
# a kind of file, a line of it, the instant of it, and the column that the instant becomes
INSTANTS: list[tuple[str, dict[str, Any], str, str]] = [
    ("records", RECORD, "timestamp_ms", "recorded_at_ms"),
    ("partition_states", STATE, "taken_at_ms", "taken_at_ms"),
    ("classic_joins", MEMBER, "received_at_ms", "received_at_ms"),
    (
        "heartbeats",
        MEMBER | {"request_version": 1, "member_epoch": 3, "response_error": "NONE",
                  "status_codes": [1, None]},
        "received_at_ms",
        "received_at_ms",
    ),
    (
        "topology_pushes",
        MEMBER | {"topology_epoch": 0, "topology_description": "{}"},
        "received_at_ms",
        "received_at_ms",
    ),
    (
        "group_deletions",
        {"request_id": "r", "request_version": 2, "group_ids": ["g"], "received_at_ms": T},
        "received_at_ms",
        "received_at_ms",
    ),
    ("coordinator_unloads", {"offsets_partition_index": 0, "at_ms": T}, "at_ms", "at_ms"),
    (
        "topic_configs",
        {"topic_id": "id", "topic": "t", "valid_from_ms": T, "configs": [("retention.ms", "5")]},
        "valid_from_ms",
        "valid_from_ms",
    ),
    (
        "mirror_task_starts",
        {"flow": "f", "started_at_ms": T, "syncs_end_offset": 5, "checkpoints_readable": True},
        "started_at_ms",
        "started_at_ms",
    ),
]  # fmt: skip


def read(shape: Shape, table: pa.Table, path: Path, **more: Any) -> tuple[list[Any], list[Refusal]]:
    file = path / "rows.parquet"
    pq.write_table(table, file, **more)
    chunks = list(read_chunks(file, shape))
    rows = [row for table, _ in chunks for row in table.drop_columns("line").to_pylist()]
    return rows, [refusal for _, refused in chunks for refusal in refused]


def lines(shape: Shape, rows: list[dict[str, Any]], **columns: pa.Array) -> pa.Table:
    """Rows in the types of the kind of file, and some columns in others."""
    fields = [(f.name, f.file_type) for f in shape.members if f.name in rows[0]]
    table = pa.Table.from_pylist(rows, schema=pa.schema(fields))
    for name, column in columns.items():
        place = table.schema.get_field_index(name)
        if place < 0:
            table = table.append_column(name, column)
        else:
            table = table.set_column(place, name, column)
    return table


def ticks(unit: str, *ms: int) -> list[int]:
    per_ms = {"s": 0.001, "ms": 1, "us": 1_000, "ns": 1_000_000}[unit]
    return [int(each * per_ms) for each in ms]


@pytest.mark.parametrize("zone", [None, "UTC", "America/New_York", "+05:30"])
@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
@pytest.mark.parametrize(("kind", "line", "field", "column"), INSTANTS)
def test_a_timestamp_becomes_milliseconds(
    kind: str, line: dict[str, Any], field: str, column: str, unit: str, zone: str | None,
    tmp_path: Path,
) -> None:  # fmt: skip
    shape = shapes()[kind]
    given = pa.array(ticks(unit, T, 0), pa.timestamp(unit, zone))
    rows, refused = read(shape, lines(shape, [line, line], **{field: given}), tmp_path)
    assert ([row[column] for row in rows], refused) == ([T, 0], [])


def test_an_instant_in_a_list_of_structs_becomes_milliseconds(tmp_path: Path) -> None:
    shape = shapes()["local_segments"]
    kind = pa.struct(
        [(name, {bool: pa.bool_()}.get(type(value), pa.int64())) for name, value in SEGMENT.items()]
    )
    place = kind.get_field_index("max_timestamp_ms")
    for unit in ("s", "ms", "us", "ns"):
        members = list(kind)
        members[place] = pa.field("max_timestamp_ms", pa.timestamp(unit, "UTC"))
        moment = SEGMENT | {"max_timestamp_ms": ticks(unit, T)[0]}
        column = pa.array([[moment, moment | {"base_offset": 4}], []], pa.list_(pa.struct(members)))
        row = PLACE | {"broker_id": 1, "segments": []}
        rows, refused = read(shape, lines(shape, [row, row], segments=column), tmp_path)
        assert refused == []
        assert [[s["max_timestamp_ms"] for s in row["segments"]] for row in rows] == [[T, T], []]


def test_dates_and_int96_become_milliseconds(tmp_path: Path) -> None:
    days = pa.array([dt.date(2026, 11, 18), dt.date(1970, 1, 1), dt.date(9999, 12, 31)])
    expected = [1_794_960_000_000, 0, 253_402_214_400_000]
    for given in (days, days.cast(pa.date64())):
        rows, _ = read(RECORDS, lines(RECORDS, [RECORD] * 3, timestamp_ms=given), tmp_path)
        assert [row["recorded_at_ms"] for row in rows] == expected
    late = 10_000_000_000_000  # 2286: past what nanoseconds in 64 bits reach
    moments = pa.array([T * 1000 + 999, late * 1000], pa.timestamp("us"))
    table = lines(RECORDS, [RECORD] * 2, timestamp_ms=moments)
    rows, _ = read(RECORDS, table, tmp_path, use_deprecated_int96_timestamps=True)
    assert [row["recorded_at_ms"] for row in rows] == [T, late]


def test_what_is_finer_than_a_millisecond_is_cut_off_downwards(tmp_path: Path) -> None:
    """-1 ms, as Spark writes a record without a time, stays what it is."""
    for unit, per_ms in (("us", 1_000), ("ns", 1_000_000)):
        fine = [T * per_ms + per_ms - 1, T * per_ms + 1, -per_ms, -1]
        given = pa.array(fine, pa.timestamp(unit))
        rows, _ = read(RECORDS, lines(RECORDS, [RECORD] * 4, timestamp_ms=given), tmp_path)
        assert [row["recorded_at_ms"] for row in rows] == [T, T, -1, -1]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (pa.array([-5_000_000, 5], pa.timestamp("us")), "timestamp_ms is -5000, less than -1"),
        (pa.array([dt.date(1969, 1, 1), dt.date(2000, 1, 1)]), "timestamp_ms is -31536000000, les"),
        (pa.array([None, 5], pa.timestamp("us")), "timestamp_ms is null"),
        (pa.array([2**64 - 1, 5], pa.uint64()), f"timestamp_ms is {2**64 - 1}, more than"),
        (pa.array([5.5, 5.0]), "timestamp_ms is 5.5, not a whole number"),
        (pa.array([float("nan"), 5.0]), "timestamp_ms is NaN, not a whole number"),
        (pa.array([2.0**60, 5.0]), "timestamp_ms is 1.152921504606847e+18, a floating-point"),
        (
            pa.array([float(T), 5.0], pa.float32()),
            "a floating-point number, which may not b",
        ),
        (pa.array([Decimal("5.5"), Decimal("5.0")]), 'timestamp_ms is "5.5", not a whole number'),
    ],
)
def test_an_instant_out_of_range_refuses_its_row(
    given: pa.Array, said: str, tmp_path: Path
) -> None:
    rows, [refused] = read(RECORDS, lines(RECORDS, [RECORD] * 2, timestamp_ms=given), tmp_path)
    assert (len(rows), refused.line) == (1, 1)
    assert said in refused.reason


@pytest.mark.parametrize(
    ("column", "given", "said"),
    [
        ("timestamp_ms", pa.array([1], pa.time32("ms")), "an instant: a time of day has no date"),
        ("timestamp_ms", pa.array([1], pa.time64("us")), "an instant: a time of day has no date"),
        ("timestamp_ms", pa.array([1], pa.duration("ms")), "an instant: a duration has no beginn"),
        ("timestamp_ms", pa.array(["2026-11-18"]), "holds string, not an instant"),
        ("timestamp_ms", pa.array([True]), "holds bool, not an instant"),
        ("offset", pa.array([1], pa.timestamp("us")), "timestamp[us], not a whole number"),
        ("partition", pa.array([True]), "partition holds bool, not a whole number"),
        ("partition", pa.array([{"id": 1}]), "struct<id: int64>, not a whole number"),
        ("topic", pa.array([1]), "column topic holds int64, not text"),
        ("topic", pa.array([["t"]]), "list<element: string>, not text"),
        ("key_base64", pa.array([b"k"], pa.binary(1)), "fixed_size_binary[1], not text"),
        ("topic", pa.array([b"x" * 16], pa.uuid()), "fixed_size_binary[16], not text"),
        ("headers", pa.array([5]), "headers holds int64, not a list of headers"),
        ("headers", pa.array([[dt.date(2000, 1, 1)]]), "headers[] holds date32[day], not what"),
    ],
)  # fmt: skip
def test_a_column_of_another_type_refuses_the_file_in_one_line(
    column: str, given: pa.Array, said: str, tmp_path: Path
) -> None:
    if isinstance(given.type, pa.BaseExtensionType):
        given = pa.ExtensionArray.from_storage(given.type, given.storage)
    table = lines(RECORDS, [RECORD], **{column: given})
    with pytest.raises(MoldauError) as told:
        read(RECORDS, table, tmp_path)
    assert said in str(told.value)
    assert "\n" not in str(told.value)
    # so it is where no row shows it
    with pytest.raises(MoldauError, match="holds"):
        read(RECORDS, table.slice(0, 0), tmp_path)


SAME: dict[str, list[pa.DataType]] = {
    "topic": [
        pa.large_string(), pa.string_view(), pa.binary(), pa.large_binary(), pa.binary_view(),
        pa.dictionary(pa.int32(), pa.string()), pa.dictionary(pa.int8(), pa.large_string()),
    ],
    "partition": [
        pa.int8(), pa.uint16(), pa.uint64(), pa.float16(), pa.float32(), pa.float64(),
        pa.decimal128(10, 0), pa.decimal256(60, 4), pa.decimal64(12, 2),
        pa.dictionary(pa.int32(), pa.int64()),
    ],
    "timestamp_ms": [pa.uint64(), pa.float64(), pa.decimal128(20, 0)],
    "value_base64": [pa.null(), pa.large_string(), pa.binary()],
    "timestamp_type": [pa.null(), pa.dictionary(pa.int32(), pa.string())],
    "headers": [pa.null(), pa.string(), pa.list_(pa.null()), pa.map_(pa.string(), pa.binary())],
}  # fmt: skip


@pytest.mark.parametrize(("name", "kind"), [(n, kind) for n in SAME for kind in SAME[n]])
def test_other_types_of_the_same_values_are_read_alike(
    name: str, kind: pa.DataType, tmp_path: Path
) -> None:
    row = RECORD | {"partition": 3, "headers": None, "timestamp_type": None}
    as_usual, _ = read(RECORDS, lines(RECORDS, [row]), tmp_path)
    if pa.types.is_dictionary(kind):
        column = pa.array([row[name]], kind.value_type).dictionary_encode()
    else:
        value = row[name]
        is_bytes = "binary" in str(kind) and isinstance(value, str)
        value = Decimal(value) if pa.types.is_decimal(kind) else value
        column = pa.array([value.encode() if is_bytes else value], kind)
    rows, refused = read(RECORDS, lines(RECORDS, [row], **{name: column}), tmp_path)
    assert (rows, refused) == (as_usual, [])


H = pa.field("h", pa.string())
HEADERS: list[tuple[pa.Array, Any]] = [
    (pa.array([[{"key": "h", "value": b"\0\xff"}]]), [{"key": "h", "value_base64": "AP8="}]),
    (pa.array([[{"key": b"h", "value": None}]]), [{"key": "h", "value": None}]),
    (
        pa.array([[{"key": "h", "value": None}]],
                 pa.list_(pa.struct([("key", pa.string()), ("value", pa.binary())]))),
        [{"key": "h", "value_base64": None}],
    ),
    (pa.array([[{"key": "h", "value": "text"}]]), [{"key": "h", "value": "text"}]),
    (
        pa.array([[{"key": "h", "value_base64": "AP8="}]]),
        [{"key": "h", "value_base64": "AP8="}],
    ),
    (
        pa.array([[("h", b"\0"), ("h", b"")]], pa.map_(pa.string(), pa.binary())),
        [{"key": "h", "value_base64": "AA=="}, {"key": "h", "value_base64": ""}],
    ),
    (pa.array([[("h", "v")]], pa.map_(pa.string(), pa.string())), [{"key": "h", "value": "v"}]),
    (pa.array(['[{"key": "h"}]']), [{"key": "h"}]),
    (pa.array([[["h", "v"]]]), [["h", "v"]]),
    (pa.array([[]], pa.list_(pa.struct([("key", pa.string())]))), None),
]  # fmt: skip


@pytest.mark.parametrize(("given", "expected"), HEADERS)
def test_headers_are_kept_in_whatever_form_they_come(
    given: pa.Array, expected: Any, tmp_path: Path
) -> None:
    bad = pa.array([given[0].as_py(), None], given.type)
    table = lines(RECORDS, [RECORD, RECORD | {"offset": -1}], headers=bad)
    for rows, _ in (
        read(RECORDS, lines(RECORDS, [RECORD], headers=given), tmp_path),
        read(RECORDS, table, tmp_path),  # where one row is bad each is looked at
    ):
        [row] = rows
        assert (row["headers"] and json.loads(row["headers"])) == expected


CONFIGS = {"retention.ms": "5", "remote.storage.enable": "true"}
CONFIG_COLUMNS = [
    pa.array([list(CONFIGS.items())], pa.map_(pa.string(), pa.string())),
    pa.array([list(CONFIGS.items())], pa.map_(pa.large_string(), pa.large_string())),
    pa.array([[{"key": key, "value": value} for key, value in CONFIGS.items()]]),
    pa.array([{"retention.ms": 5, "remote.storage.enable": True}]),
    pa.array([{"retention.ms": 5.0, "remote.storage.enable": "true", "cleanup.policy": None}]),
]


@pytest.mark.parametrize("given", CONFIG_COLUMNS)
def test_configs_come_as_a_map_or_a_struct(given: pa.Array, tmp_path: Path) -> None:
    shape = shapes()["topic_configs"]
    row = PLACE | {"valid_from_ms": T, "configs": []}
    del row["partition"]
    [found], refused = read(shape, lines(shape, [row], configs=given), tmp_path)
    assert (dict(found["configs"]), refused) == (CONFIGS, [])


def test_a_config_that_a_map_has_twice_refuses_its_row(tmp_path: Path) -> None:
    shape = shapes()["topic_configs"]
    twice = pa.array([[("a", "1"), ("a", "2")]], pa.map_(pa.string(), pa.string()))
    row = {"topic_id": "i", "topic": "t", "valid_from_ms": T, "configs": []}
    _, [refused] = read(shape, lines(shape, [row], configs=twice), tmp_path)
    assert refused.reason == 'configs has "a" twice'


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"base_offset": None}, "segments[0]: base_offset is null"),
        ({"base_offset": ...}, "segments[0]: base_offset is missing"),
        ({"is_active": ..., "size_bytes": ...}, "segments[0]: size_bytes is missing"),
        ({"size_bytes": 1.5}, "segments[0]: size_bytes is 1.5, not a whole number"),
        ({"record_count": ..., "more": dt.date(2000, 1, 1)}, None),
    ],
)
def test_structs_lack_and_have_fields(
    change: dict[str, Any], said: str | None, tmp_path: Path
) -> None:
    shape = shapes()["local_segments"]
    segment = {name: value for name, value in (SEGMENT | change).items() if value is not ...}
    row = PLACE | {"broker_id": 1, "segments": []}
    table = lines(shape, [row], segments=pa.array([[segment]]))
    rows, refused = read(shape, table, tmp_path)
    assert [refusal.reason for refusal in refused] == ([said] if said else [])
    assert len(rows) == (said is None)


def test_a_struct_where_a_list_is_wanted_and_so_on_is_one_line(tmp_path: Path) -> None:
    shape = shapes()["leader_epochs"]
    row = PLACE | {"epochs": []}
    for given, said in (
        (pa.array([{"epoch": 1}]), "epochs holds struct<epoch: int64>, not a list"),
        (pa.array([[5]]), "epochs[] holds int64, not a struct"),
        (pa.array([[{"epoch": "1", "start_offset": 0}]]), "epochs[].epoch holds string, not a who"),
        (pa.array([[{"epoch": [1], "start_offset": 0}]]), "epochs[].epoch holds list<"),
        (pa.array(["[]"]), "epochs holds string, not a list"),
    ):
        with pytest.raises(MoldauError) as told:
            read(shape, lines(shape, [row], epochs=given), tmp_path)
        assert said in str(told.value)


@pytest.mark.parametrize("column", ["topic", "timestamp_ms", "value_base64"])
def test_a_column_that_is_there_twice_refuses_the_file(column: str, tmp_path: Path) -> None:
    table = lines(RECORDS, [RECORD])
    twice = table.append_column(column, table[column])
    with pytest.raises(MoldauError, match=f"has the column {column} twice"):
        read(RECORDS, twice, tmp_path)
    capitals = table.append_column(column.upper(), table[column]).append_column("n", table[column])
    rows, refused = read(RECORDS, capitals.append_column("n", table[column]), tmp_path)
    assert (len(rows), refused) == (1, [])
    only = table.rename_columns([n.upper() if n == column else n for n in table.column_names])
    said = rf"has no column {column} \(it has {column.upper()}: capitals count\)"
    with pytest.raises(MoldauError, match=said):
        read(RECORDS, only, tmp_path)


def test_a_column_named_like_a_member_is_another_column(tmp_path: Path) -> None:
    table = lines(RECORDS, [RECORD]).append_column("topic.x", pa.array([5]))
    [row], _ = read(RECORDS, table, tmp_path)
    assert row["topic_name"] == "t"


def test_bytes_that_are_no_utf8_refuse_their_row(tmp_path: Path) -> None:
    torn = pa.array([b"\xff", b"t"], pa.binary())
    for column in (torn, torn.view(pa.string())):
        table = lines(RECORDS, [RECORD] * 2, topic=column)
        rows, [refused] = read(RECORDS, table, tmp_path)
        assert (len(rows), refused.line, refused.reason) == (1, 1, "topic is not UTF-8")


def test_files_without_rows_are_read(tmp_path: Path) -> None:
    table = lines(RECORDS, [RECORD]).slice(0, 0)
    assert read(RECORDS, table, tmp_path) == ([], [])
    file = tmp_path / "no_groups.parquet"
    pq.ParquetWriter(file, table.schema).close()
    assert [chunk for chunk, _ in read_chunks(file, RECORDS) if chunk.num_rows] == []


def test_what_is_no_parquet_is_one_line(tmp_path: Path) -> None:
    file = tmp_path / "rows.parquet"
    pq.write_table(lines(RECORDS, [RECORD] * 50), file)
    whole = file.read_bytes()
    random = Random(32)
    spoilt = [b"", b"PAR1", b"PAR1PAR1", b"{}\n", whole[:-4] + b"PARE", whole[: len(whole) // 2]]
    for _ in range(150):
        flipped = bytearray(whole)
        for _ in range(random.randrange(1, 4)):
            flipped[random.randrange(len(flipped))] ^= 1 << random.randrange(8)
        spoilt.append(bytes(flipped))
    refused = 0
    for content in spoilt:
        file.write_bytes(content)
        try:
            list(read_chunks(file, RECORDS))
        except MoldauError as error:
            assert "\n" not in str(error)
            refused += 1
    assert refused > 50


@pytest.mark.parametrize("kind", shapes())
def test_no_schema_ends_in_anything_but_rows_and_lines(kind: str, tmp_path: Path) -> None:
    shape, file = shapes()[kind], tmp_path / "rows.parquet"
    told = 0
    for seed in range(60):
        random = Random(f"{kind} {seed}")
        try:
            table = random_table(shape, random)
            pq.write_table(table, file, store_schema=random.random() < 0.7)
        except pa.ArrowException:
            continue  # pyarrow writes no such file
        try:
            for chunk, refused in read_chunks(file, shape):
                chunk.validate(full=True)
                assert chunk.num_rows + len(refused) == table.num_rows
        except MoldauError as error:
            assert "\n" not in str(error)
            assert "cannot be read" not in str(error)
        told += 1
    assert told > 30
