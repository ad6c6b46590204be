"""Settings of one cluster, under Kafka's own property names."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field, create_model

from moldau.declared import domains
from moldau.settings.fields import (
    KAFKAS_NAMES,
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
from moldau.settings.servers import Servers
from moldau.settings.topic import TopicSettings

_MINUTE_MS = 60_000
# how the cluster is reached is no rule: where only that is another, nothing is decided anew
_NO_RULES = {"bootstrap_servers", "properties"}


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

    model_config = KAFKAS_NAMES

    authority: Literal["broker", "moldau"] = "broker"
    ruleset: ClusterRuleSets = Field(default_factory=ClusterRuleSets)
    plugin: PluginSettings | None = None
    topics: dict[Name, TopicSettings] = Field(default_factory=dict)
    bootstrap_servers: Servers | None = None
    properties: Annotated[str, Field(min_length=1)] | None = None
    """A file of a Java client's properties, how to log in; relative to moldau.yml."""

    offsets_retention_minutes: PositiveInt = 10_080
    offsets_retention_check_interval_ms: Positive = 600_000
    offsets_topic_num_partitions: PositiveInt | None = None
    topology_description_plugin_class: str | None = Field(
        default=None, alias="group.streams.topology.description.plugin.class"
    )

    remote_log_storage_system_enable: Flag | None = None
    remote_log_manager_task_interval_ms: Positive | None = None
    log_retention_ms: FromMinusOne | None = None
    log_retention_minutes: IntFromMinusOne | None = None
    log_retention_hours: IntFromMinusOne | None = None
    log_retention_bytes: FromMinusOne | None = None
    log_local_retention_ms: FromMinusTwo | None = None
    log_local_retention_bytes: FromMinusTwo | None = None
    log_remote_copy_lag_ms: FromMinusOne | None = None
    log_remote_copy_lag_bytes: FromMinusOne | None = None
    log_segment_bytes: SegmentBytes | None = None
    log_cleanup_policy: CleanupPolicy | None = None
    log_roll_ms: Positive | None = None

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
        shown = self.model_dump(
            by_alias=True, exclude_none=True, exclude={"plugin", "topics", *_NO_RULES}
        )
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
        return self.kept()["settings_hash"]
