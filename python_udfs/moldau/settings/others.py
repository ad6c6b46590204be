"""Settings of flows (mirrors) and of producers."""

from __future__ import annotations

import re
from typing import Annotated

from pydantic import AfterValidator, Field
from pydantic_core import PydanticCustomError

from moldau.settings.fields import Flag, Name, NotNegative, Positive, Section, Whole
from moldau.settings.rule_sets import MirrorsRuleSet, ProducersRuleSet, default_rule_set


def _compiles(pattern: str) -> str:
    try:
        re.compile(pattern)
    except re.error as error:
        raise PydanticCustomError(
            "pattern", "a regular expression ({reason})", {"reason": str(error)}
        ) from None
    return pattern


Pattern = Annotated[str, AfterValidator(_compiles)]
EvictMs = Annotated[Whole, Field(ge=1_000, le=2**63 - 1)]
MaxIdleMs = Annotated[Whole, Field(ge=5_000, le=2**63 - 1)]


class FlowSettings(Section):
    """One direction of mirroring; the filters are MirrorMaker 2's, with its defaults."""

    source: Name
    target: Name
    ruleset: MirrorsRuleSet = Field(default_factory=lambda: default_rule_set("mirrors"))
    topics: Pattern = ".*"
    topics_exclude: Pattern | None = Field(default=None, alias="topics.exclude")
    groups: Pattern = ".*"
    groups_exclude: Pattern | None = Field(default=None, alias="groups.exclude")
    offset_lag_max: NotNegative | None = Field(default=None, alias="offset.lag.max")
    emit_checkpoints_enabled: Flag | None = Field(default=None, alias="emit.checkpoints.enabled")
    sync_group_offsets_enabled: Flag | None = Field(
        default=None, alias="sync.group.offsets.enabled"
    )
    replication_policy_class: str | None = Field(default=None, alias="replication.policy.class")
    replication_policy_separator: str | None = Field(
        default=None, alias="replication.policy.separator"
    )


class ProducerSettings(Section):
    """One producer, or `default`, from which the others inherit. Times in ms."""

    ruleset: ProducersRuleSet = Field(default_factory=lambda: default_rule_set("producers"))
    metadata_evict_ms: EvictMs = Field(default=300_000, alias="metadata.evict.ms")
    metadata_max_age_ms: NotNegative = Field(default=300_000, alias="metadata.max.age.ms")
    metadata_max_idle_ms: MaxIdleMs | None = Field(default=None, alias="metadata.max.idle.ms")
    retry_backoff_ms: NotNegative = Field(default=100, alias="retry.backoff.ms")
    retry_backoff_max_ms: NotNegative | None = Field(default=None, alias="retry.backoff.max.ms")
    max_block_ms: Positive | None = Field(default=None, alias="max.block.ms")
