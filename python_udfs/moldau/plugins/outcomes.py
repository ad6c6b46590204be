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
