"""Settings of producers."""

from __future__ import annotations

from typing import Annotated, ClassVar

from pydantic import Field

from moldau.settings.fields import NotNegative, Positive, Section, Whole
from moldau.settings.rule_sets import RuleSet, default_rule_set

EvictMs = Annotated[Whole, Field(ge=1_000, le=2**63 - 1)]
MaxIdleMs = Annotated[Whole, Field(ge=5_000, le=2**63 - 1)]


class ProducerSettings(Section):
    """One producer, or `default`, from which the others inherit. Times in ms."""

    inherits_default: ClassVar[bool] = True

    ruleset: Annotated[str, RuleSet("producers")] = Field(
        default_factory=lambda: default_rule_set("producers")
    )
    metadata_evict_ms: EvictMs = Field(default=300_000, alias="metadata.evict.ms")
    metadata_max_age_ms: NotNegative = Field(default=300_000, alias="metadata.max.age.ms")
    metadata_max_idle_ms: MaxIdleMs | None = Field(default=None, alias="metadata.max.idle.ms")
    retry_backoff_ms: NotNegative = Field(default=100, alias="retry.backoff.ms")
    retry_backoff_max_ms: NotNegative | None = Field(default=None, alias="retry.backoff.max.ms")
    max_block_ms: Positive | None = Field(default=None, alias="max.block.ms")
