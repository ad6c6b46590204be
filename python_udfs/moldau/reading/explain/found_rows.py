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
    return rows
