"""The third part of the demo: what the coordinator answers to requests, one by one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from moldau.cli.demo_in_charge import LAB, fill
from moldau.cli.demo_registry import Registry
from moldau.cli.story import heading, load, show, tell

if TYPE_CHECKING:
    from moldau.sessions.session import Session

PUSHED, HELD_BACK = "g-wordcount", "g-streams-push"
KINDS = ("heartbeats", "topology_pushes", "group_deletions")


def tell_of_requests(session: Session, registry: Registry, at_ms: int) -> None:
    """A gate, a push that fails, its back-off, a push that is stored, a deletion held back."""
    from moldau.runs.decide import decide

    tell(
        "\n--- And what do clients get to hear? ---\n"
        f"Cluster `{LAB}`: the records of `east`, `authority: moldau`, rule set kafka_4_4.\n"
        "Clients send heartbeats, push a topology description, delete groups. The first push of\n"
        f"{PUSHED} and the delete of {HELD_BACK} meet a registry that is being upgraded."
    )
    load(session, LAB, "records", "east/__consumer_offsets.jsonl")
    for kind in KINDS:
        load(session, LAB, kind, f"requests/{kind}.jsonl")
    fill(session, LAB)
    registry.fails_next |= {f"{LAB}/{PUSHED}", f"{LAB}/{HELD_BACK}"}
    tell(f"$ moldau requests --cluster {LAB}")
    decide(session, "requests", [LAB], at_ms, is_dry_run=False)
    heading("Who is asked to push a description?", "decisions.heartbeat_gates")
    show(
        session.warehouse,
        "select request_id, epoch_ms(received_at_ms) as received_at, group_id, "
        "topology_description_required as required, reason_code, "
        "epoch_ms(next_attempt_at_ms) as next_attempt_at from decisions.heartbeat_gates "
        f"where cluster_id = '{LAB}' order by received_at_ms",
    )
    heading("What became of the pushes?", "decisions.topology_push_results")
    show(
        session.warehouse,
        "select request_id, epoch_ms(received_at_ms) as received_at, group_id, outcome, "
        "error_code, error_message, backoff_action as backoff, stored_epoch_after as stored "
        f"from decisions.topology_push_results where cluster_id = '{LAB}' order by received_at_ms",
    )
    heading("And of the deletion?", "decisions.group_deletion_results")
    show(
        session.warehouse,
        "select request_id, group_id, decision, error_code, error_message "
        f"from decisions.group_deletion_results where cluster_id = '{LAB}' order by group_id",
    )
