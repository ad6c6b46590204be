"""Read every page of every file of a table, and check it by decoding, checksum and the log.

Files written by moldau and Spark have a checksum for each page; in other files (written by Delta's
library or an earlier moldau) only what does not decode or contradicts the log is found.
"""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from moldau.connecting import connect, errors
from moldau.errors import MoldauError
from moldau.warehouse.damage import (
    DamagedError,
    UnreadableError,
    find_log_damage,
    is_panic,
    looking_at,
    open_table,
    sizes_told,
    wrong_file,
)

if TYPE_CHECKING:
    import pyarrow as pa
    from deltalake import DeltaTable
    from duckdb import DuckDBPyConnection

_OF_A_PLUGIN = "Python worker exited unexpectedly"  # Spark's words
_AT_MOST = 1024**3  # bytes that are read for the sake of an error
_REBUILT = {
    "raw": "load the original files again, into a new warehouse",
    "decoded": "it can be rebuilt from raw.records: load the same files into a new warehouse",
    "state": "it can be rebuilt from what was loaded and moldau's own history: only a copy has it "
    "as it was, or load the same files into a new warehouse",
    "decisions": "it can be decided anew, in a new warehouse of the same files",
    "history": "only a copy has it: what moldau did is written down nowhere else",
    "plugin": "only a copy has it, or whoever pushes the descriptions again",
    "seeds": "remove the folder: the next command that writes makes it anew",
}
_ONLY_A_COPY = {"state.runs": "only a copy has it", "state.settings": "only a copy has it"}


@dataclass
class Verified:
    """`damaged`: file -> what is wrong with it; `unguarded`: files without checksums."""

    files: int
    unguarded: int
    damaged: dict[str, str]


def rebuilt_from(table: str) -> str:
    """What can be done about damage in a table, for the end of a sentence."""
    return _ONLY_A_COPY.get(table) or _REBUILT.get(table.split(".")[0], "only a copy has it")


def verify(folder: Path) -> Verified:
    """Read the files of the latest version. DamagedError where its log cannot be read."""
    if wrong := find_log_damage(folder):
        raise DamagedError(wrong)
    opened = open_table(folder)
    found = Verified(0, 0, {})
    for path, told in _told(opened).items():
        found.files += 1
        if wrong := _wrong_with(path, told, opened):
            found.damaged[os.path.basename(path)] = wrong
        else:
            found.unguarded += not has_checksums(path)
    with looking_at(folder):
        for _ in opened.deletion_vectors():
            pass
    return found


@contextlib.contextmanager
def naming_damage(warehouse: Path, tables: Iterable[str]) -> Iterator[None]:
    """DamagedError in the place of an error in here, if one of these tables cannot be read."""
    try:
        yield
    except MoldauError:
        raise
    except BaseException as error:
        if not (isinstance(error, Exception) or is_panic(error)):
            raise
        if damage := damage_behind(error, warehouse, tables):
            raise DamagedError(damage) from error
        raise


def damage_behind(error: BaseException, warehouse: Path, tables: Iterable[str]) -> str | None:
    """Which of these tables is damaged, so that this error may come of it; None = none is.

    Reads their files, those that the error names first, and no more than a gibibyte.
    """
    if isinstance(error, OSError) and error.errno is not None:
        return None  # the machine's
    text = str(error)
    if _OF_A_PLUGIN in text:
        return None
    named = set(re.findall(r"[\w.-]+\.parquet", text))
    left = _AT_MOST
    for table in sorted(tables, key=lambda name: name not in text):
        folder = warehouse.joinpath(*table.split("."))
        if not (folder / "_delta_log").is_dir():
            continue
        try:
            opened = open_table(folder)
        except DamagedError as damaged:
            return _line(table, folder, str(damaged))
        except MoldauError:
            continue
        told = _told(opened)
        named_here = {path for path in told if os.path.basename(path) in named}
        for path in named_here or told:
            with contextlib.suppress(FileNotFoundError):
                left -= os.stat(path).st_size
            if left < 0 and path not in named_here:
                break
            if wrong := _wrong_with(path, told[path], opened):
                return _line(table, folder, f"the data file {os.path.basename(path)} {wrong}")
    return None


def _line(table: str, folder: Path, wrong: str) -> str:
    told = f"{table} in {folder} is damaged: {wrong}"
    return f"{told}; `moldau doctor --deep` reads every file, and says what can be done"


def _told(opened: DeltaTable) -> dict[str, dict[str, Any]]:
    """Absolute path of each file -> what the log says of it."""
    import pyarrow as pa

    sizes = sizes_told(opened)
    added = pa.table(opened.get_add_actions(flatten=True)).to_pylist()
    by_name = {os.path.basename(one["path"]): one for one in added}
    return {
        path: by_name.get(os.path.basename(path), {}) | {"bytes": sizes[path]} for path in sizes
    }


def unreadable_among(paths: Iterable[str]) -> str | None:
    """Which of these data files of tables no reader can read; None = none, as far as was read."""
    left = _AT_MOST
    for path in paths:
        with contextlib.suppress(OSError):
            left -= os.stat(path).st_size
            if left < 0:
                return None
            if wrong := unreadable(path):
                folder = Path(path).parent
                table = f"{folder.parent.name}.{folder.name}"
                return _line(table, folder, f"the data file {os.path.basename(path)} {wrong}")
    return None


def _wrong_with(path: str, told: dict[str, Any], opened: DeltaTable) -> str | None:
    """What is wrong with a file, as the end of a sentence about it."""
    name = os.path.basename(path)
    if wrong := wrong_file({path: told["bytes"]}):
        return wrong.partition(f"{name} ")[2]
    seen = _Seen(told)
    if wrong := unreadable(path, seen):
        return wrong
    partitions = opened.metadata().partition_columns
    for field in opened.schema().fields:
        if field.nullable or field.name in partitions:
            continue
        if seen.rows and field.name not in seen.nulls:
            return f"has no column {field.name}"
        if seen.nulls.get(field.name):
            return f"has a row without {field.name}"
    return seen.differs()


def unreadable(path: str | Path, seen: _Seen | None = None) -> str | None:
    """Read by pyarrow, which looks at checksums, and by DuckDB, which most commands read with.

    Gives what is wrong with the file, as the end of a sentence about it.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    seen = seen or _Seen({})
    try:
        with pq.ParquetFile(path, page_checksum_verification=True) as file:
            for number in range(file.num_row_groups):
                seen.add(file.read_row_group(number))
        if seen.rows:
            with _reader().cursor() as cursor:
                cursor.execute(
                    "select bit_xor(hash(t)) from read_parquet(?, hive_partitioning = false) as t",
                    [without_wildcards(str(path))],
                ).fetchall()
    except (pa.ArrowException, OSError, ValueError, errors()) as error:
        _reader.cache_clear()  # some errors leave it useless
        if isinstance(error, OSError) and error.errno is not None:
            raise UnreadableError(f"{path} cannot be looked at ({error})") from None
        return f"cannot be read ({' '.join(str(error).split())[:200]})"
    return None


@cache
def _reader() -> DuckDBPyConnection:
    """One for many files: to make it takes longer than to read most of them."""
    connection = connect()
    connection.execute("set enable_external_file_cache = false")
    return connection


class _Seen:
    """What a file holds, beside what the log says of it."""

    def __init__(self, told: dict[str, Any]) -> None:
        self._told = told
        self.rows = 0
        self.nulls: dict[str, int] = {}
        self._ends: dict[str, tuple[Any, Any]] = {}

    def add(self, rows: pa.Table) -> None:
        import pyarrow as pa
        import pyarrow.compute as pc

        self.rows += rows.num_rows
        for name in rows.column_names:
            self.nulls[name] = self.nulls.get(name, 0) + rows[name].null_count
            if not {f"min.{name}", f"max.{name}"} & self._told.keys():
                continue
            values = rows[name]
            if pa.types.is_string_view(values.type):  # as Delta's library writes some
                values = values.cast(pa.string())
            if not (pa.types.is_string(values.type) or pa.types.is_integer(values.type)):
                continue  # nothing else is compared
            found = pc.min_max(values).as_py()
            if found["min"] is not None:
                least, greatest = self._ends.get(name, (found["min"], found["max"]))
                self._ends[name] = (min(least, found["min"]), max(greatest, found["max"]))

    def differs(self) -> str | None:
        told = self._told
        if (count := told.get("num_records")) not in (None, self.rows):
            return f"has {self.rows} rows, and by the log {count}"
        for name, (least, greatest) in self._ends.items():
            low, high = told.get(f"min.{name}"), told.get(f"max.{name}")
            if _is_less(least, low) or _is_less(high, greatest):
                return f"has other values of {name} than the log says"
        return None


def _is_less(one: Any, other: Any) -> bool:
    """Of numbers and texts. Of long texts writers tell the beginning, or one a little greater."""
    if isinstance(one, str) and isinstance(other, str):
        return one[:16] < other[:16]
    return isinstance(one, int) and isinstance(other, int) and one < other


def without_wildcards(path: str) -> str:
    """DuckDB reads a path as a pattern: each special letter becomes a class of one letter."""
    return "".join(f"[{letter}]" if letter in "*?[" else letter for letter in path)


def has_checksums(path: str | Path) -> bool:
    """Whether the first page of the file has one: the field 4 of its header, in Thrift's form."""
    import pyarrow.parquet as pq

    metadata = pq.read_metadata(path)
    if not metadata.num_rows:
        return True
    column = metadata.row_group(0).column(0)
    with open(path, "rb") as file:
        file.seek(column.dictionary_page_offset or column.data_page_offset)
        header = file.read(64)
    place = field = 0
    while place < len(header) and header[place] & 0x0F in (5, 6):  # numbers come first
        field += header[place] >> 4
        if field == 4:
            return True
        place += 1
        while header[place] & 0x80:
            place += 1
        place += 1
    return False
