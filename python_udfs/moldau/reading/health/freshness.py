"""How fresh what is known of live clusters is, in rows and in words."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from moldau.escapes import visible
from moldau.reading.explain.phrases import count
from moldau.reading.tables.query import table_rows
from moldau.reading.tables.table_status import Row
from moldau.warehouse.paths import POLLS

_OFFSETS = "__consumer_offsets"


def freshness(warehouse: Path, at_ms: int | None = None) -> list[Row]:
    """`marts.freshness`, asked only where a live cluster is read. `at_ms`: None = now."""
    if not (warehouse / POLLS).is_dir():
        return []
    rows = table_rows(warehouse, "marts.freshness", at_ms=at_ms).as_dicts()
    return sorted(rows, key=lambda row: (row["cluster_id"], row["topic_name"]))


def held_words(rows: Iterable[Row]) -> list[str]:
    """A sentence for each topic that is not read to its end."""
    return [
        f"{visible(row['topic_name'])} of {visible(row['cluster_id'])} is read up to "
        f"{count(row['offsets_behind'], 'offset')} before its end" + _because(row)
        for row in rows
        if row["offsets_behind"]
    ]


def hidden_words(warehouse: Path) -> list[str]:
    """What may hide a group that is known from nothing: a sentence for each cluster."""
    held = (row for row in freshness(warehouse) if row["topic_name"] == _OFFSETS)
    return [
        f"{words}, and what only stands behind it is not known yet"
        for row in held
        if row["hidden_offsets"]
        for words in held_words([row])
    ]


def stale_words(rows: Iterable[Row]) -> list[str]:
    """A sentence for each topic of which what is known is older than two check intervals."""
    return [
        f"{visible(row['topic_name'])} of {visible(row['cluster_id'])} was {_last_read(row)}: "
        "`moldau ingest` or `moldau watch` reads on"
        for row in rows
        if row["is_stale"]
    ]


def _last_read(row: Row) -> str:
    if row["age_ms"] is None:
        return "never read as far as it went"
    return f"last read {row['age_ms'] // 1000} s ago, longer than two check intervals"


def _because(row: Row) -> str:
    if not row["held_by"]:
        return ""
    more = row["held_partition_count"] - 1
    others = f" and {more} more" if more else ""
    return f": an open transaction holds partition {row['held_partition_index']}{others}"
