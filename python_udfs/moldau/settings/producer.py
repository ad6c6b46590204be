"""Settings of producers."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

from moldau.settings.fields import Flag, NotNegative, Positive, Section, Whole
from moldau.settings.rule_sets import RuleSet, default_rule_set

EvictMs = Annotated[Whole, Field(ge=1_000, le=2**63 - 1)]
MaxIdleMs = Annotated[Whole, Field(ge=5_000, le=2**63 - 1)]


class ProducerSettings(Section):
    """One producer, or `default`, from which the others inherit. Times in ms.

    The last six are moldau's own: switches of the rule set, which one producer may have otherwise,
    and what marts.metadata_recommendations may spend.
    """

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
    target_factor: Literal["/10", "*10"] | None = None
    rule_mode: Literal["single", "independent", "sequential"] | None = None
    evict_strict: Flag | None = None
    pace_ms: NotNegative | None = None
    budget_cached_topics: Positive | None = Field(default=None, alias="budget.cached.topics")
    budget_blocking_fetches: NotNegative | None = Field(
        default=None, alias="budget.blocking.fetches.per.hour"
    )

    def row(self) -> dict[str, Any]:
        """What of a row of state.producer_settings follows from the settings alone."""
        return {
            "ruleset": self.ruleset,
            "evict_ms": self.metadata_evict_ms,
            "max_idle_ms": self.metadata_max_idle_ms,
            "max_age_ms": self.metadata_max_age_ms,
            "retry_backoff_ms": self.retry_backoff_ms,
            "target_factor": self.target_factor,
            "rule_mode": self.rule_mode,
            "evict_strict": self.evict_strict,
            "pace_ms": self.pace_ms,
            "cached_topics_budget": self.budget_cached_topics,
            "blocking_fetches_budget": self.budget_blocking_fetches,
            **self.kept(),
        }
