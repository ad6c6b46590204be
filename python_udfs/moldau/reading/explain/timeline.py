"""The past of one group: the rows of `marts.group_timeline`, from its own records alone."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from moldau.engines.duckdb.delta_types import literal
from moldau.errors import MoldauError
from moldau.reading.explain.called import GROUPS, called_like, groups_called
from moldau.reading.explain.subjects import one_cluster
from moldau.reading.tables.query import Tables
from moldau.reading.tables.views import View, views_under

MART = "marts.group_timeline"
RECORDS = "staging.stg_decoded__group_records"
_TABLE = "decoded.group_records"
_OTHERS = ("state.group_offsets", "state.group_records")
Row = dict[str, Any]


@dataclass(frozen=True)
class Timeline:
    """`events`: rows of the mart in their order; `columns`: theirs, if there is none.

    `known_from_ms`: the first record of the group that was loaded; None = there is none.
    """

    cluster_id: str
    group_id: str
    events: list[Row]
    columns: tuple[str, ...]
    known_from_ms: int | None
    has_whole_log: bool
    """Of the group's partition of `__consumer_offsets` nothing is missing since its offset 0."""


def timeline(
    warehouse: Path,
    group_id: str,
    cluster: str | None = None,
    topic: str | None = None,
    from_ms: int | None = None,
    to_ms: int | None = None,
    as_of_ms: int | None = None,
) -> Timeline:
    """What happened to a group, from one instant to another (inclusive; None = no end).

    `topic`: only events of this topic and of the group as a whole. `as_of_ms`: as it was told then,
    by the records up to it. MoldauError if no group has the name, or several clusters have one and
    none was chosen.
    """
    known = Tables(warehouse, [GROUPS, *_OTHERS])
    found = _clusters_of(known, group_id)
    if not found:
        raise MoldauError(_unknown(known, group_id))
    chosen = one_cluster(found, group_id, cluster)
    tables = Tables(
        warehouse, [MART, _TABLE], brought=[records_of(chosen, group_id, as_of_ms)],
        makes_lists=True,
    )  # fmt: skip
    conditions = ["cluster_id = ?", "group_id = ?"]
    asked: list[str | int] = [chosen, group_id]
    for condition, value in (
        ("(topic_name = ? or topic_name is null)", topic),
        ("until_at_ms >= ?", from_ms),
        ("event_at_ms <= ?", to_ms),
        ("event_at_ms <= ?", as_of_ms),
    ):
        if value is not None:
            conditions.append(condition)
            asked.append(value)
    events = tables.rows(MART, f"where {' and '.join(conditions)} order by event_index", asked)
    if topic is not None and all(event["topic_name"] is None for event in events):
        _require_topic(tables, chosen, group_id, topic)
    [span] = tables.ask(
        f"select min(recorded_at_ms) as known_from_ms, min(partition_index) as place from {RECORDS}"
    )
    [(log)] = tables.ask(
        f"select min(log_offset) as first, max(log_offset) as last, "
        f"count(*) as records from {_TABLE} "
        "where cluster_id = ? and partition_index = ?",
        [chosen, span["place"]],
    )
    whole = log["first"] == 0 and log["records"] == log["last"] + 1
    columns = tuple(row["column_name"] for row in tables.ask(f"describe {MART}"))
    return Timeline(chosen, group_id, events, columns, span["known_from_ms"], whole)


def _require_topic(tables: Tables, cluster: str, group_id: str, topic: str) -> None:
    """MoldauError naming the topics of the group if it is none of them."""
    rows = tables.rows(
        MART,
        "where cluster_id = ? and group_id = ? and topic_name is not null order by topic_name",
        [cluster, group_id],
    )
    names = dict.fromkeys(row["topic_name"] for row in rows)
    if topic not in names:
        told = ", ".join(repr(name[:100]) for name in [*names][:10]) or "none is known"
        raise MoldauError(f"the group has no offsets of a topic {topic[:200]!r}: {told}")


def _clusters_of(tables: Tables, group_id: str) -> list[str]:
    """A group of which tombstones alone were loaded is none in state: it had a past, too."""
    if found := [row["cluster_id"] for row in groups_called(tables, group_id)]:
        return found
    names = " union ".join(f"select cluster_id from {name} where group_id = $1" for name in _OTHERS)
    return [row["cluster_id"] for row in tables.ask(f"{names} order by cluster_id", [group_id])]


def records_of(cluster: str, group_id: str, as_of_ms: int | None = None) -> View:
    """A view in the place of all decoded records: those of one group, up to an instant."""
    [view] = [view for view in views_under([RECORDS]) if view.name == RECORDS]
    mine = f"cluster_id = {literal(cluster)} and group_id = {literal(group_id)}"
    until = "" if as_of_ms is None else f" and recorded_at_ms <= {as_of_ms:d}"
    return View(RECORDS, f"select * from ({view.duckdb_sql}) where {mine}{until}", view.reads)


def _unknown(tables: Tables, group_id: str) -> str:
    hint = ", ".join(repr(name[:100]) for name in called_like(tables, group_id))
    return f"no record of a group {group_id[:200]!r} was loaded" + (
        f": did you mean {hint}?" if hint else ""
    )
