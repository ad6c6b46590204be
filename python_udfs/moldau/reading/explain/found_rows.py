"""Why decisions about a group are what they are, as a table."""

from __future__ import annotations

from typing import Any

from moldau.reading.explain.groups import TABLE_OF, Explanation
from moldau.reading.explain.groups_words import blocked_by, next_change_at_ms
from moldau.reading.explain.phrases import reason_text


def rows_of(explanation: Explanation) -> list[dict[str, Any]]:
    """Of each decision that was asked about; an answer to a request has the same columns."""
    rows = []
    for decided in explanation.decided:
        row = decided.decision or {}
        code = row.get("reason_code")
        rows.append(
            {
                "cluster_id": explanation.group["cluster_id"],
                "subject": decided.subject,
                "decision": row.get("decision"),
                "reason_code": code,
                "reason_text": reason_text(TABLE_OF[decided.kind], code or "") or None,
                "blocked_by": blocked_by(explanation, decided),
                "next_change_at_ms": next_change_at_ms(decided),
                "decided_at_ms": row.get("decided_at_ms"),
                "ruleset": row.get("ruleset"),
                "run_id": row.get("run_id"),
            }
        )
    return rows + [_of_start(row) for row in explanation.starts]


def _of_start(row: dict[str, Any]) -> dict[str, Any]:
    """What an application would do now is nobody's decision, so no run has made it."""
    place = f"{row['topic_name']}-{row['partition_index']}"
    return {
        "cluster_id": row["cluster_id"],
        "subject": f"start {row['group_id']} {place}",
        "decision": row["decision"],
        "reason_code": row["reason_code"],
        "reason_text": row["reason_text"],
        "blocked_by": [],
        "next_change_at_ms": None,
        "decided_at_ms": None,
        "ruleset": None,
        "run_id": None,
    }
