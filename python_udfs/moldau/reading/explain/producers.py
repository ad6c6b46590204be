"""Why a topic's metadata is forgotten, fetched or kept: the stored decision and its basis.

Nothing is decided here: only stored values are shown.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from moldau.errors import MoldauError
from moldau.reading.explain.groups import Row
from moldau.reading.explain.phrases import reason_text
from moldau.reading.explain.producers_changes import Change, next_change
from moldau.reading.explain.subjects import nothing_decided, one_cluster
from moldau.reading.tables.query import Tables

TOPICS, ROUNDS = "decisions.metadata_topics", "decisions.metadata_rounds"
KNOWN, PRODUCERS, SETTINGS = (
    "state.producer_topics",
    "state.producers",
    "state.producer_settings",
)
_READ = (TOPICS, ROUNDS, KNOWN, PRODUCERS, SETTINGS, "state.runs")
_ASKED = re.compile(r"(?:metadata|round) .+", re.DOTALL)
# the subjects of marts.decisions: see macros/metadata_subject.sql
_TOPIC = "'metadata ' || producer_id || ' ' || topic_name"


@dataclass(frozen=True)
class MetadataExplanation:
    """The round of a producer and, of one topic, its decision: `topic` None = of the round."""

    round: Row
    topic: Row | None
    known: Row | None
    """Of state.producer_topics, as it is now; None = forgotten, or of the round."""
    producer: Row
    """Of state.producers, as it is now."""
    settings: Row
    """Of state.producer_settings, those that decided."""
    reasons: list[Row]
    """Of the round: how many topics each decision and reason has."""
    is_over: bool
    """What the producer holds has changed since the last run, or that run applied it."""
    next_change: Change | None
    """By time alone; None = it changes nothing, or the next run decides anew anyway."""

    @property
    def decision(self) -> Row:
        return self.topic or self.round

    @property
    def subject(self) -> str:
        if self.topic is None:
            return f"round {self.round['producer_id']}"
        return f"metadata {self.topic['producer_id']} {self.topic['topic_name']}"

    @property
    def reason_text(self) -> str:
        return self.text_of(self.decision["reason_code"])

    def text_of(self, reason_code: str) -> str:
        return reason_text(ROUNDS if self.topic is None else TOPICS, reason_code)

    @property
    def refresh_age_ms(self) -> int | None:
        seen = None if self.topic is None else self.topic["observed_refresh_at_ms"]
        return None if seen is None else int(self.decision["decided_at_ms"]) - int(seen)

    def row(self) -> Row:
        topic, known, told, round_ = self.topic or {}, self.known or {}, self.decision, self.round
        change = self.next_change if self.next_change and self.next_change.is_found else None
        return {
            "cluster_id": told["cluster_id"], "subject": self.subject,
            "producer_id": told["producer_id"], "topic_name": topic.get("topic_name"),
            "decision": told["decision"], "reason_code": told["reason_code"],
            "reason_text": self.reason_text, "topic_set": topic.get("topic_set"),
            "fetch_rank": topic.get("fetch_rank"),
            "last_access_at_ms": known.get("last_access_at_ms"),
            "observed_refresh_at_ms": topic.get("observed_refresh_at_ms"),
            "refresh_age_ms": self.refresh_age_ms, "round_reason_code": round_["reason_code"],
            "cached_topics": round_["cached_topics"],
            "target_fetch_size": round_["target_fetch_size"],
            "urgent_topics": round_["urgent_topics"],
            "non_urgent_topics": round_["non_urgent_topics"],
            "fetched_topics": round_["fetched_topics"],
            "next_change_at_ms": change and change.at_ms,
            "next_decision": change and change.answer["decision"],
            "next_reason_code": change and change.answer["reason_code"],
            "decided_at_ms": told["decided_at_ms"], "ruleset": told["ruleset"],
            "run_id": told["run_id"],
        }  # fmt: skip


def explain_metadata(warehouse: Path, text: str, cluster: str | None) -> MetadataExplanation | None:
    """What is stored about `metadata PRODUCER TOPIC`, or the round of `metadata PRODUCER`.

    None: the text is no such thing. MoldauError if nothing is decided about it, or on several
    clusters, of which none was chosen.
    """
    if not _ASKED.fullmatch(text):
        return None
    tables = Tables(warehouse, _READ)
    name = text.split(" ", 1)[1]
    topics = tables.rows(TOPICS, f"where {_TOPIC} = ? order by cluster_id", [text])
    rounds = tables.rows(ROUNDS, "where producer_id = ? order by cluster_id", [name])
    found = topics or rounds
    if not found:
        raise _nothing(tables, text, name)
    chosen = one_cluster([row["cluster_id"] for row in found], text, cluster)
    row = next(row for row in found if row["cluster_id"] == chosen)
    return _gathered(warehouse, tables, row, is_topic=bool(topics))


def _gathered(warehouse: Path, tables: Tables, row: Row, is_topic: bool) -> MetadataExplanation:
    key = [row["cluster_id"], row["producer_id"]]
    of_producer = "where cluster_id = ? and producer_id = ?"
    known = reasons = None
    if is_topic:
        of_topic = f"{of_producer} and topic_name = ?"
        known = tables.first(KNOWN, of_topic, [*key, row["topic_name"]])
    else:
        reasons = tables.ask(
            f"select decision, reason_code, count(*) as topics from {TOPICS} {of_producer} "
            "group by all order by topics desc, decision, reason_code",
            key,
        )
    last_run = tables.first(
        "state.runs",
        "where kind = 'metadata' and status = 'succeeded' and list_contains(cluster_ids, ?) "
        "order by run_id desc limit 1",
        [row["cluster_id"]],
    )
    decided_by = tables.first(
        SETTINGS,
        "where settings_hash = ? and producer_id in (?, 'default') "
        "order by producer_id = 'default', valid_from_ms desc limit 1",
        [row["settings_hash"], row["producer_id"]],
    )
    producer = tables.first(PRODUCERS, of_producer, key) or {}
    last_run_id = str((last_run or row)["run_id"])
    is_over = str(producer.get("changed_in_run_id") or "") >= last_run_id
    round_ = (tables.first(ROUNDS, of_producer, key) or {}) if is_topic else row
    return MetadataExplanation(
        round=round_,
        topic=row if is_topic else None,
        known=known,
        producer=producer,
        settings=decided_by or {},
        reasons=reasons or [],
        is_over=is_over,
        next_change=None
        if is_over or not decided_by
        else next_change(warehouse, round_, decided_by, row.get("topic_name")),
    )


def _nothing(tables: Tables, text: str, name: str) -> MoldauError:
    close = tables.rows(
        TOPICS,
        f"where starts_with({_TOPIC}, 'metadata ' || split_part(?, ' ', 1)) "
        "order by cluster_id, producer_id, topic_name limit 3",
        [name],
    )
    return nothing_decided(
        text,
        (f"metadata {row['producer_id']} {row['topic_name']}" for row in close),
        "load what producers hold (--kind producer_topics or producer_events), then "
        "`moldau metadata` decides",
    )
