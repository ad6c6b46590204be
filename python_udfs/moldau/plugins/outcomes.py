"""A plugin call and its outcome."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

Operation = Literal["set", "delete", "get"]
Ending = Literal["success", "permanent_failure", "transient_failure", "timeout"]
_LONGEST_MESSAGE = 4_000


@dataclass(frozen=True)
class Call:
    """One call of a plugin; `topology_epoch` and `description` are unused where it deletes."""

    call_id: str
    """Names the call in every repetition: the plugin's idempotency key."""
    cluster_id: str
    group_id: str
    operation: Operation
    topology_epoch: int
    description: Any = None


@dataclass(frozen=True)
class Verdict:
    """How a call ended; `message` is None for a success and never empty.

    `withheld`: the plugin's own words, where Kafka says something general in their place.
    """

    outcome: Ending
    message: str | None = None
    withheld: str | None = None

    def cut(self) -> Verdict:
        texts = (text and text[:_LONGEST_MESSAGE] for text in (self.message, self.withheld))
        return Verdict(self.outcome, *(text or None for text in texts))


SUCCESS = Verdict("success")


@dataclass(frozen=True)
class Outcome:
    """The one outcome of a call; `timeout` means that it may have happened. Unix milliseconds."""

    call_id: str
    outcome: Ending
    message: str | None
    started_at_ms: int
    finished_at_ms: int
    withheld_message: str | None = None


def call_row(call: Any, run_id: str, outcome: Outcome) -> dict[str, Any]:
    """A row of history.plugin_calls; `call`: a Call, or a row that asks for one."""
    return {
        "call_id": call.call_id,
        "run_id": run_id,
        "cluster_id": call.cluster_id,
        "group_id": call.group_id,
        "operation": call.operation,
        "topology_epoch": call.topology_epoch,
        "outcome": outcome.outcome,
        "message": outcome.message,
        "started_at_ms": outcome.started_at_ms,
        "finished_at_ms": outcome.finished_at_ms,
        "withheld_message": outcome.withheld_message,
    }
