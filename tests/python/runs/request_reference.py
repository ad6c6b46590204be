"""The coordinator's handling of requests, one after the other, in plain Python: for tests only.

Written from the specification of KIP-1331, sections 2 to 5, not from the models.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

Outcome = Literal["success", "permanent_failure", "transient_failure", "timeout"]
UPDATE_FAILED = "STREAMS_TOPOLOGY_DESCRIPTION_UPDATE_FAILED"
MOVED = ("NOT_COORDINATOR", "COORDINATOR_LOAD_IN_PROGRESS", "COORDINATOR_NOT_AVAILABLE")
TRANSLATED = {
    "NOT_LEADER_OR_FOLLOWER": "NOT_COORDINATOR",
    "KAFKA_STORAGE_ERROR": "NOT_COORDINATOR",
    "UNKNOWN_TOPIC_OR_PARTITION": "COORDINATOR_NOT_AVAILABLE",
    "NOT_ENOUGH_REPLICAS": "COORDINATOR_NOT_AVAILABLE",
    "REQUEST_TIMED_OUT": "COORDINATOR_NOT_AVAILABLE",
    "NETWORK_EXCEPTION": "COORDINATOR_LOAD_IN_PROGRESS",
    "MESSAGE_TOO_LARGE": "UNKNOWN_SERVER_ERROR",
    "RECORD_LIST_TOO_LARGE": "UNKNOWN_SERVER_ERROR",
    "INVALID_FETCH_SIZE": "UNKNOWN_SERVER_ERROR",
}


@dataclass(frozen=True)
class Entry:
    epoch: int
    attempts: int
    until_ms: int
    armed_at_ms: int


class Backoff:
    """StreamsGroupTopologyDescriptionBackoff, of one group."""

    def __init__(self, entry: Entry | None) -> None:
        self.entry = entry

    def active(self, epoch: int, now_ms: int) -> bool:
        entry = self.entry
        return entry is not None and entry.epoch == epoch and now_ms < entry.until_ms

    def arm(self, epoch: int, now_ms: int, jitter: float) -> None:
        attempts = self.entry.attempts + 1 if self.entry and self.entry.epoch == epoch else 0
        doubled = 30_000 * math.pow(2, min(attempts, math.log(120) / math.log(2)))
        delay_ms = min(math.floor(jitter * doubled), 3_600_000)
        self.entry = Entry(epoch, attempts, now_ms + delay_ms, now_ms)

    def arm_if_not_active(self, epoch: int, now_ms: int, jitter: float) -> bool:
        if self.active(epoch, now_ms):
            return False
        self.arm(epoch, now_ms, jitter)
        return True

    def arm_or_extend(self, epoch: int, now_ms: int, jitter: float) -> None:
        if self.entry is None or self.entry.epoch <= epoch:
            self.arm(epoch, now_ms, jitter)

    def clear(self, epoch: int) -> None:
        if self.entry is not None and self.entry.epoch == epoch:
            self.entry = None

    def clear_group(self) -> None:
        self.entry = None


@dataclass(frozen=True)
class Rules:
    ruleset: str
    has_plugin: bool = True

    @property
    def is_draft(self) -> bool:
        return self.ruleset == "kip_1331_draft"

    @property
    def is_v3(self) -> bool:
        return self.ruleset == "kafka_4_4"


@dataclass
class Answer:
    """What the client is told, and the group after the request."""

    error_code: str = "NONE"
    message: str | None = None
    required: bool = False
    outcome: str | None = None
    """Of a push: what the plugin did, or `rejected`."""
    stored: int = -1
    failed: int = -1
    entry: Entry | None = None


@dataclass
class Coordinator:
    """One group. `type`: None = there is no such group. `ask` is the plugin: operation, epoch and
    request to (outcome, its words)."""

    rules: Rules
    group_id: str
    ask: Callable[[str, int, str], tuple[Outcome, str | None]]
    type: str | None = "streams"
    state: str = "STABLE"
    topology_epoch: int = -1
    stored: int = -1
    failed: int = -1
    members: frozenset[str] = frozenset()
    unloads: Sequence[int] = ()
    backoff: Backoff = field(default_factory=lambda: Backoff(None))

    def handle(self, request: dict[str, Any]) -> Answer:
        entry, now_ms = self.backoff.entry, request["received_at_ms"]
        # the partition was given up after the window was opened
        if (
            self.rules.is_draft
            and entry is not None
            and any(entry.armed_at_ms <= at_ms <= now_ms for at_ms in self.unloads)
        ):
            self.backoff.clear_group()
        answer = {
            "heartbeat": self._heartbeat,
            "push": self._push,
            "deletion": self._deletion,
            "join": self._join,
        }[request["request_kind"]](request)
        return replace(answer, stored=self.stored, failed=self.failed, entry=self.backoff.entry)

    def _heartbeat(self, request: dict[str, Any]) -> Answer:
        current = self.topology_epoch if self.type == "streams" else -1
        statuses = request["status_codes"] or []
        if (
            request["request_version"] < 1
            or not self.rules.has_plugin
            or request["member_epoch"] < 0
            or request["response_error"] != "NONE"
            or current < 0
            or self.stored == current
            or self.failed == current
            or None in statuses
            or 0 in statuses
        ):
            return Answer()
        asked = self.backoff.arm_if_not_active(
            current, request["received_at_ms"], request["jitter"]
        )
        return Answer(required=asked)

    def _push(self, request: dict[str, Any]) -> Answer:
        early = self._refused_early(request)
        if early is not None:
            return replace(early, outcome="rejected")
        epoch, now_ms, jitter = (
            request[name] for name in ("pushed_epoch", "received_at_ms", "jitter")
        )
        late = self._refused(request)
        if late is not None:
            if self.rules.is_draft:
                self.backoff.arm_or_extend(epoch, now_ms, jitter)
            return replace(late, outcome="rejected")
        if self.rules.is_v3:
            self.stored = -2
        outcome, words = self.ask("set", epoch, request["request_id"])
        if outcome in ("transient_failure", "timeout"):
            self.backoff.arm_or_extend(epoch, now_ms, jitter)
            return Answer(UPDATE_FAILED, words, outcome="transient_failure")
        write_error = request["write_error"]
        if write_error is not None:
            return Answer(self._write_failed(write_error, request), outcome=outcome)
        self.backoff.clear(epoch)
        if outcome == "permanent_failure":
            self.failed = max(self.failed, epoch)
            return Answer(UPDATE_FAILED, words, outcome=outcome)
        self.stored = max(self.stored, epoch)
        return Answer(outcome=outcome)

    def _write_failed(self, write_error: str, request: dict[str, Any]) -> str:
        told = TRANSLATED.get(write_error, write_error)
        place = request["pushed_epoch"], request["received_at_ms"], request["jitter"]
        if self.rules.is_draft:
            self.backoff.arm_or_extend(*place)
            return write_error
        if told == "GROUP_ID_NOT_FOUND":
            self.backoff.clear_group()
        elif told not in MOVED:
            self.backoff.arm_or_extend(*place)
        return told

    def _refused_early(self, request: dict[str, Any]) -> Answer | None:
        if request["authorization_error"]:
            return Answer(request["authorization_error"])
        if request["coordinator_error"] == "COORDINATOR_NOT_AVAILABLE":
            return Answer("COORDINATOR_NOT_AVAILABLE")
        if not self.rules.has_plugin:
            text = "The broker has no streams group topology description plugin configured."
            return Answer("UNSUPPORTED_VERSION", text)
        for is_missing, text in (
            (request["member_id"] == "", "MemberId can't be empty."),
            (self.group_id == "", "GroupId can't be empty."),
            (not request["has_description"], "TopologyDescription can't be null."),
        ):
            if is_missing:
                return Answer("INVALID_REQUEST", text)
        return None

    def _refused(self, request: dict[str, Any]) -> Answer | None:
        error, group, member = request["coordinator_error"], self.group_id, request["member_id"]
        if error:
            return Answer(TRANSLATED.get(error, error))
        if self.type is None:
            return Answer("GROUP_ID_NOT_FOUND", f"Group {group} not found.")
        if self.type != "streams":
            return Answer("GROUP_ID_NOT_FOUND", f"Group {group} is not a streams group.")
        if member not in self.members:
            return Answer("UNKNOWN_MEMBER_ID", f"Member {member} is not a member of group {group}.")
        epoch, current = request["pushed_epoch"], self.topology_epoch
        if epoch != current:
            return Answer(
                "INVALID_REQUEST",
                f"Topology epoch {epoch} does not match the group's current topology epoch "
                f"{current}.",
            )
        if request["description_error"]:
            return Answer("INVALID_REQUEST", request["description_error"])
        return None

    def _deletion(self, request: dict[str, Any]) -> Answer:
        if request["is_of_no_group"]:
            return Answer("INVALID_GROUP_ID")
        if self.rules.has_plugin and request["read_error"]:
            return Answer(TRANSLATED.get(request["read_error"], request["read_error"]))
        is_stored = self.type == "streams" and self.stored != -1
        is_alive = self.state != "EMPTY"
        if self.rules.has_plugin and is_stored and not (self.rules.is_v3 and is_alive):
            if self.rules.is_v3:
                observed, self.stored = self.stored, -2
            else:
                observed = self.stored
            outcome, words = self.ask("delete", observed, request["request_id"])
            if outcome == "success" or self.rules.ruleset in ("kip_1331_v1", "kip_1331_v2"):
                self.backoff.clear_group()
            if outcome != "success":
                if request["request_version"] < 3:
                    return Answer("UNKNOWN_SERVER_ERROR")
                text = "Topology description plugin failed to delete the topology."
                return Answer("GROUP_DELETION_FAILED", words if self.rules.is_draft else text)
        if self.type is None:
            return Answer("GROUP_ID_NOT_FOUND")
        if is_alive:
            return Answer("NON_EMPTY_GROUP")
        self._vanish(None)
        return Answer()

    def _join(self, request: dict[str, Any]) -> Answer:
        if self.type != "streams":
            return Answer()
        if self.state != "EMPTY":
            return Answer("INCONSISTENT_GROUP_PROTOCOL")
        now_ms = request["received_at_ms"]
        if self.rules.is_v3 and self.rules.has_plugin and self.stored != -1:
            if self.backoff.active(-2, now_ms):
                return Answer("REBALANCE_IN_PROGRESS")
            observed, self.stored = self.stored, -2
            outcome, _ = self.ask("delete", observed, request["request_id"])
            if outcome != "success":
                self.backoff.arm(-2, now_ms, request["jitter"])
                return Answer("REBALANCE_IN_PROGRESS")
        self._vanish("classic")
        return Answer()

    def _vanish(self, becomes: str | None) -> None:
        """moldau drops the back-off of a group that vanished; Kafka leaks some."""
        self.type, self.state = becomes, "PREPARING_REBALANCE"
        self.stored = self.failed = -1
        self.backoff.clear_group()
