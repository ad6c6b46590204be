"""Write marts as Delta tables, for tools that read files: BI tools, Delta Sharing."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from moldau.errors import MoldauError
from moldau.reading.tables.query import arrow_table, table_relation
from moldau.warehouse.contracts import marts
from moldau.warehouse.upkeep import MANY, delete_unneeded

PUBLISHED = Path("published")  # in the warehouse


def publish(warehouse: Path, names: Iterable[str] = (), at_ms: int | None = None) -> dict[str, int]:
    """Write these marts (`groups` or `marts.groups`; none = all) to `published/<mart>`.

    Each is replaced in one commit; rows by mart are given. `at_ms`: the clock of the marts; None =
    now. MoldauError for a name that is no mart, for one that DuckDB cannot ask, or a folder that
    cannot be written.
    """
    chosen = [mart_named(name) for name in names] or [mart.name for mart in marts().values()]
    return {name: _write(warehouse, name, at_ms) for name in dict.fromkeys(chosen)}


def mart_named(name: str) -> str:
    """The bare name of a mart; MoldauError if there is none."""
    from moldau.settings.problems import suggestion

    bare = name.removeprefix("marts.")
    known = [mart.name for mart in marts().values()]
    if bare not in known:
        hint = suggestion(bare, known) or f": {', '.join(known)}"
        raise MoldauError(f"there is no mart {name[:100]!r}{hint}")
    return bare


def _write(warehouse: Path, name: str, at_ms: int | None) -> int:
    from deltalake import DeltaTable, write_deltalake
    from deltalake.exceptions import DeltaError

    try:
        rows = arrow_table(*table_relation(warehouse, f"marts.{name}", at_ms=at_ms))
    except MoldauError as error:
        raise MoldauError(f"marts.{name} cannot be published: {error}") from None
    folder = warehouse / PUBLISHED / name
    try:
        write_deltalake(
            folder,
            rows,
            mode="overwrite",
            schema_mode="overwrite",
            name=name,
            description=marts()[f"marts.{name}"].description,
        )
        if (published := DeltaTable(folder)).version() % MANY == 0:
            delete_unneeded(published)
    except (OSError, DeltaError) as error:
        raise MoldauError(f"cannot write {folder}: {error}") from None
    return int(rows.num_rows)
