"""A connection that reads the files of some tables, and whose errors are a person's."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import uuid4

from moldau.engines.duckdb.delta_types import in_one_line
from moldau.errors import MoldauError
from moldau.warehouse.damage import DamagedError, system_error
from moldau.warehouse.verify import unreadable_among

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection


def begin_reading(connection: DuckDBPyConnection, is_again: bool = False) -> None:
    """From here on nothing changes a table. `is_again`: after an error, which ends the reading."""
    if is_again:
        connection.execute("rollback")
    connection.execute("begin transaction read only")


def confine(connection: DuckDBPyConnection, files: list[str]) -> None:
    """No file but these, for ever: settings can no longer be changed.

    What does not fit into memory goes to a folder that nobody can name beforehand.
    """
    spill = Path(tempfile.gettempdir()) / f"moldau-{uuid4().hex}"
    for setting, value in {
        "temp_directory": str(spill),
        "allowed_paths": files,
        "autoinstall_known_extensions": False,
        "autoload_known_extensions": False,
        "allow_community_extensions": False,
        "python_enable_replacements": False,
        "enable_external_access": False,
        "lock_configuration": True,
    }.items():
        connection.execute(f"set {setting} = ?", [value])


@contextlib.contextmanager
def telling(connection: DuckDBPyConnection) -> Iterator[None]:
    """DuckDB's errors as a person's; the connection can be asked again."""
    import duckdb

    try:
        yield
    except duckdb.Error as error:
        begin_reading(connection, is_again=True)
        reason = in_one_line(error)
        if isinstance(error, duckdb.PermissionException):
            reason = f"a query reads tables of the warehouse and nothing else ({reason})"
        of_the_query = (
            duckdb.BinderException,
            duckdb.CatalogException,
            duckdb.ConversionException,
            duckdb.InterruptException,
            duckdb.OutOfRangeException,
            duckdb.ParserException,
            duckdb.PermissionException,
        )
        is_of_data = not isinstance(error, of_the_query) and system_error(str(error)) is None
        if is_of_data and (damage := _damage(connection)):
            raise DamagedError(damage) from None
        raise MoldauError(reason) from None


def _damage(connection: DuckDBPyConnection) -> str | None:
    """Which file cannot be read, of those that the connection may."""
    [files] = connection.execute("select current_setting('allowed_paths')").fetchall()[0]
    of_tables = [path for path in files if (Path(path).parent / "_delta_log").is_dir()]
    return unreadable_among(of_tables)
