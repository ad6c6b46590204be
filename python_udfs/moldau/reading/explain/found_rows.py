"""Why decisions about a group are what they are, as a table."""

from __future__ import annotations

from typing import Any

from moldau.reading.explain.groups import TABLE_OF, Explanation
from moldau.reading.explain.groups_words import blocked_by, next_change_at_ms
from moldau.reading.explain.phrases import reason_text

COLUMNS = (
    "cluster_id",
    "subject",
    "decision",
    "reason_code",
    "reason_text",
    "blocked_by",
    "next_change_at_ms",
    "decided_at_ms",
    "ruleset",
    "run_id",
)


def rows_of(explanation: Explanation) -> list[tuple[Any, ...]]:
    """COLUMNS of each decision that was asked about."""
    rows = []
    for decided in explanation.decided:
        row = decided.decision or {}
        rows.append(
            (
                explanation.group["cluster_id"],
                decided.subject,
                row.get("decision"),
                row.get("reason_code"),
                reason_text(TABLE_OF[decided.kind], row.get("reason_code", "")) or None,
                blocked_by(explanation, decided),
                next_change_at_ms(decided),
                row.get("decided_at_ms"),
                row.get("ruleset"),
                row.get("run_id"),
            )
        )
    return rows
