"""Decide about tiered storage under other topic configs on the same state; apply nothing."""

from __future__ import annotations

import dataclasses
import shutil
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from moldau.errors import MoldauError
from moldau.literals import literal
from moldau.runs.compare import fresh_folder
from moldau.runs.scope import scope_of
from moldau.sessions.closing import close_run
from moldau.sessions.open_run import next_run_id, open_run
from moldau.sessions.run import Run
from moldau.settings import Settings
from moldau.settings.problems import describe, suggestion
from moldau.settings.topic import TopicSettings

if TYPE_CHECKING:
    from moldau.sessions.session import Session

DECISIONS, LAG = "int_tiers__decisions_reasoned", "int_tiers__tier_lag_summed"
LAGS = (
    "upload_tier_lag",
    "upload_lag_bytes",
    "upload_delayed",
    "delete_tier_lag",
    "delete_tier_lag_sum",
    "delete_lag_bytes",
    "delete_lag_segments",
    "over_deleted_bytes",
)
SEGMENT_COLUMNS = (
    "cluster_id", "subject", "decision", "decision_then", "reason_code", "reason_code_then",
)  # fmt: skip
PARTITION_COLUMNS = (
    "cluster_id", "topic_name", "partition_index",
    *(f"{name}{side}" for name in LAGS for side in ("", "_then")),
)  # fmt: skip


def what_if(
    session: Session,
    topic: str,
    configs: Mapping[str, str],
    clusters: Sequence[str],
    at_ms: int,
    by_segment: bool,
) -> list[tuple[Any, ...]]:
    """What would be decided if the topic had these configs, as rows beside what is decided now.

    `by_segment`: SEGMENT_COLUMNS of the segments that are decided otherwise; else
    PARTITION_COLUMNS of every partition of the topic.
    Raises MoldauError for a topic that no partition state tells of, or a config that Kafka refuses.
    """
    scope = _clusters_with(session, topic, scope_of(session, clusters))
    other = with_topic_configs(session.settings, scope, topic, configs)
    _check_with_loaded(session, other, scope, topic, at_ms)
    run_id = next_run_id(session, "what_if")
    run = Run(run_id, "what_if", scope, at_ms, is_dry_run=True, topic_name=topic)
    folder = fresh_folder(session, run)
    view = DECISIONS if by_segment else LAG
    kept = []
    for side in ("now", "then"):
        settings = session.settings if side == "now" else _tiered_as_now(session, other, topic)
        open_run(dataclasses.replace(session, settings=settings), run)
        kept.append(session.keep(view, folder / side))
    question = _SEGMENTS if by_segment else _PARTITIONS
    rows = session.sql(question.format(now=kept[0], then=kept[1], topic=literal(topic)))
    open_run(session, run)
    run.counts = {"differences": sum(_differs(tuple(row), by_segment) for row in rows)}
    close_run(session, run)
    shutil.rmtree(folder, ignore_errors=True)
    return [tuple(row) for row in rows]


def with_topic_configs(
    settings: Settings, clusters: Sequence[str], topic: str, configs: Mapping[str, str]
) -> Settings:
    """The settings with these configs of a topic in place of, or beside, what is there."""
    changed = {}
    for name in clusters:
        cluster = settings.cluster(name)
        try:
            topic_settings = TopicSettings.model_validate(
                _own(settings, name, topic) | dict(configs)
            )
        except ValidationError as error:
            raise MoldauError(f"--set {describe(error, TopicSettings)}") from None
        topics = {**cluster.topics, topic: topic_settings}
        changed[name] = cluster.model_copy(update={"topics": topics})
    return settings.model_copy(update={"clusters": settings.clusters | changed})


def _check_with_loaded(
    session: Session, other: Settings, scope: Sequence[str], topic: str, at_ms: int
) -> None:
    """Kafka checks the configs of a topic together, so also with those that files tell."""
    loaded = session.sql(
        "select cluster_id, max_by(configs, valid_from_ms) from state.topic_configs "
        f"where topic_name = {literal(topic)} and valid_from_ms <= {at_ms:d} group by cluster_id"
    )
    known = {info.alias for info in TopicSettings.model_fields.values()}
    for cluster, configs in loaded:
        if cluster in scope:
            told = {name: value for name, value in configs.items() if name in known}
            now = _problem(told | _own(session.settings, cluster, topic))
            then = _problem(told | _own(other, cluster, topic))
            if then and not now:
                raise MoldauError(f"--set does not fit what is loaded of the topic: {then}")


def _own(settings: Settings, cluster: str, topic: str) -> dict[str, Any]:
    """What moldau.yml says of the topic."""
    told = settings.cluster(cluster).topics.get(topic) or TopicSettings.model_validate({})
    return told.model_dump(by_alias=True, exclude_none=True)


def _problem(configs: Mapping[str, Any]) -> str | None:
    try:
        TopicSettings.model_validate(configs)
    except ValidationError as error:
        return describe(error, TopicSettings)
    return None


def _tiered_as_now(session: Session, settings: Settings, topic: str) -> Settings:
    """Who asks for another config does not say that the topic is not tiered.

    Of a topic that nobody tells configs of, what lies in tiered storage decides.
    """
    for cluster, is_tiered in session.sql(
        "select cluster_id, is_tiered from intermediate.int_tiers__topics_configured "
        f"where topic_name = {literal(topic)} and not has_configs"
    ):
        told = settings.cluster(cluster).topics.get(topic)  # none: a cluster that was not asked for
        if told and told.remote_storage_enable is None:
            as_now = {"remote.storage.enable": str(is_tiered).lower()}
            settings = with_topic_configs(settings, [cluster], topic, as_now)
    return settings


def _clusters_with(session: Session, topic: str, scope: Sequence[str]) -> list[str]:
    """Those of the clusters that have the topic."""
    known = {
        (cluster, name)
        for cluster, name in session.sql(
            "select distinct cluster_id, topic_name from state.partition_states "
            "where topic_id is not null"
        )
        if cluster in scope
    }
    found = sorted(cluster for cluster, name in known if name == topic)
    if not found:
        names = sorted({name for _, name in known})
        raise MoldauError(
            f"topic {topic!r} is in no snapshot of partition states"
            + (suggestion(topic, names) or f": {', '.join(names[:10]) or 'none was loaded'}")
        )
    return found


def _differs(row: tuple[Any, ...], by_segment: bool) -> bool:
    values = row[3:]
    return by_segment or values[::2] != values[1::2]


_SEGMENTS = """
select now.cluster_id, now.subject, now.decision, changed.decision, now.reason_code,
    changed.reason_code
from {now} as now
inner join {then} as changed
    on now.cluster_id = changed.cluster_id and now.subject = changed.subject
where now.decision <> changed.decision or now.reason_code <> changed.reason_code
order by 1, 2
"""
_PARTITIONS = (
    "select now.cluster_id, now.topic_name, now.partition_index, "
    + ", ".join(f"now.{name}, changed.{name}" for name in LAGS)
    + " from {now} as now inner join {then} as changed"
    " on now.cluster_id = changed.cluster_id and now.topic_id = changed.topic_id"
    " and now.partition_index = changed.partition_index"
    " where now.topic_name = {topic} order by 1, 2, 3"
)
