"""A file takes no more memory and time than `limits:` allow, whatever it holds."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet
import pytest
from shell_support import Shell

from moldau.errors import MoldauError
from moldau.loading.read_lines import CHUNK_BYTES, read_chunks
from moldau.loading.shapes import RECORDS, shapes
from moldau.settings import load_settings
from moldau.settings.limits import Limits

MIB = 1024 * 1024
JOIN = {"request_id": "r", "group_id": "g", "member_id": "m", "received_at_ms": 1}
SHAPE = shapes()["classic_joins"]


def line(number: int, letters: int = 0) -> bytes:
    row = JOIN | {"request_id": f"r{number}", "member_id": "m" * letters}
    return json.dumps(row).encode() + b"\n"


def read(file: Path, limits: Limits) -> tuple[list[tuple[int, str]], list[tuple[int, str]]]:
    """Number and id of each row, number and reason of each refusal."""
    rows, refused = [], []
    for table, refusals in read_chunks(file, SHAPE, limits):
        rows += [(row["line"], row["request_id"]) for row in table.to_pylist()]
        refused += [(one.line, one.reason) for one in refusals]
    return rows, refused


@pytest.mark.parametrize("chunk_bytes", [64, 4096, 10_000, CHUNK_BYTES])
@pytest.mark.parametrize("packed", [False, True])
def test_a_line_that_is_too_long_is_refused_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, chunk_bytes: int, packed: bool
) -> None:
    monkeypatch.setattr("moldau.loading.read_lines.CHUNK_BYTES", chunk_bytes)
    limits = Limits(line_bytes=2000)
    bare = len(line(0)) - 1
    exact = [line(n, 2000 - bare) for n in (0, 1)]
    assert [len(one) for one in exact] == [2001, 2001]
    lines = [
        line(1), exact[1], line(3, 2001 - bare), line(4), line(5, 50_000), line(6, 9_000), b"\n",
        line(8), b"x\n", line(0, 2000 - bare).removesuffix(b"\n"),
    ]  # fmt: skip
    content = b"".join(lines)
    file = tmp_path / ("lines.jsonl.gz" if packed else "lines.jsonl")
    file.write_bytes(gzip.compress(content) if packed else content)
    rows, refused = read(file, limits)
    assert rows == [(1, "r1"), (2, "r1"), (4, "r4"), (8, "r8"), (10, "r0")]
    too_long = "the line is longer than 2000 bytes (`limits: line_bytes`)"
    assert [(n, why) for n, why in refused if n != 9] == [(n, too_long) for n in (3, 5, 6)]
    assert [n for n, _ in refused] == [3, 5, 6, 9]


def test_the_last_line_may_be_the_long_one(tmp_path: Path) -> None:
    file = tmp_path / "lines.jsonl"
    file.write_bytes(line(1) + line(2, 3_000)[:-1])
    rows, refused = read(file, Limits(line_bytes=2000))
    assert (rows, [n for n, _ in refused]) == ([(1, "r1")], [2])


def test_empty_lines_count_and_cost_nothing(tmp_path: Path) -> None:
    file = tmp_path / "lines.jsonl"
    file.write_bytes(b"\n" * (2 * CHUNK_BYTES) + line(1) + b"\n" * 10 + line(2))
    rows, refused = read(file, Limits())
    assert rows == [(2 * CHUNK_BYTES + 1, "r1"), (2 * CHUNK_BYTES + 12, "r2")]
    assert refused == []


@pytest.mark.parametrize("letter", [b"\n", b"a", line(1)])
def test_a_compressed_file_that_grows_out_of_proportion_is_refused(
    tmp_path: Path, letter: bytes
) -> None:
    file = tmp_path / "bomb.jsonl.gz"
    with gzip.open(file, "wb", compresslevel=1) as packed:
        block = letter * (8 * MIB // len(letter))
        for _ in range(12):
            packed.write(block)
    assert file.stat().st_size < 3 * MIB
    with pytest.raises(MoldauError, match=r"grows more than 20 times.*limits: expansion"):
        read(file, Limits(expansion=20))


def of_joins(letters: int, rows: int) -> pa.Table:
    """Equal ones, with so many letters in each text."""
    texts = {name: [name[0] * letters] * rows for name in JOIN if name != "received_at_ms"}
    return pa.table(texts | {"received_at_ms": [1] * rows})


def test_so_is_a_parquet_file(tmp_path: Path) -> None:
    file = tmp_path / "bomb.parquet"
    table = of_joins(400, 200_000)
    pa.parquet.write_table(table, file, use_dictionary=False, compression="zstd")
    with pytest.raises(MoldauError, match="limits: expansion"):
        read(file, Limits(expansion=20))


def test_a_dictionary_of_long_values_is_a_bomb_too(tmp_path: Path) -> None:
    file = tmp_path / "bomb.parquet"
    table = of_joins(100_000, 1_500)
    pa.parquet.write_table(table, file)
    assert file.stat().st_size < MIB
    with pytest.raises(MoldauError, match="limits: expansion"):
        read(file, Limits())


def test_two_objects_on_a_line_are_refused_whatever_else_there_is(tmp_path: Path) -> None:
    file = tmp_path / "lines.jsonl"
    file.write_bytes(line(1) + line(2)[:-1] + line(3) + b"\n" + line(5))
    rows, refused = read(file, Limits())
    assert (rows, [n for n, _ in refused]) == ([(1, "r1"), (4, "r5")], [2])


def test_rows_of_a_parquet_file_come_few_at_once_where_they_are_long(tmp_path: Path) -> None:
    file = tmp_path / "rows.parquet"
    long = [b"abcd" * (64 * 1024 + n) for n in range(400)]
    table = pa.table(
        {
            "topic": ["__consumer_offsets"] * 400,
            "partition": pa.array([0] * 400, pa.int32()),
            "offset": list(range(400)),
            "timestamp_ms": [1] * 400,
            "timestamp_type": ["CreateTime"] * 400,
            "key_base64": pa.array(long, pa.binary()),
            "value_base64": pa.array([None] * 400, pa.binary()),
            "headers": ["[]"] * 400,
        }
    )
    pa.parquet.write_table(table, file, use_dictionary=False)
    sizes = [chunk.num_rows for chunk, _ in read_chunks(file, RECORDS, Limits(expansion=10_000))]
    assert sum(sizes) == 400
    assert max(sizes) <= 256, "so many are unpacked at once"


def test_moldau_yml_says_other_limits(tmp_path: Path) -> None:
    file = tmp_path / "moldau.yml"
    file.write_text("limits: {line_bytes: 64MiB, expansion: 1000}\n")
    limits = load_settings(file).limits
    assert (limits.line_bytes, limits.expansion) == (64 * MIB, 1000)


@pytest.mark.parametrize(
    ("told", "why"),
    [
        ("{line_bytes: 3}", "limits: line_bytes"),
        ("{line_bytes: 2GiB}", "limits: line_bytes"),
        ("{line_bytes: many}", "bytes, such as 16777216 or 16MiB"),
        ("{expansion: 3.5}", "a whole number"),
        ("{expansion: 1}", "limits: expansion"),
        ("{lines: 1}", "limits: lines"),
    ],
)
def test_a_limit_that_is_none_is_named(tmp_path: Path, told: str, why: str) -> None:
    file = tmp_path / "moldau.yml"
    file.write_text(f"limits: {told}\n")
    with pytest.raises(MoldauError) as error:
        load_settings(file)
    assert why in str(error.value).replace(".", ": ")


def test_what_is_refused_is_all_in_a_file(shell: Shell, tmp_path: Path) -> None:
    file = tmp_path / "joins.jsonl"
    file.write_bytes(line(0) + b"no\n" * 30_000 + line(0, 5))
    loaded = shell(
        "load", str(file), "--cluster", "c", "--kind", "classic_joins",
        "--warehouse", str(tmp_path / "w"), "--format", "json",
    )  # fmt: skip
    assert loaded.code == 2
    assert json.loads(loaded.out)[0]["rows_refused"] == 30_001
    last = loaded.err.splitlines()[20]
    told = tmp_path / "w" / "_moldau" / "refused" / "00000001-load.jsonl"
    assert last == f"... and 29981 more: all are in {told}"
    refused = [json.loads(row) for row in told.read_text().splitlines()]
    assert [row["line"] for row in refused] == list(range(2, 30_003))
    assert refused[-1] == {
        "file": str(file),
        "line": 30_002,
        "reason": "request r0 is there already with other content",
    }


MEASURED = """
import resource, sys
from pathlib import Path
from moldau.loading.shapes import shapes
from moldau.loading.stage import Staged, stage
from moldau.settings.limits import Limits
file, kind, folder = Path(sys.argv[1]), sys.argv[2], Path(sys.argv[3])
def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
before = peak()
staged = Staged("1", kind, "c", folder=folder)
stage(staged, [file], shapes()[kind], Limits())
print(staged.rows, len(staged.refused) + staged.refused_more, peak() - before)
"""


def staged(file: Path, kind: str, folder: Path) -> tuple[int, int, int]:
    """Rows, refused lines, and mebibytes that a process of its own needed beyond its beginning."""
    told = subprocess.run(
        [sys.executable, "-c", MEASURED, str(file), kind, str(folder)],
        check=True, capture_output=True, text=True,
    )  # fmt: skip
    rows, refused, mib = map(int, told.stdout.split())
    return rows, refused, mib


def write(file: Path, block: bytes, times: int) -> Path:
    with file.open("wb") as out:
        for _ in range(times):
            out.write(block)
    return file


def test_memory_does_not_follow_what_a_file_holds(tmp_path: Path) -> None:
    """Peaks of reading; what they were before: 946, 1,400 and 1,600 MiB."""
    long_line = write(tmp_path / "line.jsonl", b"a" * MIB, 400)
    assert (told := staged(long_line, "records", tmp_path / "1"))[:2] == (0, 1)
    assert told[2] < 200
    bad_lines = write(tmp_path / "bad.jsonl", b"x\n" * 100_000, 10)
    assert (told := staged(bad_lines, "records", tmp_path / "2"))[:2] == (0, 1_000_000)
    assert told[2] < 300
    row: dict[str, Any] = {"group_id": "g", "topic": "t", "partition": 0, "producer_id": 1}
    snapshot = json.dumps(row).encode() + b"\n"
    many = write(tmp_path / "snapshot.jsonl", snapshot * 10_000, 200)
    assert (told := staged(many, "open_transactions", tmp_path / "3"))[:2] == (2_000_000, 0)
    assert told[2] < 500
