"""Which marts a command refreshes."""

from __future__ import annotations

# what load and apply change
STATE_MARTS = ("groups", "group_offsets", "group_lag", "table_status", "last_run")
# what a decision changes
DECISION_MARTS = (
    "cleanup_preview",
    "expiry_calendar",
    "decisions",
    "decision_history",
    "table_status",
    "last_run",
)
