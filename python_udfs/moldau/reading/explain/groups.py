"""Why something was decided: the stored values that a decision rests on, gathered.

Nothing is decided here: only stored values are shown.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from moldau.reading.explain.subjects import Subject, find_subject
from moldau.reading.tables.query import Tables

TABLE_OF = {
    "cleanup": "decisions.cleanup_eligibility",
    "sweep": "decisions.group_sweeps",
    "offset": "decisions.offset_expirations",
}
READ = (
    *TABLE_OF.values(),
    "state.groups",
    "state.group_offsets",
    "state.open_transactions",
    "state.settings",
    "history.decision_changes",
)
START_POSITIONS = "marts.start_positions"
_KEY = "where cluster_id = ? and group_id = ?"
Row = dict[str, Any]


@dataclass(frozen=True)
class Decided:
    """One decision with what it rests on; `decision` is null where none was made yet."""

    kind: str
    subject: str
    decision: Row | None
    settings: Row | None
    last_change: Row | None
    offset: Row | None = None


@dataclass(frozen=True)
class Explanation:
    """A group as it is now, and the decisions about it that were asked for."""

    group: Row
    decided: list[Decided]
    open_transactions: list[Row]
    offset_decisions: list[Row] = field(default_factory=list)
    """The current decisions about every offset of the group, kept ones first."""
    starts: list[Row] = field(default_factory=list)
    """Of marts.start_positions, resets first; none if a single decision was asked about."""


def explain_subject(
    warehouse: Path, text: str, cluster: str | None = None, opened: Tables | None = None
) -> Explanation:
    """Everything stored about the subject `text`; MoldauError if it names nothing, or too much.

    `opened`: READ and START_POSITIONS, if they are open already.
    """
    tables = opened or Tables(warehouse, READ)
    subject = find_subject(tables, text, cluster)
    key = [subject.cluster_id, subject.group_id]
    [group] = tables.rows("state.groups", _KEY, key) or [_unseen(subject)]
    offsets = tables.rows(
        "decisions.offset_expirations",
        f"{_KEY} order by decision = 'expire', expires_at_ms desc, topic_name, partition_index",
        key,
    )
    settings = tables.rows(
        "state.settings", "where cluster_id = ? order by valid_from_ms", [subject.cluster_id]
    )
    in_force = {row["settings_hash"]: row for row in settings}
    decided = [
        _decided(tables, kind, f"{kind} {subject.group_id}", key, in_force)
        for kind in subject.kinds
        if kind != "offset"
    ]
    if "offset" in subject.kinds:
        decided += _offsets(tables, subject, key, offsets, in_force)
    transactions = tables.rows(
        "state.open_transactions", f"{_KEY} order by topic_name, partition_index, producer_id", key
    )
    starts = []
    if len(subject.kinds) > 1:
        starts = _starts(opened or Tables(warehouse, [START_POSITIONS]), key)
    return Explanation(group, decided, transactions, offsets, starts)


def _starts(tables: Tables, key: list[Any]) -> list[Row]:
    order = f"{_KEY} order by decision <> 'reset', topic_name, partition_index"
    return tables.rows(START_POSITIONS, order, key)


def _offsets(
    tables: Tables, subject: Subject, key: list[Any], decisions: list[Row], in_force: dict[str, Row]
) -> list[Decided]:
    condition, parameters = _KEY, list(key)
    if subject.topic_name is not None:
        condition += " and topic_name = ? and partition_index = ?"
        parameters += [subject.topic_name, subject.partition_index]
    else:
        condition += " and not is_deleted"
    by_key = {(row["topic_name"], row["partition_index"]): row for row in decisions}
    rows = tables.rows(
        "state.group_offsets", f"{condition} order by topic_name, partition_index", parameters
    )
    return [
        _decided(
            tables,
            "offset",
            f"offset {row['group_id']} {row['topic_name']}-{row['partition_index']}",
            key,
            in_force,
            offset=row,
            decision=by_key.get((row["topic_name"], row["partition_index"])),
            with_history=subject.topic_name is not None,
        )
        for row in rows
    ]


def _decided(
    tables: Tables,
    kind: str,
    subject: str,
    key: list[Any],
    in_force: dict[str, Row],
    offset: Row | None = None,
    decision: Row | None = None,
    with_history: bool = True,
) -> Decided:
    if kind != "offset":
        decision = tables.first(TABLE_OF[kind], _KEY, key)
    last_change = None
    if decision and with_history:
        last_change = tables.first(
            "history.decision_changes",
            "where domain = 'groups' and cluster_id = ? and subject = ? "
            "order by run_id desc limit 1",
            [key[0], subject],
        )
    settings = in_force.get(decision["settings_hash"]) if decision else None
    return Decided(kind, subject, decision, settings, last_change, offset)


def _unseen(subject: Subject) -> Row:
    return {"cluster_id": subject.cluster_id, "group_id": subject.group_id, "group_type": None}
