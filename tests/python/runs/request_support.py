"""Requests put to the models without a load: groups as they are, and what the plugin will say."""

from __future__ import annotations

import csv
import itertools
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import yaml
from request_reference import Answer, Backoff, Coordinator, Entry, Outcome, Rules
from spark_support import dicts_at_hand, put_list

from moldau.project import ROOT, SEEDS
from moldau.sessions.open_run import open_run
from moldau.sessions.run import Run
from moldau.sessions.session import Session

RULE_SETS = ("kip_1331_draft", "kip_1331_v1", "kip_1331_v2", "kafka_4_4")
DUE = "int_groups__requests_due"
HANDLED = "int_groups__requests_worded"
Say = Callable[[str, int, str], tuple[Outcome, str | None]]
_numbers = itertools.count()

REQUEST: dict[str, Any] = {
    "received_at_ms": 0, "request_id": "", "request_kind": "", "is_of_no_group": False,
    "jitter": 1.0, "member_id": "m", "request_version": None, "member_epoch": None,
    "response_error": None, "status_codes": None, "pushed_epoch": None, "has_description": None,
    "description_error": None, "findings": None, "coordinator_error": None,
    "authorization_error": None, "write_error": None, "read_error": None, "is_member": False,
    "call_id": "", "is_called": False, "outcome": None, "message": None,
}  # fmt: skip


def heartbeat(at_ms: int = 0, **more: Any) -> dict[str, Any]:
    own = {"request_version": 1, "member_epoch": 1, "response_error": "NONE"}
    return REQUEST | {"request_kind": "heartbeat", "received_at_ms": at_ms} | own | more


def push(at_ms: int = 0, epoch: int = 3, **more: Any) -> dict[str, Any]:
    own = {"pushed_epoch": epoch, "has_description": True}
    return REQUEST | {"request_kind": "push", "received_at_ms": at_ms} | own | more


def deletion(at_ms: int = 0, **more: Any) -> dict[str, Any]:
    own = {"request_version": 3, "member_id": None}
    return REQUEST | {"request_kind": "deletion", "received_at_ms": at_ms} | own | more


def join(at_ms: int = 0, **more: Any) -> dict[str, Any]:
    return REQUEST | {"request_kind": "join", "received_at_ms": at_ms} | more


@dataclass
class Group:
    """A group, its requests in their order, and the plugin's answers."""

    requests: Sequence[dict[str, Any]]
    say: Say = lambda operation, epoch, request: ("success", None)
    ruleset: str = "kafka_4_4"
    has_plugin: bool = True
    type: str | None = "streams"
    state: str | None = "STABLE"
    topology_epoch: int = 3
    stored: int = -1
    failed: int = -1
    entry: Entry | None = None
    members: frozenset[str] = frozenset({"m"})
    unloads: Sequence[int] = ()
    group_id: str = field(default_factory=lambda: f"g{next(_numbers)}")

    def __post_init__(self) -> None:
        self.requests = [
            request
            | {
                "request_id": f"r{place:04d}",
                "call_id": f"{self.group_id} {place}",
                "is_of_no_group": request["is_of_no_group"] or self.group_id == "",
                "is_member": request["member_id"] in self.members,
            }
            for place, request in enumerate(self.requests)
        ]

    def reference(self) -> tuple[list[Answer], list[tuple[str, str]]]:
        """Answers and calls (operation, request), as the requests are handled one by one."""
        calls: list[tuple[str, str]] = []

        def ask(operation: str, epoch: int, request: str) -> tuple[Outcome, str | None]:
            calls.append((operation, request))
            return self.say(operation, epoch, request)

        coordinator = Coordinator(
            Rules(self.ruleset, self.has_plugin), self.group_id, ask, self.type,
            self.state or "", self.topology_epoch, self.stored, self.failed, self.members,
            self.unloads, Backoff(self.entry),
        )  # fmt: skip
        return [coordinator.handle(request) for request in self.requests], calls

    def row(self, outcomes: dict[str, tuple[Outcome, str | None]]) -> dict[str, Any]:
        """As `int_groups__requests_due` has it, with the calls that were made."""
        entry = self.entry and {
            "topology_epoch": self.entry.epoch,
            "attempts": self.entry.attempts,
            "next_attempt_at_ms": self.entry.until_ms,
            "armed_at_ms": self.entry.armed_at_ms,
        }
        made = {
            request["call_id"]: {"is_called": True}
            | dict(zip(("outcome", "message"), outcomes[request["call_id"]], strict=True))
            for request in self.requests
            if request["call_id"] in outcomes
        }
        return switches(self.ruleset) | {
            "cluster_id": "c", "group_id": self.group_id, "run_id": "r", "decided_at_ms": 0,
            "is_applied": True, "has_plugin": self.has_plugin, "group_type": self.type,
            "group_state": self.state, "is_readable": True,
            "topology_epoch": self.topology_epoch if self.type == "streams" else -1,
            "stored_epoch": self.stored, "failed_epoch": self.failed, "backoff": entry,
            "unloads": list(self.unloads) if self.ruleset == "kip_1331_draft" else [],
            "requests": [r | made.get(r["call_id"], {}) for r in self.requests],
        }  # fmt: skip


def switches(ruleset: str) -> dict[str, Any]:
    with (SEEDS / "rule_sets.csv").open() as file:
        [row] = [
            row
            for row in csv.DictReader(file)
            if (row["domain"], row["ruleset"]) == ("groups", ruleset)
        ]
    names = (
        "uses_uncertain_epoch",
        "tells_plugin_messages",
        "arms_on_any_failure",
        "clears_backoff_of_failed_delete",
    )
    return {"ruleset": ruleset} | {name: row[name] == "true" for name in names}


@dataclass
class Handled:
    """By group id: the answers of the models, and the calls in the order they were made in."""

    answers: dict[str, list[dict[str, Any]]]
    calls: dict[str, list[tuple[str, str]]]
    rounds: int


def schema_of(model: str) -> dict[str, str]:
    """Columns of a model of `intermediate/groups` and their types."""
    told = yaml.safe_load((ROOT / f"models/intermediate/groups/{model}.yml").read_text())
    return {c["name"]: c["data_type"] for c in told["models"][0]["columns"]}


def handle(session: Session, groups: Sequence[Group]) -> Handled:
    """Put the groups' requests to the models; calls are made round by round, as by a run."""
    open_run(session, Run("00000000-requests", "requests", ["c"], 0, is_dry_run=True))
    session.make_views(HANDLED)
    columns = schema_of(DUE)
    outcomes: dict[str, tuple[Outcome, str | None]] = {}
    calls: dict[str, list[tuple[str, str]]] = {group.group_id: [] for group in groups}
    by_name = {group.group_id: group for group in groups}
    for number in itertools.count(1):
        rows = [group.row(outcomes) for group in groups]
        put_list(session, DUE, columns, rows)
        answers: dict[str, list[dict[str, Any]]] = {}
        sql = f"select * from intermediate.{HANDLED} order by group_id, place"
        for row in dicts_at_hand(session, sql):
            answers.setdefault(row["group_id"], []).append(row)
        wanted = [
            answer
            for several in answers.values()
            for answer in several
            if answer["reason_code"] == "CALL_WANTED"
        ]
        if not wanted:
            assert all(a["reason_code"] != "WAITING" for one in answers.values() for a in one)
            return Handled(answers, calls, number)
        for answer in wanted:
            operation = "set" if answer["request_kind"] == "push" else "delete"
            calls[answer["group_id"]].append((operation, answer["request_id"]))
            outcomes[answer["call_id"]] = by_name[answer["group_id"]].say(
                operation, answer["stored_epoch_before"], answer["request_id"]
            )
    raise AssertionError


def as_answer(row: dict[str, Any]) -> dict[str, Any]:
    """The answer of a model in the words of the reference."""
    entry = row["backoff"] and Entry(*row["backoff"].values())
    outcome = None
    if row["request_kind"] == "push":
        is_called = row["reason_code"] in (
            "PLUGIN_FAILED", "WRITE_FAILED", "REFUSAL_NOT_WRITTEN", "PLUGIN_REFUSED", "STORED",
        )  # fmt: skip
        told = "transient_failure" if row["outcome"] == "timeout" else row["outcome"]
        outcome = told if is_called else "rejected"
    return asdict(
        Answer(
            row["error_code"],
            row["message"],
            row["reason_code"] == "REQUIRED",
            outcome,
            row["stored_epoch_after"],
            row["failed_epoch_after"],
            entry,
        )
    )
