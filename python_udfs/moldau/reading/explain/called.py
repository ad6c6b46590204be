"""Say what a group is that is not what was asked for: of another type, deleted, or elsewhere."""

from __future__ import annotations

from typing import Any

from moldau.instants import format_instant
from moldau.reading.explain.phrases import count
from moldau.reading.tables.query import Tables

GROUPS = "state.groups"
Row = dict[str, Any]


def groups_called(tables: Tables, group_id: str, cluster: str | None = None) -> list[Row]:
    """Rows of state.groups, one a cluster; that of `cluster` is the first."""
    rows = tables.rows(GROUPS, "where group_id = ? order by cluster_id", [group_id])
    return sorted(rows, key=lambda row: bool(row["cluster_id"] != cluster))


def called_like(tables: Tables, name: str) -> list[str]:
    """Names of groups that it may have meant."""
    close = tables.rows(
        GROUPS,
        "where jaro_winkler_similarity(group_id, ?) > 0.85 "
        "order by jaro_winkler_similarity(group_id, ?) desc, group_id limit 3",
        [name, name],
    )
    return list(dict.fromkeys(row["group_id"] for row in close))


def told_of(rows: list[Row]) -> str:
    """`: in cluster 'east' it is …`, to go behind a refusal; empty if no group has the name."""
    told = ", ".join(f"in cluster {row['cluster_id']!r} {_is(row)}" for row in rows)
    return f": {told}" if told else ""


def _is(row: Row) -> str:
    kind = f"a {row['group_type']} group"
    if row["is_deleted"]:
        at_ms = row["deleted_at_ms"]
        when = "" if at_ms is None else f" at {format_instant(at_ms)}"
        return f"it was {kind} that was deleted{when} by {row['deleted_by']}"
    if not row["is_readable"]:
        return f"it is {kind} whose records cannot be read"
    return f"it is {kind}, {row['group_state']} with {count(row['member_count'], 'member')}"
