"""Groups that Kafka lists and no record tells of: what is known of them, and what would bring more.

That Kafka lists a group is known from `moldau collect` alone (`marts.listed_groups`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from moldau.declared.domain import Explained
from moldau.escapes import named, visible
from moldau.reading.explain.found_rows import row_of
from moldau.reading.explain.phrases import count
from moldau.reading.explain.subjects import name_in, one_cluster
from moldau.reading.tables.query import Tables
from moldau.reading.tables.table_status import Row

MART = "marts.listed_groups"
UNRECORDED = "where not is_in_records order by cluster_id, group_id"
LISTED = 10


def explain_listed(warehouse: Path, text: str, cluster: str | None) -> Explained | None:
    """What is known of the group that `text` is, or is about; None = it is in no listing."""
    where = "where group_id = ? and not is_in_records order by cluster_id"
    rows = Tables(warehouse, [MART]).rows(MART, where, [name_in(text)])
    if not rows:
        return None
    chosen = one_cluster([row["cluster_id"] for row in rows], text, cluster)
    [row] = [row for row in rows if row["cluster_id"] == chosen]
    return Explained(list(_words(row)), [row_of(chosen, text, row, row["reason_text"])])


def _words(row: Row) -> Iterable[str]:
    name = f"{named(row['group_id'])} in cluster {visible(row['cluster_id'])}"
    yield f"Group {name}: listed by Kafka, and in no record that was read"
    of_type = f"{row['group_type']} group, " if row["group_type"] else ""
    yield f"  Kafka said at {row['listed_at']:%Y-%m-%dT%H:%M:%SZ}: {of_type}{row['group_state']}"
    yield f"  why: {row['reason_text']} ({row['reason_code']})"
    if waiting := row["waiting_offset_count"]:
        yield f"  {count(waiting, 'offset')} waited then: see state.open_transactions"
    yield "  next: nothing is decided about it before `moldau ingest` brings a record of it"


def listed_words(rows: Sequence[Row]) -> list[str]:
    """A sentence for each of these rows of MART, and one for those past LISTED."""
    words = [
        f"{named(row['group_id'])} of {visible(row['cluster_id'])} is listed by Kafka and in no "
        f"record that was read: {row['reason_code']}"
        for row in rows[:LISTED]
    ]
    return words + ([f"and more: see {MART}"] if len(rows) > LISTED else [])
