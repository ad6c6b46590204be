"""What is damage of a table, and what is not.

Damage is what the bytes say: a file that is missing, empty or torn, other columns. What the
machine says (no permission, too many open files, a disk that does not answer) is no damage.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from moldau.errors import MoldauError
from moldau.warehouse.delta_log import LogDamageError, read_log_tail

if TYPE_CHECKING:
    from deltalake import DeltaTable

_SPARK_NAMES = {"long": "bigint", "integer": "int", "short": "smallint", "byte": "tinyint"}


class DamagedError(MoldauError):
    """The bytes of a table are not what they were when it was written."""


class UnreadableError(MoldauError):
    """The machine did not let a table be looked at: whether it is whole is not known."""


def find_log_damage(folder: Path) -> str | None:
    """What is wrong with a table's log or its deletion vectors; None = nothing."""
    try:
        with looking_at(folder):
            missing = [it for it in read_log_tail(folder) if not is_there(folder / it)]
    except (LogDamageError, DamagedError) as error:
        return str(error)
    return f"the deletion vector {min(missing)} is missing" if missing else None


@contextlib.contextmanager
def looking_at(folder: Path) -> Iterator[None]:
    """What goes wrong with a table in here: DamagedError or UnreadableError.

    Delta's library has no error for a file that is missing: its text ends in the system's number.
    """
    from deltalake.exceptions import DeltaError

    try:
        yield
    except (OSError, DeltaError) as error:
        text = _one_line(error)
        number = getattr(error, "errno", None) or system_error(text)
        if number == errno.ENOENT or (number is None and isinstance(error, DeltaError)):
            raise DamagedError(f"{folder} cannot be opened ({text})") from None
        raise UnreadableError(
            f"{folder} cannot be looked at ({text}); nothing was changed"
        ) from None
    except BaseException as error:
        if is_panic(error):
            raise DamagedError(f"{folder} cannot be opened ({_one_line(error)})") from None
        raise


def is_panic(error: BaseException) -> bool:
    """A library in Rust has met what it holds for impossible: no Exception, but no exit either."""
    return type(error).__name__ == "PanicException"


def open_table(folder: Path) -> DeltaTable:
    """The table at its latest version; DamagedError or UnreadableError if that cannot be had."""
    from deltalake import DeltaTable

    path = os.path.abspath(folder)
    if unquote(path) != path:
        raise MoldauError(f"{path}: Delta reads % and two hex digits as a URL does: move it")
    with looking_at(folder):
        return DeltaTable(path)


def data_files(table: DeltaTable) -> list[str]:
    """Absolute paths of the files of the current version."""
    return list(map(path_of, table.file_uris()))


def path_of(uri: str) -> str:
    return unquote(uri.removeprefix("file://"))


def sizes_told(table: DeltaTable) -> dict[str, int | None]:
    """Absolute path of each file of the current version -> its bytes by the log; None = unknown."""
    added = table.get_add_actions()
    names, sizes = (added.column(name).to_pylist() for name in ("path", "size_bytes"))
    root = path_of(table.table_uri).rstrip("/")
    told = {f"{root}/{unquote(name)}": size for name, size in zip(names, sizes, strict=True)}
    return {path: told.get(path) for path in data_files(table)}


def is_there(path: Path | str) -> bool:
    """False only if it is not: `exists` also says so of what it was not allowed to look at."""
    return _size(path) is not None


def _size(path: Path | str) -> int | None:
    """None = it is not there."""
    try:
        return os.stat(path).st_size
    except (FileNotFoundError, NotADirectoryError):
        return None


def wrong_file(sizes: Mapping[str, int | None]) -> str | None:
    """Which of a table's data files is not there, or not as long as its log says; None = none."""
    for path, told in sizes.items():
        name, found = os.path.basename(path), _size(path)
        if found is None:
            return f"the data file {name} is missing"
        if told is not None and found != told:
            return f"the data file {name} has {found} bytes instead of {told}"
    return None


def spark_type(delta: Any) -> str:
    """Spark's name of a type of Delta's schema JSON."""
    if isinstance(delta, str):
        return _SPARK_NAMES.get(delta, delta)
    match delta["type"]:
        case "array":
            return f"array<{spark_type(delta['elementType'])}>"
        case "map":
            return f"map<{spark_type(delta['keyType'])},{spark_type(delta['valueType'])}>"
        case _:
            fields = (f"{f['name']}:{spark_type(f['type'])}" for f in delta["fields"])
            return f"struct<{','.join(fields)}>"


def system_error(text: str) -> int | None:
    """The operating system's number in an error of Rust."""
    found = re.search(r"\(os error (\d+)\)|\bOs \{ code: (\d+)", text)
    return int(found[1] or found[2]) if found else None


def _one_line(error: BaseException) -> str:
    """Without colours, and without the stack that Rust puts below."""
    plain = re.sub(r"\x1b\[[0-9;]*m", "", str(error))
    return " ".join(re.split(r"\n\s*0: <unknown>", plain)[0].split())[:300]
