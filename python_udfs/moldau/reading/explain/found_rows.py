"""Why decisions about a group are what they are, as a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from moldau.reading.explain.groups import TABLE_OF, Explanation
from moldau.reading.explain.groups_words import blocked_by, next_change_at_ms
from moldau.reading.explain.phrases import reason_text


def rows_of(explanation: Explanation) -> list[dict[str, Any]]:
    """Of each decision that was asked about, and of what an application would do now."""
    cluster_id = explanation.group["cluster_id"]
    decided = [
        row_of(
            cluster_id,
            one.subject,
            one.decision or {},
            reason_text(TABLE_OF[one.kind], (one.decision or {}).get("reason_code") or ""),
            blocked_by(explanation, one),
            next_change_at_ms(one),
        )
        for one in explanation.decided
    ]
    return decided + [_of_start(row) for row in explanation.starts]


def row_of(
    cluster_id: str,
    subject: str,
    told: Mapping[str, Any],
    why: str,
    blocked_by: Sequence[str] = (),
    next_change_at_ms: int | None = None,
) -> dict[str, Any]:
    """Of what is told of a subject, and why; what no run has decided has no instant and no run."""
    return {
        "cluster_id": cluster_id,
        "subject": subject,
        "decision": told.get("decision"),
        "reason_code": told.get("reason_code"),
        "reason_text": why or None,
        "blocked_by": list(blocked_by),
        "next_change_at_ms": next_change_at_ms,
        **{name: told.get(name) for name in ("decided_at_ms", "ruleset", "run_id")},
    }


def _of_start(row: dict[str, Any]) -> dict[str, Any]:
    place = f"{row['topic_name']}-{row['partition_index']}"
    subject = f"start {row['group_id']} {place}"
    return row_of(row["cluster_id"], subject, row, row["reason_text"])
