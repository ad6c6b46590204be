"""How long data files stay that only earlier versions of a table need."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BeforeValidator, Field
from pydantic_core import PydanticCustomError

from moldau.settings.fields import Section, Whole, nothing_is_empty
from moldau.warehouse.contracts import tables

# a day: no reader goes on with a version for longer; a week: then checkpoints forget what was
# removed, unless the table's own `delta.deletedFileRetentionDuration` says otherwise
RetentionHours = Annotated[Whole, Field(ge=24, le=7 * 24)]


def _table(name: Any) -> Any:
    if name not in tables():
        raise PydanticCustomError("table", "a table of the warehouse, such as state.groups")
    return name


class OfTable(Section):
    retention_hours: RetentionHours | None = None


class Maintain(Section):
    """`maintain:` of moldau.yml; what it does not say is said by the table (Delta: a week)."""

    retention_hours: RetentionHours | None = None
    tables: Annotated[
        dict[Annotated[str, BeforeValidator(_table)], OfTable], BeforeValidator(nothing_is_empty)
    ] = Field(default_factory=dict)

    def hours_of(self, table: str) -> int | None:
        """None = what the table's `delta.deletedFileRetentionDuration` says."""
        told = self.tables.get(table, OfTable()).retention_hours
        return self.retention_hours if told is None else told
