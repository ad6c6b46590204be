"""Producers: which topics' metadata they forget, refresh and fetch (KIP-526)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from moldau.declared.domain import (
    Domain,
    Explained,
    Kind,
    Recorded,
    Subjects,
    Told,
    WhatIf,
    files_of,
)

if TYPE_CHECKING:
    from moldau.loading.shape import Shape
    from moldau.sessions.run import Run
    from moldau.settings import Settings
    from moldau.settings.fields import Section

DEFAULT = "default"
EVENTS = (
    "access", "demand", "demand_served", "demand_abandoned", "notice", "requested", "refreshed",
    "topic_error", "request_failed", "closed",
)  # fmt: skip
OF_THE_PRODUCER = ("requested", "request_failed", "closed")  # events that may name no topic


def _producer() -> type[Section]:
    from moldau.settings.producer import ProducerSettings

    return ProducerSettings


def _shapes() -> Iterator[Shape]:
    from moldau.loading.shape import Shape
    from moldau.loading.shapes import OPTIONAL, any_text, flag, int32, int64, name, one_of

    topic = (
        any_text("producer_id"),
        name("topic"),
        int64("last_access_at_ms"),
        int64("last_refresh_at_ms", is_nullable=True),
        flag("has_demand"),
        int64("notified_at_ms", **OPTIONAL),
        int32("partition_count", **OPTIONAL),
        int64("taken_at_ms", **OPTIONAL),
    )
    yield Shape("producer_topics", topic, is_snapshot=True)
    event = (
        int64("at_ms"),
        any_text("producer_id"),
        name("topic", missing_with=("event", OF_THE_PRODUCER)),
        one_of("event", EVENTS),
    )
    yield Shape("producer_events", event, rises=("at_ms", "producer_id"))


def _settings(settings: Settings, run: Run) -> list[dict[str, Any]]:
    """Rows of run.producer_settings; a comparison puts another rule set in place of theirs."""
    compared = next((own["producers"] for own in run.rulesets.values() if "producers" in own), None)
    named = {DEFAULT, *settings.sections.get("producers", {})}
    rows = []
    for name in sorted(named):
        row = {"producer_id": name, **settings.entry("producers", name).row()}
        row["ruleset"] = compared or row["ruleset"]
        rows.append(
            row | {"valid_from_ms": run.started_at_ms, "valid_to_ms": None, "run_id": run.run_id}
        )
    return rows


def _explain(
    warehouse: Path, text: str, cluster: str | None, _at_ms: int | None
) -> Explained | None:
    from moldau.reading.explain.producers import explain_metadata
    from moldau.reading.explain.producers_words import metadata_in_words

    found = explain_metadata(warehouse, text, cluster)
    if found is None:
        return None
    return Explained(list(metadata_in_words(found)), [found.row()])


_ROUNDS, _TOPICS = (
    f"intermediate.int_producers__metadata_{name}_reasoned" for name in ("rounds", "topics")
)
_COUNTS = ("cached_topics", "fetched_topics", "evicted_topics", "reason_code")
_WHAT_IF = WhatIf(
    summary="Decide which metadata goes as if producers had other settings.",
    example="metadata.max.age.ms=600000",
    reads=(_ROUNDS, _TOPICS),
    told={
        "producer": Told(
            ("cluster_id", "producer_id"),
            _COUNTS,
            f"select cluster_id, producer_id, {', '.join(_COUNTS)} from {_ROUNDS}",
        ),
        "topic": Told(
            ("cluster_id", "producer_id", "topic_name"),
            ("decision", "reason_code"),
            f"select cluster_id, producer_id, topic_name, decision, reason_code from {_TOPICS}",
        ),
    },
    section="producers",
)

DOMAIN = Domain(
    name="producers",
    kinds=(
        Kind(
            name="metadata",
            summary="Decide which topics' metadata producers forget, refresh and fetch.",
            decides="for each producer which topics' metadata it forgets, and which ones its next "
            "metadata request asks for",
            applies="forgets these topics and stores the answer of the request, as if it came at "
            "that instant",
            decisions="metadata_topics and decisions.metadata_rounds",
            place=60,
            acts_on=("evict", "evict_and_fetch", "fetch"),
            counts=(
                "select 'producers_settled' as name, count(*) as n from state.producers "
                "where changed_in_run_id = {run}",
            ),
        ),
    ),
    verbs={"replay": "Replay a log of events under every rule set, side by side."},
    files=files_of(_shapes, "producer_topics", "producer_events"),
    remarks=dict.fromkeys(("producer_topics", "producer_events"), "int_producers__loads_remarked"),
    sections={"producers": _producer},
    recorded=(
        Recorded(
            "producer_settings",
            _settings,
            ("record_producer_settings",),
            of_loads=("producer_topics", "producer_events"),
        ),
    ),
    has_cluster_rules=False,
    reasoned="int_producers__decisions_reasoned",
    what_if=_WHAT_IF,
    subjects=Subjects(forms=("metadata PRODUCER TOPIC", "round PRODUCER"), explain=_explain),
)
