"""Settings of one cluster, under Kafka's own property names."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field, create_model

from moldau.domains import domains
from moldau.settings.fields import (
    CleanupPolicy,
    Flag,
    FromMinusOne,
    FromMinusTwo,
    IntFromMinusOne,
    Name,
    Positive,
    PositiveInt,
    Section,
    SegmentBytes,
)
from moldau.settings.plugin import PluginSettings
from moldau.settings.rule_sets import RuleSet, rule_sets
from moldau.settings.topic import TopicSettings

_MINUTE_MS = 60_000


def _rule_sets() -> type[Section]:
    """Rule set of each domain that a cluster has on its own."""
    fields: dict[str, Any] = {
        one.name: (Annotated[str, RuleSet(one.name)], rule_sets(one.name)[0])
        for one in domains()
        if one.has_cluster_rules and rule_sets(one.name)
    }
    return create_model("ClusterRuleSets", __base__=Section, **fields)


if TYPE_CHECKING:
    ClusterRuleSets = Section
else:
    ClusterRuleSets = _rule_sets()


class ClusterSettings(Section):
    """One cluster; every field has Kafka's default, `None` = the broker property is not given."""

    authority: Literal["broker", "moldau"] = "broker"
    ruleset: ClusterRuleSets = Field(default_factory=ClusterRuleSets)
    plugin: PluginSettings | None = None
    topics: dict[Name, TopicSettings] = Field(default_factory=dict)

    offsets_retention_minutes: PositiveInt = Field(
        default=10_080, alias="offsets.retention.minutes"
    )
    offsets_retention_check_interval_ms: Positive = Field(
        default=600_000, alias="offsets.retention.check.interval.ms"
    )
    offsets_topic_num_partitions: PositiveInt | None = Field(
        default=None, alias="offsets.topic.num.partitions"
    )
    topology_description_plugin_class: str | None = Field(
        default=None, alias="group.streams.topology.description.plugin.class"
    )

    remote_log_storage_system_enable: Flag | None = Field(
        default=None, alias="remote.log.storage.system.enable"
    )
    remote_log_manager_task_interval_ms: Positive | None = Field(
        default=None, alias="remote.log.manager.task.interval.ms"
    )
    log_retention_ms: FromMinusOne | None = Field(default=None, alias="log.retention.ms")
    log_retention_minutes: IntFromMinusOne | None = Field(
        default=None, alias="log.retention.minutes"
    )
    log_retention_hours: IntFromMinusOne | None = Field(default=None, alias="log.retention.hours")
    log_retention_bytes: FromMinusOne | None = Field(default=None, alias="log.retention.bytes")
    log_local_retention_ms: FromMinusTwo | None = Field(
        default=None, alias="log.local.retention.ms"
    )
    log_local_retention_bytes: FromMinusTwo | None = Field(
        default=None, alias="log.local.retention.bytes"
    )
    log_remote_copy_lag_ms: FromMinusOne | None = Field(
        default=None, alias="log.remote.copy.lag.ms"
    )
    log_remote_copy_lag_bytes: FromMinusOne | None = Field(
        default=None, alias="log.remote.copy.lag.bytes"
    )
    log_segment_bytes: SegmentBytes | None = Field(default=None, alias="log.segment.bytes")
    log_cleanup_policy: CleanupPolicy | None = Field(default=None, alias="log.cleanup.policy")
    log_roll_ms: Positive | None = Field(default=None, alias="log.roll.ms")

    @property
    def has_plugin(self) -> bool:
        """Whether descriptions can be stored: moldau's plugin, or the broker's plugin class."""
        return self.plugin_name is not None

    @property
    def plugin_name(self) -> str | None:
        """Plugin in moldau.yml under authority moldau, else the broker's plugin class."""
        if self.authority == "moldau":
            return self.plugin.name if self.plugin else None
        return (self.topology_description_plugin_class or "").strip() or None

    @property
    def offsets_retention_ms(self) -> int:
        return self.offsets_retention_minutes * _MINUTE_MS

    @property
    def retention_ms(self) -> int | None:
        """The finest unit that is given, as Kafka takes it (KafkaConfig.logRetentionTimeMillis)."""
        for value, unit_ms in (
            (self.log_retention_ms, 1),
            (self.log_retention_minutes, _MINUTE_MS),
            (self.log_retention_hours, 60 * _MINUTE_MS),
        ):
            if value is not None:
                return value if value < 0 else value * unit_ms
        return None

    def effective(self) -> dict[str, Any]:
        """What holds for the cluster, JSON-able, by Kafka's names in their order."""
        shown = self.model_dump(by_alias=True, exclude_none=True, exclude={"plugin", "topics"})
        if self.retention_ms is not None:
            shown["log.retention.ms"] = self.retention_ms
        if self.plugin:
            shown["plugin"] = self.plugin.effective()
        if self.topics:
            shown["topics"] = {
                name: dict(sorted(topic.model_dump(by_alias=True, exclude_none=True).items()))
                for name, topic in sorted(self.topics.items())
            }
        return dict(sorted(shown.items()))

    def digest(self) -> str:
        """16 hex digits that change if and only if `effective()` does."""
        text = json.dumps(self.effective(), sort_keys=True, ensure_ascii=True, default=str)
        return hashlib.sha256(text.encode()).hexdigest()[:16]
