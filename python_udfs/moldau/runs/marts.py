"""Which marts a command refreshes, beside last_run and table_status, which every run does."""

from __future__ import annotations

# what load and apply change
STATE_MARTS = ("groups", "group_offsets", "group_lag")
# what applying changes, beside those of the decisions
APPLY_MARTS = ("groups", "group_offsets", "plugin_calls", "deferred_groups", "metrics")
# what a decision changes
DECISION_MARTS = (
    "cleanup_preview",
    "expiry_calendar",
    "decisions",
    "decision_history",
)
